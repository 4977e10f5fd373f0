// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/quant_file.h — reads `graph.quant`: the quantiser of each listed tensor.
#pragma once

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "nnef1/syntax/ast.h"
#include "nnef1/syntax/dialect.h"
#include "nnef1/syntax/parser.h"

namespace lemma::nnef1 {

struct QuantEntry {  // "tensor": quantizer(name = value, …);
    Span span;
    Name tensor;       // the span includes the quotes
    ExprId quantizer;  // an Invocation with named arguments of literals
};

struct QuantFile : Nodes {
    diag::FileId file;
    std::vector<QuantEntry> entries;  // each for another tensor, in the order of the file
};

QuantFile parse_quant_file(const diag::SourceMap& sources,
                           diag::FileId file,
                           const ParseOptions& options,
                           Diagnostics& diag);

}  // namespace lemma::nnef1
