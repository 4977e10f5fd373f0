// Operators whose form differs from their definition in stdlib/onnx, or from one operator set to
// another.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "onnx/export/exporter.h"
#include "onnx/validate.h"

namespace lemma::onnx {

namespace {

using ir::Scalar;

const ir::Pack* find_pack(const NodeDraft& node, const std::string& name) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? nullptr : std::get_if<ir::Pack>(&found->second);
}

std::optional<int64_t> as_int(const Scalar& scalar) {
    const auto* const value = std::get_if<int64_t>(&scalar);
    return value ? std::optional(*value) : std::nullopt;
}

ir::SymId as_symbol(const Scalar& scalar) {
    const auto* const id = std::get_if<ir::SymId>(&scalar);
    return id ? *id : ir::SymId{};
}

// Axes were an attribute at first.
bool reduce(Exporter& exporter, NodeDraft& node) {
    if (exporter.input(node, 0).dtype == DType::Bool)
        exporter.require(node.source, 20, fmt::format("`{}` of bools", node.op));
    const ir::Pack* const axes = find_pack(node, "axes");
    const bool none = !axes || axes->items.empty();
    const auto noop = node.attributes.find("noop_with_empty_axes");
    const bool keeps =
        noop != node.attributes.end() && noop->second == ir::Value(Scalar(int64_t{1}));
    const bool sum = node.op == "ReduceSum";
    if (keeps && !sum) {
        exporter.require(node.source, 18, fmt::format("`{}` without axes", node.op));
    } else if (!keeps) {
        node.attributes.erase("noop_with_empty_axes");
    }
    if (none) {
        node.attributes.erase("axes");
        return true;
    }
    if (sum || exporter.opset() >= 18) return true;
    std::vector<int64_t> items;
    for (const Scalar& axis : axes->items) items.push_back(as_int(axis).value_or(0));
    node.ready.push_back(ints_attribute("axes", std::move(items)));
    node.attributes.erase("axes");
    return true;
}

// The sizes of the parts say how many there are.
bool split(Exporter&, NodeDraft& node) {
    node.attributes.erase("num_outputs");
    return true;
}

// Axes came later; what is added to the others is nothing.
bool pad(Exporter& exporter, NodeDraft& node) {
    const ir::Pack* const pads = find_pack(node, "pads");
    const ir::Pack* const axes = find_pack(node, "axes");
    if (!pads || !axes) return true;
    const size_t rank = exporter.input(node, 0).shape.size();
    ir::Pack all{.items = std::vector<Scalar>(2 * rank, Scalar(int64_t{0})),
                 .uniform = {},
                 .type = ir::ScalarType::Int};
    for (size_t i = 0; i < axes->items.size(); ++i) {
        const int64_t axis = as_int(axes->items[i]).value_or(0);
        const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
        all.items.at(at) = pads->items.at(i);
        all.items.at(rank + at) = pads->items.at(axes->items.size() + i);
    }
    node.attributes["pads"] = std::move(all);
    node.attributes.erase("axes");
    return true;
}

// Extents that only a run tells are those of the input, or the one that is left, if possible.
bool reshape(Exporter& exporter, NodeDraft& node) {
    const ir::Pack* const shape = find_pack(node, "shape");
    node.attributes.erase("allowzero");
    if (!shape) return true;
    ir::Pack wanted = *shape;
    const std::vector<ir::SymId>& from = exporter.input(node, 0).shape;
    const bool zero =
        std::ranges::any_of(wanted.items, [](const Scalar& item) { return as_int(item) == 0; });
    if (zero) {
        node.attributes["allowzero"] = Scalar(int64_t{1});
        return true;
    }
    size_t open = 0;
    for (size_t i = 0; i < wanted.items.size(); ++i) {
        const ir::SymId id = as_symbol(wanted.items[i]);
        if (!id.valid()) continue;
        if (i < from.size() && from[i] == id) {
            wanted.items[i] = int64_t{0};
        } else {
            ++open;
        }
    }
    for (Scalar& item : wanted.items) {
        if (open == 1 && as_symbol(item).valid()) item = int64_t{-1};
    }
    // An extent -1 cannot be worked out where another one is 0: those are computed.
    node.attributes["shape"] = std::move(wanted);
    return true;
}

// Extents that the input has already need not be computed.
bool expand(Exporter& exporter, NodeDraft& node) {
    const ir::Pack* const shape = find_pack(node, "shape");
    if (!shape) return true;
    ir::Pack wanted = *shape;
    const std::vector<ir::SymId>& from = exporter.input(node, 0).shape;
    for (size_t i = 0; i < wanted.items.size() && i < from.size(); ++i) {
        Scalar& item = wanted.items[wanted.items.size() - 1 - i];
        if (as_symbol(item).valid() && as_symbol(item) == from[from.size() - 1 - i])
            item = int64_t{1};
    }
    node.attributes["shape"] = std::move(wanted);
    return true;
}

// The definition takes the letters of the equation as numbers.
bool einsum(Exporter& exporter, NodeDraft& node) {
    std::string equation;
    const auto letters = [&](const std::string& name) {
        std::string text;
        const ir::Pack* const axes = find_pack(node, name);
        for (const Scalar& axis : axes ? axes->items : std::vector<Scalar>()) {
            const int64_t number = as_int(axis).value_or(0);
            if (number < 0 || number >= 52) return std::string("?");
            text += static_cast<char>(number < 26 ? 'a' + number : 'A' + number - 26);
        }
        return text;
    };
    constexpr std::array kNames = {"a_axes", "b_axes", "c_axes", "d_axes"};
    while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
    for (size_t i = 0; i < node.inputs.size() && i < kNames.size(); ++i)
        equation += (i > 0 ? "," : "") + letters(kNames[i]);
    equation += "->" + letters("output_axes");
    if (equation.find('?') != std::string::npos) {
        exporter.cannot(&node.source, "`Einsum` of ONNX has 52 letters at most");
        return false;
    }
    // Axes of an ellipsis may be broadcast, which those of letters may not.
    std::map<char, ir::SymId> extents;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const std::string axes = letters(kNames[i]);
        const std::vector<ir::SymId>& shape = exporter.input(node, i).shape;
        for (size_t k = 0; k < axes.size() && k < shape.size(); ++k) {
            const auto [found, is_new] = extents.emplace(axes[k], shape[k]);
            if (is_new || found->second == shape[k]) continue;
            exporter.cannot(&node.source, "`Einsum` that broadcasts axes of extent 1");
            return false;
        }
    }
    node.attributes.clear();
    node.ready.push_back(text_attribute("equation", std::move(equation)));
    return true;
}

bool constant_of_shape(Exporter& exporter, NodeDraft& node) {
    const auto value = node.attributes.find("value");
    if (value == node.attributes.end()) return true;
    const ir::TensorId result = node.source.outputs.at(0).operand.items.at(0);
    Attribute tensor;
    tensor.name = "value";
    tensor.type = AttributeType::Tensor;
    tensor.tensors.push_back(exporter.tensor_of(
        {std::get<Scalar>(value->second)}, exporter.program().tensors[result].dtype, {1}));
    node.ready.push_back(std::move(tensor));
    node.attributes.erase(value);
    return true;
}

bool grid_sample(Exporter& exporter, NodeDraft& node) {
    if (exporter.input(node, 0).shape.size() != 4)
        exporter.require(node.source, 20, "`GridSample` of other ranks than 4");
    if (exporter.opset() >= 20) return true;
    const auto mode = node.attributes.find("mode");
    if (mode == node.attributes.end()) return true;
    if (mode->second == ir::Value(Scalar(std::string("linear"))))
        mode->second = Scalar(std::string("bilinear"));
    if (mode->second == ir::Value(Scalar(std::string("cubic"))))
        mode->second = Scalar(std::string("bicubic"));
    return true;
}

// One of the two says how large the result is.
bool resize(Exporter& exporter, NodeDraft& node) {
    if (find_pack(node, "axes")) {
        // All axes in their order are what it means without.
        const auto& axes = find_pack(node, "axes")->items;
        bool all = axes.size() == exporter.input(node, 0).shape.size();
        for (size_t i = 0; i < axes.size(); ++i)
            all = all && as_int(axes[i]) == static_cast<int64_t>(i);
        if (all) node.attributes.erase("axes");
    }
    const auto mode = node.attributes.find("coordinate_transformation_mode");
    if (mode != node.attributes.end() &&
        mode->second == ir::Value(Scalar(std::string("half_pixel_symmetric"))))
        exporter.require(node.source, 19, "`half_pixel_symmetric` of `Resize`");
    const bool crops = mode != node.attributes.end() &&
                       mode->second == ir::Value(Scalar(std::string("tf_crop_and_resize")));
    const ir::Pack* const roi = find_pack(node, "roi");
    if (roi && (roi->items.empty() || !crops)) node.attributes.erase("roi");
    for (const char* const name : {"scales", "sizes"}) {
        const ir::Pack* const pack = find_pack(node, name);
        if (pack && pack->items.empty()) node.attributes.erase(name);
    }
    return true;
}

// Integers of few bits came later.
bool small_integers(Exporter& exporter, NodeDraft& node) {
    const DType dtype = exporter.input(node, 0).dtype;
    const bool small = tensor::is_integer(dtype) && tensor::dtype_size(dtype) < 4;
    if (small) exporter.require(node.source, 14, fmt::format("`{}` of these integers", node.op));
    return true;
}

bool whole_relu(Exporter& exporter, NodeDraft& node) {
    if (tensor::is_integer(exporter.input(node, 0).dtype))
        exporter.require(node.source, 14, "`Relu` of integers");
    return true;
}

bool scatter(Exporter& exporter, NodeDraft& node) {
    const auto how = node.attributes.find("reduction");
    if (how == node.attributes.end()) return true;
    if (how->second == ir::Value(Scalar(std::string("max"))) ||
        how->second == ir::Value(Scalar(std::string("min"))))
        exporter.require(node.source, 18, fmt::format("`reduction` of `{}`", node.op));
    return true;
}

// Several axes at once are no operator of ONNX.
bool softmax(Exporter& exporter, NodeDraft& node) {
    const ir::Pack* const axes = find_pack(node, "axes");
    if (!axes || axes->items.size() != 1) {
        exporter.cannot(&node.source, fmt::format("`{}` over several axes", node.op));
        return false;
    }
    node.attributes["axis"] = axes->items[0];
    return true;
}

bool attention(Exporter& exporter, NodeDraft& node) {
    if (node.inputs.size() > 6 && !node.inputs[6].empty())
        exporter.require(node.source, 24, "`nonpad_kv_seqlen` of `Attention`");
    return true;
}

bool is_text(const NodeDraft& node, const std::string& name, const std::string& text) {
    const auto found = node.attributes.find(name);
    return found != node.attributes.end() && found->second == ir::Value(Scalar(text));
}

// Paddings that follow from a rule are not given as well. Windows that begin behind the end do not
// count, which older operator sets did not say.
bool window(Exporter& exporter, NodeDraft& node) {
    if (node.attributes.contains("auto_pad") && !is_text(node, "auto_pad", "NOTSET"))
        node.attributes.erase("pads");
    const auto ceil = node.attributes.find("ceil_mode");
    const ir::Pack* const kernel = find_pack(node, "kernel_shape");
    const ir::Pack* const pads = find_pack(node, "pads");
    const ir::Pack* const strides = find_pack(node, "strides");
    const ir::Pack* const dilations = find_pack(node, "dilations");
    if (ceil == node.attributes.end() || ceil->second != ir::Value(Scalar(int64_t{1}))) return true;
    if (!kernel || !pads || !strides || !dilations) return true;
    const auto& symbols = exporter.program().symbols;
    const ir::TensorId result = node.source.outputs.at(0).operand.items.at(0);
    for (size_t i = 0; i < kernel->items.size(); ++i) {
        const auto number = [&](const ir::Pack& pack, size_t at) {
            return at < pack.items.size() ? as_int(pack.items[at]).value_or(1) : 1;
        };
        const auto from = symbols.as_int(exporter.input(node, 0).shape.at(i + 2));
        const auto got = symbols.as_int(exporter.program().tensors[result].shape.at(i + 2));
        if (!from || !got) continue;
        const int64_t covered = (number(*kernel, i) - 1) * number(*dilations, i) + 1;
        const int64_t room =
            *from + number(*pads, i) + number(*pads, i + kernel->items.size()) - covered;
        const int64_t stride = number(*strides, i);
        if ((room + stride - 1) / stride + 1 != *got)
            exporter.require(node.source, 22, "`ceil_mode` that leaves out a window");
    }
    return true;
}

// Half precision and other widths came later to some operators.
bool infinity(Exporter& exporter, NodeDraft& node) {
    const DType dtype = exporter.input(node, 0).dtype;
    if (dtype != DType::F32 && dtype != DType::F64)
        exporter.require(node.source, 20, "`IsInf` of half precision");
    return true;
}

bool celu(Exporter& exporter, NodeDraft& node) {
    if (exporter.input(node, 0).dtype != DType::F32)
        exporter.require(node.source, kNewestOpset, "`Celu` of other types than f32");
    return true;
}

bool quantized(Exporter& exporter, NodeDraft& node) {
    for (const ir::Port& port : node.source.inputs) {
        for (const ir::TensorId id : port.operand.items) {
            const DType dtype = exporter.program().tensors[id].dtype;
            const bool wide = dtype == DType::I16 || dtype == DType::U16;
            const bool half = dtype == DType::F16 || dtype == DType::BF16;
            if (wide || (half && node.op == "QLinearMatMul")) {
                exporter.require(node.source, 21, fmt::format("`{}` of 16 bits", node.op));
            } else if (half) {
                exporter.require(node.source, 19, fmt::format("`{}` of half precision", node.op));
            }
        }
    }
    return true;
}

// A list that is a tensor in ONNX.
void to_tensor(Exporter& exporter, NodeDraft& node, const std::string& name, DType dtype) {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) return;
    const auto* const one = std::get_if<Scalar>(&found->second);
    const auto* const pack = std::get_if<ir::Pack>(&found->second);
    const std::vector<Scalar> items = one    ? std::vector{*one}
                                      : pack ? pack->items
                                             : std::vector<Scalar>();
    if (!items.empty()) {
        Attribute tensor;
        tensor.name = name;
        tensor.type = AttributeType::Tensor;
        tensor.tensors.push_back(
            exporter.tensor_of(items, dtype, {static_cast<int64_t>(items.size())}));
        node.ready.push_back(std::move(tensor));
    }
    node.attributes.erase(found);
}

bool trees(Exporter& exporter, NodeDraft& node) {
    const DType dtype = exporter.input(node, 0).dtype;
    for (const char* const name :
         {"leaf_weights", "membership_values", "nodes_hitrates", "nodes_splits"})
        to_tensor(exporter, node, name, dtype);
    to_tensor(exporter, node, "nodes_modes", DType::U8);
    return true;
}

bool labels(Exporter& exporter, NodeDraft& node) {
    const ir::TensorId result = node.source.outputs.at(0).operand.items.at(0);
    const DType values = exporter.program().tensors[result].dtype;
    to_tensor(exporter, node, "keys_tensor", exporter.input(node, 0).dtype);
    to_tensor(exporter, node, "values_tensor", values);
    to_tensor(exporter, node, "default_tensor", values);
    return true;
}

// The packs of the definition take turns in the node.
bool take_turns(Exporter&, NodeDraft& node) {
    const auto& variadic = node.row.variadic;
    if (!variadic || node.inputs.size() < variadic->first) return true;
    const std::vector<std::string> given(
        node.inputs.begin() + static_cast<std::ptrdiff_t>(variadic->first), node.inputs.end());
    const size_t parts = given.size() / variadic->packs;
    for (size_t i = 0; i < parts * variadic->packs; ++i)
        node.inputs[variadic->first + i] = given[i % variadic->packs * parts + i / variadic->packs];
    return true;
}

// A deprecated input is between the zero points and the bias.
bool matmul_bits(Exporter&, NodeDraft& node) {
    if (node.inputs.size() > 4) node.inputs.insert(node.inputs.begin() + 4, "");
    return true;
}

struct Row {
    std::string_view op;
    bool (*adapt)(Exporter&, NodeDraft&);
};
constexpr std::array kRows = {
    Row{"Add", small_integers},
    Row{"Attention", attention},
    Row{"AveragePool", window},
    Row{"Celu", celu},
    Row{"ConstantOfShape", constant_of_shape},
    Row{"Conv", window},
    Row{"ConvInteger", window},
    Row{"ConvTranspose", window},
    Row{"DequantizeLinear", quantized},
    Row{"Div", small_integers},
    Row{"Einsum", einsum},
    Row{"Expand", expand},
    Row{"GridSample", grid_sample},
    Row{"IsInf", infinity},
    Row{"LabelEncoder", labels},
    Row{"LogSoftmax", softmax},
    Row{"LpPool", window},
    Row{"MaxPool", window},
    Row{"Mul", small_integers},
    Row{"Pad", pad},
    Row{"QLinearConv", window},
    Row{"QLinearMatMul", quantized},
    Row{"QuantizeLinear", quantized},
    Row{"ReduceL1", reduce},
    Row{"ReduceL2", reduce},
    Row{"ReduceLogSum", reduce},
    Row{"ReduceLogSumExp", reduce},
    Row{"ReduceMax", reduce},
    Row{"ReduceMean", reduce},
    Row{"ReduceMin", reduce},
    Row{"ReduceProd", reduce},
    Row{"ReduceSum", reduce},
    Row{"ReduceSumSquare", reduce},
    Row{"Relu", whole_relu},
    Row{"Reshape", reshape},
    Row{"Resize", resize},
    Row{"ScatterElements", scatter},
    Row{"ScatterND", scatter},
    Row{"Softmax", softmax},
    Row{"Split", split},
    Row{"Sub", small_integers},
    Row{"TreeEnsemble", trees},
    Row{"com.microsoft.FusedConv", window},
    Row{"com.microsoft.MatMulNBits", matmul_bits},
    Row{"com.microsoft.QLinearAveragePool", window},
    Row{"com.microsoft.QLinearConcat", take_turns},
};

}  // namespace

bool adapt(Exporter& exporter, NodeDraft& node) {
    const auto row =
        std::ranges::find_if(kRows, [&](const Row& each) { return each.op == node.op; });
    return row == kRows.end() || row->adapt(exporter, node);
}

}  // namespace lemma::onnx
