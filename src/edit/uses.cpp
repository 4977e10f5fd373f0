// SPDX-License-Identifier: Apache-2.0
#include "edit/uses.h"

namespace lemma::edit {

std::vector<ir::TensorId> items_of(const std::vector<ir::Port>& ports) {
    std::vector<ir::TensorId> items;
    for (const ir::Port& port : ports)
        items.insert(items.end(), port.operand.items.begin(), port.operand.items.end());
    return items;
}

std::vector<ir::GraphId> graphs_of(const ir::Operation& op) {
    std::vector<ir::GraphId> graphs;
    const auto add = [&](ir::GraphId id) {
        if (id.valid()) graphs.push_back(id);
    };
    if (const auto* const branch = std::get_if<ir::Branch>(&op.control)) {
        for (const ir::Branch::Arm& arm : branch->arms) {
            add(arm.condition);
            add(arm.consequent);
        }
        add(branch->alternative);
    }
    if (const auto* const loop = std::get_if<ir::Loop>(&op.control)) {
        for (const ir::GraphId id : {loop->pre_condition, loop->body, loop->post_condition})
            add(id);
    }
    return graphs;
}

void visit_graph(const ir::Program& program,
                 ir::GraphId id,
                 const std::function<void(const ir::Operation&)>& action) {
    for (const ir::OpId op : program.graphs[id].operations) visit(program, op, action);
}

void visit(const ir::Program& program,
           ir::OpId id,
           const std::function<void(const ir::Operation&)>& action) {
    const ir::Operation& op = program.operations[id];
    action(op);
    for (const ir::OpId part : op.parts) visit(program, part, action);
    for (const ir::GraphId graph : graphs_of(op)) visit_graph(program, graph, action);
}

// ---- Tensors ------------------------------------------------------------------------------------

Uses uses_of(const ir::Program& program, ir::OpId id) {
    Uses uses;
    const auto read = [&](const std::vector<ir::Port>& ports) {
        for (const ir::TensorId item : items_of(ports)) uses.reads.insert(item);
    };
    visit(program, id, [&](const ir::Operation& op) {
        read(op.inputs);
        if (!op.compound()) {
            for (const ir::TensorId item : items_of(op.outputs)) uses.made.insert(item);
        }
        for (const ir::Formula& formula : op.formulas) {
            for (const ir::Access& access : formula.accesses) uses.reads.insert(access.tensor);
        }
        if (const auto* const loop = std::get_if<ir::Loop>(&op.control)) {
            uses.made.insert(loop->carried.begin(), loop->carried.end());
            uses.made.insert(loop->items.begin(), loop->items.end());
            if (loop->index.valid()) uses.made.insert(loop->index);
            if (loop->dynamic_count.valid()) uses.reads.insert(loop->dynamic_count);
        }
        for (const ir::GraphId graph : graphs_of(op)) read(program.graphs[graph].outputs);
    });
    for (const ir::TensorId made : uses.made) {
        if (uses.reads.erase(made) > 0) uses.inner.insert(made);
    }
    // A compound may pass on tensors that exist already.
    visit(program, id, [&](const ir::Operation& op) {
        if (!op.compound()) return;
        for (const ir::TensorId item : items_of(op.outputs)) {
            if (!uses.made.contains(item)) uses.reads.insert(item);
        }
    });
    return uses;
}

// ---- Symbols ------------------------------------------------------------------------------------

namespace {

class SymbolFinder {
public:
    explicit SymbolFinder(const ir::Program& program) : program_(program) {}

    void operation(const ir::Operation& op) {
        for (const ir::Attribute& attribute : op.attributes) value(attribute.value);
        for (const ir::TensorId id : items_of(op.inputs)) tensor(id);
        for (const ir::Port& port : op.inputs) expr(port.operand.length);
        for (const ir::Port& port : op.outputs) {
            expr(port.operand.length);
            if (!op.compound()) tell(port.operand.length);
        }
        for (const ir::TensorId id : items_of(op.outputs)) {
            tensor(id);
            if (!op.compound()) add_told(program_, program_.tensors[id], found_.told);
        }
        for (const ir::Formula& each : op.formulas) formula(each);
        for (const ir::Assertion& assertion : op.assertions) expr(assertion.condition);
        if (const auto* const loop = std::get_if<ir::Loop>(&op.control)) {
            expr(loop->static_count);
            for (const auto* list : {&loop->carried, &loop->items}) {
                for (const ir::TensorId id : *list)
                    add_told(program_, program_.tensors[id], found_.told);
            }
        }
    }
    SymbolUses finish() {
        for (const ir::SymId id : found_.told) found_.read.erase(id);
        for (const ir::SymId id : local_) found_.read.erase(id);
        return std::move(found_);
    }

private:
    void tell(ir::SymId id) {
        if (id.valid() && program_.symbols.node(id).kind == ir::SymKind::Symbol)
            found_.told.insert(id);
    }
    void expr(ir::SymId id) {
        if (!id.valid() || !seen_.insert(id).second) return;
        for (const ir::SymId symbol : program_.symbols.symbols_of(id)) found_.read.insert(symbol);
    }
    void value(const ir::Value& value) {
        const auto scalar = [&](const ir::Scalar& item) {
            if (const auto* const id = std::get_if<ir::SymId>(&item)) expr(*id);
        };
        if (const auto* const one = std::get_if<ir::Scalar>(&value)) scalar(*one);
        if (const auto* const pack = std::get_if<ir::Pack>(&value)) {
            for (const ir::Scalar& item : pack->items) scalar(item);
        }
    }
    void tensor(ir::TensorId id) {
        for (const ir::SymId extent : program_.tensors[id].shape) expr(extent);
        for (const ir::Scalar& item : program_.tensors[id].items) {
            if (const auto* const symbol = std::get_if<ir::SymId>(&item)) expr(*symbol);
        }
    }
    void indices(const std::vector<ir::IndexTerm>& terms) {
        for (const ir::IndexTerm& term : terms) {
            expr(term.value);
            expr(term.below);
            expr(term.above);
        }
    }
    void formula(const ir::Formula& formula) {
        for (const ir::Bound& bound : formula.bounds) {
            local_.insert(bound.index);
            expr(bound.extent);
        }
        for (const ir::Access& access : formula.accesses) {
            local_.insert(access.symbol);
            tensor(access.tensor);
            indices(access.indices);
        }
        expr(formula.condition);
        for (const ir::Write& write : formula.writes) {
            indices(write.indices);
            expr(write.value);
        }
    }

    const ir::Program& program_;
    SymbolUses found_;
    SymbolSet local_, seen_;
};

}  // namespace

void add_told(const ir::Program& program, const ir::Tensor& tensor, SymbolSet& told) {
    for (const ir::SymId extent : tensor.shape) {
        if (program.symbols.node(extent).kind == ir::SymKind::Symbol) told.insert(extent);
    }
}

SymbolUses symbols_of(const ir::Program& program, ir::OpId id) {
    SymbolFinder finder(program);
    visit(program, id, [&](const ir::Operation& op) { finder.operation(op); });
    return finder.finish();
}

}  // namespace lemma::edit
