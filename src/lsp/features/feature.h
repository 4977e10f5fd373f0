// SPDX-License-Identifier: Apache-2.0
// lsp/features/feature.h — what a request about a place in a text gets, and the table of all
// requests.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/analysis/analysis.h"
#include "lsp/language/operators.h"
#include "lsp/rpc/message.h"
#include "lsp/workspace/workspace.h"

namespace lemma::lsp {

// The semantic tokens that the client has of each text, for answers with differences.
class TokenResults {
public:
    // Null if the client has others.
    const std::vector<uint32_t>* find(const std::string& uri, const std::string& id) const;
    // The id of the result.
    std::string keep(const std::string& uri, std::vector<uint32_t> data);
    void forget(const std::string& uri) { results_.erase(uri); }

private:
    struct Result {
        std::string id;
        std::vector<uint32_t> data;
    };
    static constexpr size_t kMaxTexts = 64;
    std::map<std::string, Result> results_;  // by address
    uint64_t next_ = 1;
};

struct Query {
    const Workspace& workspace;
    const Document& document;
    const Analysis* analysis;  // the last one; it may be missing or of an older text
    const Json& params;
    Views& views;
    TokenResults& tokens;

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
