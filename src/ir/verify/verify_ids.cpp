// SPDX-License-Identifier: Apache-2.0
// Ids are valid, and lists name every item once.
#include "base/match.h"
#include "ir/verify/verify_impl.h"

namespace lemma::ir {

void Verifier::check_id(TensorId id, bool optional) {
    if ((!optional || id.valid()) && id.value >= program_.tensors.size()) problem("no such tensor");
}
void Verifier::check_id(OpId id) {
    if (id.value >= program_.operations.size()) problem("no such operation");
}
void Verifier::check_id(GraphId id, bool optional) {
    if ((!optional || id.valid()) && id.value >= program_.graphs.size()) problem("no such graph");
}
void Verifier::check_id(SymId id, bool optional) {
    if ((!optional || id.valid()) && id.value >= program_.symbols.size())
        problem("no such expression");
}

bool Verifier::check_ids() {
    for (const Tensor& tensor : program_.tensors) {
        here_ = fmt::format("tensor `{}`: ", tensor.name);
        for (const SymId extent : tensor.shape) check_id(extent);
        check_id(tensor.identity, true);
        for (const Scalar& item : tensor.items) check_ids(Value(item));
        if (!tensor.quantizer) continue;
        for (const Attribute& attribute : tensor.quantizer->attributes) check_ids(attribute.value);
    }
    for (const Operation& op : program_.operations) {
        enter(op);
        check_ids(op);
    }
    for (const Graph& graph : program_.graphs) {
        here_ = fmt::format("graph `{}`: ", graph.name);
        check_ids(graph.inputs);
        check_ids(graph.outputs);
        for (const OpId op : graph.operations) check_id(op);
    }
    here_.clear();
    check_id(program_.main);
    for (const Update& update : program_.updates) {
        check_id(update.variable);
        check_id(update.value);
    }
    for (const Assertion& assertion : program_.assertions) check_id(assertion.condition);
    return problems_.empty();
}

void Verifier::check_ids(const std::vector<Port>& ports) {
    for (const Port& port : ports) {
        for (const TensorId id : port.operand.items) check_id(id);
        check_id(port.operand.length, true);
    }
}

void Verifier::check_ids(const Value& value) {
    const auto scalar = [&](const Scalar& item) {
        if (const auto* id = std::get_if<SymId>(&item)) check_id(*id);
    };
    match(
        value,
        [](Null) {},
        scalar,
        [&](const Pack& pack) {
            for (const Scalar& item : pack.items) scalar(item);
            if (pack.uniform) scalar(*pack.uniform);
        });
}

void Verifier::check_ids(const Operation& op) {
    check_ids(op.inputs);
    check_ids(op.outputs);
    for (const Attribute& attribute : op.attributes) check_ids(attribute.value);
    for (const OpId part : op.parts) check_id(part);
    for (const Assertion& assertion : op.assertions) check_id(assertion.condition);
    for (const Formula& formula : op.formulas) check_ids(formula);
    match(
        op.control,
        [](std::monostate) {},
        [&](const Branch& branch) {
            for (const Branch::Arm& arm : branch.arms) {
                check_id(arm.condition);
                check_id(arm.consequent);
            }
            check_id(branch.alternative);
        },
        [&](const Loop& loop) {
            for (const TensorId id : loop.carried) check_id(id);
            for (const TensorId id : loop.items) check_id(id);
            check_id(loop.index, true);
            check_id(loop.static_count, true);
            check_id(loop.dynamic_count, true);
            check_id(loop.pre_condition, true);
            check_id(loop.body);
            check_id(loop.post_condition, true);
        });
}

void Verifier::check_ids(const std::vector<IndexTerm>& indices) {
    for (const IndexTerm& term : indices) {
        check_id(term.value);
        const bool remap = term.guard == Guard::Remap;
        check_id(term.below, !remap);
        check_id(term.above, !remap);
    }
}

void Verifier::check_ids(const Formula& formula) {
    for (const Bound& bound : formula.bounds) {
        check_id(bound.index);
        check_id(bound.extent);
    }
    for (const Access& access : formula.accesses) {
        check_id(access.symbol);
        check_id(access.tensor);
        check_ids(access.indices);
    }
    for (const Write& write : formula.writes) {
        check_id(write.tensor);
        check_ids(write.indices);
        check_id(write.value);
    }
    check_id(formula.condition, true);
    check_id(formula.counter, true);
}

// Each item once, and so without cycles: an item that only lists itself is not reached from the
// main graph.
bool Verifier::check_lists() {
    std::vector<int> operations(program_.operations.size()), graphs(program_.graphs.size());
    std::vector<OpId> open_operations;
    std::vector<GraphId> open_graphs;
    const auto list = [&](const std::vector<OpId>& ops) {
        for (const OpId op : ops)
            if (++operations[op.value] == 1) open_operations.push_back(op);
    };
    const auto use = [&](GraphId graph) {
        if (graph.valid() && ++graphs[graph.value] == 1) open_graphs.push_back(graph);
    };
    use(program_.main);
    while (!open_operations.empty() || !open_graphs.empty()) {
        if (!open_graphs.empty()) {
            const GraphId graph = open_graphs.back();
            open_graphs.pop_back();
            list(program_.graphs[graph].operations);
            continue;
        }
        const Operation& op = program_.operations[open_operations.back()];
        open_operations.pop_back();
        list(op.parts);
        if (const auto* branch = std::get_if<Branch>(&op.control)) {
            for (const Branch::Arm& arm : branch->arms) use(arm.condition), use(arm.consequent);
            use(branch->alternative);
        }
        if (const auto* loop = std::get_if<Loop>(&op.control))
            use(loop->pre_condition), use(loop->body), use(loop->post_condition);
    }
    for (size_t i = 0; i < operations.size(); ++i) {
        if (operations[i] == 1) continue;
        enter(program_.operations[make_id<OpId>(i)]);
        problem("is listed {} times", operations[i]);
    }
    for (size_t i = 0; i < graphs.size(); ++i) {
        here_ = fmt::format("graph `{}`: ", program_.graphs[make_id<GraphId>(i)].name);
        if (graphs[i] != 1) problem("is used {} times", graphs[i]);
    }
    here_.clear();
    return problems_.empty();
}

}  // namespace lemma::ir
