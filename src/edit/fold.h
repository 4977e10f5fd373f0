// SPDX-License-Identifier: Apache-2.0
// edit/fold.h — operations that depend on constants alone are computed, and operations that copy
// their input are passed by.
#pragma once

#include <map>

#include "edit/part.h"

namespace lemma::edit {

struct FoldLimits {
    int64_t max_growth = int64_t{16} << 20;  // bytes that results may have more than their operands
    double max_steps = 1e9;                  // of the interpreter, for all results together
};

struct Folded {
    std::vector<Stored> stored;
    std::map<std::string, tensor::Tensor> data;  // of the variables among them, by name
    int64_t operations = 0;                      // that are gone
    int64_t left = 0;                            // constant ones that stay because of the limits
};
Result<Folded> fold_constants(const model::LoadedModel& model, const FoldLimits& limits);

// Results of operations that copy one tensor, element by element.
std::unordered_map<ir::TensorId, ir::TensorId, IdHash> find_identities(const ir::Program& program);

}  // namespace lemma::edit
