// SPDX-License-Identifier: Apache-2.0
// If and Loop. Import decides or unrolls them if it can; otherwise they stay control flow.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/import/importer.h"

namespace lemma::onnx {

Importer::Results Importer::import_control(const NodeCall& call, const Scope& scope) {
    if (call.op == "If") return import_if(call, scope);
    const size_t optional = call.op == "Loop" ? 2 : call.opset < 9 ? 1 : 0;
    if (refuse_missing(call, optional)) return std::nullopt;
    if (call.op == "Loop") return import_loop(call, scope);
    return call.opset < 9 ? import_batched_scan(call, scope) : import_scan(call, scope);
}

const Graph* Importer::graph_attribute(const NodeCall& call, const std::string& name) {
    const auto found = call.parts.find(name);
    if (found != call.parts.end() && found->second->graphs.size() == 1)
        return &model_.graphs[found->second->graphs[0]];
    fail(call,
         DiagKind::MissingAttribute,
         fmt::format("`{}` needs the attribute `{}`, a graph", call.op, name));
    return nullptr;
}

Importer::Results Importer::import_body(const NodeCall& call,
                                        const Graph& graph,
                                        const std::vector<ValueId>& inputs,
                                        const Scope& scope) {
    if (inputs.size() != graph.inputs.size()) {
        fail(call,
             DiagKind::ArgumentCount,
             fmt::format("the graph of `{}` has {} inputs, expected {}",
                         call.op,
                         graph.inputs.size(),
                         inputs.size()));
        return std::nullopt;
    }
    Scope inner;
    inner.outer = &scope;
    inner.opsets = scope.opsets;
    inner.arguments = scope.arguments;
    inner.function_depth = scope.function_depth;
    import_initializers(graph, inner);
    for (size_t i = 0; i < inputs.size(); ++i) inner.names[graph.inputs[i].name] = inputs[i];
    import_nodes(graph.nodes, inner);
    std::vector<ValueId> results;
    for (const ValueInfo& output : graph.outputs) {
        const ValueId id = find(inner, output.name);
        if (!id.valid() || values_[id].broken) return std::nullopt;
        results.push_back(id);
    }
    return results;
}

// ---- If -----------------------------------------------------------------------------------------

Importer::Results Importer::import_if(const NodeCall& call, const Scope& scope) {
    const Graph* const consequent = graph_attribute(call, "then_branch");
    const Graph* const alternative = graph_attribute(call, "else_branch");
    if (!consequent || !alternative) return std::nullopt;
    if (!call.has_input(0)) {
        fail(call, DiagKind::ArgumentCount, "`If` needs a condition");
        return std::nullopt;
    }
    if (refuse_sequences(call, call.inputs)) return std::nullopt;
    const ConstantValue* const condition = known(call.inputs[0]);
    const auto truth =
        condition && condition->size() == 1 ? as_bool(condition->items[0]) : std::nullopt;
    if (truth) return import_body(call, *truth ? *consequent : *alternative, {}, scope);
    return import_branches(call, scope, *consequent, *alternative);
}

// The results of both arms as one value; empty if they differ in more than extents.
std::optional<ValueId> Importer::merged(const NodeCall& call, ValueId a, ValueId b) {
    const std::vector<ir::SymId> x = shape(a);
    const std::vector<ir::SymId> y = shape(b);
    if (dtype(a) != dtype(b) || x.size() != y.size()) return std::nullopt;
    ir::Tensor tensor;
    tensor.dtype = dtype(a);
    tensor.name = values_[a].name;
    for (size_t i = 0; i < x.size(); ++i) {
        const int64_t high = std::max(symbols().range(x[i]).high, symbols().range(y[i]).high);
        tensor.shape.push_back(x[i] == y[i]
                                   ? x[i]
                                   : symbols().symbol(fmt::format("{}_{}", label_of(call), i),
                                                      ir::ScalarType::Int,
                                                      {0, high}));
    }
    return tensor_value(builder_.add_tensor(std::move(tensor)), values_[a].name);
}

Importer::Results Importer::import_branches(const NodeCall& call,
                                            const Scope& scope,
                                            const Graph& consequent,
                                            const Graph& alternative) {
    const ir::TensorId condition = tensor(call.inputs[0]);
    const auto arm = [&](const std::vector<ValueId>& results) {
        ir::Graph graph;
        for (size_t i = 0; i < results.size(); ++i) {
            graph.outputs.push_back(
                {fmt::format("y{}", i), ir::Operand::single(tensor(results[i]))});
        }
        return builder_.end_graph(std::move(graph));
    };
    ir::Branch branch;
    builder_.begin_graph();
    ir::Graph test;
    test.outputs = {{"condition", ir::Operand::single(condition)}};
    const ir::GraphId tested = builder_.end_graph(std::move(test));
    builder_.begin_graph();
    const Results first = import_body(call, consequent, {}, scope);
    branch.arms = {{tested, arm(first.value_or(std::vector<ValueId>()))}};
    builder_.begin_graph();
    const Results second = import_body(call, alternative, {}, scope);
    branch.alternative = arm(second.value_or(std::vector<ValueId>()));
    if (!first || !second) return std::nullopt;
    if (refuse_sequences(call, *first) || refuse_sequences(call, *second)) return std::nullopt;
    std::vector<ValueId> results;
    ir::Operation operation{.kind = ir::OperationKind::Control, .op = "if"};
    for (size_t i = 0; i < first->size() && i < second->size(); ++i) {
        const auto both = merged(call, (*first)[i], (*second)[i]);
        if (!both) {
            // The branches differ, so the value of the condition must be known.
            const ConstantValue* const decision = decided(call.inputs[0]);
            const auto truth =
                decision && decision->size() == 1 ? as_bool(decision->items[0]) : std::nullopt;
            if (truth) return import_body(call, *truth ? consequent : alternative, {}, scope);
            if (values_[call.inputs[0]].undecided) return std::nullopt;
            not_supported(call,
                          fmt::format("the branches of `If` give results of different types or "
                                      "ranks for output {}",
                                      i));
            return std::nullopt;
        }
        results.push_back(*both);
        operation.outputs.push_back(
            {fmt::format("y{}", i), ir::Operand::single(values_[*both].tensor)});
    }
    operation.label = label_of(call);
    operation.span = call.span;
    operation.control = std::move(branch);
    builder_.add_control(std::move(operation));
    return results;
}

// ---- Loop ---------------------------------------------------------------------------------------

namespace {

// Whether the body returns the condition unchanged, or a constant.
bool keeps_condition(const Graph& body) {
    if (body.outputs.empty() || body.inputs.size() < 2) return false;
    std::string name = body.outputs[0].name;
    for (size_t i = body.nodes.size(); i > 0; --i) {
        const Node& node = body.nodes[i - 1];
        if (node.outputs.empty() || node.outputs[0] != name) continue;
        if (node.op != "Identity" && node.op != "Cast") return node.op == "Constant";
        if (node.inputs.empty()) return false;
        name = node.inputs[0];
    }
    const auto is_constant = [&](const TensorData& data) { return data.proto.name == name; };
    return name == body.inputs[1].name || std::ranges::any_of(body.initializers, is_constant);
}

}  // namespace

Importer::Results Importer::import_loop(const NodeCall& call, const Scope& scope) {
    const Graph* const body = graph_attribute(call, "body");
    if (!body) return std::nullopt;
    const ConstantValue* const limit = decided(call.input(0));
    const ConstantValue* const go = decided(call.input(1));
    const auto count = limit && limit->size() == 1 ? as_int(limit->items[0]) : std::nullopt;
    const auto goes = go && go->size() == 1 ? as_bool(go->items[0]) : std::nullopt;
    const bool begins = !call.has_input(1) || goes.value_or(false);
    const auto nodes = static_cast<int64_t>(std::max<size_t>(body->nodes.size(), 1));
    if (goes == false || (count && *count <= 0)) return unroll_loop(call, scope, *body, 0);
    const bool few = count && *count <= options_.limits.max_unrolled / nodes;
    if (few && begins && keeps_condition(*body)) return unroll_loop(call, scope, *body, *count);
    LoopCount steps{.count = count, .length = {}};
    if (count && !(begins && keeps_condition(*body))) {
        steps.length = symbols().symbol("steps", ir::ScalarType::Int, {0, *count});
    }
    return repeat_loop(call, scope, *body, steps);
}

Importer::Results Importer::unroll_loop(const NodeCall& call,
                                        const Scope& scope,
                                        const Graph& body,
                                        int64_t count) {
    std::vector<ValueId> carried;
    for (size_t i = 2; i < call.inputs.size(); ++i) carried.push_back(call.inputs[i]);
    if (body.outputs.size() < carried.size() + 1) {
        fail(call, DiagKind::ResultCount, "the graph of `Loop` has too few outputs");
        return std::nullopt;
    }
    const size_t scans = body.outputs.size() - 1 - carried.size();
    std::vector<std::vector<ValueId>> collected(scans);
    for (int64_t step = 0; step < count; ++step) {
        std::vector<ValueId> inputs = {known_value({DType::I64, {}, {step}}, "step"),
                                       known_value({DType::Bool, {}, {true}}, "go")};
        inputs.insert(inputs.end(), carried.begin(), carried.end());
        const Results results = import_body(call, body, inputs, scope);
        if (!results) return std::nullopt;
        for (size_t i = 0; i < carried.size(); ++i) carried[i] = (*results)[i + 1];
        for (size_t i = 0; i < scans; ++i)
            collected[i].push_back((*results)[i + 1 + carried.size()]);
        const ConstantValue* const go = known((*results)[0]);
        if (go && go->size() == 1 && as_bool(go->items[0]) == false) break;
    }
    for (size_t i = 0; i < scans; ++i) {
        const ValueInfo& output = body.outputs[body.outputs.size() - scans + i];
        if (refuse_sequences(call, collected[i])) return std::nullopt;
        carried.push_back(count == 0 ? nothing_of(output) : stacked(call, collected[i], 0));
    }
    return carried;
}

// The collected output of a loop without steps.
ValueId Importer::nothing_of(const ValueInfo& output) {
    ConstantValue known{
        .dtype = memory_type(output.elem_type).value_or(DType::F32), .shape = {0}, .items = {}};
    for (const Dimension& dimension : output.shape.value_or(std::vector<Dimension>()))
        known.shape.push_back(std::max<int64_t>(dimension.value.value_or(0), 0));
    return known_value(std::move(known), output.name);
}

ValueId Importer::stacked(const NodeCall& call, const std::vector<ValueId>& items, int64_t axis) {
    const bool all_known = std::ranges::all_of(items, [&](ValueId id) { return known(id); });
    if (!all_known) {
        ir::Operand pack;
        pack.packed = true;
        for (const ValueId item : items) pack.items.push_back(tensor(item));
        return stacked_pack(call, std::move(pack), axis);
    }
    std::vector<ValueId> slices;
    Attributes unsqueeze;
    unsqueeze.set_ints("axes", {axis});
    for (const ValueId item : items) slices.push_back(make(call, "Unsqueeze", {item}, unsqueeze));
    Attributes concat;
    concat.set_int("axis", axis);
    return make(call, "Concat", std::move(slices), std::move(concat));
}

ValueId Importer::stacked_pack(const NodeCall& call, ir::Operand pack, int64_t axis) {
    ir::Call stack{.op = "layout.stack", .label = label_of(call), .span = call.span};
    stack.attributes = {{"axis", Scalar(axis)}};
    stack.inputs = {std::move(pack)};
    const auto results = builder_.call(stack);
    failed_ = failed_ || !results;
    if (!results) return broken_value("");
    return tensor_value(results->at(0).items.at(0), "stacked");
}

Importer::Results Importer::unstacked(const NodeCall& call,
                                      ValueId from,
                                      int64_t axis,
                                      int64_t count) {
    std::vector<ValueId> slices;
    if (count == 0 || known(from)) {
        for (int64_t i = 0; i < count; ++i) slices.push_back(sliced(call, from, axis, i));
        return slices;
    }
    ir::Call unstack{.op = "layout.unstack", .label = label_of(call), .span = call.span};
    unstack.attributes = {{"axis", Scalar(axis)}};
    unstack.inputs = {ir::Operand::single(tensor(from))};
    const auto results = builder_.call(unstack);
    if (!results) return std::nullopt;
    for (const ir::TensorId item : results->at(0).items)
        slices.push_back(tensor_value(item, values_[from].name));
    return slices;
}

ValueId Importer::sliced(const NodeCall& call, ValueId from, int64_t axis, int64_t index) {
    Attributes slice;
    slice.set_ints("starts", {index});
    slice.set_ints("ends", {index + 1});
    slice.set_ints("axes", {axis});
    Attributes squeeze;
    squeeze.set_ints("axes", {axis});
    return make(call, "Squeeze", {make(call, "Slice", {from}, slice)}, squeeze);
}

}  // namespace lemma::onnx
