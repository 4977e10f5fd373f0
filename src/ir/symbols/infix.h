// SPDX-License-Identifier: Apache-2.0
// ir/symbols/infix.h — how operators between two operands are spelt in the text of expressions.
#pragma once

#include <string_view>

#include "ir/symbols/symbolic.h"

namespace lemma::ir {

// With its spaces: ` + `, `*`.
std::string_view infix_text(SymOp op);

}  // namespace lemma::ir
