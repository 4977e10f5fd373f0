// ir/text/text_words.h — the words of the text form (docs/language/ir.md) that its printer and its
// reader share: keywords, operators of formulas, and how names and strings are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/program/program.h"

namespace lemma::ir {

// Printers nest no deeper than this, readers allow no more.
inline constexpr int kMaxTextDepth = 250;        // of expressions
inline constexpr int kMaxOperationDepth = 1000;  // of operations in operations and graphs

// `nn.conv`, `i0`: letters, digits and `_`, not led by a digit; parts are joined by dots.
bool is_word(std::string_view text);
// A word without dots that means nothing else in an expression: what a symbol can be called.
bool is_symbol_word(std::string_view text);
// What can follow `%` without quotes.
bool is_tensor_char(char c);

// In double quotes; `\"`, `\\`, `\n`, `\t`, and `\x1f` for other control characters.
std::string quoted(std::string_view text);
// As it is where it is a word or digits, else in quotes.
std::string name_text(std::string_view name);
// An operator: also in quotes where it could be taken for the beginning of a statement.
std::string operator_text(std::string_view name);
// Shortest text that reads back, the sign of a nan included.
std::string number_text(double value);

std::string_view formula_op_text(FormulaOp op);
std::optional<FormulaOp> formula_op_from_text(std::string_view text);
std::string_view scalar_type_text(ScalarType type);
std::optional<ScalarType> scalar_type_from_text(std::string_view text);
std::string_view role_text(TensorRole role);
std::optional<TensorRole> role_from_text(std::string_view text);
std::string_view kind_text(OperationKind kind);
std::optional<OperationKind> kind_from_text(std::string_view text);
// What the body of an operation tells about its kind; nothing if there is no body to speak of.
std::optional<OperationKind> kind_from_body(const Operation& op);
// What the elements of a tensor are in expressions.
ScalarType scalar_type_of(DType dtype);
// The values an index takes in `index < extent` unless said otherwise.
Interval index_range(const SymbolPool& symbols, SymId extent);

}  // namespace lemma::ir
