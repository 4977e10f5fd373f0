// SPDX-License-Identifier: Apache-2.0
// lsp/features/feature.h — what a request about a place in a text gets, and the table of all
// requests.
#pragma once

#include <span>
#include <string_view>

#include "lsp/analysis/analysis.h"
#include "lsp/language/operators.h"
#include "lsp/rpc/message.h"
#include "lsp/workspace/workspace.h"

namespace lemma::lsp {

struct Query {
    const Workspace& workspace;
    const Document& document;
    const Analysis* analysis;  // the last one; it may be missing or of an older text
    const Json& params;
    Views& views;

    std::shared_ptr<const View> view() const { return views.of(document); }
    // Whether the analysis is of this text.
    bool fresh() const { return analysis && analysis->revision == document.revision(); }
    // The place of the request.
    uint32_t offset() const {
        return document.lines().offset(position_of(member(params, "position")));
    }
    TextSpan range() const {
        const Json& range = member(params, "range");
        return {document.lines().offset(position_of(member(range, "start"))),
                document.lines().offset(position_of(member(range, "end")))};
    }
};

struct Feature {
    std::string_view method;
    Answer (*answer)(const Query&);
    bool waits = false;  // for the analysis of the current text
};
// Requests with a `textDocument`.
std::span<const Feature> document_features();

// Requests without one.
struct WorkspaceFeature {
    std::string_view method;
    Answer (*answer)(const Workspace&, const Json& params, Views&);
};
std::span<const WorkspaceFeature> workspace_features();

// What the server can do, for the client.
Json server_capabilities(Encoding encoding);

}  // namespace lemma::lsp
