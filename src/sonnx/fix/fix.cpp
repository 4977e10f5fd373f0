// SPDX-License-Identifier: Apache-2.0
#include "sonnx/fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "sonnx/fix/fixer.h"
#include "sonnx/live.h"

namespace lemma::sonnx {

using diag::printable;

namespace {

constexpr int64_t kFreeInitializersIr = 4;  // from here on initialisers need not be inputs

}  // namespace

void Fixer::take_names() {
    for (const onnx::ValueInfo& output : graph().outputs) results_.insert(output.name);
    for (const onnx::Graph& each : model_.graphs) {
        for (const auto* list : {&each.inputs, &each.outputs, &each.values}) {
            for (const onnx::ValueInfo& value : *list) names_.insert(value.name);
        }
        for (const onnx::TensorData& data : each.initializers) names_.insert(data.proto.name);
        for (const Node& node : each.nodes) {
            names_.insert(node.outputs.begin(), node.outputs.end());
            names_.insert(node.inputs.begin(), node.inputs.end());
        }
    }
}

std::string Fixer::fresh_name(const std::string& wish) {
    std::string name = wish;
    int64_t& next = next_.try_emplace(wish, 1).first->second;
    while (!names_.insert(name).second) name = fmt::format("{}_{}", wish, next++);
    return name;
}

void Fixer::set(Node& node, onnx::Attribute attribute) {
    const auto found = std::ranges::find(node.attributes, attribute.name, &onnx::Attribute::name);
    if (found == node.attributes.end()) {
        node.attributes.push_back(std::move(attribute));
    } else {
        attribute.rest = found->rest;
        attribute.place = found->place;
        *found = std::move(attribute);
    }
}

void Fixer::drop_overridable_inputs() {
    if (model_.ir_version < kFreeInitializersIr) {
        log("S025",
            graph().place,
            fmt::format("the version of the format is {} instead of {}: initialisers are no inputs",
                        kFreeInitializersIr,
                        model_.ir_version));
        model_.ir_version = kFreeInitializersIr;
    }
    std::erase_if(graph().inputs, [&](const onnx::ValueInfo& input) {
        if (!view_.initializer(input.name)) return false;
        log("S025",
            input.place,
            fmt::format("`{}` is no input any more, only an initialiser", printable(input.name)));
        return true;
    });
}

// Removes initialisers that became unused, and new ones that nothing uses in the end.
void Fixer::drop_orphans() {
    std::unordered_set<std::string> used;
    for (const onnx::Graph& each : model_.graphs) {
        for (const Node& node : each.nodes) used.insert(node.inputs.begin(), node.inputs.end());
        for (const onnx::ValueInfo& output : each.outputs) used.insert(output.name);
    }
    std::erase_if(graph().initializers, [&](const onnx::TensorData& data) {
        const std::string& name = data.proto.name;
        const bool is_old = view_.initializer(name) != nullptr;
        if (used.contains(name) || (is_old && !view_.is_used(name))) return false;
        if (is_old) {
            log("S005",
                data.place,
                fmt::format("`{}` is dropped: nothing uses it any more", printable(name)));
        }
        return true;
    });
}

// ---- Types --------------------------------------------------------------------------------------

// Adds the missing parts; false if nothing is missing or nothing is known.
bool Fixer::complete(onnx::ValueInfo& value, const TensorType& type) {
    bool changed = false;
    if (value.kind == onnx::TypeKind::Missing) value.kind = onnx::TypeKind::Tensor;
    if (value.kind != onnx::TypeKind::Tensor) return false;
    if (value.elem_type == 0 && type.elem_type != 0) {
        value.elem_type = type.elem_type;
        changed = true;
    }
    if (!type.shape || (value.shape && value.shape->size() != type.shape->size())) return changed;
    if (!value.shape) {
        value.shape.emplace(type.shape->size());
        changed = true;
    }
    for (size_t i = 0; i < type.shape->size(); ++i) {
        onnx::Dimension& dimension = (*value.shape)[i];
        if (dimension.value && *dimension.value >= 0) continue;
        dimension.value = (*type.shape)[i];
        dimension.param.clear();
        changed = true;
    }
    return changed;
}

void Fixer::complete_logged(onnx::ValueInfo& value) {
    auto type = view_.type(value.name);
    const auto added = added_types_.find(value.name);
    if (added != added_types_.end()) type = added->second;
    if (!type || !complete(value, *type)) return;
    log(value.shape ? "S006" : "GR2",
        value.place,
        fmt::format("`{}` is declared as {} {}",
                    printable(value.name),
                    tensor::onnx_type_name(value.elem_type),
                    type->shape ? shape_text(*type->shape) : "of unknown shape"));
}

void Fixer::declare_types() {
    std::erase_if(graph().values,
                  [&](const onnx::ValueInfo& value) { return gone_.contains(value.name); });
    std::unordered_set<std::string> declared;
    for (auto* list : {&graph().inputs, &graph().outputs, &graph().values}) {
        for (onnx::ValueInfo& value : *list) {
            declared.insert(value.name);
            complete_logged(value);
        }
    }
    for (const Node& node : graph().nodes) {
        for (const std::string& output : node.outputs) {
            if (output.empty() || !declared.insert(output).second) continue;
            onnx::ValueInfo value;
            value.name = output;
            value.place = node.place;
            complete_logged(value);
            if (value.elem_type != 0) graph().values.push_back(std::move(value));
        }
    }
}

// Replaced nodes leave others behind that nothing needs any more; so may the original.
void Fixer::drop_dead_nodes() {
    const std::vector<bool> live = live_nodes(graph(), model_);
    std::vector<Node> nodes;
    for (size_t i = 0; i < graph().nodes.size(); ++i) {
        Node& node = graph().nodes[i];
        if (live[i]) {
            nodes.push_back(std::move(node));
            continue;
        }
        log("GRAPH-R2",
            node.place,
            fmt::format("`{}` is dropped: no output depends on it", printable(node.op)));
        gone_.insert(node.outputs.begin(), node.outputs.end());
    }
    graph().nodes = std::move(nodes);
}

// One node and those that it needs. Steps look at the original shapes and attributes, so a step
// that changes them comes after those that read them.
void Fixer::fix_node(Node node, std::vector<Node>& to) {
    if (!onnx::is_default_domain(node.domain)) {
        to.push_back(std::move(node));
        return;
    }
    if (fold(node)) return;
    write_equivalent(node);
    write_defaults(node);
    write_pads(node);
    write_pool(node);
    write_axes(node);
    write_activations(node);
    write_slice(node);
    write_bounds(node);
    write_inputs(node);
    write_literal_shape(node);
    if (write_matmul(node, to)) return;
    write_expansions(node, to);
    write_gemm(node, to);
    to.push_back(std::move(node));
}

Fixed Fixer::run() {
    take_names();
    drop_overridable_inputs();
    drop_dead_nodes();
    std::vector<Node> nodes;
    for (Node& node : graph().nodes) fix_node(std::move(node), nodes);
    graph().nodes = std::move(nodes);
    drop_dead_nodes();
    drop_orphans();
    declare_types();
    return {std::move(model_), std::move(changes_)};
}

Fixed make_explicit(const Subject& subject) { return Fixer(subject).run(); }

}  // namespace lemma::sonnx
