// SPDX-License-Identifier: Apache-2.0
// sonnx/optional_inputs.h — omitted inputs of nodes, and values with the same meaning. The profile
// requires all of them to be given (GR4, graph R1).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sonnx/view.h"

namespace lemma::sonnx {

// A tensor by its description, because it can be large.
struct InputValue {
    tensor::DType dtype{};
    Extents shape;
    double fill = 0;                  // of all elements, without `items`
    std::vector<int64_t> items = {};  // of an integer tensor
};
Result<tensor::Tensor> make_tensor(const InputValue& value);

struct MissingInput {
    size_t index = 0;
    std::string_view name;
    std::optional<InputValue> value;  // empty if it needs an unknown type
};
// The omitted inputs of a node, in the operator set of the model. Alternatives, such as `scales`
// and `sizes` of Resize, are no omissions.
std::vector<MissingInput> missing_inputs(const onnx::Node& node, const View& view);

}  // namespace lemma::sonnx
