// SPDX-License-Identifier: Apache-2.0
// sonnx/operators.h — what the rules ask the operator table (onnx/operators.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/operators.h"
#include "sonnx/view.h"

namespace lemma::sonnx {

// Null for operators that are not in the profile at all.
const onnx::Operator* profile_operator(std::string_view op);
// The inputs that share a type variable and that the node has.
std::vector<size_t> same_type_inputs(const onnx::Operator& op, const onnx::Node& node);
// The input that names axes, if the node has it.
std::optional<size_t> axes_input(const onnx::Operator& op, const onnx::Node& node);

// The operator of the profile with the same results, for a node of another one: Add for a Sum of
// two, Identity for a Dropout that is no training. Empty: there is none.
std::string_view profile_equivalent(const onnx::Node& node, const View& view);
// Whether that input of the node is the shape of the result, so that the shape can replace it.
bool gives_result_shape(const onnx::Node& node, size_t input);
// How many axes the attribute or input `axis`, `axes` of the node counts; empty: not known.
std::optional<int64_t> counted_axes(const onnx::Node& node, const View& view);

}  // namespace lemma::sonnx
