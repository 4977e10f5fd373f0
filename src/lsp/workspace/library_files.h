// SPDX-License-Identifier: Apache-2.0
// lsp/workspace/library_files.h — the standard modules as files that an editor can open: read-only
// copies in the user's cache folder, written on demand.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lemma::lsp {

// The path of the copy of `stdlib/nn/nn.sknd`. Empty if there is no such text, or if it cannot be
// written.
std::optional<std::string> library_file(std::string_view name);
// The embedded text; empty if there is none.
std::string_view library_text(std::string_view name);
// The name of a copy, such as `stdlib/nn/nn.sknd`; empty for other paths.
std::string library_name(std::string_view path);

}  // namespace lemma::lsp
