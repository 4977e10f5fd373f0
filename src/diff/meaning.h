// SPDX-License-Identifier: Apache-2.0
// diff/meaning.h — a hash of what each tensor is, from the inputs and weights on. Two tensors with
// the same meaning have the same value, up to the rounding of intermediate results: element-wise
// operations count as parts of the formulas that read them, whether they are one or several.
#pragma once

#include "diff/graph.h"
#include "diff/weights.h"

namespace lemma::diff {

using Meanings = Table<ir::TensorId, Hash>;

struct MeaningOptions {
    std::vector<ir::TensorId> inputs;  // in the same order for both models
    bool weights = true;               // their values count
};

// Adds expressions to the symbols of the program.
Meanings find_meanings(ir::Program& program, Weights& weights, const MeaningOptions& options);

}  // namespace lemma::diff
