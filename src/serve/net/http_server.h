// SPDX-License-Identifier: Apache-2.0
// serve/net/http_server.h — HTTP/1.1 by libmicrohttpd.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "serve/core/server.h"

namespace lemma::serve {

class HttpServer {
public:
    // Listens. The server outlives this object.
    static Result<std::unique_ptr<HttpServer>> start(Server& server);
    ~HttpServer();  // every request must be answered before

    // Accepts no more connections. The present ones close after their next answer.
    void quiesce();
    // `http://127.0.0.1:8000`
    const std::string& address() const { return address_; }

private:
    struct State;
    explicit HttpServer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
    std::string address_;
};

}  // namespace lemma::serve
