// SPDX-License-Identifier: Apache-2.0
// Attributes in explicit form: defaults, padding, axes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sonnx/defaults.h"
#include "sonnx/fix/fixer.h"
#include "sonnx/operators.h"
#include "sonnx/window.h"

namespace lemma::sonnx {

using diag::printable;

void Fixer::write_defaults(Node& node) {
    for (MissingAttribute& missing : missing_attributes(node, view_)) {
        if (!missing.value) continue;
        log("GR4",
            node.place,
            fmt::format("`{}` is written out as `{}`", missing.name, value_text(*missing.value)));
        set(node, std::move(*missing.value));
    }
}

namespace {

constexpr int64_t kMaxListed = 4096;

// Versions of ONNX differ on VALID with ceil_mode, so padding that changes the shape is not
// written.
bool gives_output(const std::vector<WindowAxis>& axes, const onnx::Node& node, const View& view) {
    const auto shape = view.output_shape(node, 0);
    if (!shape || shape->size() != axes.size() + 2) return false;
    const bool ceil = int_attribute(node, "ceil_mode").value_or(0) != 0;
    for (size_t i = 0; i < axes.size(); ++i) {
        if (output_extent(axes[i], ceil) != (*shape)[i + 2]) return false;
    }
    return true;
}

// Makes the axes non-negative; true if one of them counted from the back. All are in range.
bool from_front(std::vector<int64_t>& axes, int64_t rank) {
    bool changed = false;
    for (int64_t& axis : axes) {
        if (axis < -rank) return false;
        if (axis >= 0) continue;
        axis += rank;
        changed = true;
    }
    return changed;
}

}  // namespace

void Fixer::write_pads(Node& node) {
    const bool knows = node.op == "Conv" || node.op == "ConvInteger" || node.op == "MaxPool" ||
                       node.op == "AveragePool";
    const auto mode = text_attribute(node, "auto_pad");
    if (!knows || !mode || *mode == "NOTSET") return;
    const auto axes = window_axes(node, view_);
    if (!axes || !gives_output(*axes, node, view_)) return;
    std::vector<int64_t> pads;
    for (const WindowAxis& axis : *axes) pads.push_back(axis.pad_begin);
    for (const WindowAxis& axis : *axes) pads.push_back(axis.pad_end);
    log(node.op == "Conv" ? "CONV-23" : "POOL-1",
        node.place,
        fmt::format(
            "`auto_pad` `{}` becomes `pads` [{}]", printable(*mode), fmt::join(pads, ", ")));
    set(node, make_ints("pads", std::move(pads)));
    set(node, make_text("auto_pad", "NOTSET"));
}

// Windows beyond the end of the input become windows over padding, which a maximum leaves out.
void Fixer::write_pool(Node& node) {
    if (node.op != "MaxPool") return;
    if (int_attribute(node, "storage_order").value_or(0) != 0 && node.outputs.size() < 2) {
        log("POOL-6", node.place, "`storage_order` becomes 0: there are no `Indices`");
        set(node, make_int("storage_order", 0));
    }
    if (int_attribute(node, "ceil_mode").value_or(0) == 0) return;
    const auto axes = window_axes(node, view_);
    if (!axes) return;
    std::vector<int64_t> pads;
    for (const WindowAxis& axis : *axes) pads.push_back(axis.pad_begin);
    for (const WindowAxis& axis : *axes) {
        const auto pad = end_pad_without_ceil(axis);
        if (!pad) return;
        pads.push_back(*pad);
    }
    log("POOL-5",
        node.place,
        fmt::format("`ceil_mode` becomes 0, with `pads` [{}]", fmt::join(pads, ", ")));
    set(node, make_ints("pads", std::move(pads)));
    set(node, make_int("ceil_mode", 0));
}

void Fixer::write_axes(Node& node) {
    const auto rank = counted_axes(node, view_);
    if (!rank) return;
    for (onnx::Attribute& attribute : node.attributes) {
        if (attribute.name != "axis" && attribute.name != "axes") continue;
        const std::string before = value_text(attribute);
        if (!from_front(attribute.ints, *rank)) continue;
        log(node.op == "Concat" ? "CAT-57" : "S015",
            node.place,
            fmt::format("`{}` {} becomes {}", attribute.name, before, value_text(attribute)));
    }
    write_axes_input(node, *rank);
}

void Fixer::write_axes_input(Node& node, int64_t rank) {
    const onnx::Operator* op = profile_operator(node.op);
    const auto at = op ? axes_input(*op, node) : std::nullopt;
    if (!at || node.op == "Slice") return;  // write_slice writes all lists of a Slice
    std::string& input = node.inputs[*at];
    const auto before = view_.constant_tensor(input, kMaxListed);
    if (!before || !tensor::is_integer(before->dtype())) return;
    const std::vector<int64_t> given = view_.constant_ints(input).value_or(std::vector<int64_t>());
    std::vector<int64_t> axes = given;
    if (!from_front(axes, rank)) return;
    auto tensor = tensor::Tensor::zeros(before->dtype(), before->shape());
    if (!tensor) return;
    for (size_t i = 0; i < axes.size(); ++i) tensor->set_integer(static_cast<int64_t>(i), axes[i]);
    log("S015",
        node.place,
        fmt::format("`axes` [{}] become [{}]", fmt::join(given, ", "), fmt::join(axes, ", ")));
    input = add_constant(input + "_from_front", std::move(*tensor));
}

// The text of the operator needs them, and ONNX has these as defaults.
void Fixer::write_activations(Node& node) {
    if (node.op != "LSTM" || onnx::find_attribute(node, "activations")) return;
    const auto direction = text_attribute(node, "direction");
    if (direction && *direction != "forward") return;
    onnx::Attribute attribute;
    attribute.name = "activations";
    attribute.type = onnx::AttributeType::Strings;
    attribute.strings = {"Sigmoid", "Tanh", "Tanh"};
    log("LSTM-3", node.place, "`activations` are written out as Sigmoid, Tanh, Tanh");
    set(node, std::move(attribute));
}

}  // namespace lemma::sonnx
