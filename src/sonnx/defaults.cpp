#include "sonnx/defaults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <numeric>
#include <variant>

namespace lemma::sonnx {

namespace {

// Values that follow from the shapes around the node.
enum class Computed : uint8_t {
    KernelShape,   // that of the weights
    Ones,          // one for each spatial axis
    Zeros,         // the same with zero
    PairsOfZeros,  // two for each spatial axis
    Reversed,      // the axes of the input from the last to the first
    ZeroTensor,    // a float tensor, which is left to the user to write
};
using Value = std::variant<int64_t, float, std::string_view, Computed>;

struct Row {
    std::string_view op;
    std::string_view attribute;
    Value value;
    int64_t since = 1;     // the operator set that brought it
    int64_t until = 1000;  // the last one where this is the default
};

constexpr int64_t kZero = 0;
constexpr int64_t kOne = 1;

// From the operator documentation of ONNX, for operator sets from 6 on.
const std::vector<Row>& rows() {
    using enum Computed;
    static const std::vector<Row> kRows = {
        {"Add", "broadcast", kZero, 1, 6},
        {"ArgMax", "axis", kZero},
        {"ArgMax", "keepdims", kOne},
        {"ArgMax", "select_last_index", kZero, 12},
        {"BatchNormalization", "epsilon", 1e-5F},
        {"BatchNormalization", "is_test", kZero, 1, 6},
        {"BatchNormalization", "momentum", 0.9F},
        {"BatchNormalization", "spatial", kOne, 1, 8},
        {"BatchNormalization", "training_mode", kZero, 14},
        {"Cast", "saturate", kOne, 19},
        {"Cast", "round_mode", "up", 24},
        {"Clip", "max", std::numeric_limits<float>::max(), 6, 10},
        {"Clip", "min", std::numeric_limits<float>::lowest(), 6, 10},
        {"ConstantOfShape", "value", ZeroTensor},
        {"Conv", "auto_pad", "NOTSET"},
        {"Conv", "dilations", Ones},
        {"Conv", "group", kOne},
        {"Conv", "kernel_shape", KernelShape},
        {"Conv", "pads", PairsOfZeros},
        {"Conv", "strides", Ones},
        {"ConvInteger", "auto_pad", "NOTSET"},
        {"ConvInteger", "dilations", Ones},
        {"ConvInteger", "group", kOne},
        {"ConvInteger", "kernel_shape", KernelShape},
        {"ConvInteger", "pads", PairsOfZeros},
        {"ConvInteger", "strides", Ones},
        {"ConvTranspose", "auto_pad", "NOTSET"},
        {"ConvTranspose", "dilations", Ones},
        {"ConvTranspose", "group", kOne},
        {"ConvTranspose", "kernel_shape", KernelShape},
        {"ConvTranspose", "output_padding", Zeros},
        {"ConvTranspose", "pads", PairsOfZeros},
        {"ConvTranspose", "strides", Ones},
        {"DequantizeLinear", "axis", kOne, 13},
        {"DequantizeLinear", "block_size", kZero, 21},
        {"DequantizeLinear", "output_dtype", kZero, 23},
        {"Div", "broadcast", kZero, 1, 6},
        {"Equal", "broadcast", kZero, 1, 6},
        {"Flatten", "axis", kOne},
        {"GRU", "direction", "forward"},
        {"GRU", "layout", kZero, 14},
        {"GRU", "linear_before_reset", kZero, 3},
        {"GRU", "output_sequence", kZero, 1, 6},
        {"Gather", "axis", kZero},
        {"Gemm", "alpha", 1.0F},
        {"Gemm", "beta", 1.0F},
        {"Gemm", "broadcast", kZero, 1, 6},
        {"Gemm", "transA", kZero},
        {"Gemm", "transB", kZero},
        {"LSTM", "direction", "forward"},
        {"LSTM", "input_forget", kZero},
        {"LSTM", "layout", kZero, 14},
        {"LSTM", "output_sequence", kZero, 1, 6},
        {"LeakyRelu", "alpha", 0.01F},
        {"Less", "broadcast", kZero, 1, 6},
        {"MaxPool", "auto_pad", "NOTSET"},
        {"MaxPool", "ceil_mode", kZero, 10},
        {"MaxPool", "dilations", Ones, 10},
        {"MaxPool", "pads", PairsOfZeros},
        {"MaxPool", "storage_order", kZero, 8},
        {"MaxPool", "strides", Ones},
        {"Mod", "fmod", kZero, 10},
        {"Mul", "broadcast", kZero, 1, 6},
        {"Pad", "mode", "constant"},
        {"Pad", "value", 0.0F, 1, 10},
        {"Pow", "broadcast", kZero, 1, 6},
        {"QuantizeLinear", "axis", kOne, 13},
        {"QuantizeLinear", "block_size", kZero, 21},
        {"QuantizeLinear", "output_dtype", kZero, 21},
        {"QuantizeLinear", "precision", kZero, 23},
        {"QuantizeLinear", "saturate", kOne, 19},
        {"ReduceMean", "keepdims", kOne},
        {"ReduceMean", "noop_with_empty_axes", kZero, 18},
        {"ReduceSum", "keepdims", kOne},
        {"ReduceSum", "noop_with_empty_axes", kZero, 13},
        {"Reshape", "allowzero", kZero, 14},
        {"Resize", "antialias", kZero, 18},
        {"Resize", "coordinate_transformation_mode", "half_pixel", 11},
        {"Resize", "cubic_coeff_a", -0.75F, 11},
        {"Resize", "exclude_outside", kZero, 11},
        {"Resize", "extrapolation_value", 0.0F, 11},
        {"Resize", "keep_aspect_ratio_policy", "stretch", 18},
        {"Resize", "mode", "nearest", 10},
        {"Resize", "nearest_mode", "round_prefer_floor", 11},
        {"ScatterND", "reduction", "none", 16},
        {"Shape", "start", kZero, 15},
        {"Softmax", "axis", int64_t{1}, 1, 12},
        {"Softmax", "axis", int64_t{-1}, 13},
        {"Split", "axis", kZero, 2},
        {"Sub", "broadcast", kZero, 1, 6},
        {"Transpose", "perm", Reversed},
    };
    return kRows;
}

std::optional<onnx::Attribute> computed(const Row& row,
                                        Computed how,
                                        const onnx::Node& node,
                                        const View& view) {
    if (how == Computed::ZeroTensor) return std::nullopt;
    const bool from_weights = how == Computed::KernelShape;
    const auto shape = view.input_shape(node, from_weights ? 1 : 0);
    if (!shape) return std::nullopt;
    const size_t rank = shape->size();
    if (how == Computed::Reversed) {
        std::vector<int64_t> axes(rank);
        std::iota(axes.rbegin(), axes.rend(), 0);
        return make_ints(row.attribute, std::move(axes));
    }
    if (rank < 3) return std::nullopt;
    const size_t spatial = rank - 2;
    switch (how) {
        case Computed::KernelShape:
            return make_ints(row.attribute, {shape->begin() + 2, shape->end()});
        case Computed::Ones:
            return make_ints(row.attribute, std::vector<int64_t>(spatial, 1));
        case Computed::Zeros:
            return make_ints(row.attribute, std::vector<int64_t>(spatial, 0));
        default:
            return make_ints(row.attribute, std::vector<int64_t>(2 * spatial, 0));
    }
}

std::optional<onnx::Attribute> value_of(const Row& row, const onnx::Node& node, const View& view) {
    if (const auto* integer = std::get_if<int64_t>(&row.value))
        return make_int(row.attribute, *integer);
    if (const auto* real = std::get_if<float>(&row.value)) return make_float(row.attribute, *real);
    if (const auto* text = std::get_if<std::string_view>(&row.value))
        return make_text(row.attribute, std::string(*text));
    return computed(row, std::get<Computed>(row.value), node, view);
}

// Padding that something else decides has no default of its own.
bool is_decided_elsewhere(const Row& row, const onnx::Node& node) {
    if (row.attribute != "pads") return false;
    const auto mode = text_attribute(node, "auto_pad");
    return (mode && *mode != "NOTSET") || onnx::find_attribute(node, "output_shape");
}

onnx::Attribute make(std::string_view name, onnx::AttributeType type) {
    onnx::Attribute attribute;
    attribute.name = name;
    attribute.type = type;
    return attribute;
}

}  // namespace

std::vector<MissingAttribute> missing_attributes(const onnx::Node& node, const View& view) {
    std::vector<MissingAttribute> missing;
    if (!onnx::is_default_domain(node.domain)) return missing;
    for (const Row& row : rows()) {
        if (row.op != node.op || view.opset() < row.since || view.opset() > row.until) continue;
        if (onnx::find_attribute(node, row.attribute) || is_decided_elsewhere(row, node)) continue;
        missing.push_back({row.attribute, value_of(row, node, view)});
    }
    return missing;
}

std::string value_text(const onnx::Attribute& attribute) {
    switch (attribute.type) {
        case onnx::AttributeType::Int:
            return fmt::format("{}", fmt::join(attribute.ints, ", "));
        case onnx::AttributeType::Float:
            return fmt::format("{}", fmt::join(attribute.floats, ", "));
        case onnx::AttributeType::String:
            return fmt::format("{}", fmt::join(attribute.strings, ", "));
        default:
            return fmt::format("[{}]", fmt::join(attribute.ints, ", "));
    }
}

onnx::Attribute make_int(std::string_view name, int64_t value) {
    onnx::Attribute attribute = make(name, onnx::AttributeType::Int);
    attribute.ints = {value};
    return attribute;
}
onnx::Attribute make_ints(std::string_view name, std::vector<int64_t> values) {
    onnx::Attribute attribute = make(name, onnx::AttributeType::Ints);
    attribute.ints = std::move(values);
    return attribute;
}
onnx::Attribute make_float(std::string_view name, float value) {
    onnx::Attribute attribute = make(name, onnx::AttributeType::Float);
    attribute.floats = {value};
    return attribute;
}
onnx::Attribute make_text(std::string_view name, std::string value) {
    onnx::Attribute attribute = make(name, onnx::AttributeType::String);
    attribute.strings = {std::move(value)};
    return attribute;
}

}  // namespace lemma::sonnx
