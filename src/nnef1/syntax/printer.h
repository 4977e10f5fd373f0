// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/printer.h — prints a document as text in one canonical layout, with its comments.
// Parsing the text gives the same tree again. Printing is idempotent.
#pragma once

#include <string>

#include "diag/source.h"
#include "nnef1/syntax/ast.h"
#include "nnef1/syntax/dialect.h"

namespace lemma::nnef1 {

struct PrintOptions {
    Dialect dialect = Dialect::Strict;  // dialect of the written text
    size_t max_columns = 100;
};

// `sources` holds the texts of comments and literals. It may be empty for a document that a program
// made, with nodes without places. Such trees get the parentheses that they need.
std::string print(const Document& document,
                  const diag::SourceMap& sources,
                  PrintOptions options = {});
std::string print(const Nodes& nodes,
                  ExprId expr,
                  const diag::SourceMap& sources,
                  PrintOptions options = {});
std::string print(const Nodes& nodes, TypeId type);

// The tree as indented text, without places and spelling. Equal dumps mean equal documents.
std::string dump_tree(const Document& document);
std::string dump_tree(const Nodes& nodes, ExprId expr);

}  // namespace lemma::nnef1
