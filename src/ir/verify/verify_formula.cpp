// SPDX-License-Identifier: Apache-2.0
// Formulas: ranks, types, and the symbols that they read.
#include <algorithm>

#include "ir/text/text_words.h"
#include "ir/verify/verify_impl.h"

namespace lemma::ir {

bool Verifier::is_symbol(SymId id) const {
    return program_.symbols.node(id).kind == SymKind::Symbol;
}

void Verifier::check_formula(const Operation& op, const Formula& formula) {
    SymbolSet local;
    if (formula.writes.empty()) problem("a formula without writes");
    check_bounds(formula, local);
    if (formula.counter.valid()) check_counter(formula);
    check_accesses(formula, local);
    for (const Write& write : formula.writes) check_write(op, formula, write, local);
    if (!formula.condition.valid()) return;
    if (program_.symbols.type(formula.condition) != ScalarType::Bool)
        problem("a condition is no bool");
    check_symbols(formula.condition, local, "a condition");
}

// Extents read neither indices nor elements: the domain is a box that is known before the formula
// runs.
void Verifier::check_bounds(const Formula& formula, SymbolSet& local) {
    for (const Bound& bound : formula.bounds) {
        if (!is_symbol(bound.index) || program_.symbols.type(bound.index) != ScalarType::Int) {
            problem("an index is no int symbol");
            continue;
        }
        if (program_.symbols.type(bound.extent) != ScalarType::Int)
            problem("the bound of `{}` is no int", program_.symbols.text(bound.index));
        check_symbols(bound.extent, {}, "a bound");
        if (anywhere_.contains(bound.index))
            problem("the index `{}` is an extent", program_.symbols.text(bound.index));
        if (!local.insert(bound.index).second)
            problem("the index `{}` has two bounds", program_.symbols.text(bound.index));
    }
}

void Verifier::check_counter(const Formula& formula) {
    const bool counts = is_symbol(formula.counter) && known_.contains(formula.counter);
    if (!counts) return problem("the counter of a formula is no extent");
    const bool used = std::ranges::any_of(formula.writes, [&](const Write& write) {
        return std::ranges::find(write.indices, formula.counter, &IndexTerm::value) !=
               write.indices.end();
    });
    if (!used) problem("the counter of a formula is no index of its writes");
}

void Verifier::check_accesses(const Formula& formula, SymbolSet& local) {
    for (const Access& access : formula.accesses) {
        check_indices(access.tensor, access.indices, local);
        require_made(access.tensor, "a formula");
        const ScalarType type = scalar_type_of(program_.tensors[access.tensor].dtype);
        if (!is_symbol(access.symbol) || program_.symbols.type(access.symbol) != type)
            problem("an element of {} is no symbol of its type", name(access.tensor));
        if (anywhere_.contains(access.symbol) || !local.insert(access.symbol).second)
            problem("the symbol of an element of {} is something else too", name(access.tensor));
    }
}

void Verifier::check_write(const Operation& op,
                           const Formula& formula,
                           const Write& write,
                           const SymbolSet& local) {
    const bool output = std::ranges::any_of(op.outputs, [&](const Port& port) {
        return std::ranges::find(port.operand.items, write.tensor) != port.operand.items.end();
    });
    if (!output) problem("a formula writes {}, which is no output", name(write.tensor));
    check_indices(write.tensor, write.indices, local);
    const DType dtype = program_.tensors[write.tensor].dtype;
    const ScalarType type = program_.symbols.type(write.value);
    if (type != scalar_type_of(dtype))
        problem("a formula writes {} into {}, which is {}",
                scalar_type_text(type),
                name(write.tensor),
                tensor::dtype_name(dtype));
    const bool logical = formula.op == FormulaOp::All || formula.op == FormulaOp::Any;
    const bool numeric = formula.op >= FormulaOp::Sum && formula.op <= FormulaOp::Max && !logical;
    if ((logical && type != ScalarType::Bool) ||
        (numeric && type != ScalarType::Int && type != ScalarType::Real))
        problem("`{}` of {} values", formula_op_text(formula.op), scalar_type_text(type));
    check_symbols(write.value, local, "a value");
}

void Verifier::check_indices(TensorId tensor,
                             const std::vector<IndexTerm>& indices,
                             const SymbolSet& local) {
    const size_t rank = program_.tensors[tensor].shape.size();
    if (indices.size() != rank)
        problem("{} indices for {}, which has rank {}", indices.size(), name(tensor), rank);
    for (const IndexTerm& term : indices) {
        if ((term.below.valid() || term.above.valid()) && term.guard != Guard::Remap)
            problem("an index of {} has places to go, but no guard", name(tensor));
        for (const SymId part : {term.value, term.below, term.above}) {
            if (!part.valid()) continue;
            if (program_.symbols.type(part) != ScalarType::Int)
                problem("an index of {} is no int", name(tensor));
            check_symbols(part, local, "an index");
        }
    }
}

}  // namespace lemma::ir
