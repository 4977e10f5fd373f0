// SPDX-License-Identifier: Apache-2.0
#include "sonnx/optional_inputs.h"

#include <limits>
#include <numeric>

#include "base/checked.h"
#include "sonnx/operators.h"

namespace lemma::sonnx {

namespace {

using onnx::Node;
using tensor::DType;
using Value = std::optional<InputValue>;

std::optional<DType> dtype_of(const Node& node, size_t input, const View& view) {
    const auto type = has_input(node, input) ? view.type(node.inputs[input]) : std::nullopt;
    return type ? tensor::dtype_of_onnx(type->elem_type) : std::nullopt;
}

Value filled(std::optional<DType> dtype, std::optional<Extents> shape, double fill = 0) {
    if (!dtype || !shape) return std::nullopt;
    return InputValue{.dtype = *dtype, .shape = std::move(*shape), .fill = fill};
}

Value integers(DType dtype, std::vector<int64_t> items) {
    if (items.empty()) return std::nullopt;
    const auto count = static_cast<int64_t>(items.size());
    return InputValue{.dtype = dtype, .shape = {count}, .items = std::move(items)};
}

// ---- Bias ---------------------------------------------------------------------------------------

Value conv_bias(const Node& node, const View& view) {
    const auto w = view.input_shape(node, 1);
    if (!w || w->empty()) return std::nullopt;
    return filled(dtype_of(node, 0, view), Extents{(*w)[0]});
}

Value transposed_bias(const Node& node, const View& view) {
    const auto y = view.output_shape(node, 0);
    if (!y || y->size() < 2) return std::nullopt;
    return filled(dtype_of(node, 0, view), Extents{(*y)[1]});
}

Value gemm_term(const Node& node, const View& view) {
    const auto y = view.output_shape(node, 0);
    return y ? filled(dtype_of(node, 0, view), *y) : std::nullopt;
}

// ---- Bounds -------------------------------------------------------------------------------------

// A bound that changes no element: infinite for reals.
Value bound(const Node& node, const View& view, bool upper) {
    const auto dtype = dtype_of(node, 0, view);
    if (!dtype) return std::nullopt;
    if (tensor::is_real(*dtype)) {
        const double infinite = std::numeric_limits<double>::infinity();
        return filled(dtype, Extents{}, upper ? infinite : -infinite);
    }
    if (!tensor::is_integer(*dtype)) return std::nullopt;
    const auto bits = 8 * tensor::dtype_size(*dtype);
    const bool is_signed = tensor::is_signed(*dtype);
    if (bits == 64 && !is_signed && upper) return std::nullopt;
    const int64_t high = bits == 64 ? INT64_MAX : (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    const int64_t low = is_signed ? -high - 1 : 0;
    return InputValue{.dtype = *dtype, .shape = {}, .items = {upper ? high : low}};
}
Value lower_bound(const Node& node, const View& view) { return bound(node, view, false); }
Value upper_bound(const Node& node, const View& view) { return bound(node, view, true); }

// ---- Recurrent networks -------------------------------------------------------------------------

struct Recurrence {
    int64_t steps = 0;
    int64_t batch = 0;
    int64_t directions = 0;
    int64_t hidden = 0;
    bool batch_first = false;
};
std::optional<Recurrence> recurrence_of(const Node& node, const View& view) {
    const auto x = view.input_shape(node, 0);
    const auto r = view.input_shape(node, 2);
    if (!x || !r || x->size() != 3 || r->size() != 3) return std::nullopt;
    const bool batch_first = int_attribute(node, "layout").value_or(0) != 0;
    return Recurrence{.steps = (*x)[batch_first ? 1 : 0],
                      .batch = (*x)[batch_first ? 0 : 1],
                      .directions = (*r)[0],
                      .hidden = (*r)[2],
                      .batch_first = batch_first};
}

// Zeros of the shape directions × (parts * hidden).
Value per_gate(const Node& node, const View& view, int64_t parts) {
    const auto sizes = recurrence_of(node, view);
    const auto width = sizes ? checked_mul(parts, sizes->hidden) : std::nullopt;
    if (!width) return std::nullopt;
    return filled(dtype_of(node, 0, view), Extents{sizes->directions, *width});
}
Value lstm_bias(const Node& node, const View& view) { return per_gate(node, view, 8); }
Value lstm_peepholes(const Node& node, const View& view) { return per_gate(node, view, 3); }
Value gru_bias(const Node& node, const View& view) { return per_gate(node, view, 6); }

Value first_state(const Node& node, const View& view) {
    const auto sizes = recurrence_of(node, view);
    if (!sizes) return std::nullopt;
    const auto [first, second] = sizes->batch_first ? std::pair(sizes->batch, sizes->directions)
                                                    : std::pair(sizes->directions, sizes->batch);
    return filled(dtype_of(node, 0, view), Extents{first, second, sizes->hidden});
}

Value all_steps(const Node& node, const View& view) {
    const auto sizes = recurrence_of(node, view);
    constexpr int64_t kMostBatches = 1 << 20;
    if (!sizes || sizes->batch < 1 || sizes->batch > kMostBatches) return std::nullopt;
    return integers(DType::I32,
                    std::vector<int64_t>(static_cast<size_t>(sizes->batch), sizes->steps));
}

// ---- Axes and sizes -----------------------------------------------------------------------------

Value all_axes(const Node& node, const View& view) {
    const auto shape = view.input_shape(node, 0);
    if (!shape) return std::nullopt;
    std::vector<int64_t> axes(shape->size());
    std::iota(axes.begin(), axes.end(), 0);
    return integers(DType::I64, std::move(axes));
}

// With `noop_with_empty_axes`, no axes mean none.
Value reduced_axes(const Node& node, const View& view) {
    if (int_attribute(node, "noop_with_empty_axes").value_or(0) != 0) return std::nullopt;
    return all_axes(node, view);
}

Value axes_of_one(const Node& node, const View& view) {
    const auto shape = view.input_shape(node, 0);
    if (!shape) return std::nullopt;
    std::vector<int64_t> axes;
    for (size_t i = 0; i < shape->size(); ++i) {
        if ((*shape)[i] == 1) axes.push_back(static_cast<int64_t>(i));
    }
    return integers(DType::I64, std::move(axes));
}

Value split_sizes(const Node& node, const View& view) {
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        const auto shape = view.output_shape(node, i);
        if (!shape) return std::nullopt;
        const auto rank = static_cast<int64_t>(shape->size());
        const int64_t axis = int_attribute(node, "axis").value_or(0);
        if (axis < -rank || axis >= rank) return std::nullopt;
        sizes.push_back((*shape)[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
    }
    return integers(DType::I64, std::move(sizes));
}

Value sliced_axes(const Node& node, const View& view) {
    const auto starts = has_input(node, 1) ? view.constant_ints(node.inputs[1]) : std::nullopt;
    const auto dtype = dtype_of(node, 1, view);
    if (!starts || !dtype) return std::nullopt;
    std::vector<int64_t> axes(starts->size());
    std::iota(axes.begin(), axes.end(), 0);
    return integers(*dtype, std::move(axes));
}
Value slice_steps(const Node& node, const View& view) {
    const auto starts = has_input(node, 1) ? view.constant_ints(node.inputs[1]) : std::nullopt;
    const auto dtype = dtype_of(node, 1, view);
    if (!starts || !dtype) return std::nullopt;
    return integers(*dtype, std::vector<int64_t>(starts->size(), 1));
}

// ---- Zeros --------------------------------------------------------------------------------------

Value zero_padding(const Node& node, const View& view) {
    return filled(dtype_of(node, 0, view), Extents{});
}
Value zero_of_first(const Node& node, const View& view) {
    return filled(dtype_of(node, 0, view), Extents{});
}
Value zero_of_second(const Node& node, const View& view) {
    return filled(dtype_of(node, 1, view), Extents{});
}
// Quantised elements are bytes unless the node says otherwise.
Value zero_point_of_result(const Node& node, const View& view) {
    if (int_attribute(node, "output_dtype").value_or(0) != 0) return std::nullopt;
    return filled(DType::U8, view.input_shape(node, 1));
}
Value zero_point_of_input(const Node& node, const View& view) {
    return filled(dtype_of(node, 0, view), view.input_shape(node, 1));
}

// ---- The table ----------------------------------------------------------------------------------

struct Row {
    std::string_view op;
    size_t index;
    std::string_view name;
    int64_t since;  // the first operator set with this input
    Value (*value)(const Node&, const View&);
};
constexpr Row kRows[] = {
    {"Clip", 1, "min", 11, lower_bound},
    {"Clip", 2, "max", 11, upper_bound},
    {"Conv", 2, "B", 1, conv_bias},
    {"ConvInteger", 2, "x_zero_point", 10, zero_of_first},
    {"ConvInteger", 3, "w_zero_point", 10, zero_of_second},
    {"ConvTranspose", 2, "B", 1, transposed_bias},
    {"DequantizeLinear", 2, "x_zero_point", 10, zero_point_of_input},
    {"GRU", 3, "B", 1, gru_bias},
    {"GRU", 4, "sequence_lens", 1, all_steps},
    {"GRU", 5, "initial_h", 1, first_state},
    {"Gemm", 2, "C", 1, gemm_term},
    {"LSTM", 3, "B", 1, lstm_bias},
    {"LSTM", 4, "sequence_lens", 1, all_steps},
    {"LSTM", 5, "initial_h", 1, first_state},
    {"LSTM", 6, "initial_c", 1, first_state},
    {"LSTM", 7, "P", 1, lstm_peepholes},
    {"Pad", 2, "constant_value", 11, zero_padding},
    {"Pad", 3, "axes", 18, all_axes},
    {"QuantizeLinear", 2, "y_zero_point", 10, zero_point_of_result},
    {"ReduceMean", 1, "axes", 18, reduced_axes},
    {"ReduceSum", 1, "axes", 13, reduced_axes},
    {"Slice", 3, "axes", 10, sliced_axes},
    {"Slice", 4, "steps", 10, slice_steps},
    {"Split", 1, "split", 13, split_sizes},
    {"Squeeze", 1, "axes", 13, axes_of_one},
};

}  // namespace

Result<tensor::Tensor> make_tensor(const InputValue& value) {
    LEMMA_TRY(auto made, tensor::Tensor::zeros(value.dtype, value.shape));
    for (size_t i = 0; i < value.items.size(); ++i)
        made.set_integer(static_cast<int64_t>(i), value.items[i]);
    if (value.fill != 0) {
        for (int64_t i = 0; i < made.size(); ++i) made.set_real(i, value.fill);
    }
    return made;
}

std::vector<MissingInput> missing_inputs(const Node& node, const View& view) {
    std::vector<MissingInput> missing;
    if (!onnx::is_default_domain(node.domain)) return missing;
    for (const Row& row : kRows) {
        if (row.op != node.op || view.opset() < row.since || has_input(node, row.index)) continue;
        missing.push_back({row.index, row.name, row.value(node, view)});
    }
    return missing;
}

}  // namespace lemma::sonnx
