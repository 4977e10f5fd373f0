// nnef1/check/check.h — which documents make sense: declarations, names, types and invocations
// (specification, 3.3). What depends on values and shapes is found by expanding the graph.
#pragma once

#include <array>
#include <string_view>

#include "nnef1/check/operations.h"

namespace lemma::nnef1 {

// What checking found out about the expressions of the document.
struct CheckedDocument {
    // What an invocation calls, and an operator that works on tensors; null for other operators.
    Table<ExprId, const Signature*> operations;
    // What `?` stands for in that call. `?` itself: what it stands for in the fragment around it.
    Table<ExprId, std::optional<TypeName>> generics;
};

// The document was parsed without errors.
CheckedDocument check_document(const Document& document,
                               const Operations& operations,
                               Dialect dialect,
                               Diagnostics& diag);

// The fragments that binary operators on tensors stand for (3.3.3, table 1), in the order of
// BinaryOp. `in` has none.
inline constexpr std::array<std::string_view, 13> kBinaryFragments = {
    "add", "sub", "mul", "div", "pow", "lt", "le", "gt", "ge", "eq", "ne", "and", "or"};
static_assert(kBinaryFragments.size() == static_cast<size_t>(BinaryOp::In));
// That of an operator; empty for `in`.
std::string_view fragment_of(UnaryOp op);
std::string_view fragment_of(BinaryOp op);

// The expression without parentheses around it.
ExprId bare(const Nodes& nodes, ExprId id);
// Where the operator of an operation stands.
Span operator_span(const Expr& expr);

}  // namespace lemma::nnef1
