// SPDX-License-Identifier: Apache-2.0
// edit/slice.h — selects the operations that lead from some tensors to others.
#pragma once

#include <unordered_map>
#include <vector>

#include "edit/uses.h"

namespace lemma::edit {

struct Slice {
    std::vector<ir::OpId> operations;  // in order; a compound that is cut through is opened
    std::vector<ir::Update> updates;   // of the variables that the operations read
    TensorSet needed;                  // all tensors that are read, and those asked for
    TensorSet replaced;                // those that another one stands for
    // An input of the model, or a tensor that nothing before it makes, and its first reader.
    struct Missing {
        ir::TensorId tensor;
        ir::OpId reader;  // invalid: it is asked for itself
    };
    std::vector<Missing> missing;  // inputs of the model that are needed and not cut
};

using TensorMap = std::unordered_map<ir::TensorId, ir::TensorId, IdHash>;
// The tensor at the end of a chain of replacements.
ir::TensorId follow(const TensorMap& same, ir::TensorId id);

// `cut`: tensors that are given. `wanted`: tensors that are asked for. `same`: tensors that stand
// for others.
Slice slice(const ir::Program& program,
            const TensorSet& cut,
            const TensorSet& wanted,
            const TensorMap& same = {});

}  // namespace lemma::edit
