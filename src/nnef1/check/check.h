// nnef1/check/check.h — which documents make sense: declarations, names, types and invocations
// (specification, 3.3). What depends on values and shapes is found by expanding the graph.
#pragma once

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

// The fragment that an operator on tensors stands for (3.3.3, table 1); empty for `in`.
std::string_view fragment_of(UnaryOp op);
std::string_view fragment_of(BinaryOp op);

}  // namespace lemma::nnef1
