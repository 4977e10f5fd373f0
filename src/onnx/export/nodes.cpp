// SPDX-License-Identifier: Apache-2.0
// Operations as nodes.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/export/exporter.h"

namespace lemma::onnx {

namespace {

constexpr int kMaxDepth = 400;  // nested compounds

const ir::Value* find_value(const ir::Operation& op, std::string_view name) {
    const auto found = std::ranges::find_if(
        op.attributes, [&](const ir::Attribute& attribute) { return attribute.name == name; });
    return found == op.attributes.end() ? nullptr : &found->value;
}

int64_t axis_of(const ir::Operation& op) {
    const ir::Value* const value = find_value(op, "axis");
    const auto* const scalar = value ? std::get_if<ir::Scalar>(value) : nullptr;
    const auto* const axis = scalar ? std::get_if<int64_t>(scalar) : nullptr;
    return axis ? *axis : 0;
}

// The element type of an input that is an attribute of the definition.
DType steering_type(const NodeDraft& draft, const Steering& steering, const ir::Scalar& item) {
    if (draft.op == "Range" && !draft.source.dtypes.empty()) return draft.source.dtypes[0].second;
    if (std::holds_alternative<double>(item)) return DType::F32;
    if (std::holds_alternative<bool>(item)) return DType::Bool;
    return steering.type;
}

}  // namespace

bool is_true(const ir::Operation& op, std::string_view name) {
    const ir::Value* const value = find_value(op, name);
    return value && *value == ir::Value(ir::Scalar(true));
}

Attribute int_attribute(std::string name, int64_t value) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.type = AttributeType::Int;
    attribute.ints = {value};
    return attribute;
}

Attribute ints_attribute(std::string name, std::vector<int64_t> values) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.type = AttributeType::Ints;
    attribute.ints = std::move(values);
    return attribute;
}

Attribute text_attribute(std::string name, std::string value) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.type = AttributeType::String;
    attribute.strings = {std::move(value)};
    return attribute;
}

// ONNX has no packs, so stacking and unstacking are written here.
bool is_written_whole(const ir::Operation& op) {
    return op.kind == ir::OperationKind::Control || op.op == "layout.stack" ||
           op.op == "layout.unstack" || written_operator(op.op);
}

const ir::Tensor& Exporter::input(const NodeDraft& node, size_t port) const {
    return program_.tensors[node.source.inputs.at(port).operand.items.at(0)];
}

void Exporter::operations(const std::vector<ir::OpId>& list, int depth) {
    for (const ir::OpId id : list) operation(id, depth);
}

void Exporter::operation(ir::OpId id, int depth) {
    const ir::Operation& op = program_.operations[id];
    if (depth > kMaxDepth) return cannot(&op, "operations are nested too deep to be written");
    if (const auto* const control = std::get_if<ir::Branch>(&op.control))
        return branch(op, *control, 0, depth + 1);
    if (const auto* const control = std::get_if<ir::Loop>(&op.control))
        return loop(op, *control, depth + 1);
    if (op.op == "layout.stack") return stack(op);
    if (op.op == "layout.unstack") return unstack(op);
    if (const Operator* const row = written_operator(op.op)) return node(op, *row);
    if (op.compound()) return operations(op.parts, depth + 1);
    const bool used = std::ranges::any_of(op.outputs, [&](const ir::Port& port) {
        return std::ranges::any_of(port.operand.items,
                                   [&](ir::TensorId t) { return used_.contains(t); });
    });
    if (!used || op.op == "constant") return;
    cannot(&op, fmt::format("ONNX has no operator for `{}`", op.op));
    // Defines its results anyway, so that their readers are not reported as well.
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId each : port.operand.items) define(each);
    }
}

void Exporter::add_node(Node node) {
    while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
    while (node.outputs.size() > 1 && node.outputs.back().empty()) node.outputs.pop_back();
    // Parts of one operation share its label; each node needs its own name.
    if (!node.name.empty()) node.name = node_names_.make(node.name);
    graph().nodes.push_back(std::move(node));
}

std::string Exporter::helper(std::string op,
                             std::vector<std::string> inputs,
                             DType dtype,
                             const tensor::Shape& shape,
                             std::vector<Attribute> attributes) {
    Node node;
    const std::string name = unique(fmt::format("{}_{}", inputs.empty() ? "t" : inputs[0], op));
    node.op = std::move(op);
    node.inputs = std::move(inputs);
    node.outputs = {name};
    node.attributes = std::move(attributes);
    add_node(std::move(node));
    scopes_.back().made.insert(name);
    graph().values.push_back(value_info(name, dtype, shape));
    return name;
}

std::string Exporter::helper_like(std::string op,
                                  std::vector<std::string> inputs,
                                  const ir::Tensor& like,
                                  std::vector<Attribute> attributes) {
    const std::string name =
        helper(std::move(op), std::move(inputs), like.dtype, {}, std::move(attributes));
    graph().values.back() = value_info(name, like);
    return name;
}

std::string Exporter::identity(const std::string& name, const ir::Tensor& like) {
    return helper_like("Identity", {name}, like);
}

// ---- Nodes --------------------------------------------------------------------------------------

void Exporter::node(const ir::Operation& op, const Operator& row) {
    const std::string name(row.name);
    if (fold(op, name)) return;
    NodeDraft draft{
        .source = op, .row = row, .op = name, .inputs = {}, .attributes = {}, .ready = {}};
    for (const ir::Port& port : op.inputs) {
        if (port.operand.length.valid())
            return cannot(
                &op, fmt::format("`{}` takes a pack of which only a run tells the length", name));
        if (port.operand.null()) draft.inputs.emplace_back();
        for (const ir::TensorId id : port.operand.items) draft.inputs.push_back(name_of(id));
    }
    for (const ir::Attribute& attribute : op.attributes) {
        if (!std::holds_alternative<ir::Null>(attribute.value))
            draft.attributes[attribute.name] = attribute.value;
    }
    Node node;
    node.domain = domain_name(row.domain);
    if (row.domain == Domain::Default) {
        require(op, row.has_form_since(), fmt::format("`{}`", name));
    } else if (row.domain == Domain::Microsoft) {
        microsoft_ = true;
    } else {
        ml_opset_ = std::max(ml_opset_, row.has_form_since());
    }
    if (!adapt(*this, draft) || !steer(draft)) return;
    choose_types(draft);
    node.op = node_name(draft.op);
    node.name = op.label;
    node.inputs = draft.inputs;
    if (!add_attributes(draft, node)) return;
    node.outputs = outputs(op);
    if (std::ranges::all_of(node.outputs, [](const std::string& each) { return each.empty(); }))
        return;  // its results have no readers
    if (node.outputs[0].empty())
        node.outputs[0] = unique(fmt::format("{}_unused", node_name(name)));
    add_node(std::move(node));
}

// Leaves out results that the node does not make itself: tensors passed through, and constants.
std::vector<std::string> Exporter::outputs(const ir::Operation& op) {
    std::vector<std::string> names;
    for (const ir::Port& port : op.outputs) {
        if (port.operand.null()) names.emplace_back();
        for (const ir::TensorId id : port.operand.items) {
            const bool used = used_.contains(id) || stacked_uses_.contains(id);
            const bool left_out = !is_made_by(op, id) || (!port.operand.packed && !used);
            names.push_back(left_out ? "" : define(id));
        }
    }
    return names;
}

bool Exporter::is_made_by(const ir::Operation& op, ir::TensorId id) const {
    if (program_.tensors[id].role != ir::TensorRole::Intermediate) return false;
    return std::ranges::none_of(op.inputs, [&](const ir::Port& port) {
        return std::ranges::find(port.operand.items, id) != port.operand.items.end();
    });
}

bool Exporter::steer(NodeDraft& draft) {
    for (const Steering& row : draft.row.steering) {
        if (opset_ < row.since) continue;
        std::string name;
        const auto found = draft.attributes.find(std::string(row.attribute));
        if (found != draft.attributes.end()) {
            const auto* const scalar = std::get_if<ir::Scalar>(&found->second);
            const auto* const pack = std::get_if<ir::Pack>(&found->second);
            const bool left_out = pack && pack->items.empty() && row.empty_is_missing;
            if (scalar) {
                const DType dtype = steering_type(draft, row, *scalar);
                name = row.as == SteerAs::ListOfOne ? list(draft.source, {*scalar}, dtype)
                                                    : single(draft.source, *scalar, dtype);
            } else if (pack && !left_out) {
                const bool real =
                    pack->type == ir::ScalarType::Real ||
                    (!pack->items.empty() && std::holds_alternative<double>(pack->items[0]));
                name = list(draft.source, pack->items, real ? DType::F32 : DType::I64);
            }
            if (name.empty() && !left_out) return false;
            draft.attributes.erase(found);
        }
        while (draft.inputs.size() < row.input) draft.inputs.emplace_back();
        draft.inputs.insert(draft.inputs.begin() + static_cast<std::ptrdiff_t>(row.input), name);
    }
    return true;
}

void Exporter::choose_types(NodeDraft& draft) {
    const auto& type = draft.row.result_type;
    if (!type || type->attribute.empty()) return;
    const DType dtype = program_.tensors[draft.source.outputs.at(0).operand.items.at(0)].dtype;
    if (type->since > kOldestWritten) {
        const size_t from = type->from_input.value_or(draft.inputs.size());
        const bool by_input = from < draft.inputs.size() && !draft.inputs[from].empty();
        if (dtype == (by_input ? input(draft, from).dtype : type->usual)) return;
        require(draft.source, type->since, fmt::format("`{}` of `{}`", type->attribute, draft.op));
    }
    draft.ready.push_back(int_attribute(std::string(type->attribute), tensor::onnx_type_of(dtype)));
}

bool Exporter::add_attributes(NodeDraft& draft, Node& node) {
    node.attributes = std::move(draft.ready);
    for (const auto& [name, value] : draft.attributes) {
        if (std::ranges::find(draft.row.own_attributes, name) != draft.row.own_attributes.end())
            continue;
        const auto* const pack = std::get_if<ir::Pack>(&value);
        const bool empty = pack && pack->items.empty();
        if (empty && name != "shape") continue;
        if (const AttributeDefault* const late = find_late_attribute(draft.row, name)) {
            if (has_default_value(*late, value)) continue;
            require(draft.source, late->since, fmt::format("`{}` of `{}`", name, draft.op));
        }
        auto made = attribute(draft.source, name, value);
        if (!made) return false;
        node.attributes.push_back(std::move(*made));
    }
    return true;
}

std::optional<Attribute> Exporter::attribute(const ir::Operation& op,
                                             const std::string& name,
                                             const ir::Value& value) {
    const auto* const pack = std::get_if<ir::Pack>(&value);
    const std::vector<ir::Scalar> items =
        pack ? pack->items : std::vector{std::get<ir::Scalar>(value)};
    Attribute made;
    made.name = name;
    made.type = pack ? AttributeType::Ints : AttributeType::Int;
    for (const ir::Scalar& item : items) {
        if (const auto* const real = std::get_if<double>(&item)) {
            made.type = pack ? AttributeType::Floats : AttributeType::Float;
            made.floats.push_back(static_cast<float>(*real));
        } else if (const auto* const integer = std::get_if<int64_t>(&item)) {
            made.ints.push_back(*integer);
        } else if (const auto* const flag = std::get_if<bool>(&item)) {
            made.ints.push_back(*flag ? 1 : 0);
        } else if (const auto* const text = std::get_if<std::string>(&item)) {
            made.type = pack ? AttributeType::Strings : AttributeType::String;
            made.strings.push_back(*text);
        } else {
            cannot(&op,
                   fmt::format("`{}` of `{}` is `{}`, which only a run tells; an attribute of ONNX "
                               "is a constant",
                               name,
                               op.op,
                               program_.symbols.text(std::get<ir::SymId>(item))));
            return std::nullopt;
        }
    }
    return made;
}

// ---- Packs --------------------------------------------------------------------------------------

// Stacks the items along a new first axis.
std::string Exporter::pack_as_tensor(const ir::Operation& op, const ir::Operand& pack) {
    if (pack.items.empty()) {
        cannot(&op, "an empty pack has no tensor of ONNX");
        return unique("none");
    }
    const auto whole = stacked_.find(pack.items[0]);
    if (whole != stacked_.end() && whole->second.items == pack.items) return whole->second.name;
    if (pack.length.valid()) {
        cannot(&op, "the length of a pack that no loop collects is told by a run only");
        return unique("none");
    }
    const ir::Tensor& first = program_.tensors[pack.items[0]];
    std::vector<std::string> rows;
    const std::string front = initializer({int64_t{0}}, DType::I64, {1});
    for (const ir::TensorId id : pack.items) {
        rows.push_back(helper_like("Unsqueeze", {name_of(id), front}, first));
        auto& shape = *graph().values.back().shape;
        shape.insert(shape.begin(), {1, ""});
    }
    const std::string all = helper_like("Concat", rows, first, {int_attribute("axis", 0)});
    auto& shape = *graph().values.back().shape;
    shape.insert(shape.begin(), {static_cast<int64_t>(rows.size()), ""});
    return all;
}

void Exporter::stack(const ir::Operation& op) {
    const ir::Operand& pack = op.inputs.at(0).operand;
    const ir::TensorId result = op.outputs.at(0).operand.items.at(0);
    const auto rank = static_cast<int64_t>(program_.tensors[result].shape.size());
    const bool squeezed = is_true(op, "squeeze");
    const int64_t axis = axis_of(op) < 0 ? axis_of(op) + rank - (squeezed ? 0 : 1) : axis_of(op);
    Node node;
    node.name = op.label;
    if (squeezed) {
        if (pack.length.valid())
            return cannot(&op, "only a run tells how many tensors `layout.stack` is given");
        node.op = "Concat";
        for (const ir::TensorId id : pack.items) node.inputs.push_back(name_of(id));
        node.attributes = {int_attribute("axis", axis)};
    } else {
        node.inputs = {pack_as_tensor(op, pack)};
        node.op = axis == 0 ? "Identity" : "Transpose";
        std::vector<int64_t> perm;
        for (int64_t i = 1; i < rank; ++i) perm.push_back(i);
        perm.insert(perm.begin() + axis, 0);
        if (axis != 0) node.attributes = {ints_attribute("perm", std::move(perm))};
    }
    node.outputs = {define(result)};
    add_node(std::move(node));
}

// Slices of an axis; without `squeeze` they keep it, with extent 1.
void Exporter::unstack(const ir::Operation& op) {
    const ir::TensorId from = op.inputs.at(0).operand.items.at(0);
    const ir::Operand& pack = op.outputs.at(0).operand;
    const auto rank = static_cast<int64_t>(program_.tensors[from].shape.size());
    const int64_t axis = axis_of(op) < 0 ? axis_of(op) + rank : axis_of(op);
    const std::string whole = name_of(from);
    const bool dropped = !pack.items.empty() && program_.tensors[pack.items[0]].shape.size() <
                                                    program_.tensors[from].shape.size();
    // A reader of all items reads the original tensor instead.
    const bool together = axis == 0 && dropped;
    if (together) stacked_[pack.items[0]] = {whole, pack.items};
    if (pack.length.valid()) {
        const bool taken =
            std::ranges::any_of(pack.items, [&](ir::TensorId id) { return used_.contains(id); });
        if (!together || taken) cannot(&op, "a run tells how many tensors `unstack` gives");
        return;
    }
    for (size_t i = 0; i < pack.items.size(); ++i) {
        if (together && !used_.contains(pack.items[i])) continue;
        const auto at = static_cast<int64_t>(i);
        Node node;
        node.op = "Gather";
        node.inputs = {
            whole,
            dropped ? initializer({at}, DType::I64, {}) : initializer({at}, DType::I64, {1})};
        node.attributes = {int_attribute("axis", axis)};
        node.outputs = {define(pack.items[i])};
        add_node(std::move(node));
    }
}

}  // namespace lemma::onnx
