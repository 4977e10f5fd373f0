// SPDX-License-Identifier: Apache-2.0
// serve/net/grpc_server.h — the gRPC form of the protocol (inference.proto), and gRPC's own health
// service.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "serve/core/server.h"

namespace lemma::serve {

class GrpcServer {
public:
    // Listens. The server outlives this object.
    static Result<std::unique_ptr<GrpcServer>> start(Server& server);
    ~GrpcServer();

    // For gRPC's health service.
    void set_serving(bool serving);
    // Accepts no more calls. Returns when the last one has ended, or cancels them after the time.
    void shut_down(std::chrono::seconds time);
    const std::string& address() const { return address_; }

private:
    struct State;
    explicit GrpcServer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
    std::string address_;
};

}  // namespace lemma::serve
