// SPDX-License-Identifier: Apache-2.0
// lsp/analysis/places.h — places of an analysis as locations of the protocol.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "lsp/analysis/analysis.h"
#include "lsp/workspace/workspace.h"

namespace lemma::lsp {

class Places {
public:
    Places(const Analysis& analysis, const Workspace& workspace)
        : analysis_(analysis), workspace_(workspace) {}

    // Empty if no editor can open the file.
    std::optional<std::string> uri(diag::FileId file);
    Json range(Span span);
    std::optional<Json> location(Span span);

private:
    const LineIndex& lines(diag::FileId file);

    const Analysis& analysis_;
    const Workspace& workspace_;
    std::map<uint32_t, LineIndex> lines_;
    std::map<uint32_t, std::optional<std::string>> uris_;
};

}  // namespace lemma::lsp
