// convert/nnef1/rewrite.h — a program as an NNEF 1.0 graph of operations of the specification. What
// has to be expressed by others, and compound operations that shall be taken apart, are written as
// fragments first (stdlib/nnef1/translations/, compounds.nnef), and these expanded like those
// of any model.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "diag/diagnostic.h"
#include "nnef1/export/export.h"

namespace lemma::convert {

struct RewriteOptions {
    bool flat = false;           // take compound operations apart
    std::set<std::string> keep;  // but not these
    nnef1::ExportOptions names;
};

struct RewrittenModel {
    std::string graph;                                      // the text of graph.nnef
    std::string quant;                                      // of graph.quant; may be empty
    std::vector<nnef1::ExportedGraph::Variable> variables;  // with the tensors of the program
};

// The compound operations of the specification.
std::set<std::string> compound_operations();

// Empty when the program cannot be written, which is reported.
std::optional<RewrittenModel> rewrite_as_nnef1(const ir::Program& program,
                                               const RewriteOptions& options,
                                               Diagnostics& diag);

}  // namespace lemma::convert
