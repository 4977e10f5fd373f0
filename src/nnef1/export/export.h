// nnef1/export/export.h — a program as the graph of an NNEF 1.0 document, whatever format it came
// from.
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
    // What a variable is called; what cannot be a label is made one, and each is used once.
    std::function<std::string(const ir::Tensor&)> label;
};

struct ExportedGraph {
    std::string text;  // a line for each assignment
    struct Variable {
        std::string label;
        ir::TensorId tensor;  // a variable, or a constant that literals cannot say
    };
    std::vector<Variable> variables;
    std::map<std::string, ir::TensorId> names;  // the identifiers of the graph
};

// Whether the operation is one of the specification, with inputs, attributes and results that a
// document can hold.
bool is_written_whole(const ir::Program& program,
                      const Operations& operations,
                      const ir::Operation& op);

// Why an operation that is not is refused.
std::string why_not_written(const ir::Program& program, const ir::Operation& op);

// Reports inputs of the graph that NNEF 1.0 cannot declare. False when an extent is not fixed:
// then no shape can be told.
bool check_inputs(const ir::Program& program, Diagnostics& diag);

// The operations of the main graph are those of the specification. What NNEF 1.0 cannot say is
// reported.
std::optional<ExportedGraph> export_graph(const ir::Program& program,
                                          const Operations& operations,
                                          const ExportOptions& options,
                                          Diagnostics& diag);

// The document with this graph, and with fragments where there are any, in the canonical layout;
// empty when a literal is none that can be read, which is reported.
std::optional<std::string> document_text(const std::string& graph,
                                         const std::string& fragments,
                                         Diagnostics& diag);

struct ExportedQuantizers {
    std::string text;                 // the lines of graph.quant; empty when no tensor is quantised
    std::set<std::string> fragments;  // what they call beside the specification, in `operations`
};
ExportedQuantizers export_quantizers(const ir::Program& program,
                                     const std::map<std::string, ir::TensorId>& names,
                                     const Operations& operations,
                                     Diagnostics& diag);

}  // namespace lemma::nnef1
