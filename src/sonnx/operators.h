// sonnx/operators.h — what the profile knows about operators besides their meaning, which is in
// stdlib/onnx: whether they are selected, and which inputs and attributes its rules speak of.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/model.h"
#include "sonnx/view.h"

namespace lemma::sonnx {

enum class Standing : uint8_t {
    Selected,  // in the list of REQ-OP-000
    Draft,     // the working group has a text, but did not select it yet
};
enum class BroadcastKind : uint8_t {
    None,
    All,     // all inputs to one shape
    MatMul,  // axes before the last two
    GemmC,   // the third input to that of the result
};

struct OperatorInfo {
    std::string_view name;
    Standing standing = Standing::Selected;
    BroadcastKind broadcast = BroadcastKind::None;
    std::vector<size_t> same_type = {};  // inputs that have one element type; one item: from there
    std::vector<size_t> steering = {};   // inputs that decide shapes or axes
    std::optional<size_t> axes_input = {};
};
// Null for operators that are not in the profile at all.
const OperatorInfo* find_operator(std::string_view op);
// The inputs of `same_type` that the node has.
std::vector<size_t> same_type_inputs(const OperatorInfo& info, const onnx::Node& node);

// How many axes the attribute or input `axis`, `axes` of the node counts; empty: not known.
std::optional<int64_t> counted_axes(const onnx::Node& node, const View& view);

// Random numbers, or an own state.
bool is_stochastic(std::string_view op);

}  // namespace lemma::sonnx
