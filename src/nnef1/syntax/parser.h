// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/parser.h — NNEF 1.0 text to a syntax tree. The parser recovers at assignments,
// fragments and the graph, so one run reports every independent error. Broken parts become BadExpr.
#pragma once

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "nnef1/syntax/ast.h"
#include "nnef1/syntax/dialect.h"

namespace lemma::nnef1 {

struct ParseLimits {
    int max_depth = 256;  // nested brackets and right-hand chains
    // Levels of one expression tree, including left-hand chains such as `a + b + c`. This bounds
    // the recursion of every later pass.
    int max_expr_depth = 1000;
    size_t max_tokens = 64'000'000;  // per file
};

enum class DocumentKind : uint8_t {
    Model,    // version, extensions, fragments, graph
    Library,  // fragments alone, all syntax enabled: stdlib/nnef1/standard.nnef
};

struct ParseOptions {
    Dialect dialect = Dialect::Strict;
    DocumentKind kind = DocumentKind::Model;
    ParseLimits limits;
};

Document parse_document(const diag::SourceMap& sources,
                        diag::FileId file,
                        const ParseOptions& options,
                        Diagnostics& diag);

}  // namespace lemma::nnef1
