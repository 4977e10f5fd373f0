// SPDX-License-Identifier: Apache-2.0
// lsp/workspace/workspace.h — the open texts, the folders that the client works in, and what the
// client can do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lsp/rpc/json.h"
#include "lsp/workspace/document.h"

namespace lemma::lsp {

inline constexpr size_t kMaxDocuments = 4096;
inline constexpr size_t kMaxDocumentBytes = size_t{64} << 20;

struct ClientFeatures {
    bool snippets = false;
    bool hierarchical_symbols = false;
    bool related_information = false;
    bool refresh_inlay_hints = false;
    bool watch_files = false;
    bool edit_versions = false;  // `documentChanges` of an edit
};
ClientFeatures client_features(const Json& capabilities);

struct Workspace {
    std::map<std::string, Document, std::less<>> documents;  // by address
    std::vector<std::string> roots;
    Encoding encoding = Encoding::Utf16;
    ClientFeatures client;

    const Document* find(const std::string& uri) const;
    const Document* find_path(const std::string& path) const;
    // The address that the client uses for a file.
    std::string uri_of(const std::string& path) const;
    Buffers buffers() const;
    // The open text or the file; empty if it cannot be read.
    std::optional<std::string> text_of_file(const std::string& path) const;
    // Files with this ending below the roots and below a folder; at most kMaxFiles.
    std::vector<std::string> files(std::string_view ending, const std::string& folder) const;
};
inline constexpr size_t kMaxFiles = 2000;

// ---- Values of the protocol ---------------------------------------------------------------------

Position position_of(const Json& value);
Json to_json(Position position);
Json range_json(const LineIndex& lines, TextSpan span);
Json location_json(const std::string& uri, const LineIndex& lines, TextSpan span);

}  // namespace lemma::lsp
