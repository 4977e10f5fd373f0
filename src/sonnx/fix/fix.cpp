#include "sonnx/fix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/check.h"
#include "diag/utf8.h"
#include "onnx/write.h"
#include "sonnx/broadcast.h"
#include "sonnx/defaults.h"
#include "sonnx/operators.h"
#include "sonnx/window.h"

namespace lemma::sonnx {

namespace {

using diag::printable;
using onnx::Node;

constexpr int64_t kExpandOpset = 8;         // first operator set with Expand
constexpr int64_t kFreeInitializersIr = 4;  // from here on initialisers need not be inputs

class Fixer {
public:
    explicit Fixer(const Subject& subject) : view_(subject), model_(subject.model) {}

    Fixed run();

private:
    onnx::Graph& graph() { return model_.graphs[model_.main]; }
    void log(std::string_view rule, onnx::PathSpan place, std::string message) {
        changes_.push_back({rule, place, std::move(message)});
    }
    void take_names();
    std::string fresh_name(const std::string& wish);
    void set(Node& node, onnx::Attribute attribute);

    void drop_overridable_inputs();
    void write_defaults(Node& node);
    void write_pads(Node& node);
    void write_axes(Node& node);
    void write_axes_input(Node& node, int64_t rank);
    void write_expansions(Node& node, std::vector<Node>& to);
    std::string shape_constant(const Extents& shape);
    void drop_orphans();
    void declare_types();
    bool complete(onnx::ValueInfo& value, const TensorType& type);
    void complete_logged(onnx::ValueInfo& value);

    View view_;
    onnx::Model model_;
    std::vector<Change> changes_;
    std::unordered_set<std::string> names_;
    std::map<std::string, int64_t> next_;  // next number for a fresh name
    std::map<Extents, std::string> shape_constants_;
    std::map<std::pair<std::string, Extents>, std::string> expanded_;  // name by input and shape
    std::map<std::string, TensorType> added_types_;
};

void Fixer::take_names() {
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

void Fixer::write_defaults(Node& node) {
    for (MissingAttribute& missing : missing_attributes(node, view_)) {
        if (!missing.value) continue;
        log("GR4",
            node.place,
            fmt::format("`{}` is written out as `{}`", missing.name, value_text(*missing.value)));
        set(node, std::move(*missing.value));
    }
}

// Versions of ONNX differ on VALID with ceil_mode, so padding that changes the shape is not
// written.
bool gives_output(const std::vector<WindowAxis>& axes, const Node& node, const View& view) {
    const auto shape = view.output_shape(node, 0);
    if (!shape || shape->size() != axes.size() + 2) return false;
    const bool ceil = int_attribute(node, "ceil_mode").value_or(0) != 0;
    for (size_t i = 0; i < axes.size(); ++i) {
        if (output_extent(axes[i], ceil) != (*shape)[i + 2]) return false;
    }
    return true;
}

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
    if (!at) return;
    std::string& input = node.inputs[*at];
    const auto before = view_.constant_ints(input);
    if (!before) return;
    std::vector<int64_t> axes = *before;
    if (!from_front(axes, rank)) return;
    const auto type = view_.type(input);
    const bool narrow = type && type->elem_type == tensor::onnx_type_of(tensor::DType::I32);
    auto tensor = tensor::Tensor::zeros(narrow ? tensor::DType::I32 : tensor::DType::I64,
                                        {static_cast<int64_t>(axes.size())});
    if (!tensor) return;
    for (size_t i = 0; i < axes.size(); ++i) tensor->set_integer(static_cast<int64_t>(i), axes[i]);
    log("S015",
        node.place,
        fmt::format("`axes` [{}] become [{}]", fmt::join(*before, ", "), fmt::join(axes, ", ")));
    input = fresh_name(input + "_from_front");
    graph().initializers.push_back(onnx::add_tensor({input, std::move(*tensor)}, model_));
}

// An initialiser with the extents; one for each shape.
std::string Fixer::shape_constant(const Extents& shape) {
    const auto found = shape_constants_.find(shape);
    if (found != shape_constants_.end()) return found->second;
    auto tensor = tensor::Tensor::zeros(tensor::DType::I64, {static_cast<int64_t>(shape.size())});
    LEMMA_CHECK(tensor.has_value());
    for (size_t i = 0; i < shape.size(); ++i)
        tensor->set_integer(static_cast<int64_t>(i), shape[i]);
    const std::string name = fresh_name(fmt::format("shape_{}", fmt::join(shape, "x")));
    graph().initializers.push_back(onnx::add_tensor({name, std::move(*tensor)}, model_));
    return shape_constants_[shape] = name;
}

void Fixer::write_expansions(Node& node, std::vector<Node>& to) {
    if (view_.opset() < kExpandOpset) return;
    const BroadcastPlan plan = plan_broadcast(node, view_);
    if (!plan.conflict.empty()) return;
    for (const Expansion& expansion : plan.expansions) {
        std::string& input = node.inputs[expansion.input];
        std::string& name = expanded_[{input, expansion.to}];
        if (name.empty()) {
            name = fresh_name(input + "_expanded");
            Node expand;
            expand.op = "Expand";
            expand.name = name;
            expand.inputs = {input, shape_constant(expansion.to)};
            expand.outputs = {name};
            expand.place = node.place;
            to.push_back(std::move(expand));
            const auto type = view_.type(input);
            added_types_[name] = {.elem_type = type ? type->elem_type : 0, .shape = expansion.to};
        }
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

// Removes initialisers that became unused.
void Fixer::drop_orphans() {
    std::unordered_set<std::string> used;
    for (const onnx::Graph& each : model_.graphs) {
        for (const Node& node : each.nodes) used.insert(node.inputs.begin(), node.inputs.end());
        for (const onnx::ValueInfo& output : each.outputs) used.insert(output.name);
    }
    std::erase_if(graph().initializers, [&](const onnx::TensorData& data) {
        const std::string& name = data.proto.name;
        if (used.contains(name) || !view_.is_used(name)) return false;
        log("S005",
            data.place,
            fmt::format("`{}` is dropped: nothing uses it any more", printable(name)));
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
    log(value.shape ? "GR3" : "GR2",
        value.place,
        fmt::format("`{}` is declared as {} {}",
                    printable(value.name),
                    tensor::onnx_type_name(value.elem_type),
                    type->shape ? shape_text(*type->shape) : "of unknown shape"));
}

void Fixer::declare_types() {
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

Fixed Fixer::run() {
    take_names();
    drop_overridable_inputs();
    std::vector<Node> nodes;
    for (Node node : view_.graph().nodes) {
        if (onnx::is_default_domain(node.domain)) {
            write_defaults(node);
            write_pads(node);
            write_axes(node);
            write_expansions(node, nodes);
        }
        nodes.push_back(std::move(node));
    }
    graph().nodes = std::move(nodes);
    drop_orphans();
    declare_types();
    return {std::move(model_), std::move(changes_)};
}

}  // namespace

Fixed make_explicit(const Subject& subject) { return Fixer(subject).run(); }

}  // namespace lemma::sonnx
