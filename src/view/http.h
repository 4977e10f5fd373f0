// SPDX-License-Identifier: Apache-2.0
// view/http.h — requests of a page and their answers, without a network. The server (net/) and the
// program are separate parts; both use this header.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lemma::view {

struct HttpRequest {
    std::string method;
    std::string path;
    std::map<std::string, std::string> query;    // decoded
    std::map<std::string, std::string> headers;  // `host`, `origin`, … in lower case
    std::string body;
};

struct HttpResponse {
    int status = 200;
    std::string type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers = {};
};

struct ServerOptions {
    int port = 0;               // 0: any free one
    size_t max_body = 65536;    // bytes of a request
    unsigned connections = 32;  // at a time
    unsigned seconds = 10;      // for a client to send a request, or to take the answer
    // Called by several threads at a time.
    std::function<HttpResponse(const HttpRequest&)> answer;
    std::function<void(int port)> ready;  // it listens
    std::function<void()> ending;         // answers that take long must end now
};

// Serves on 127.0.0.1 until SIGINT, SIGTERM or SIGHUP. Returns an error text; empty if all was
// well.
std::string serve_page(const ServerOptions& options);
using ServeFunction = std::string (*)(const ServerOptions&);

}  // namespace lemma::view
