// SPDX-License-Identifier: Apache-2.0
// sknd/print/printer_ops.h — spelling and precedence of operators.
#pragma once

#include <string_view>

#include "sknd/print/printer.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

// From loose to tight. An operand that is looser than its position allows needs parentheses.
enum class Level : uint8_t {
    Any,     // `a ?? b`, `x[i] <- v`, and everything below
    Select,  // `c ? a : b`
    Implies,
    Logical,
    Compare,
    MinMax,
    Add,
    Multiply,
    Unary,  // looser than a power: `-a ** 2` is `-(a ** 2)`
    Power,
    Primary,
};
inline Level tighter(Level level) { return static_cast<Level>(static_cast<uint8_t>(level) + 1); }

Level level(BinaryOp op);
Level level(FoldOp op);

std::string_view symbol(UnaryOp op);
std::string_view symbol(BinaryOp op, Spelling spelling);
std::string_view symbol(FoldOp op, Spelling spelling);
std::string_view symbol(LowerOp op, Spelling spelling);
std::string_view symbol(MemberKind member);    // "shape", …
std::string_view symbol(Qualifier qualifier);  // "static", …; empty for none

}  // namespace lemma::sknd
