// SPDX-License-Identifier: Apache-2.0
// ir/text/text_words.h — the vocabulary of the text form (docs/language/ir.md), shared by its
// printer and its reader: keywords, operators of formulas, and the spelling of names and strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/program/program.h"

namespace lemma::ir {

// Printers do not exceed this nesting, readers do not accept more.
inline constexpr int kMaxTextDepth = 250;        // expressions
inline constexpr int kMaxOperationDepth = 1000;  // operations in operations and graphs

// `nn.conv`, `i0`: letters, digits and `_`, not beginning with a digit; dots join parts.
bool is_word(std::string_view text);
// A word without dots that has no other meaning in an expression: a possible name of a symbol.
bool is_symbol_word(std::string_view text);
// Whether the character can follow `%` without quotes.
bool is_tensor_char(char c);

// In double quotes; `\"`, `\\`, `\n`, `\t`, and `\x1f` for other control characters.
std::string quoted(std::string_view text);
// A word or digits unquoted, anything else in quotes.
std::string name_text(std::string_view name);
// An operator; also quoted if it could be read as the beginning of a statement.
std::string operator_text(std::string_view name);
// The shortest text that reads back, including the sign of NaN.
std::string number_text(double value);

std::string_view formula_op_text(FormulaOp op);
std::optional<FormulaOp> formula_op_from_text(std::string_view text);
std::string_view scalar_type_text(ScalarType type);
std::optional<ScalarType> scalar_type_from_text(std::string_view text);
std::string_view role_text(TensorRole role);
std::optional<TensorRole> role_from_text(std::string_view text);
std::string_view kind_text(OperationKind kind);
std::optional<OperationKind> kind_from_text(std::string_view text);
// The kind that the body of an operation implies; nothing if the body implies none.
std::optional<OperationKind> kind_from_body(const Operation& op);
// The type of a tensor's elements in expressions.
ScalarType scalar_type_of(DType dtype);
// The default range of an index in `index < extent`.
Interval index_range(const SymbolPool& symbols, SymId extent);

}  // namespace lemma::ir
