// SPDX-License-Identifier: Apache-2.0
#include "view/guard.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "view/document.h"

namespace lemma::view {

namespace {

bool is_own_host(const std::string& host, int port) {
    for (const char* const name : {"127.0.0.1", "localhost", "[::1]"})
        if (host == fmt::format("{}:{}", name, port)) return true;
    return false;
}

std::string header(const HttpRequest& request, const char* name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? "" : found->second;
}

}  // namespace

std::string make_token() {
    std::array<unsigned char, 32> bytes{};
    for (size_t got = 0; got < bytes.size();) {
        const ssize_t more = ::getrandom(bytes.data() + got, bytes.size() - got, 0);
        LEMMA_CHECK(more > 0);
        got += static_cast<size_t>(more);
    }
    std::string token;
    for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

bool same_secret(const std::string& a, const std::string& b) {
    unsigned char difference = a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        difference |= static_cast<unsigned char>(a[i] ^ b[i]);
    return difference == 0;
}

HttpResponse failure(int status, const std::string& message) {
    return {.status = status, .body = compact_text({{"error", message}})};
}

std::optional<HttpResponse> refuse(const HttpRequest& request, int port, const std::string& token) {
    if (!is_own_host(header(request, "host"), port))
        return failure(421, "this server answers for 127.0.0.1 and localhost only");
    const std::string origin = header(request, "origin");
    if (!origin.empty() && (!origin.starts_with("http://") || !is_own_host(origin.substr(7), port)))
        return failure(403, "requests of other pages are refused");
    const std::string site = header(request, "sec-fetch-site");
    const bool navigation = site.empty() || site == "none" || site == "same-origin";
    if (!navigation && request.path != "/")
        return failure(403, "requests of other pages are refused");
    if (request.path.starts_with("/api/") && !same_secret(header(request, "x-lemma-token"), token))
        return failure(401,
                       "the token is missing or wrong: use the address that `lemma view` printed");
    return std::nullopt;
}

}  // namespace lemma::view
