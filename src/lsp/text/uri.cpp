// SPDX-License-Identifier: Apache-2.0
#include "lsp/text/uri.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

namespace lemma::lsp {

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string decoded(std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                            hex_digit(text[i + 2]) >= 0;
        if (escape) {
            result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

}  // namespace

std::string normal_path(std::string_view path) {
    return std::filesystem::path(path).lexically_normal().string();
}

std::string path_of_uri(std::string_view uri) {
    constexpr std::string_view kScheme = "file://";
    if (!uri.starts_with(kScheme)) return "";
    uri.remove_prefix(kScheme.size());
    const size_t slash = uri.find('/');
    if (slash == std::string_view::npos) return "";
    const std::string_view host = uri.substr(0, slash);
    if (!host.empty() && host != "localhost") return "";
    std::string path = decoded(uri.substr(slash, uri.find_first_of("?#") - slash));
    if (path.find('\0') != std::string::npos) return "";
    path = normal_path(path);
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

std::string uri_of_path(std::string_view path) {
    std::string uri = "file://";
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos)
            uri += c;
        else
            uri += fmt::format("%{:02X}", byte);
    }
    return uri;
}

}  // namespace lemma::lsp
