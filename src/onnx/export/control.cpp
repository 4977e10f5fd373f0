// SPDX-License-Identifier: Apache-2.0
// Branches and loops as nodes with sub-graphs.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/export/exporter.h"

namespace lemma::onnx {

namespace {

// Larger packs are not split into items.
constexpr size_t kMaxCollected = 10'000;

Attribute graph_attribute(std::string name, GraphId graph) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.type = AttributeType::Graph;
    attribute.graphs = {graph};
    return attribute;
}

}  // namespace

// Writes the operations of a graph into the current one; names its results.
std::vector<std::string> Exporter::region(ir::GraphId id, int depth) {
    const ir::Graph& part = program_.graphs[id];
    operations(part.operations, depth);
    std::vector<std::string> results;
    for (const ir::Port& port : part.outputs) {
        for (const ir::TensorId tensor : port.operand.items) results.push_back(name_of(tensor));
    }
    return results;
}

void Exporter::begin_scope(std::string name) {
    scopes_.emplace_back();
    graph().name = std::move(name);
}

// Every result is made by a node of the graph itself, under a unique name.
GraphId Exporter::end_scope(const std::vector<std::pair<std::string, ir::TensorId>>& results) {
    std::set<std::string> taken;
    for (const auto& [name, id] : results) {
        const ir::Tensor& tensor = program_.tensors[id];
        std::string own = name;
        if (!scopes_.back().made.contains(name) || !taken.insert(name).second)
            own = identity(name, tensor);
        std::erase_if(graph().values, [&](const ValueInfo& value) { return value.name == own; });
        graph().outputs.push_back(value_info(own, tensor));
    }
    Graph made = std::move(graph());
    scopes_.pop_back();
    return model_.graphs.add(std::move(made));
}

// Further arms become branches inside the alternative.
void Exporter::branch(const ir::Operation& op, const ir::Branch& branch, size_t arm, int depth) {
    Node node;
    node.op = "If";
    node.name = op.label;
    node.inputs = region(branch.arms.at(arm).condition, depth);
    const auto part = [&](ir::GraphId id, std::string name) {
        begin_scope(std::move(name));
        const std::vector<std::string> names = region(id, depth);
        std::vector<std::pair<std::string, ir::TensorId>> results;
        for (const ir::Port& port : program_.graphs[id].outputs) {
            for (const ir::TensorId tensor : port.operand.items)
                results.emplace_back(names[results.size()], tensor);
        }
        return end_scope(results);
    };
    const GraphId consequent = part(branch.arms[arm].consequent, "then");
    GraphId alternative;
    if (arm + 1 < branch.arms.size()) {
        begin_scope("else");
        this->branch(op, branch, arm + 1, depth);
        std::vector<std::pair<std::string, ir::TensorId>> results;
        for (const ir::Port& port : op.outputs) {
            for (const ir::TensorId tensor : port.operand.items)
                results.emplace_back(name_of(tensor), tensor);
        }
        alternative = end_scope(results);
        for (const auto& [name, tensor] : results) names_.erase(tensor);
    } else {
        alternative = part(branch.alternative, "else");
    }
    node.attributes = {graph_attribute("then_branch", consequent),
                       graph_attribute("else_branch", alternative)};
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId tensor : port.operand.items) node.outputs.push_back(define(tensor));
    }
    add_node(std::move(node));
}

// ---- Loops --------------------------------------------------------------------------------------

// A known upper bound is used instead of a runtime count, which the condition then checks: readers
// of the model know how much is collected at most.
std::string Exporter::loop_count(const ir::Operation& op, const ir::Loop& loop) {
    if (loop.static_count.valid()) {
        const auto number = program_.symbols.as_int(loop.static_count);
        return single(op, number ? ir::Scalar(*number) : ir::Scalar(loop.static_count), DType::I64);
    }
    if (loop.dynamic_count.valid()) return dynamic_count(loop);
    if (loop.items.empty()) return "";
    const ir::Operand& pack = op.inputs[loop.pack_input(0)].operand;
    return single(op,
                  pack.length.valid() ? ir::Scalar(pack.length)
                                      : ir::Scalar(static_cast<int64_t>(pack.items.size())),
                  DType::I64);
}

std::string Exporter::dynamic_count(const ir::Loop& loop) {
    const ir::Tensor& tensor = program_.tensors[loop.dynamic_count];
    const std::string count = name_of(loop.dynamic_count);
    if (tensor.dtype == DType::I64) return count;
    const std::string wide = helper_like(
        "Cast", {count}, tensor, {int_attribute("to", tensor::onnx_type_of(DType::I64))});
    graph().values.back().elem_type = tensor::onnx_type_of(DType::I64);
    return wide;
}

// An initial value may be a single number for all elements.
std::string Exporter::initial_value(const ir::Operation& op, const ir::Loop& loop, size_t index) {
    const ir::TensorId initial = op.inputs[loop.initial_input(index)].operand.items.at(0);
    const ir::Tensor& carried = program_.tensors[loop.carried[index]];
    const std::string name = name_of(initial);
    if (program_.tensors[initial].shape == carried.shape) return name;
    std::vector<ir::Scalar> shape;
    for (const ir::SymId extent : carried.shape) {
        const auto number = program_.symbols.as_int(extent);
        shape.push_back(number ? ir::Scalar(*number) : ir::Scalar(extent));
    }
    return helper_like("Expand", {name, list(op, shape, DType::I64)}, carried);
}

// The condition of a step, computed from the carried values; empty: always true.
std::string Exporter::loop_condition(const ir::Loop& loop,
                                     const std::string& step,
                                     const std::string& count,
                                     int depth) {
    std::string go;
    if (!count.empty()) go = helper("Less", {step, count}, DType::Bool, {});
    if (!loop.pre_condition.valid()) return go;
    if (loop.index.valid()) names_[loop.index] = typed_step(loop, step);
    const std::string more = region(loop.pre_condition, depth).at(0);
    return go.empty() ? more : helper("And", {go, more}, DType::Bool, {});
}

// The step is i64; the program may use another type.
std::string Exporter::typed_step(const ir::Loop& loop, const std::string& step) {
    const ir::Tensor& index = program_.tensors[loop.index];
    if (index.dtype == DType::I64) return step;
    return helper_like(
        "Cast", {step}, index, {int_attribute("to", tensor::onnx_type_of(index.dtype))});
}

void Exporter::loop(const ir::Operation& op, const ir::Loop& loop, int depth) {
    Node node;
    node.op = "Loop";
    node.name = op.label;
    std::vector<std::string> initial, packs;
    for (size_t i = 0; i < loop.carried.size(); ++i) initial.push_back(initial_value(op, loop, i));
    for (size_t i = 0; i < loop.items.size(); ++i)
        packs.push_back(pack_as_tensor(op, op.inputs[loop.pack_input(i)].operand));
    node.inputs = {loop_count(op, loop), ""};
    // Before the first step the condition sees the initial values and the first items.
    for (size_t i = 0; i < initial.size(); ++i) names_[loop.carried[i]] = initial[i];
    const std::string zero = initializer({int64_t{0}}, DType::I64, {});
    for (size_t i = 0; i < packs.size() && loop.pre_condition.valid(); ++i) {
        const ir::Tensor& item = program_.tensors[loop.items[i]];
        names_[loop.items[i]] =
            helper_like("Gather", {packs[i], zero}, item, {int_attribute("axis", 0)});
    }
    const bool bounded = loop.dynamic_count.valid() && loop.static_count.valid();
    const std::string count = bounded ? dynamic_count(loop) : "";
    node.inputs[1] = loop_condition(loop, zero, count, depth);
    node.inputs.insert(node.inputs.end(), initial.begin(), initial.end());
    node.attributes = {graph_attribute("body", loop_body(op, loop, packs, count, depth))};
    std::vector<std::string> collected;
    for (size_t i = 0; i < op.outputs.size(); ++i) {
        const ir::Operand& operand = op.outputs[i].operand;
        if (!operand.packed) {
            node.outputs.push_back(define(operand.items.at(0)));
            continue;
        }
        node.outputs.push_back(unique(op.outputs[i].name));
        scopes_.back().made.insert(node.outputs.back());
        collected.push_back(node.outputs.back());
    }
    add_node(std::move(node));
    size_t next = 0;
    for (size_t i = 0; i < op.outputs.size(); ++i) {
        if (op.outputs[i].operand.packed) take_collected(op, i, collected[next++]);
    }
}

// A pack stays one tensor in ONNX; needed items are taken from it.
void Exporter::take_collected(const ir::Operation& op, size_t output, const std::string& stacked) {
    const ir::Operand& pack = op.outputs[output].operand;
    if (pack.items.empty()) return;
    ValueInfo type = value_info(stacked, program_.tensors[pack.items[0]]);
    const Dimension count = {
        pack.length.valid() ? std::nullopt : std::optional(static_cast<int64_t>(pack.items.size())),
        ""};
    type.shape->insert(type.shape->begin(), count);
    graph().values.push_back(std::move(type));
    stacked_[pack.items[0]] = {stacked, pack.items};
    if (pack.length.valid()) scopes_.back().axes.try_emplace(pack.length, stacked, 0);
    const bool wanted = std::ranges::any_of(
        pack.items, [&](ir::TensorId id) { return used_.contains(id) || wanted_.contains(id); });
    if (!wanted) return;
    if (pack.items.size() > kMaxCollected || pack.length.valid()) {
        return cannot(&op, "the items of what a loop collects are as many as only a run tells");
    }
    for (size_t i = 0; i < pack.items.size(); ++i) {
        Node node;
        node.op = "Gather";
        node.inputs = {stacked, initializer({static_cast<int64_t>(i)}, DType::I64, {})};
        node.attributes = {int_attribute("axis", 0)};
        node.outputs = {define(pack.items[i])};
        add_node(std::move(node));
    }
}

GraphId Exporter::loop_body(const ir::Operation& op,
                            const ir::Loop& loop,
                            const std::vector<std::string>& packs,
                            const std::string& count,
                            int depth) {
    begin_scope("body");
    const std::string step = unique("step"), go = unique("go");
    graph().inputs = {value_info(step, DType::I64, {}), value_info(go, DType::Bool, {})};
    std::vector<std::pair<std::string, ir::TensorId>> results;
    for (const ir::TensorId id : loop.carried) {
        const std::string name = unique(program_.tensors[id].name);
        bind(id, name);
        graph().inputs.push_back(value_info(name, program_.tensors[id]));
    }
    const auto take_items = [&](const std::string& at) {
        for (size_t i = 0; i < packs.size(); ++i) {
            bind(loop.items[i],
                 helper_like("Gather",
                             {packs[i], at},
                             program_.tensors[loop.items[i]],
                             {int_attribute("axis", 0)}));
        }
    };
    if (loop.index.valid()) names_[loop.index] = typed_step(loop, step);
    take_items(step);
    const std::vector<std::string> names = region(loop.body, depth);
    for (const ir::Port& port : program_.graphs[loop.body].outputs)
        results.emplace_back(names[results.size()], port.operand.items.at(0));

    // The condition of the next step sees the results of this one.
    std::string next;
    for (size_t i = 0; i < loop.carried.size(); ++i) names_[loop.carried[i]] = results[i].first;
    if (loop.post_condition.valid()) next = region(loop.post_condition, depth).at(0);
    if (loop.pre_condition.valid() || !count.empty()) {
        if (loop.pre_condition.valid() && !packs.empty())
            cannot(&op, "a loop over a pack whose condition is tested before each step");
        const std::string one = initializer({int64_t{1}}, DType::I64, {});
        const std::string ahead = helper("Add", {step, one}, DType::I64, {});
        const std::string go_on = loop_condition(loop, ahead, count, depth);
        next = next.empty() ? go_on : helper("And", {next, go_on}, DType::Bool, {});
    }
    if (next.empty()) next = go;
    // Its type is a single bool, whichever node makes it.
    Graph& body = graph();
    if (!scopes_.back().made.contains(next) ||
        std::ranges::any_of(results, [&](const auto& result) { return result.first == next; }))
        next = helper("Identity", {next}, DType::Bool, {});
    std::erase_if(body.values, [&](const ValueInfo& value) { return value.name == next; });
    body.outputs.push_back(value_info(next, DType::Bool, {}));
    return end_scope(results);
}

}  // namespace lemma::onnx
