// SPDX-License-Identifier: Apache-2.0
#include "edit/copier.h"

#include <algorithm>

#include "base/match.h"

namespace lemma::edit {

// An expression without a value is remembered, and the caller asks `failed`.
ir::SymId Copier::expr(ir::SymId id) {
    if (!id.valid()) return id;
    const auto copied = exprs_.copy(id);
    failed_ = failed_ || !copied;
    return copied ? *copied : into_.symbols.integer(0);
}

ir::Scalar Copier::scalar(const ir::Scalar& scalar) {
    const auto* const id = std::get_if<ir::SymId>(&scalar);
    if (!id) return scalar;
    const ir::SymId copied = expr(*id);
    if (const auto known = into_.symbols.as_int(copied)) return *known;
    return copied;
}

ir::Value Copier::value(const ir::Value& value) {
    return match(
        value,
        [](ir::Null) -> ir::Value { return ir::Null{}; },
        [&](const ir::Scalar& item) -> ir::Value { return scalar(item); },
        [&](const ir::Pack& pack) -> ir::Value {
            ir::Pack copied = pack;
            for (ir::Scalar& item : copied.items) item = scalar(item);
            if (copied.uniform) copied.uniform = scalar(*copied.uniform);
            return copied;
        });
}

ir::TensorId Copier::tensor(ir::TensorId id) {
    if (!id.valid()) return id;
    if (const auto found = tensors_.find(id); found != tensors_.end()) return found->second;
    ir::Tensor copied = from_.tensors[id];
    if (tensor_name_) copied.name = tensor_name_(copied.name);
    for (ir::SymId& extent : copied.shape) extent = expr(extent);
    copied.identity = expr(copied.identity);
    for (ir::Scalar& item : copied.items) item = scalar(item);
    if (copied.quantizer) {
        for (ir::Attribute& attribute : copied.quantizer->attributes)
            attribute.value = value(attribute.value);
        if (operator_) copied.quantizer->op = operator_(copied.quantizer->op);
    }
    return tensors_[id] = into_.tensors.add(std::move(copied));
}

ir::Port Copier::port(const ir::Port& port) {
    ir::Port copied = port;
    for (ir::TensorId& item : copied.operand.items) item = tensor(item);
    copied.operand.length = expr(copied.operand.length);
    return copied;
}

std::vector<ir::Port> Copier::ports(const std::vector<ir::Port>& ports) {
    std::vector<ir::Port> copied;
    for (const ir::Port& each : ports) copied.push_back(port(each));
    return copied;
}

std::vector<ir::Assertion> Copier::known_assertions(const std::vector<ir::Assertion>& assertions) {
    std::vector<ir::Assertion> kept;
    for (const ir::Assertion& assertion : assertions) {
        const auto symbols = from_.symbols.symbols_of(assertion.condition);
        const bool known = std::ranges::all_of(
            symbols, [&](ir::SymId symbol) { return exprs_.done().contains(symbol); });
        if (known) kept.push_back({expr(assertion.condition), assertion.message});
    }
    return kept;
}

void Copier::indices(std::vector<ir::IndexTerm>& terms) {
    for (ir::IndexTerm& term : terms) {
        term.value = expr(term.value);
        term.below = expr(term.below);
        term.above = expr(term.above);
    }
}

ir::Formula Copier::formula(const ir::Formula& formula) {
    ir::Formula copied = formula;
    for (ir::Bound& bound : copied.bounds) bound = {expr(bound.index), expr(bound.extent)};
    for (ir::Access& access : copied.accesses) {
        access.symbol = expr(access.symbol);
        access.tensor = tensor(access.tensor);
        indices(access.indices);
    }
    copied.condition = expr(copied.condition);
    for (ir::Write& write : copied.writes) {
        write.tensor = tensor(write.tensor);
        indices(write.indices);
        write.value = expr(write.value);
    }
    copied.counter = expr(copied.counter);
    return copied;
}

// ---- Operations ---------------------------------------------------------------------------------

ir::GraphId Copier::graph(ir::GraphId id) {
    if (!id.valid()) return id;
    const ir::Graph& original = from_.graphs[id];
    ir::Graph copied;
    copied.name = original.name;
    copied.inputs = ports(original.inputs);
    for (const ir::OpId op : original.operations) copied.operations.push_back(operation(op));
    copied.outputs = ports(original.outputs);
    return into_.graphs.add(std::move(copied));
}

ir::Branch Copier::branch(const ir::Branch& branch) {
    ir::Branch copied;
    for (const ir::Branch::Arm& arm : branch.arms) {
        const ir::GraphId condition = graph(arm.condition);
        copied.arms.push_back({condition, graph(arm.consequent)});
    }
    copied.alternative = graph(branch.alternative);
    return copied;
}

ir::Loop Copier::loop(const ir::Loop& loop) {
    ir::Loop copied = loop;
    for (ir::TensorId& id : copied.carried) id = tensor(id);
    for (ir::TensorId& id : copied.items) id = tensor(id);
    copied.index = tensor(loop.index);
    copied.static_count = expr(loop.static_count);
    copied.dynamic_count = tensor(loop.dynamic_count);
    copied.pre_condition = graph(loop.pre_condition);
    copied.body = graph(loop.body);
    copied.post_condition = graph(loop.post_condition);
    return copied;
}

ir::OpId Copier::operation(ir::OpId id) {
    ir::Operation copied = from_.operations[id];
    if (label_) copied.label = label_(copied.label);
    if (operator_) copied.op = operator_(copied.op);
    for (ir::Attribute& attribute : copied.attributes) attribute.value = value(attribute.value);
    copied.inputs = ports(copied.inputs);
    for (ir::OpId& part : copied.parts) part = operation(part);
    if (const auto* const inner = std::get_if<ir::Branch>(&from_.operations[id].control))
        copied.control = branch(*inner);
    if (const auto* const inner = std::get_if<ir::Loop>(&from_.operations[id].control))
        copied.control = loop(*inner);
    copied.outputs = ports(copied.outputs);
    for (ir::Formula& item : copied.formulas) item = formula(item);
    for (ir::Assertion& assertion : copied.assertions)
        assertion.condition = expr(assertion.condition);
    return into_.operations.add(std::move(copied));
}

}  // namespace lemma::edit
