// SPDX-License-Identifier: Apache-2.0
// sknd/modules/import_cycles.h — finds cycles of imports.
#pragma once

#include <cstddef>
#include <vector>

#include "diag/span.h"

namespace lemma::sknd {

// One import: its place, and the index of the imported module.
struct ImportEdge {
    Span span;
    size_t target = 0;
};

// The imports of each module, by its index.
using ImportGraph = std::vector<std::vector<ImportEdge>>;

// One step of a cycle: this module imports the next one here.
struct CycleStep {
    size_t module = 0;
    Span span;
};
using ImportCycle = std::vector<CycleStep>;

// Walks the imports from module 0 on. Returns one cycle for each module that closes one by
// importing a module on the path to it; all cycles would be too many. Each begins with the module
// that is reached first. Chains may have any length.
std::vector<ImportCycle> find_import_cycles(const ImportGraph& graph);

}  // namespace lemma::sknd
