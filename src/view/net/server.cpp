// SPDX-License-Identifier: Apache-2.0
// The server of a page, by libmicrohttpd: a thread for each of a few connections, on the loopback
// address. Requests have limits on their size and their time.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "view/http.h"

namespace lemma::view {

namespace {

using Clock = std::chrono::steady_clock;

// `since` is when the phase began.
struct Connection {
    int socket = -1;
    bool computing = false, idle = true;
    Clock::time_point since = Clock::now();
};

struct Exchange {
    HttpRequest request;
    bool too_large = false;
};

class Server {
public:
    explicit Server(const ServerOptions& options) : options_(options) {}
    ~Server() { stop(); }

    std::string start();
    // Accepts nothing more, and waits a moment until the answers that are left are sent.
    void drain();
    void stop();
    int port() const { return port_; }

    MHD_Result access(MHD_Connection* connection,
                      const char* path,
                      const char* method,
                      const char* data,
                      size_t* size,
                      void** own);
    void notify(MHD_Connection* connection, void** context, bool started);
    void completed(MHD_Connection* connection, void** own);

private:
    void set_phase(MHD_Connection* connection, bool computing, bool idle);
    MHD_Result send(MHD_Connection* connection, const HttpResponse& response) const;
    void watch();

    const ServerOptions& options_;
    MHD_Daemon* daemon_ = nullptr;
    int port_ = 0;
    std::mutex mutex_;
    std::unordered_set<Connection*> connections_;
    bool ended_ = false;
    std::condition_variable end_;
    std::thread watcher_;
};

MHD_Result add_query(void* own, MHD_ValueKind, const char* key, const char* value) {
    static_cast<HttpRequest*>(own)->query.emplace(key, value ? value : "");
    return MHD_YES;
}

MHD_Result add_header(void* own, MHD_ValueKind, const char* key, const char* value) {
    std::string name = key;
    for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    auto& headers = static_cast<HttpRequest*>(own)->headers;
    const auto [place, added] = headers.emplace(std::move(name), value ? value : "");
    // Two values of one header are none that anybody asked for.
    if (!added) place->second += ", " + std::string(value ? value : "");
    return MHD_YES;
}

void Server::set_phase(MHD_Connection* connection, bool computing, bool idle) {
    const MHD_ConnectionInfo* const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    auto* const known = static_cast<Connection*>(info->socket_context);
    const std::lock_guard lock(mutex_);
    known->computing = computing;
    known->idle = idle;
    known->since = Clock::now();
    end_.notify_all();
}

// Ends connections whose clients send or take their bytes too slowly.
void Server::watch() {
    std::unique_lock lock(mutex_);
    while (!end_.wait_for(lock, std::chrono::milliseconds(250), [&] { return ended_; })) {
        const Clock::time_point late = Clock::now() - std::chrono::seconds(options_.seconds);
        for (const Connection* connection : connections_)
            if (!connection->computing && connection->since < late)
                ::shutdown(connection->socket, SHUT_RDWR);
    }
}

MHD_Result Server::send(MHD_Connection* connection, const HttpResponse& response) const {
    MHD_Response* const made = MHD_create_response_from_buffer(
        response.body.size(), const_cast<char*>(response.body.data()), MHD_RESPMEM_MUST_COPY);
    if (!made) return MHD_NO;
    MHD_add_response_header(made, "Content-Type", response.type.c_str());
    for (const auto& [name, value] : response.headers)
        MHD_add_response_header(made, name.c_str(), value.c_str());
    const MHD_Result queued =
        MHD_queue_response(connection, static_cast<unsigned>(response.status), made);
    MHD_destroy_response(made);
    return queued;
}

// libmicrohttpd calls this with the headers, with each part of the body, and at its end.
MHD_Result Server::access(MHD_Connection* connection,
                          const char* path,
                          const char* method,
                          const char* data,
                          size_t* size,
                          void** own) {
    if (!*own) {
        auto* const made = new Exchange();
        *own = made;
        made->request.method = method;
        made->request.path = path;
        MHD_get_connection_values(connection, MHD_HEADER_KIND, &add_header, &made->request);
        MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, &add_query, &made->request);
        set_phase(connection, false, false);
        return MHD_YES;
    }
    auto& exchange = *static_cast<Exchange*>(*own);
    if (*size > 0) {
        std::string& body = exchange.request.body;
        exchange.too_large = exchange.too_large || body.size() + *size > options_.max_body;
        if (exchange.too_large) {
            body.clear();
        } else {
            body.append(data, *size);
        }
        *size = 0;
        return MHD_YES;
    }
    HttpResponse response;
    if (exchange.too_large) {
        response = {.status = 413, .body = R"({"error":"the body is too large"})"};
    } else {
        set_phase(connection, true, false);
        response = options_.answer(exchange.request);
    }
    set_phase(connection, false, false);
    return send(connection, response);
}

void Server::completed(MHD_Connection* connection, void** own) {
    delete static_cast<Exchange*>(*own);
    *own = nullptr;
    set_phase(connection, false, true);
}

void Server::notify(MHD_Connection* connection, void** context, bool started) {
    if (started) {
        auto* const made = new Connection();
        made->socket =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        *context = made;
        const std::lock_guard lock(mutex_);
        connections_.insert(made);
        return;
    }
    auto* const known = static_cast<Connection*>(*context);
    {
        const std::lock_guard lock(mutex_);
        connections_.erase(known);
        end_.notify_all();
    }
    delete known;
}

// libmicrohttpd is C: its calls become calls of the server.
MHD_Result on_access(void* server,
                     MHD_Connection* connection,
                     const char* path,
                     const char* method,
                     const char*,
                     const char* data,
                     size_t* size,
                     void** own) {
    return static_cast<Server*>(server)->access(connection, path, method, data, size, own);
}

void on_completed(void* server,
                  MHD_Connection* connection,
                  void** own,
                  MHD_RequestTerminationCode) {
    if (*own) static_cast<Server*>(server)->completed(connection, own);
}

void on_connection(void* server,
                   MHD_Connection* connection,
                   void** context,
                   MHD_ConnectionNotificationCode what) {
    static_cast<Server*>(server)->notify(
        connection, context, what == MHD_CONNECTION_NOTIFY_STARTED);
}

std::string Server::start() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(options_.port));
    daemon_ = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC,
        static_cast<uint16_t>(options_.port),
        nullptr,
        nullptr,
        &on_access,
        this,
        MHD_OPTION_SOCK_ADDR,
        &address,
        MHD_OPTION_CONNECTION_LIMIT,
        options_.connections,
        MHD_OPTION_CONNECTION_TIMEOUT,
        options_.seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        size_t{64} << 10,
        MHD_OPTION_NOTIFY_COMPLETED,
        &on_completed,
        this,
        MHD_OPTION_NOTIFY_CONNECTION,
        &on_connection,
        this,
        MHD_OPTION_END);
    if (!daemon_) {
        return fmt::format("cannot listen on 127.0.0.1:{}: {}",
                           options_.port,
                           std::strerror(errno ? errno : EADDRINUSE));
    }
    const MHD_DaemonInfo* const info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
    port_ = info ? info->port : options_.port;
    watcher_ = std::thread([this] { watch(); });
    return "";
}

void Server::drain() {
    const MHD_socket listening = MHD_quiesce_daemon(daemon_);
    if (listening >= 0) ::close(listening);
    std::unique_lock lock(mutex_);
    const auto idle = [this] {
        return std::ranges::all_of(connections_, [](const Connection* one) { return one->idle; });
    };
    end_.wait_for(lock, std::chrono::seconds(options_.seconds), idle);
}

void Server::stop() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    end_.notify_all();
    if (watcher_.joinable()) watcher_.join();
    if (daemon_) MHD_stop_daemon(daemon_);
    daemon_ = nullptr;
}

}  // namespace

std::string serve_page(const ServerOptions& options) {
    // All threads inherit the mask: the signals arrive at this one alone.
    sigset_t signals, before;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    std::signal(SIGPIPE, SIG_IGN);
    std::string trouble;
    {
        Server server(options);
        trouble = server.start();
        if (trouble.empty()) {
            options.ready(server.port());
            int signal = 0;
            sigwait(&signals, &signal);
            options.ending();
            server.drain();
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return trouble;
}

}  // namespace lemma::view
