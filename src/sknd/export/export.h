// SPDX-License-Identifier: Apache-2.0
// sknd/export/export.h — writes a program of any format as SkriptND text: calls of the standard
// modules, in the canonical layout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/program.h"
#include "sknd/modules/modules.h"

namespace lemma::sknd {

struct ExportedModel {
    std::string text;   // text of main.sknd
    std::string graph;  // name of the graph
    struct Variable {
        std::string name;  // in the text: `w`, or `first.w` in the call with the label `first`
        ir::TensorId tensor;
        // The call is inside control flow, so its label comes before the name.
        bool in_region = false;
    };
    std::vector<Variable> variables;
};

// `package` has the definitions that the program was composed from. Operators of the standard
// modules are called. Operators of the model, or of the modules of NNEF 1.0 and ONNX, are replaced
// by their parts. Reports what SkriptND cannot express.
std::optional<ExportedModel> export_sknd(const ir::Program& program,
                                         const Package& package,
                                         Diagnostics& diag);

}  // namespace lemma::sknd
