// SPDX-License-Identifier: Apache-2.0
#include "serve/net/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include <array>
#include <cstring>
#include <memory>

namespace lemma::serve {

Result<SocketAddress> resolve(const std::string& host, int port) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const std::string service = fmt::format("{}", port);
    const int status = getaddrinfo(host.c_str(), service.c_str(), &hints, &found);
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
    if (status != 0 || !found || found->ai_addrlen > sizeof(sockaddr_storage)) {
        return std::unexpected(
            Error{fmt::format("cannot listen on `{}`: {}", host, gai_strerror(status))});
    }
    SocketAddress address;
    std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
    address.ipv6 = found->ai_family == AF_INET6;
    if (address.ipv6) {
        const auto* const six = reinterpret_cast<const sockaddr_in6*>(&address.storage);
        address.loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    } else {
        const auto* const four = reinterpret_cast<const sockaddr_in*>(&address.storage);
        address.loopback = (ntohl(four->sin_addr.s_addr) >> 24) == 127;
    }
    return address;
}

std::string client_text(const sockaddr* address) {
    if (!address) return "-";
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* const bytes =
        address->sa_family == AF_INET6
            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr)
            : static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
    return inet_ntop(address->sa_family, bytes, text.data(), text.size()) ? text.data() : "-";
}

std::string with_port(const std::string& host, int port) {
    const bool six = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", port);
}

}  // namespace lemma::serve
