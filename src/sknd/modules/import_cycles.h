// sknd/modules/import_cycles.h — finds modules that import each other in a circle.
#pragma once

#include <cstddef>
#include <vector>

#include "diag/span.h"

namespace lemma::sknd {

// One import: where it stands, and the index of the module that it names.
struct ImportEdge {
    Span span;
    size_t target = 0;
};

// The imports of each module, by its index.
using ImportGraph = std::vector<std::vector<ImportEdge>>;

// One step of a circle: this module imports the next one of the circle here.
struct CycleStep {
    size_t module = 0;
    Span span;
};
using ImportCycle = std::vector<CycleStep>;

// Walks the imports from module 0 on, and gives one circle for each module that closes one by
// importing a module that led to it; all circles would be too many. Each begins with the module
// that is reached first. Works on chains of any length.
std::vector<ImportCycle> find_import_cycles(const ImportGraph& graph);

}  // namespace lemma::sknd
