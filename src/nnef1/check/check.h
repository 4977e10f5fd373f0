// SPDX-License-Identifier: Apache-2.0
// nnef1/check/check.h — checks declarations, names, types and invocations of a document
// (specification, 3.3). Expanding the graph checks values and shapes.
#pragma once

#include <array>
#include <string_view>

#include "nnef1/check/operations.h"

namespace lemma::nnef1 {

// Facts about the expressions of the document.
struct CheckedDocument {
    // The operation of an invocation, or of an operator on tensors; null for other operators.
    Table<ExprId, const Signature*> operations;
    // The type of `?` in that call. For `?` itself: its type in the surrounding fragment.
    Table<ExprId, std::optional<TypeName>> generics;
};

// The document must have been parsed without errors.
CheckedDocument check_document(const Document& document,
                               const Operations& operations,
                               Dialect dialect,
                               Diagnostics& diag);

// The fragments for binary operators on tensors (3.3.3, table 1), in the order of BinaryOp. `in`
// has none.
inline constexpr std::array<std::string_view, 13> kBinaryFragments = {
    "add", "sub", "mul", "div", "pow", "lt", "le", "gt", "ge", "eq", "ne", "and", "or"};
static_assert(kBinaryFragments.size() == static_cast<size_t>(BinaryOp::In));
// The fragment for an operator; empty for `in`.
std::string_view fragment_of(UnaryOp op);
std::string_view fragment_of(BinaryOp op);

// The expression without parentheses around it.
ExprId bare(const Nodes& nodes, ExprId id);
// The place of the operator of an operation.
Span operator_span(const Expr& expr);

}  // namespace lemma::nnef1
