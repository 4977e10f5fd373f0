// SPDX-License-Identifier: Apache-2.0
// model/given_inputs.h — the inputs of a model that a user gives as files: `-i NAME=FILE`, or
// `-i FILE` for the inputs in order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/tensor.h"

namespace lemma::model {

// Reads the tensors of a file; one without a name may be any input. Empty: tensor files only.
using InputReader =
    std::function<Result<std::vector<tensor::NamedTensor>>(const std::string& path)>;

struct GivenFiles {
    std::vector<std::string> arguments;
    InputReader read;
};

struct GivenInput {
    std::string name;
    std::string path;
    tensor::Tensor tensor;
};

enum class GivenWhen {
    BeforeTheRun,  // for inputs that decide shapes: leaves pipes and surplus files to the run
    ForTheRun,
};

// `names` are those of the model's inputs, in order. The arrays of a .npz file go to the inputs of
// their names, or `arr_0`, `arr_1`, … to the inputs in order.
Result<std::vector<GivenInput>> read_given(const std::vector<std::string>& names,
                                           const GivenFiles& files,
                                           GivenWhen when);

}  // namespace lemma::model
