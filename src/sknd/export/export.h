// sknd/export/export.h — a program as SkriptND text, whatever format it came from: calls of the
// standard modules, in the canonical layout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/program.h"
#include "sknd/modules/modules.h"

namespace lemma::sknd {

struct ExportedModel {
    std::string text;   // of main.sknd
    std::string graph;  // its name
    struct Variable {
        std::string name;  // in the text: `w`, or `first.w` for one of the operator called `first`
        ir::TensorId tensor;
        // Control flow is around the call, whose label comes before the name.
        bool in_region = false;
    };
    std::vector<Variable> variables;
};

// `package` has the definitions that the program was composed from. Operators of the standard
// modules are called; what is defined over them in the model, or in the modules of NNEF 1.0 and
// ONNX, is written as what it is composed of. What SkriptND cannot say is reported.
std::optional<ExportedModel> export_sknd(const ir::Program& program,
                                         const Package& package,
                                         Diagnostics& diag);

}  // namespace lemma::sknd
