// nnef1/syntax/printer.h — a document as text, in one canonical layout, comments kept. Printing
// what was parsed and parsing it again gives the same tree; printing is idempotent.
#pragma once

#include <string>

#include "diag/source.h"
#include "nnef1/syntax/ast.h"
#include "nnef1/syntax/dialect.h"

namespace lemma::nnef1 {

struct PrintOptions {
    Dialect dialect = Dialect::Strict;  // of the text to write
    size_t max_columns = 100;
};

// `sources` gives the texts of comments and literals; a document that a program made, with nodes
// without places, may pass an empty map. Such trees get the parentheses that they need.
std::string print(const Document& document,
                  const diag::SourceMap& sources,
                  PrintOptions options = {});
std::string print(const Nodes& nodes,
                  ExprId expr,
                  const diag::SourceMap& sources,
                  PrintOptions options = {});
std::string print(const Nodes& nodes, TypeId type);

// The tree without places and spelling as indented text: equal dumps mean equal documents.
std::string dump_tree(const Document& document);
std::string dump_tree(const Nodes& nodes, ExprId expr);

}  // namespace lemma::nnef1
