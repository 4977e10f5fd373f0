// SPDX-License-Identifier: Apache-2.0
#include "serve/net/grpc_server.h"

#include <fmt/format.h>
#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <mutex>

#include <inference.grpc.pb.h>
#include "serve/net/grpc_messages.h"
#include "serve/net/socket_address.h"

namespace lemma::serve {

namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

grpc::StatusCode status_code(Code code) {
    switch (code) {
        case Code::Good:
            return grpc::StatusCode::OK;
        case Code::Invalid:
            return grpc::StatusCode::INVALID_ARGUMENT;
        case Code::Unauthenticated:
            return grpc::StatusCode::UNAUTHENTICATED;
        case Code::NotFound:
            return grpc::StatusCode::NOT_FOUND;
        case Code::TooLarge:
        case Code::Exhausted:
            return grpc::StatusCode::RESOURCE_EXHAUSTED;
        case Code::Deadline:
            return grpc::StatusCode::DEADLINE_EXCEEDED;
        case Code::Cancelled:
            return grpc::StatusCode::CANCELLED;
        case Code::Unavailable:
            return grpc::StatusCode::UNAVAILABLE;
        case Code::Internal:
            break;
    }
    return grpc::StatusCode::INTERNAL;
}

grpc::Status as_status(const Failure& failure) {
    constexpr size_t kMost = 4000;  // headers have limits
    return {status_code(failure.code), failure.message.substr(0, kMost)};
}

// "ipv4:127.0.0.1:4711" as "127.0.0.1"
std::string client_of(const CallbackServerContext& context) {
    std::string peer = context.peer();
    const size_t begin = peer.find(':');
    const size_t end = peer.rfind(':');
    return begin == std::string::npos || end <= begin ? peer
                                                      : peer.substr(begin + 1, end - begin - 1);
}

bool is_allowed(const Server& server, const CallbackServerContext& context) {
    const auto found = context.client_metadata().find("authorization");
    if (found == context.client_metadata().end()) return server.allowed("");
    return server.allowed({found->second.data(), found->second.size()});
}

Clock::time_point deadline_of(const CallbackServerContext& context) {
    const auto left = context.deadline() - std::chrono::system_clock::now();
    if (left > std::chrono::hours(24)) return Clock::time_point::max();
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(left);
}

void log_call(Server& server,
              const CallbackServerContext& context,
              const char* method,
              Code code,
              Clock::time_point begin,
              AccessRecord record = {}) {
    record.protocol = Protocol::Grpc;
    record.client = client_of(context);
    record.what = method;
    record.code = code;
    record.status = status_code(code);
    record.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    server.record(record);
}

// A call of ModelInfer. It lives until gRPC is done with it and the server has answered.
class InferCall : public ServerUnaryReactor {
public:
    InferCall(Server& server,
              CallbackServerContext& context,
              const inference::ModelInferRequest& request,
              inference::ModelInferResponse& response)
        : server_(server), context_(context), request_(request), response_(response) {}

    // To be called once, before the call is given to gRPC.
    void start() {
        submit();
        release();
    }

    void OnCancel() override {
        Server::Cancel cancel;
        {
            const std::lock_guard lock(mutex_);
            cancelled_ = true;
            cancel = std::move(cancel_);
            cancel_ = nullptr;
        }
        if (cancel) cancel();
    }

    void OnDone() override { release(); }

private:
    void submit() {
        if (!is_allowed(server_, context_)) {
            return finish(Failure{Code::Unauthenticated,
                                  "the call needs the metadata `authorization: Bearer TOKEN`"});
        }
        auto request = from_message(request_);
        if (!request) return finish(request.error());
        const bool raw = request_.raw_input_contents_size() > 0 || request_.inputs_size() == 0;
        request->deadline = std::min(request->deadline, deadline_of(context_));
        auto cancel = server_.infer(std::move(*request), [this, raw](Answer<InferResponse> answer) {
            if (!answer) return finish(answer.error());
            to_message(*answer, raw, response_);
            finish(std::nullopt, answer->timing);
        });
        // The client may have gone before `infer` returned.
        bool now = false;
        {
            const std::lock_guard lock(mutex_);
            now = cancelled_;
            if (!now) cancel_ = cancel;
        }
        if (now && cancel) cancel();
    }

    void finish(std::optional<Failure> failure, Timing timing = {}) {
        AccessRecord record{.timing = timing};
        record.bytes_in = request_.ByteSizeLong();
        record.bytes_out = failure ? 0 : response_.ByteSizeLong();
        log_call(server_,
                 context_,
                 "ModelInfer",
                 failure ? failure->code : Code::Good,
                 begin_,
                 std::move(record));
        Finish(failure ? as_status(*failure) : grpc::Status::OK);
    }

    void release() {
        if (users_.fetch_sub(1) == 1) delete this;
    }

    Server& server_;
    CallbackServerContext& context_;
    const inference::ModelInferRequest& request_;
    inference::ModelInferResponse& response_;
    const Clock::time_point begin_ = Clock::now();
    std::mutex mutex_;
    bool cancelled_ = false;
    Server::Cancel cancel_;
    std::atomic<int> users_ = 2;  // `start` and gRPC
};

class Service final : public inference::GRPCInferenceService::CallbackService {
public:
    explicit Service(Server& server) : server_(server) {}

    ServerUnaryReactor* ServerLive(CallbackServerContext* context,
                                   const inference::ServerLiveRequest*,
                                   inference::ServerLiveResponse* response) override {
        response->set_live(server_.live());
        return done(*context, "ServerLive", {});
    }

    ServerUnaryReactor* ServerReady(CallbackServerContext* context,
                                    const inference::ServerReadyRequest*,
                                    inference::ServerReadyResponse* response) override {
        response->set_ready(server_.ready());
        return done(*context, "ServerReady", {});
    }

    ServerUnaryReactor* ModelReady(CallbackServerContext* context,
                                   const inference::ModelReadyRequest* request,
                                   inference::ModelReadyResponse* response) override {
        const auto ready = server_.model_ready(request->name(), request->version());
        if (!ready) return done(*context, "ModelReady", ready.error());
        response->set_ready(*ready);
        return done(*context, "ModelReady", {});
    }

    ServerUnaryReactor* ServerMetadata(CallbackServerContext* context,
                                       const inference::ServerMetadataRequest*,
                                       inference::ServerMetadataResponse* response) override {
        if (!is_allowed(server_, *context)) return refuse(*context, "ServerMetadata");
        response->set_name("lemma");
        response->set_version(lemma_version());
        response->add_extensions("binary_tensor_data");
        return done(*context, "ServerMetadata", {});
    }

    ServerUnaryReactor* ModelMetadata(CallbackServerContext* context,
                                      const inference::ModelMetadataRequest* request,
                                      inference::ModelMetadataResponse* response) override {
        if (!is_allowed(server_, *context)) return refuse(*context, "ModelMetadata");
        const auto metadata = server_.metadata(request->name(), request->version());
        if (!metadata) return done(*context, "ModelMetadata", metadata.error());
        to_message(*metadata, *response);
        return done(*context, "ModelMetadata", {});
    }

    ServerUnaryReactor* ModelInfer(CallbackServerContext* context,
                                   const inference::ModelInferRequest* request,
                                   inference::ModelInferResponse* response) override {
        auto* const call = new InferCall(server_, *context, *request, *response);
        call->start();
        return call;
    }

private:
    ServerUnaryReactor* done(CallbackServerContext& context,
                             const char* method,
                             const std::optional<Failure>& failure) {
        log_call(server_, context, method, failure ? failure->code : Code::Good, Clock::now());
        ServerUnaryReactor* const reactor = context.DefaultReactor();
        reactor->Finish(failure ? as_status(*failure) : grpc::Status::OK);
        return reactor;
    }

    ServerUnaryReactor* refuse(CallbackServerContext& context, const char* method) {
        return done(context,
                    method,
                    Failure{Code::Unauthenticated,
                            "the call needs the metadata `authorization: Bearer TOKEN`"});
    }

    Server& server_;
};

}  // namespace

struct GrpcServer::State {
    explicit State(Server& served) : service(served) {}
    Service service;
    std::unique_ptr<grpc::Server> server;
    bool down = false;
};

GrpcServer::GrpcServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(Server& server) {
    const ServeOptions& options = server.options();
    LEMMA_TRY(const SocketAddress address, resolve(options.host, options.grpc_port));
    auto made = std::unique_ptr<GrpcServer>(new GrpcServer(std::make_unique<State>(server)));
    made->address_ = with_port(client_text(address.get()), options.grpc_port);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(made->address_, grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&made->state_->service);
    builder.SetMaxReceiveMessageSize(
        static_cast<int>(std::min<int64_t>(options.max_body, std::numeric_limits<int>::max())));
    builder.SetMaxSendMessageSize(-1);
    // Another server on the same port must fail instead of taking a part of the calls.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                               static_cast<int>(std::min<int64_t>(options.connections, 1 << 20)));
    builder.AddChannelArgument("grpc.server_handshake_timeout_ms",
                               static_cast<int>(options.client_timeout * 1000));
    grpc::ResourceQuota quota("lemma");
    quota.Resize(static_cast<size_t>(16 * options.max_body));
    builder.SetResourceQuota(quota);
    made->state_->server = builder.BuildAndStart();
    if (!made->state_->server || port == 0) {
        return std::unexpected(Error{fmt::format(
            "cannot listen on grpc://{}: the port is in use or not allowed", made->address_)});
    }
    made->set_serving(false);
    return made;
}

void GrpcServer::set_serving(bool serving) {
    if (auto* const health = state_->server->GetHealthCheckService()) {
        health->SetServingStatus(serving);
    }
}

void GrpcServer::shut_down(std::chrono::seconds time) {
    if (!state_->server || state_->down) return;
    state_->down = true;
    state_->server->Shutdown(std::chrono::system_clock::now() + time);
}

GrpcServer::~GrpcServer() { shut_down(std::chrono::seconds(0)); }

}  // namespace lemma::serve
