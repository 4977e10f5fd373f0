// SPDX-License-Identifier: Apache-2.0
// edit/batch_norm.h — folds a batch normalisation into the convolution or linear operation before
// it: new weights and a new bias.
//
// The normalisation is recognised as `nn.batch_norm`, which the operators of all formats contain.
// The sum and the channel axis of its weights come from the formula of the operation.
#pragma once

#include <map>

#include "model/loaded_model.h"

namespace lemma::edit {

struct FoldedNorms {
    int64_t count = 0;
    std::map<std::string, tensor::Tensor> data;  // of the new variables, by name
};

// Changes the ports of operations, but not their formulas: the program must be written and read
// again before anything else uses it.
Result<FoldedNorms> fold_batch_norms(model::LoadedModel& model);

}  // namespace lemma::edit
