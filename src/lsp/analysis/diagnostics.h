// SPDX-License-Identifier: Apache-2.0
// lsp/analysis/diagnostics.h — diagnostics of an analysis in the form of the protocol.
#pragma once

#include <map>
#include <string>

#include "lsp/analysis/analysis.h"
#include "lsp/workspace/workspace.h"

namespace lemma::lsp {

// Lists of diagnostics by the address of their file. The analysed text is always among them.
using DiagnosticLists = std::map<std::string, Json>;
DiagnosticLists diagnostics_of(const Analysis& analysis, const Workspace& workspace);

// One of them; `lines` of the file that contains it.
Json diagnostic_json(const diag::Diagnostic& diagnostic, Json range, Json related);

// The text shown for a diagnostic: its message, and the notes that have no place.
std::string message_of(const diag::Diagnostic& diagnostic);

}  // namespace lemma::lsp
