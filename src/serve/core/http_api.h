// SPDX-License-Identifier: Apache-2.0
// serve/core/http_api.h — the REST form of the protocol: paths, statuses and bodies, without
// sockets.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "serve/core/server.h"

namespace lemma::serve {

struct HttpRequest {
    std::string method;
    std::string path;           // without a query, decoded
    std::string authorization;  // headers; empty if missing
    std::string json_size;      // Inference-Header-Content-Length
    std::string content_encoding;
    std::shared_ptr<std::string> body;
    std::function<bool()> abandoned;
};

struct HttpResponse {
    Code code = Code::Good;
    int status = 200;
    std::string content_type = "application/json";
    std::optional<size_t> json_size;
    std::string allow;  // the methods of the path, with status 405
    std::string body;
    Timing timing;
};

HttpResponse failure_response(const Failure& failure);

// What can be said before the body arrives: a wrong token, path or method. Otherwise empty.
std::optional<HttpResponse> early_response(const Server& server, const HttpRequest& request);

// Calls `reply` exactly once, now or from another thread.
void handle(Server& server, HttpRequest request, std::function<void(HttpResponse)> reply);

// Whether `handle` replies at once.
bool is_quick(const HttpRequest& request);

}  // namespace lemma::serve
