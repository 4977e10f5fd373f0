// SPDX-License-Identifier: Apache-2.0
// Operators whose form differs from their definition in stdlib/onnx, or from one operator set to
// another.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "base/match.h"
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

bool is_text(const NodeDraft& node, std::string_view name, std::string_view text) {
    const auto found = node.attributes.find(std::string(name));
    return found != node.attributes.end() && found->second == ir::Value(Scalar(std::string(text)));
}

// Without axes, the result is either the input or the reduction of all axes, which is the default.
bool reduce_sum(Exporter&, NodeDraft& node) {
    const auto noop = node.attributes.find("noop_with_empty_axes");
    if (noop != node.attributes.end() && noop->second == ir::Value(Scalar(int64_t{0})))
        node.attributes.erase(noop);
    return true;
}

// Older opsets have no axes; axes that are not listed get a padding of 0.
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

// Runtime extents are copied from the input (0), or one is the remaining extent (-1), if possible.
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
    // ONNX cannot infer an extent -1 beside an extent 0. Such extents are computed.
    node.attributes["shape"] = std::move(wanted);
    return true;
}

// Extents that the input already has need not be computed.
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
    // Axes of an ellipsis may be broadcast; axes of letters may not.
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

// Either the sizes or the scales decide the shape of the result.
bool resize(Exporter& exporter, NodeDraft& node) {
    if (find_pack(node, "axes")) {
        // All axes in order are the default.
        const auto& axes = find_pack(node, "axes")->items;
        bool all = axes.size() == exporter.input(node, 0).shape.size();
        for (size_t i = 0; i < axes.size(); ++i)
            all = all && as_int(axes[i]) == static_cast<int64_t>(i);
        if (all) node.attributes.erase("axes");
    }
    if (!is_text(node, "coordinate_transformation_mode", "tf_crop_and_resize"))
        node.attributes.erase("roi");
    return true;
}

// Padding by a rule excludes explicit padding. Windows that begin after the end do not count; older
// opsets did not say so.
void adapt_window(Exporter& exporter, NodeDraft& node) {
    if (node.attributes.contains("auto_pad") && !is_text(node, "auto_pad", "NOTSET"))
        node.attributes.erase("pads");
    const auto ceil = node.attributes.find("ceil_mode");
    const ir::Pack* const kernel = find_pack(node, "kernel_shape");
    const ir::Pack* const pads = find_pack(node, "pads");
    const ir::Pack* const strides = find_pack(node, "strides");
    const ir::Pack* const dilations = find_pack(node, "dilations");
    if (ceil == node.attributes.end() || ceil->second != ir::Value(Scalar(int64_t{1}))) return;
    if (!kernel || !pads || !strides || !dilations) return;
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

// ---- Facts of the table -------------------------------------------------------------------------

bool is_one_of(DType dtype, ElementTypes types) {
    const auto size = tensor::dtype_size(dtype);
    switch (types) {
        case ElementTypes::Bools:
            return dtype == DType::Bool;
        case ElementTypes::Integers:
            return tensor::is_integer(dtype);
        case ElementTypes::SmallIntegers:
            return tensor::is_integer(dtype) && size < 4;
        case ElementTypes::Integers16:
            return tensor::is_integer(dtype) && size == 2;
        case ElementTypes::Halves:
            return tensor::is_real(dtype) && size == 2;
        case ElementTypes::OtherThanSingle:
            return dtype != DType::F32;
    }
    return false;
}

// What the form needs, in words; empty if the node does not use the form.
std::string needed(const TypeNeeds& need, const Exporter& exporter, const NodeDraft& node) {
    for (const ir::Port& port : node.source.inputs) {
        for (const ir::TensorId id : port.operand.items) {
            if (is_one_of(exporter.program().tensors[id].dtype, need.types))
                return fmt::format("`{}` of {}", node.op, need.what);
        }
    }
    return "";
}
std::string needed(const ValueNeeds& need, const Exporter&, const NodeDraft& node) {
    const bool given = is_text(node, need.attribute, need.value);
    return given ? fmt::format("`{}` as `{}` of `{}`", need.value, need.attribute, node.op) : "";
}
std::string needed(const InputNeeds& need, const Exporter&, const NodeDraft& node) {
    const bool given = node.inputs.size() > need.input && !node.inputs[need.input].empty();
    return given ? fmt::format("`{}` of `{}`", need.name, node.op) : "";
}
std::string needed(const OtherRankNeeds& need, const Exporter& exporter, const NodeDraft& node) {
    const bool other = exporter.input(node, 0).shape.size() != need.rank;
    return other ? fmt::format("`{}` of other ranks than {}", node.op, need.rank) : "";
}

void require_needs(Exporter& exporter, const NodeDraft& node) {
    for (const Need& need : node.row.needs) {
        match(need, [&](const auto& kind) {
            const std::string what = needed(kind, exporter, node);
            if (!what.empty()) exporter.require(node.source, kind.since, what);
        });
    }
}

void write_tensors(Exporter& exporter, NodeDraft& node) {
    const ir::TensorId result = node.source.outputs.at(0).operand.items.at(0);
    for (const TensorAttribute& attribute : node.row.tensor_attributes) {
        DType dtype = DType::U8;
        if (attribute.type == TensorAttribute::Type::OfInput) dtype = exporter.input(node, 0).dtype;
        if (attribute.type == TensorAttribute::Type::OfResult)
            dtype = exporter.program().tensors[result].dtype;
        to_tensor(exporter, node, std::string(attribute.name), dtype);
    }
}

// Spells values as older opsets do, and leaves empty places for inputs that the definition lacks.
void undo_changes(const Exporter& exporter, NodeDraft& node) {
    for (const Change& change : std::views::reverse(node.row.changes)) {
        const auto* const refused = std::get_if<RefuseInput>(&change);
        if (refused && node.inputs.size() > refused->input) {
            node.inputs.insert(node.inputs.begin() + static_cast<std::ptrdiff_t>(refused->input),
                               "");
        }
        const auto* const spelled = std::get_if<Respell>(&change);
        if (spelled && exporter.opset() < spelled->below &&
            is_text(node, spelled->attribute, spelled->to)) {
            node.attributes[std::string(spelled->attribute)] = Scalar(std::string(spelled->from));
        }
    }
}

// The packs of the definition alternate in the node.
void take_turns(NodeDraft& node) {
    const auto& variadic = node.row.variadic;
    if (!variadic || node.inputs.size() < variadic->first) return;
    const std::vector<std::string> given(
        node.inputs.begin() + static_cast<std::ptrdiff_t>(variadic->first), node.inputs.end());
    const size_t parts = given.size() / variadic->packs;
    for (size_t i = 0; i < parts * variadic->packs; ++i)
        node.inputs[variadic->first + i] = given[i % variadic->packs * parts + i / variadic->packs];
}

// ---- Operators with their own code --------------------------------------------------------------

struct Row {
    std::string_view op;
    bool (*adapt)(Exporter&, NodeDraft&);
};
constexpr std::array kRows = {
    Row{"ConstantOfShape", constant_of_shape},
    Row{"Einsum", einsum},
    Row{"Expand", expand},
    Row{"Pad", pad},
    Row{"ReduceSum", reduce_sum},
    Row{"Reshape", reshape},
    Row{"Resize", resize},
};

const Row* find_row(std::string_view op) {
    const auto row = std::ranges::find(kRows, op, &Row::op);
    return row == kRows.end() ? nullptr : &*row;
}

}  // namespace

bool has_export_code(std::string_view op) { return find_row(op) != nullptr; }

bool adapt(Exporter& exporter, NodeDraft& node) {
    require_needs(exporter, node);
    if (node.row.is_window) adapt_window(exporter, node);
    write_tensors(exporter, node);
    undo_changes(exporter, node);
    take_turns(node);
    const Row* const row = find_row(node.op);
    return !row || row->adapt(exporter, node);
}

}  // namespace lemma::onnx
