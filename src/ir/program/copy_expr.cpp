// SPDX-License-Identifier: Apache-2.0
#include "ir/program/copy_expr.h"

namespace lemma::ir {

std::optional<SymId> ExprCopier::copy(SymId id) {
    if (const auto found = done_.find(id); found != done_.end()) return found->second;
    const auto made = make(id);
    if (made) done_[id] = *made;
    return made;
}

std::optional<SymId> ExprCopier::make(SymId id) {
    const SymNode node = from_.node(id);
    switch (node.kind) {
        case SymKind::Constant:
            return constant(id, node.type);
        case SymKind::Symbol:
            return into_.symbol(
                node.name,
                node.type,
                node.type == ScalarType::Int ? from_.range(id) : Interval{INT64_MIN, INT64_MAX});
        case SymKind::Polynomial:
            return polynomial(node);
        case SymKind::Operation:
            return operation(node);
    }
    return std::nullopt;
}

SymId ExprCopier::constant(SymId id, ScalarType type) {
    switch (type) {
        case ScalarType::Int:
            return into_.integer(*from_.as_int(id));
        case ScalarType::Real:
            return into_.real(*from_.as_real(id));
        case ScalarType::Bool:
            return into_.boolean(*from_.as_bool(id));
        case ScalarType::Str:
            break;
    }
    return into_.string(*from_.as_string(id));
}

std::optional<SymId> ExprCopier::polynomial(const SymNode& node) {
    std::vector<SymId> terms;
    for (const SymTerm& term : node.terms) {
        std::vector<SymId> factors = {into_.integer(term.coefficient)};
        for (const SymFactor& factor : term.factors) {
            const auto atom = copy(factor.atom);
            if (!atom) return std::nullopt;
            factors.insert(factors.end(), factor.power, *atom);
        }
        const auto product = into_.apply(SymOp::Mul, factors);
        if (!product) return std::nullopt;
        terms.push_back(*product);
    }
    return into_.apply(SymOp::Add, terms);
}

std::optional<SymId> ExprCopier::operation(const SymNode& node) {
    std::vector<SymId> operands;
    for (const SymId operand : node.operands) {
        const auto copied = copy(operand);
        if (!copied) return std::nullopt;
        operands.push_back(*copied);
    }
    if (node.op == SymOp::Function) return into_.function(node.name, operands.at(0));
    const bool with_zero =
        (node.op == SymOp::LessEqual || node.op == SymOp::Equal) && operands.size() == 1;
    if (with_zero) operands.push_back(into_.integer(0));
    return into_.apply(node.op, operands);
}

}  // namespace lemma::ir
