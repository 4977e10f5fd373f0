// SPDX-License-Identifier: Apache-2.0
#include "serve/net/http_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "serve/core/http_api.h"
#include "serve/net/socket_address.h"

namespace lemma::serve {

namespace {

// The state of a connection. `since` is when it began.
enum class Phase : uint8_t { Idle, Receiving, Computing, Sending };

struct Connection {
    int socket = -1;
    std::string client;
    Phase phase = Phase::Idle;
    Clock::time_point since = Clock::now();
};

// One request from its first header to its last byte. The reply may outlive the connection's use
// of it.
struct Exchange {
    HttpRequest request;
    Clock::time_point begin = Clock::now();
    bool too_large = false;
    bool started = false;
    size_t bytes_in = 0;
    int64_t counted = 0;  // bytes in the sum of all bodies
    std::mutex mutex;
    std::optional<HttpResponse> response;
    AccessRecord record;
};

using ExchangeHandle = std::shared_ptr<Exchange>;

bool is_closed(int socket) {
    char byte = 0;
    const ssize_t got = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

std::string header(MHD_Connection* connection, const char* name) {
    const char* const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value ? value : "";
}

}  // namespace

struct HttpServer::State {
    Server& server;
    MHD_Daemon* daemon = nullptr;
    std::mutex mutex;
    std::unordered_set<Connection*> connections;
    std::atomic<int64_t> buffered = 0;  // bytes of bodies
    std::atomic<bool> quiet = false;
    bool ended = false;
    std::condition_variable end;
    std::thread watch;

    explicit State(Server& served) : server(served) {}

    std::chrono::seconds timeout() const {
        return std::chrono::seconds(server.options().client_timeout);
    }
    // The bodies that the server holds at a time.
    int64_t most_buffered() const { return 16 * server.options().max_body; }

    void set_phase(MHD_Connection* connection, Phase phase) {
        const MHD_ConnectionInfo* const info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        auto* const known = static_cast<Connection*>(info->socket_context);
        const std::lock_guard lock(mutex);
        known->phase = phase;
        known->since = Clock::now();
    }

    // Ends connections whose clients send or take their bytes too slowly.
    void watch_clients() {
        std::unique_lock lock(mutex);
        while (!end.wait_for(lock, std::chrono::milliseconds(250), [&] { return ended; })) {
            const Clock::time_point late = Clock::now() - timeout();
            for (const Connection* connection : connections) {
                if (connection->phase != Phase::Computing && connection->since < late) {
                    ::shutdown(connection->socket, SHUT_RDWR);
                }
            }
        }
    }

    ExchangeHandle begin(MHD_Connection* connection, const char* path, const char* method) const;
    std::optional<HttpResponse> early(MHD_Connection* connection, Exchange& exchange) const;
    void receive(Exchange& exchange, const char* data, size_t size);
    void start(const ExchangeHandle& exchange, MHD_Connection* connection);
    MHD_Result send(MHD_Connection* connection, Exchange& exchange, const HttpResponse& response);
    MHD_Result access(MHD_Connection* connection,
                      const char* path,
                      const char* method,
                      const char* data,
                      size_t* size,
                      void** own);
    void completed(Exchange& exchange, MHD_RequestTerminationCode how);
    void notify(MHD_Connection* connection, void** context, bool started);
};

ExchangeHandle HttpServer::State::begin(MHD_Connection* connection,
                                        const char* path,
                                        const char* method) const {
    auto exchange = std::make_shared<Exchange>();
    const MHD_ConnectionInfo* const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const auto* const known = static_cast<const Connection*>(info->socket_context);
    HttpRequest& request = exchange->request;
    request.method = method;
    request.path = path;
    request.authorization = header(connection, "Authorization");
    request.json_size = header(connection, "Inference-Header-Content-Length");
    request.content_encoding = header(connection, "Content-Encoding");
    request.body = std::make_shared<std::string>();
    request.abandoned = [socket = known->socket] { return is_closed(socket); };
    exchange->record.client = known->client;
    exchange->record.what = fmt::format("{} {}", method, path);
    return exchange;
}

std::optional<HttpResponse> HttpServer::State::early(MHD_Connection* connection,
                                                     Exchange& exchange) const {
    if (auto response = early_response(server, exchange.request)) return response;
    const std::string length = header(connection, "Content-Length");
    int64_t bytes = 0;
    std::from_chars(length.data(), length.data() + length.size(), bytes);
    if (bytes > server.options().max_body) {
        return failure_response({Code::TooLarge,
                                 fmt::format("the body has {} bytes; the limit is {} (--max-body)",
                                             bytes,
                                             server.options().max_body)});
    }
    if (buffered + bytes > most_buffered()) {
        return failure_response(
            {Code::Exhausted, "the server holds too many requests; try again later"});
    }
    constexpr int64_t kTrusted = int64_t{4} << 20;  // more only when it arrives
    exchange.request.body->reserve(static_cast<size_t>(std::clamp<int64_t>(bytes, 0, kTrusted)));
    return std::nullopt;
}

void HttpServer::State::receive(Exchange& exchange, const char* data, size_t size) {
    exchange.bytes_in += size;
    std::string& body = *exchange.request.body;
    const auto wanted = static_cast<int64_t>(exchange.bytes_in);
    if (wanted > server.options().max_body || buffered > most_buffered()) exchange.too_large = true;
    if (exchange.too_large) {  // the rest is dropped
        std::string().swap(body);
        return;
    }
    body.append(data, size);
    const int64_t held = static_cast<int64_t>(body.capacity());
    buffered += held - exchange.counted;
    exchange.counted = held;
}

void HttpServer::State::start(const ExchangeHandle& exchange, MHD_Connection* connection) {
    exchange->started = true;
    if (exchange->too_large) {
        exchange->response =
            failure_response({Code::TooLarge,
                              fmt::format("the body is too large; the limit is {} bytes "
                                          "(--max-body)",
                                          server.options().max_body)});
        return;
    }
    if (is_quick(exchange->request)) {
        handle(server, std::move(exchange->request), [&](HttpResponse response) {
            exchange->response = std::move(response);
        });
        return;
    }
    // The reply wakes the connection, whichever comes first.
    set_phase(connection, Phase::Computing);
    MHD_suspend_connection(connection);
    handle(server, std::move(exchange->request), [exchange, connection](HttpResponse response) {
        {
            const std::lock_guard lock(exchange->mutex);
            exchange->response = std::move(response);
        }
        MHD_resume_connection(connection);
    });
}

MHD_Result HttpServer::State::send(MHD_Connection* connection,
                                   Exchange& exchange,
                                   const HttpResponse& response) {
    exchange.record.code = response.code;
    exchange.record.status = response.status;
    exchange.record.timing = response.timing;
    exchange.record.bytes_out = response.body.size();
    // The response of the exchange lives until the connection is done with it.
    MHD_Response* const made = MHD_create_response_from_buffer(
        response.body.size(), const_cast<char*>(response.body.data()), MHD_RESPMEM_PERSISTENT);
    if (!made) return MHD_NO;
    const auto add = [&](const char* name, const std::string& value) {
        MHD_add_response_header(made, name, value.c_str());
    };
    add("Content-Type", response.content_type);
    if (response.json_size) {
        add("Inference-Header-Content-Length", fmt::format("{}", *response.json_size));
    }
    if (!response.allow.empty()) add("Allow", response.allow);
    if (response.status == 401) add("WWW-Authenticate", "Bearer");
    if (response.status == 429 || response.status == 503) add("Retry-After", "1");
    if (quiet) add("Connection", "close");
    const MHD_Result queued =
        MHD_queue_response(connection, static_cast<unsigned>(response.status), made);
    MHD_destroy_response(made);
    set_phase(connection, Phase::Sending);
    return queued;
}

// libmicrohttpd calls this with the headers, with each part of the body, at the end of the body,
// and after the connection was resumed.
MHD_Result HttpServer::State::access(MHD_Connection* connection,
                                     const char* path,
                                     const char* method,
                                     const char* data,
                                     size_t* size,
                                     void** own) {
    if (!*own) {
        auto* const made = new ExchangeHandle(begin(connection, path, method));
        *own = made;
        Exchange& exchange = **made;
        set_phase(connection, Phase::Receiving);
        exchange.response = early(connection, exchange);
        if (!exchange.response) return MHD_YES;
        return send(connection, exchange, *exchange.response);
    }
    const ExchangeHandle exchange = *static_cast<ExchangeHandle*>(*own);
    if (*size > 0) {
        receive(*exchange, data, *size);
        *size = 0;
        return MHD_YES;
    }
    if (!exchange->started) start(exchange, connection);
    const std::lock_guard lock(exchange->mutex);
    if (!exchange->response) return MHD_YES;  // suspended
    return send(connection, *exchange, *exchange->response);
}

void HttpServer::State::completed(Exchange& exchange, MHD_RequestTerminationCode how) {
    buffered -= exchange.counted;
    AccessRecord& record = exchange.record;
    record.protocol = Protocol::Http;
    record.bytes_in = exchange.bytes_in;
    record.seconds = std::chrono::duration<double>(Clock::now() - exchange.begin).count();
    if (how != MHD_REQUEST_TERMINATED_COMPLETED_OK) {
        record.code = Code::Cancelled;
        record.status = http_status(Code::Cancelled);
    }
    server.record(record);
}

void HttpServer::State::notify(MHD_Connection* connection, void** context, bool started) {
    if (started) {
        auto* const made = new Connection();
        made->socket =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        made->client = client_text(
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
        *context = made;
        const std::lock_guard lock(mutex);
        connections.insert(made);
        ++server.metrics().connections;
        return;
    }
    auto* const known = static_cast<Connection*>(*context);
    {
        const std::lock_guard lock(mutex);
        connections.erase(known);
    }
    delete known;
    --server.metrics().connections;
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

namespace {

// libmicrohttpd is C: its calls become calls of the state.
template <class State>
MHD_Result on_access(void* state,
                     MHD_Connection* connection,
                     const char* path,
                     const char* method,
                     const char*,
                     const char* data,
                     size_t* size,
                     void** own) {
    return static_cast<State*>(state)->access(connection, path, method, data, size, own);
}

template <class State>
void on_completed(void* state,
                  MHD_Connection* connection,
                  void** own,
                  MHD_RequestTerminationCode how) {
    auto* const exchange = static_cast<ExchangeHandle*>(*own);
    if (!exchange) return;
    static_cast<State*>(state)->completed(**exchange, how);
    static_cast<State*>(state)->set_phase(connection, Phase::Idle);
    delete exchange;
    *own = nullptr;
}

template <class State>
void on_connection(void* state,
                   MHD_Connection* connection,
                   void** context,
                   MHD_ConnectionNotificationCode what) {
    static_cast<State*>(state)->notify(connection, context, what == MHD_CONNECTION_NOTIFY_STARTED);
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(Server& server) {
    const ServeOptions& options = server.options();
    LEMMA_TRY(const SocketAddress address, resolve(options.host, options.http_port));
    auto http = std::unique_ptr<HttpServer>(new HttpServer(std::make_unique<State>(server)));
    State* const state = http->state_.get();
    const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 2u, 8u);
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    if (address.ipv6) flags |= MHD_USE_IPv6;
    state->daemon = MHD_start_daemon(flags,
                                     static_cast<uint16_t>(options.http_port),
                                     nullptr,
                                     nullptr,
                                     &on_access<State>,
                                     state,
                                     MHD_OPTION_SOCK_ADDR,
                                     address.get(),
                                     MHD_OPTION_THREAD_POOL_SIZE,
                                     threads,
                                     MHD_OPTION_CONNECTION_LIMIT,
                                     static_cast<unsigned>(options.connections),
                                     MHD_OPTION_CONNECTION_TIMEOUT,
                                     static_cast<unsigned>(options.client_timeout),
                                     MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                     size_t{128} << 10,
                                     MHD_OPTION_NOTIFY_COMPLETED,
                                     &on_completed<State>,
                                     state,
                                     MHD_OPTION_NOTIFY_CONNECTION,
                                     &on_connection<State>,
                                     state,
                                     MHD_OPTION_END);
    http->address_ = fmt::format("http://{}", with_port(options.host, options.http_port));
    if (!state->daemon) {
        return std::unexpected(Error{fmt::format(
            "cannot listen on {}: {}", http->address_, std::strerror(errno ? errno : EADDRINUSE))});
    }
    state->watch = std::thread([state] { state->watch_clients(); });
    return http;
}

void HttpServer::quiesce() {
    if (!state_->daemon || state_->quiet.exchange(true)) return;
    const MHD_socket listening = MHD_quiesce_daemon(state_->daemon);
    if (listening >= 0) ::close(listening);
}

HttpServer::~HttpServer() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->ended = true;
    }
    state_->end.notify_all();
    if (state_->watch.joinable()) state_->watch.join();
    if (state_->daemon) MHD_stop_daemon(state_->daemon);
}

}  // namespace lemma::serve
