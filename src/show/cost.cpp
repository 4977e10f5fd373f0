// SPDX-License-Identifier: Apache-2.0
#include "show/cost.h"

#include <algorithm>

#include "base/match.h"
#include "show/memory.h"

namespace lemma::show {

namespace {

// Finds products whose factors read tensors.
class ProductFinder {
public:
    ProductFinder(const ir::SymbolPool& symbols, const ir::Formula& formula) : symbols_(symbols) {
        for (const ir::Access& access : formula.accesses) elements_.insert(access.symbol);
    }

    // True if the expression contains a product of two factors that both read a tensor.
    bool finds_in(ir::SymId root) {
        std::vector<ir::SymId> open = {root};
        std::set<ir::SymId> seen;
        while (!open.empty()) {
            const ir::SymId id = open.back();
            open.pop_back();
            if (!seen.insert(id).second) continue;
            const ir::SymNode node = symbols_.node(id);
            if (is_product(node)) return true;
            for (const ir::SymId operand : node.operands) open.push_back(operand);
            for (const ir::SymTerm& term : node.terms) {
                for (const ir::SymFactor& factor : term.factors) open.push_back(factor.atom);
            }
        }
        return false;
    }

private:
    bool is_product(const ir::SymNode& node) const {
        if (node.kind == ir::SymKind::Polynomial) {
            return std::ranges::any_of(node.terms, [&](const ir::SymTerm& term) {
                uint32_t factors = 0;
                for (const ir::SymFactor& f : term.factors) factors += reads(f.atom) ? f.power : 0;
                return factors >= 2;
            });
        }
        if (node.kind != ir::SymKind::Operation || node.op != ir::SymOp::Mul) return false;
        return std::ranges::count_if(node.operands, [&](ir::SymId id) { return reads(id); }) >= 2;
    }
    bool reads(ir::SymId id) const {
        return std::ranges::any_of(symbols_.symbols_of(id),
                                   [&](ir::SymId symbol) { return elements_.contains(symbol); });
    }

    const ir::SymbolPool& symbols_;
    std::set<ir::SymId> elements_;
};

Amount formula_macs(const ir::Program& program, const ir::Formula& formula) {
    if (formula.op != ir::FormulaOp::Sum) return {};
    ProductFinder finder(program.symbols, formula);
    Amount count;
    for (const ir::Write& write : formula.writes) {
        if (finder.finds_in(write.value)) count.value += 1;
    }
    if (count.value == 0) return {};
    for (const ir::Bound& bound : formula.bounds) {
        count = count * amount_of(program.symbols, bound.extent);
    }
    if (formula.condition.valid()) count.at_most = true;
    return count;
}

}  // namespace

// ---- Control flow -------------------------------------------------------------------------------

Amount iterations(const ir::Program& program, const ir::Loop& loop) {
    if (!loop.static_count.valid()) return {.value = 1, .at_most = false, .at_least = true};
    Amount count = amount_of(program.symbols, loop.static_count);
    const bool may_stop =
        loop.dynamic_count.valid() || loop.pre_condition.valid() || loop.post_condition.valid();
    if (may_stop) count.at_most = true;
    return count;
}

std::vector<Body> bodies(const ir::Operation& op) {
    std::vector<Body> result;
    const auto add = [&](const char* role, ir::GraphId graph) {
        if (graph.valid()) result.push_back({role, graph});
    };
    match(
        op.control,
        [](std::monostate) {},
        [&](const ir::Branch& branch) {
            for (size_t i = 0; i < branch.arms.size(); ++i) {
                add(i == 0 ? "if" : "elif", branch.arms[i].condition);
                add("then", branch.arms[i].consequent);
            }
            add("else", branch.alternative);
        },
        [&](const ir::Loop& loop) {
            add("while", loop.pre_condition);
            add("do", loop.body);
            add("while", loop.post_condition);
        });
    return result;
}

bool is_primitive(const ir::Operation& op) {
    return op.kind == ir::OperationKind::Primitive || op.kind == ir::OperationKind::Intrinsic;
}

// ---- Multiply-accumulates -----------------------------------------------------------------------

Amount CostModel::control_macs(const ir::Branch& branch) {
    Amount conditions, most = macs(branch.alternative);
    for (const ir::Branch::Arm& arm : branch.arms) {
        conditions += macs(arm.condition);
        const Amount one = macs(arm.consequent);
        const bool same = one == most;
        most = larger(one, most);
        if (!same) most.at_most = true;
    }
    return conditions + most;
}

Amount CostModel::control_macs(const ir::Loop& loop) {
    Amount once = macs(loop.body);
    for (const ir::GraphId condition : {loop.pre_condition, loop.post_condition}) {
        if (condition.valid()) once += macs(condition);
    }
    return once * iterations(program_, loop);
}

Amount CostModel::macs(ir::GraphId graph) {
    Amount sum;
    for (const ir::OpId op : program_.graphs[graph].operations) sum += macs(op);
    return sum;
}

Amount CostModel::macs(ir::OpId id) {
    if (const auto known = macs_.find(id); known != macs_.end()) return known->second;
    const ir::Operation& op = program_.operations[id];
    Amount sum = match(op.control, [&](const auto& control) { return control_macs(control); });
    for (const ir::OpId part : op.parts) sum += macs(part);
    for (const ir::Formula& formula : op.formulas) sum += formula_macs(program_, formula);
    macs_[id] = sum;
    return sum;
}

// ---- Parameters ---------------------------------------------------------------------------------

void CostModel::find_variables(const ir::Operand& operand, VariableSet& found) const {
    for (const ir::TensorId id : operand.items) {
        if (program_.tensors[id].role == ir::TensorRole::Variable) found.insert(id);
    }
}

// Collects the variables that primitives read, and those that bodies and compounds pass on.
void CostModel::find_variables(const std::vector<ir::OpId>& ops, VariableSet& found) const {
    for (const ir::OpId id : ops) {
        const ir::Operation& op = program_.operations[id];
        find_variables(op.parts, found);
        for (const Body& body : bodies(op)) {
            find_variables(program_.graphs[body.graph].operations, found);
            for (const ir::Port& port : program_.graphs[body.graph].outputs) {
                find_variables(port.operand, found);
            }
        }
        for (const ir::Port& port : op.compound() ? op.outputs : op.inputs) {
            find_variables(port.operand, found);
        }
        // Variables of its own are no inputs.
        for (const ir::Formula& formula : op.formulas) {
            for (const ir::Access& access : formula.accesses)
                find_variables(ir::Operand::single(access.tensor), found);
        }
    }
}

Cost CostModel::cost(ir::OpId id) { return cost(std::vector<ir::OpId>{id}); }

Cost CostModel::cost(const std::vector<ir::OpId>& ops) {
    Cost result;
    VariableSet variables;
    find_variables(ops, variables);
    for (const ir::TensorId variable : variables) result.parameters += volume(program_, variable);
    for (const ir::OpId id : ops) {
        result.macs += macs(id);
        for (const ir::Port& port : program_.operations[id].outputs) {
            for (const ir::TensorId item : port.operand.items) {
                result.output_bytes += bytes(program_, item);
            }
            if (port.operand.length.valid()) result.output_bytes.at_most = true;
        }
    }
    return result;
}

// ---- The whole program --------------------------------------------------------------------------

size_t CostModel::count_primitives(const std::vector<ir::OpId>& ops) const {
    size_t count = 0;
    for (const ir::OpId id : ops) {
        const ir::Operation& op = program_.operations[id];
        count += is_primitive(op) ? 1 : count_primitives(op.parts);
        for (const Body& body : bodies(op)) {
            count += count_primitives(program_.graphs[body.graph].operations);
        }
    }
    return count;
}

Totals CostModel::totals() {
    const ir::Graph& main = program_.graphs[program_.main];
    Totals totals;
    totals.calls = main.operations.size();
    totals.primitives = count_primitives(main.operations);
    totals.macs = macs(program_.main);
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        if (program_.tensors[id].role != ir::TensorRole::Variable) continue;
        totals.parameters += volume(program_, id);
        totals.weight_bytes += bytes(program_, id);
    }
    const MemoryUse memory = memory_use(program_);
    totals.activation_bytes = memory.total;
    totals.peak_bytes = memory.peak;
    return totals;
}

}  // namespace lemma::show
