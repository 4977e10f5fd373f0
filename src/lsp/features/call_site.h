// SPDX-License-Identifier: Apache-2.0
// lsp/features/call_site.h — the operator of a call that may be half written.
#pragma once

#include <optional>
#include <string>

#include "lsp/features/feature.h"
#include "lsp/language/cursor.h"

namespace lemma::lsp {

// `nn.conv`, an operator of this text, or an operation of NNEF 1.0.
std::optional<OperatorInfo> called_operator(const Query& query, const std::string& callee);

}  // namespace lemma::lsp
