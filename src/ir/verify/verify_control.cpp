// SPDX-License-Identifier: Apache-2.0
// Branches and loops agree with their graphs.
#include <algorithm>

#include "ir/verify/verify_impl.h"

namespace lemma::ir {

bool Verifier::is_one_element(TensorId id) const {
    return std::ranges::all_of(program_.tensors[id].shape, [&](SymId extent) {
        const Interval range = program_.symbols.range(extent);
        return range.low <= 1 && range.high >= 1;
    });
}

void Verifier::check_same(TensorId a, TensorId b, std::string_view what) {
    const Tensor& x = program_.tensors[a];
    const Tensor& y = program_.tensors[b];
    if (x.dtype != y.dtype || x.shape.size() != y.shape.size())
        problem("{}: {} and {} differ in dtype or rank", what, name(a), name(b));
}

void Verifier::check_same(const Operand& a, const Operand& b, std::string_view what) {
    if (a.packed != b.packed || a.items.size() != b.items.size())
        return problem("{}: another number of tensors", what);
    for (size_t i = 0; i < a.items.size(); ++i) check_same(a.items[i], b.items[i], what);
}

void Verifier::check_condition(GraphId id) {
    const auto& outputs = program_.graphs[id].outputs;
    const bool single = outputs.size() == 1 && is_single(outputs[0].operand);
    if (!single) return problem("a condition gives {} tensors, expected one", outputs.size());
    const TensorId tensor = outputs[0].operand.items[0];
    if (program_.tensors[tensor].dtype != DType::Bool || !is_one_element(tensor))
        problem("the condition {} is not a single bool", name(tensor));
}

void Verifier::walk_branch(const Operation& op, const Branch& branch) {
    if (branch.arms.empty()) problem("a branch without conditions");
    if (!op.inputs.empty()) problem("a branch with inputs");
    const auto arm = [&](GraphId id) {
        open_scope();
        walk_graph(id);
        close_scope();
        enter(op);
    };
    const auto result = [&](GraphId id) {
        arm(id);
        const auto& outputs = program_.graphs[id].outputs;
        if (outputs.size() != op.outputs.size())
            return problem(
                "an arm gives {} results, expected {}", outputs.size(), op.outputs.size());
        for (size_t i = 0; i < outputs.size(); ++i)
            check_same(outputs[i].operand, op.outputs[i].operand, "an arm");
    };
    for (const Branch::Arm& each : branch.arms) {
        arm(each.condition);
        check_condition(each.condition);
        result(each.consequent);
    }
    result(branch.alternative);
}

void Verifier::walk_loop(const Operation& op, const Loop& loop) {
    open_scope();
    for (const TensorId id : loop.carried) make(id);
    for (const TensorId id : loop.items) make(id);
    if (loop.index.valid()) make(loop.index);
    for (const GraphId graph : {loop.pre_condition, loop.body, loop.post_condition}) {
        if (!graph.valid()) continue;
        open_scope();
        walk_graph(graph);
        close_scope();
        enter(op);
        if (graph != loop.body) check_condition(graph);
    }
    close_scope();
    if (loop.index.valid()) {
        const Tensor& index = program_.tensors[loop.index];
        if (!tensor::is_integer(index.dtype) || !index.shape.empty())
            problem("the index {} is not a single int", name(loop.index));
    }
    if (loop.static_count.valid()) {
        check_int(loop.static_count, "the count");
        check_symbols(loop.static_count, {}, "the count");
    }
    if (loop.dynamic_count.valid()) {
        require_made(loop.dynamic_count, "the count");
        if (!tensor::is_integer(program_.tensors[loop.dynamic_count].dtype) ||
            !is_one_element(loop.dynamic_count))
            problem("the count {} is not a single int", name(loop.dynamic_count));
    }
    if (loop.items.empty() && !loop.static_count.valid() && !loop.dynamic_count.valid() &&
        !loop.pre_condition.valid() && !loop.post_condition.valid())
        problem("a loop without end");
    check_loop_ports(op, loop);
}

void Verifier::check_loop_ports(const Operation& op, const Loop& loop) {
    const size_t carried = loop.carried.size();
    const auto& body = program_.graphs[loop.body].outputs;
    const size_t inputs = loop.pack_input(loop.items.size());
    if (op.inputs.size() != inputs)
        return problem("{} inputs, expected {}", op.inputs.size(), inputs);
    if (loop.dynamic_count.valid() && op.inputs[0].operand.items != std::vector{loop.dynamic_count})
        problem("the count {} is not the first input", name(loop.dynamic_count));
    if (op.outputs.size() != body.size() || body.size() < carried)
        return problem("{} outputs and {} carried values, but the body gives {}",
                       op.outputs.size(),
                       carried,
                       body.size());
    for (size_t i = 0; i < carried; ++i) {
        const Operand inside = Operand::single(loop.carried[i]);
        check_same(op.inputs[loop.initial_input(i)].operand, inside, "an initial value");
        check_same(body[i].operand, inside, "a carried value");
        check_same(op.outputs[i].operand, inside, "a carried value");
    }
    for (size_t i = 0; i < loop.items.size(); ++i) {
        const Operand& pack = op.inputs[loop.pack_input(i)].operand;
        if (!pack.packed) problem("a scan over something that is no pack");
        for (const TensorId item : pack.items) check_same(item, loop.items[i], "a scan");
    }
    for (size_t i = carried; i < body.size(); ++i) {
        if (!is_single(body[i].operand) || !op.outputs[i].operand.packed) {
            problem("a scan output that is no pack, or collects packs");
            continue;
        }
        for (const TensorId item : op.outputs[i].operand.items)
            check_same(item, body[i].operand.items[0], "a scan output");
    }
}

}  // namespace lemma::ir
