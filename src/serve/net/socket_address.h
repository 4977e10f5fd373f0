// SPDX-License-Identifier: Apache-2.0
// serve/net/socket_address.h — addresses to listen on, and addresses of clients.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "base/result.h"

namespace lemma::serve {

struct SocketAddress {
    sockaddr_storage storage{};
    bool ipv6 = false;
    bool loopback = false;

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// `127.0.0.1`, `::1`, `localhost` or another name of this machine.
Result<SocketAddress> resolve(const std::string& host, int port);
// `127.0.0.1`, without a port.
std::string client_text(const sockaddr* address);
// `127.0.0.1:8000`, `[::1]:8000`
std::string with_port(const std::string& host, int port);

}  // namespace lemma::serve
