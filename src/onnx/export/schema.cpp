#include "onnx/export/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "onnx/export.h"
#include "onnx/model.h"
#include "onnx/validate.h"

namespace lemma::onnx {

namespace {

constexpr std::string_view kMlDomain = "ai.onnx.ml";

struct SinceRow {
    std::string_view op;
    int64_t since;
};

// Operators that came, or got their form, after the oldest operator set that is written.
constexpr std::array kSince = {
    SinceRow{"HardSwish", 14},
    SinceRow{"Trilu", 14},
    SinceRow{"Bernoulli", 15},
    SinceRow{"GridSample", 16},
    SinceRow{"RoiAlign", 16},
    SinceRow{"BlackmanWindow", 17},
    SinceRow{"HammingWindow", 17},
    SinceRow{"HannWindow", 17},
    SinceRow{"LayerNormalization", 17},
    SinceRow{"MelWeightMatrix", 17},
    SinceRow{"STFT", 17},
    SinceRow{"BitwiseAnd", 18},
    SinceRow{"BitwiseNot", 18},
    SinceRow{"BitwiseOr", 18},
    SinceRow{"BitwiseXor", 18},
    SinceRow{"CenterCropPad", 18},
    SinceRow{"Col2Im", 18},
    SinceRow{"Mish", 18},
    SinceRow{"DeformConv", 19},
    SinceRow{"AffineGrid", 20},
    SinceRow{"DFT", 20},
    SinceRow{"Gelu", 20},
    SinceRow{"StringConcat", 20},
    SinceRow{"GroupNormalization", 21},
    SinceRow{"Attention", 23},
    SinceRow{"RMSNormalization", 23},
    SinceRow{"RotaryEmbedding", 23},
    SinceRow{"Swish", 24},
    SinceRow{"TensorScatter", 24},
    SinceRow{"BitCast", kNewestOpset},
    SinceRow{"CausalConvWithState", kNewestOpset},
    SinceRow{"CumProd", kNewestOpset},
    SinceRow{"LinearAttention", kNewestOpset},
    SinceRow{"SwiGLU", kNewestOpset},
    // Of the domain ai.onnx.ml.
    SinceRow{"ArrayFeatureExtractor", 1},
    SinceRow{"Binarizer", 1},
    SinceRow{"LabelEncoder", 4},
    SinceRow{"LinearRegressor", 1},
    SinceRow{"Normalizer", 1},
    SinceRow{"Scaler", 1},
    SinceRow{"TreeEnsemble", 5},
};

constexpr std::array kMlOperators = {"ArrayFeatureExtractor",
                                     "Binarizer",
                                     "LabelEncoder",
                                     "LinearRegressor",
                                     "Normalizer",
                                     "Scaler",
                                     "TreeEnsemble"};

constexpr std::array kAttributes = {
    AttributeRow{"BatchNormalization", "training_mode", 14, "0"},
    AttributeRow{"Reshape", "allowzero", 14, "0"},
    AttributeRow{"GRU", "layout", 14, "0"},
    AttributeRow{"LSTM", "layout", 14, "0"},
    AttributeRow{"RNN", "layout", 14, "0"},
    AttributeRow{"ScatterElements", "reduction", 16, "none"},
    AttributeRow{"ScatterND", "reduction", 16, "none"},
    AttributeRow{"LpPool", "ceil_mode", 18, "0"},
    AttributeRow{"LpPool", "dilations", 18, "1"},
    AttributeRow{"Resize", "antialias", 18, "0"},
    AttributeRow{"Resize", "axes", 18, "none"},
    AttributeRow{"Resize", "keep_aspect_ratio_policy", 18, "stretch"},
    AttributeRow{"AveragePool", "dilations", 19, "1"},
    AttributeRow{"QuantizeLinear", "block_size", 21, "0"},
    AttributeRow{"DequantizeLinear", "block_size", 21, "0"},
    // Of the domain com.microsoft, which has one version.
    AttributeRow{"com.microsoft.FusedConv", "activation", 1, ""},
    AttributeRow{"com.microsoft.FusedGemm", "activation", 1, ""},
    AttributeRow{"com.microsoft.GroupQueryAttention", "causal", 1, "1"},
    AttributeRow{"com.microsoft.GroupQueryAttention", "kv_cache_bit_width", 1, "0"},
    AttributeRow{"com.microsoft.GroupQueryAttention", "qk_output", 1, "0"},
    AttributeRow{"com.microsoft.GroupQueryAttention", "sliding_window_cache", 1, "0"},
    AttributeRow{"com.microsoft.GroupQueryAttention", "smooth_softmax", 1, "0"},
    AttributeRow{"com.microsoft.MatMulNBits", "weight_prepacked", 1, "0"},
};

// Those about numbers that tensors do not have in memory are here, too.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOwn = {{
    {"Cast", "saturate"},
    {"Cast", "round_mode"},
    {"LogSoftmax", "axes"},
    {"QLinearConv", "highest"},
    {"QLinearConv", "lowest"},
    {"QLinearMatMul", "highest"},
    {"QLinearMatMul", "lowest"},
    {"QuantizeLinear", "highest"},
    {"QuantizeLinear", "lowest"},
    {"QuantizeLinear", "precision"},
    {"QuantizeLinear", "saturate"},
    {"Softmax", "axes"},
}};

std::string scalar_text(const ir::Scalar& scalar) {
    if (const auto* const number = std::get_if<int64_t>(&scalar)) return std::to_string(*number);
    if (const auto* const text = std::get_if<std::string>(&scalar)) return *text;
    if (const auto* const flag = std::get_if<bool>(&scalar)) return *flag ? "1" : "0";
    return "?";
}

}  // namespace

std::string operator_name(std::string_view op) {
    if (!op.starts_with("onnx.")) return "";
    std::string name(op.substr(op.rfind('.') + 1));
    if (name == "max_of_two") return "Max";
    if (name == "min_of_two") return "Min";
    if (name[0] < 'A' || name[0] > 'Z' || name == "FlexAttention") return "";
    name.resize(std::min(name.size(), name.find('_')));
    const bool of_runtime = op.substr(5).starts_with(kMicrosoftDomain);
    return of_runtime ? fmt::format("{}.{}", kMicrosoftDomain, name) : name;
}

std::string node_name(std::string_view op) { return std::string(op.substr(op.rfind('.') + 1)); }

std::string_view domain_of(std::string_view op) {
    if (op.starts_with(kMicrosoftDomain)) return kMicrosoftDomain;
    return std::ranges::find(kMlOperators, op) != kMlOperators.end() ? kMlDomain : "";
}

int64_t since_of(std::string_view op) {
    const auto found =
        std::ranges::find_if(kSince, [&](const SinceRow& row) { return row.op == op; });
    return found == kSince.end() ? kOldestWritten : found->since;
}

const AttributeRow* find_attribute_row(std::string_view op, std::string_view name) {
    const auto found = std::ranges::find_if(
        kAttributes, [&](const AttributeRow& row) { return row.op == op && row.name == name; });
    return found == kAttributes.end() ? nullptr : &*found;
}

bool has_usual_value(const AttributeRow& row, const ir::Value& value) {
    if (const auto* const scalar = std::get_if<ir::Scalar>(&value))
        return scalar_text(*scalar) == row.usual;
    const auto* const pack = std::get_if<ir::Pack>(&value);
    return !pack || std::ranges::all_of(pack->items, [&](const ir::Scalar& item) {
        return scalar_text(item) == row.usual;
    });
}

bool is_own_attribute(std::string_view op, std::string_view name) {
    if (op.starts_with(kMicrosoftDomain))
        return name == "lowest" || name == "highest" || name == "packed_zeros";
    return std::ranges::find(kOwn, std::pair(op, name)) != kOwn.end();
}

int64_t ir_version_of(int64_t opset) {
    struct Row {
        int64_t opset, version;
    };
    constexpr std::array kRows = {
        Row{15, 7}, Row{19, 8}, Row{21, 9}, Row{23, 10}, Row{24, 11}, Row{25, 12}};
    for (const Row& row : kRows) {
        if (opset < row.opset) return row.version;
    }
    return kNewestIrVersion;
}

}  // namespace lemma::onnx
