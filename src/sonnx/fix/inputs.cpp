// SPDX-License-Identifier: Apache-2.0
// Inputs in explicit form: optional ones, broadcast ones, shapes, positions and bounds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/check.h"
#include "base/checked.h"
#include "onnx/write.h"
#include "sonnx/fix/fixer.h"
#include "sonnx/operators.h"
#include "sonnx/optional_inputs.h"
#include "sonnx/slice.h"

namespace lemma::sonnx {

using diag::printable;

namespace {

constexpr int64_t kExpandOpset = 8;  // first operator set with Expand
// Larger constants get an Expand instead of more elements.
constexpr int64_t kMaxExpanded = 4096;

void copy_element(const tensor::Tensor& from, int64_t source, tensor::Tensor& to, int64_t target) {
    const auto size = static_cast<size_t>(tensor::dtype_size(from.dtype()));
    const std::span<const std::byte> bytes = from.bytes();
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(size) * source,
                size,
                to.bytes().begin() + static_cast<std::ptrdiff_t>(size) * target);
}

// The tensor broadcast to the shape; empty if it has strings or is too large.
std::optional<tensor::Tensor> broadcast(const tensor::Tensor& from, const Extents& to) {
    const auto count = element_count(to);
    if (!count || *count > kMaxExpanded || from.dtype() == tensor::DType::Str) return std::nullopt;
    auto result = tensor::Tensor::zeros(from.dtype(), to);
    if (!result) return std::nullopt;
    const size_t shift = to.size() - from.shape().size();
    for (int64_t i = 0; i < *count; ++i) {
        int64_t rest = i;
        int64_t source = 0;
        int64_t stride = 1;
        for (size_t axis = to.size(); axis-- > 0;) {
            const int64_t at = rest % to[axis];
            rest /= to[axis];
            if (axis < shift) continue;
            const int64_t extent = from.shape()[axis - shift];
            if (extent != 1) source += at * stride;
            stride *= extent;
        }
        copy_element(from, source, *result, i);
    }
    return std::move(*result);
}

std::optional<tensor::Tensor> as_scalar(const tensor::Tensor& from) {
    auto scalar = tensor::Tensor::zeros(from.dtype(), {});
    if (!scalar || from.dtype() == tensor::DType::Str) return std::nullopt;
    copy_element(from, 0, *scalar, 0);
    return std::move(*scalar);
}

}  // namespace

std::string Fixer::add_constant(const std::string& wish, tensor::Tensor tensor) {
    std::string name = fresh_name(wish);
    added_types_[name] = {.elem_type = tensor::onnx_type_of(tensor.dtype()),
                          .shape = tensor.shape()};
    graph().initializers.push_back(onnx::add_tensor({name, std::move(tensor)}, model_));
    return name;
}

std::string Fixer::integer_constant(const std::string& wish, const Extents& items) {
    auto tensor = make_tensor({.dtype = tensor::DType::I64,
                               .shape = {static_cast<int64_t>(items.size())},
                               .items = items});
    LEMMA_CHECK(tensor.has_value());
    return add_constant(wish, std::move(*tensor));
}

// An initialiser with the extents; one for each shape.
std::string Fixer::shape_constant(const Extents& shape) {
    std::string& name = shape_constants_[shape];
    if (name.empty())
        name = integer_constant(fmt::format("shape_{}", fmt::join(shape, "x")), shape);
    return name;
}

// A small file can ask for large constants many times.
bool Fixer::affordable(const InputValue& value) {
    constexpr int64_t kMaxAdded = int64_t{1} << 30;
    const auto count = element_count(value.shape);
    const auto bytes = count ? checked_mul(*count, tensor::dtype_size(value.dtype)) : std::nullopt;
    const auto total = bytes ? checked_add(added_bytes_, *bytes) : std::nullopt;
    if (!total || *total > kMaxAdded) return false;
    added_bytes_ = *total;
    return true;
}

void Fixer::write_inputs(Node& node) {
    for (const MissingInput& missing : missing_inputs(node, view_)) {
        if (!missing.value || !affordable(*missing.value)) continue;
        auto tensor = make_tensor(*missing.value);
        if (!tensor) continue;
        if (node.inputs.size() <= missing.index) node.inputs.resize(missing.index + 1);
        const std::string owner = node.outputs.empty() ? node.op : node.outputs[0];
        const std::string shape = shape_text(tensor->shape());
        const std::string name =
            add_constant(fmt::format("{}_{}", owner, missing.name), std::move(*tensor));
        log("GR4",
            node.place,
            fmt::format("the input `{}` is given as the constant `{}` of shape {}",
                        missing.name,
                        printable(name),
                        shape));
        node.inputs[missing.index] = name;
        // ONNX has either the number of parts or their sizes.
        if (node.op == "Split") {
            std::erase_if(node.attributes,
                          [](const onnx::Attribute& each) { return each.name == "num_outputs"; });
        }
    }
}

// The input as a tensor of the shape: a constant, or the result of an Expand.
std::string Fixer::expanded(const Node& node, const Expansion& expansion, std::vector<Node>& to) {
    const std::string& input = node.inputs[expansion.input];
    std::string& name = expanded_[{input, expansion.to}];
    if (!name.empty()) return name;
    if (const auto constant = view_.constant_tensor(input, kMaxExpanded)) {
        if (auto tensor = broadcast(*constant, expansion.to))
            return name = add_constant(input + "_expanded", std::move(*tensor));
    }
    name = fresh_name(input + "_expanded");
    Node expand;
    expand.op = "Expand";
    expand.name = name;
    expand.inputs = {input, shape_constant(expansion.to)};
    expand.outputs = {name};
    expand.place = node.place;
    const auto type = view_.type(input);
    add_node(
        std::move(expand), {.elem_type = type ? type->elem_type : 0, .shape = expansion.to}, to);
    return name;
}

void Fixer::write_expansions(Node& node, std::vector<Node>& to) {
    if (view_.opset() < kExpandOpset) return;
    const BroadcastPlan plan = plan_broadcast(node, view_);
    if (!plan.conflict.empty()) return;
    for (const Expansion& expansion : plan.expansions) {
        std::string& input = node.inputs[expansion.input];
        const std::string name = expanded(node, expansion, to);
        log("S013",
            node.place,
            fmt::format("`{}` of shape {} is expanded to {} as `{}`",
                        printable(input),
                        shape_text(expansion.from),
                        shape_text(expansion.to),
                        printable(name)));
        input = name;
    }
}

// The shape of the result follows from the shapes of the inputs, so it can be a literal.
void Fixer::write_literal_shape(Node& node) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
        if (!gives_result_shape(node, i) || !has_input(node, i)) continue;
        const auto shape = view_.output_shape(node, 0);
        const auto given = view_.constant_ints(node.inputs[i]);
        const bool is_literal =
            given && std::ranges::all_of(*given, [](int64_t item) { return item > 0; });
        if (is_literal || !shape) return;
        if (std::ranges::find(*shape, 0) != shape->end()) return;
        log(given ? "RESHAPE-1" : "S017",
            node.place,
            fmt::format("the shape {} becomes {}",
                        given ? list_text(*given) : fmt::format("`{}`", printable(node.inputs[i])),
                        list_text(*shape)));
        node.inputs[i] = shape_constant(*shape);
    }
}

void Fixer::write_slice(Node& node) {
    if (node.op != "Slice") return;
    const auto lists = slice_lists(node, view_);
    const auto shape = view_.input_shape(node, 0);
    const auto wanted = lists && shape ? explicit_slice(*lists, *shape) : std::nullopt;
    if (!wanted) return;
    const bool is_explicit = has_input(node, 3) && has_input(node, 4) &&
                             lists->starts == wanted->starts && lists->ends == wanted->ends &&
                             lists->axes == wanted->axes && lists->steps == wanted->steps;
    if (is_explicit) return;
    const auto list = [&](std::string_view what, const Extents& items) {
        return integer_constant(fmt::format("{}_{}", node.outputs[0], what), items);
    };
    node.inputs = {node.inputs[0],
                   list("starts", wanted->starts),
                   list("ends", wanted->ends),
                   list("axes", wanted->axes),
                   list("steps", wanted->steps)};
    log("SLICE-1",
        node.place,
        fmt::format("the lists name all axes: starts {}, ends {}, steps {}",
                    list_text(wanted->starts),
                    list_text(wanted->ends),
                    list_text(wanted->steps)));
}

// Bounds of Clip that are lists of one element.
void Fixer::write_bounds(Node& node) {
    if (node.op != "Clip") return;
    for (const size_t i : {size_t{1}, size_t{2}}) {
        const auto given =
            has_input(node, i) ? view_.constant_tensor(node.inputs[i], 1) : std::nullopt;
        if (!given || given->size() != 1 || given->shape().empty()) continue;
        auto scalar = as_scalar(*given);
        if (!scalar) continue;
        const std::string name = add_constant(node.inputs[i] + "_scalar", std::move(*scalar));
        log("CLIP-1",
            node.place,
            fmt::format("the bound `{}` of shape {} becomes the scalar `{}`",
                        printable(node.inputs[i]),
                        shape_text(given->shape()),
                        printable(name)));
        node.inputs[i] = name;
    }
}

}  // namespace lemma::sonnx
