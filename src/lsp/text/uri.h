// SPDX-License-Identifier: Apache-2.0
// lsp/text/uri.h — file names and the `file:` addresses of the protocol.
#pragma once

#include <string>
#include <string_view>

namespace lemma::lsp {

// The absolute path in normal form; empty if it is no address of a local file.
std::string path_of_uri(std::string_view uri);
std::string uri_of_path(std::string_view path);
// Without `.`, `..` and repeated separators.
std::string normal_path(std::string_view path);

}  // namespace lemma::lsp
