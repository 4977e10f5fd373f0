// SPDX-License-Identifier: Apache-2.0
// lsp/features/requests.h — the functions that answer requests; features.cpp has the table of them.
#pragma once

#include <map>
#include <string>

#include "lsp/features/feature.h"

namespace lemma::lsp {

Answer definition(const Query& query);
Answer references(const Query& query);
Answer document_highlight(const Query& query);
Answer prepare_rename(const Query& query);
Answer rename(const Query& query);
Answer document_symbols(const Query& query);
Answer folding_ranges(const Query& query);
Answer document_links(const Query& query);
Answer hover(const Query& query);
Answer completion(const Query& query);
Answer signature_help(const Query& query);
Answer semantic_tokens(const Query& query);
Answer semantic_tokens_delta(const Query& query);
Answer semantic_tokens_range(const Query& query);
Answer formatting(const Query& query);
Answer range_formatting(const Query& query);
Answer on_type_formatting(const Query& query);
Answer code_actions(const Query& query);
Answer inlay_hints(const Query& query);
Answer prepare_call_hierarchy(const Query& query);

Answer workspace_symbols(const Workspace& workspace, const Json& params, Views& views);
Answer incoming_calls(const Workspace& workspace, const Json& params, Views& views);
Answer outgoing_calls(const Workspace& workspace, const Json& params, Views& views);

// Lists of text edits by address, as the client wants them.
Json workspace_edit(const Workspace& workspace, const std::map<std::string, Json>& edits);

// The legend of semantic tokens.
Json semantic_legend();

}  // namespace lemma::lsp
