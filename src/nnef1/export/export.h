// SPDX-License-Identifier: Apache-2.0
// nnef1/export/export.h — a program of any source format as the graph of an NNEF 1.0 document.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "nnef1/check/operations.h"

namespace lemma::nnef1 {

struct ExportOptions {
    // The name of a variable. Invalid labels are changed to valid ones, and each is used once.
    std::function<std::string(const ir::Tensor&)> label;
};

struct ExportedGraph {
    std::string text;  // one line per assignment
    struct Variable {
        std::string label;
        ir::TensorId tensor;  // a variable, or a constant that has no literal
    };
    std::vector<Variable> variables;
    std::map<std::string, ir::TensorId> names;  // the identifiers of the graph
};

// Whether the operation belongs to the specification, and a document can express its inputs,
// attributes and results.
bool is_written_whole(const ir::Program& program,
                      const Operations& operations,
                      const ir::Operation& op);

// The reason if it does not.
std::string why_not_written(const ir::Program& program, const ir::Operation& op);

// Reports graph inputs that NNEF 1.0 cannot declare. False if an extent is not fixed: shapes are
// then unknown.
bool check_inputs(const ir::Program& program, Diagnostics& diag);

// The operations of the main graph must be those of the specification. Reports everything that NNEF
// 1.0 cannot express.
std::optional<ExportedGraph> export_graph(const ir::Program& program,
                                          const Operations& operations,
                                          const ExportOptions& options,
                                          Diagnostics& diag);

// The document with this graph and its fragments, if any, in the canonical layout. Empty and
// reported if a literal is unreadable.
std::optional<std::string> document_text(const std::string& graph,
                                         const std::string& fragments,
                                         Diagnostics& diag);

struct ExportedQuantizers {
    std::string text;                 // the lines of graph.quant; empty if no tensor is quantised
    std::set<std::string> fragments;  // fragments of `operations` that they call
};
ExportedQuantizers export_quantizers(const ir::Program& program,
                                     const std::map<std::string, ir::TensorId>& names,
                                     const Operations& operations,
                                     Diagnostics& diag);

}  // namespace lemma::nnef1
