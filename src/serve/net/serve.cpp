// SPDX-License-Identifier: Apache-2.0
// `lemma serve` from its start to its end.
#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>
#include <ctime>
#include <fstream>

#include "base/open_file.h"
#include "serve/core/server.h"
#include "serve/net/grpc_server.h"
#include "serve/net/http_server.h"
#include "serve/net/socket_address.h"
#include "serve/options.h"

namespace lemma::serve {

namespace {

constexpr int kUnusable = LEMMA_UNUSABLE;

// SIGTERM, SIGINT, and the signal by which a failed load ends the wait.
sigset_t end_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGUSR1);
    return signals;
}

Result<std::string> read_token(const ServeOptions& options) {
    if (options.token_file.empty()) return options.token;
    std::ifstream file(options.token_file);
    std::string token;
    if (!file || !std::getline(file, token)) {
        return cannot_read(options.token_file, "it is missing or empty");
    }
    while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
    if (token.empty()) return cannot_read(options.token_file, "its first line is empty");
    return token;
}

Result<std::unique_ptr<Registry>> find_models(const ServeOptions& options) {
    std::vector<ModelPlace> places;
    for (const std::string& argument : options.models) {
        LEMMA_TRY(std::vector<ModelPlace> found, find_places(argument));
        places.insert(places.end(), found.begin(), found.end());
    }
    return Registry::create(std::move(places));
}

// Each connection is a file.
void raise_file_limit(int64_t connections) {
    rlimit limit = {};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const auto wanted = static_cast<rlim_t>(connections) + 256;
    if (limit.rlim_cur >= wanted) return;
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
}

struct Protocols {
    std::unique_ptr<HttpServer> http;
    std::unique_ptr<GrpcServer> grpc;
};

Result<Protocols> listen(Server& server) {
    const ServeOptions& options = server.options();
    Protocols protocols;
    if (options.http_port != 0) {
        LEMMA_TRY(protocols.http, HttpServer::start(server));
        options.inform(fmt::format("listening on {}", protocols.http->address()));
    }
    if (options.grpc_port != 0) {
        LEMMA_TRY(protocols.grpc, GrpcServer::start(server));
        options.inform(fmt::format("listening on grpc://{}", protocols.grpc->address()));
    }
    return protocols;
}

void warn_if_open(const ServeOptions& options, const std::string& token) {
    const auto address = resolve(options.host, 0);
    if (!address || address->loopback || !token.empty()) return;
    options.say(
        "warning: everybody who reaches this machine can use the server; `--token-file` protects "
        "it");
}

// The signal that ended the wait. gRPC's health service follows the state of the models.
int wait_for_end(Server& server, const Protocols& protocols, const sigset_t& signals) {
    bool serving = false;
    while (true) {
        const timespec moment = {.tv_sec = 0, .tv_nsec = 50'000'000};
        const int signal = sigtimedwait(&signals, nullptr, &moment);
        if (signal > 0) return signal;
        if (protocols.grpc && server.ready() != serving) {
            serving = !serving;
            protocols.grpc->set_serving(serving);
        }
    }
}

// Finishes what waits and runs. A second signal, or the end of the time, cuts it short.
void end(Server& server, Protocols& protocols) {
    const ServeOptions& options = server.options();
    if (protocols.grpc) protocols.grpc->set_serving(false);
    if (protocols.http) protocols.http->quiesce();
    const sigset_t signals = end_signals();
    const auto hurry = [&signals] {
        const timespec none = {};
        return sigtimedwait(&signals, nullptr, &none) > 0;
    };
    if (!server.drain(std::chrono::seconds(options.grace), hurry)) {
        options.say("the requests that are left are cancelled");
    }
    server.stop();
    if (protocols.grpc) protocols.grpc->shut_down(std::chrono::seconds(1));
    protocols.grpc.reset();
    protocols.http.reset();
}

}  // namespace

int serve(const ServeOptions& options) {
    const auto unusable = [&](const Error& error) {
        options.say(error.message);
        return kUnusable;
    };
    auto registry = find_models(options);
    if (!registry) return unusable(registry.error());
    const auto token = read_token(options);
    if (!token) return unusable(token.error());

    // All threads inherit the mask: the signals arrive at this one alone.
    const sigset_t signals = end_signals();
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    std::signal(SIGPIPE, SIG_IGN);
    raise_file_limit(options.connections);

    std::atomic<int> status = LEMMA_GOOD;
    {
        Server server(options, std::move(*registry), *token);
        auto protocols = listen(server);
        if (!protocols) {
            status = unusable(protocols.error());
        } else {
            warn_if_open(options, *token);
            const pthread_t self = pthread_self();
            server.load([&](int failed) {
                status = failed;
                pthread_kill(self, SIGUSR1);
            });
            const int signal = wait_for_end(server, *protocols, signals);
            if (signal != SIGUSR1) options.inform("stopping");
            end(server, *protocols);
        }
    }
    if (status == LEMMA_GOOD) options.inform("stopped");
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return status;
}

}  // namespace lemma::serve
