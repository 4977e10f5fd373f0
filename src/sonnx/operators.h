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

// How many axes the attribute or input `axis`, `axes` of the node counts; empty: not known.
std::optional<int64_t> counted_axes(const onnx::Node& node, const View& view);

}  // namespace lemma::sonnx
