// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_substitute.cpp — substitution, the symbols of an expression, and the test
// whether it is affine. kMaxSymbolicDepth bounds the recursion.
#include <algorithm>
#include <unordered_set>

#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

__extension__ typedef __int128 Wide;

// Multiplies and adds constants in 128 bits, so that intermediate results may exceed 64 bits.
struct WideSum {
    Wide total = 0;
    bool valid = true;

    void add(Wide term) { valid = valid && !__builtin_add_overflow(total, term, &total); }
    std::optional<int64_t> value() const {
        if (!valid || total < kInt64Min || total > kInt64Max) return std::nullopt;
        return static_cast<int64_t>(total);
    }
};

}  // namespace

struct SymbolPool::Impl::Substitution {
    Impl& pool;
    const Replacement& with;
    std::unordered_map<SymId, SymId, IdHash> done;

    MaybeSym run(SymId id) {
        const Node n = pool.node(id);
        if (n.kind <= NodeKind::Str) return id;
        if (n.kind == NodeKind::Symbol) {
            const auto at = with.find(id);
            if (at == with.end()) return id;
            if (at->second.value < pool.nodes.size() && pool.node(at->second).type == n.type)
                return at->second;
            return pool.fail(SymFault::BadOperands);
        }
        if (const auto known = done.find(id); known != done.end()) return known->second;
        const MaybeSym result = n.kind == NodeKind::Sum ? run_sum(id) : run_op(id, n);
        if (result) done.emplace(id, *result);
        return result;
    }

    struct Replaced {
        Terms terms;
        std::vector<std::vector<Factor>> factors;  // with the substituted atoms
        bool constant = true;
    };

    std::optional<Replaced> replace_atoms(SymId id) {
        Replaced result{pool.terms_of(id), {}};
        result.factors.resize(result.terms.size());
        for (size_t i = 0; i < result.terms.size(); ++i) {
            const auto view = pool.factors(result.terms[i].mono);
            result.factors[i].assign(view.begin(), view.end());
            for (Factor& factor : result.factors[i]) {
                const MaybeSym atom = run(factor.atom);
                if (!atom) return std::nullopt;
                factor.atom = *atom;
                result.constant = result.constant && pool.as_int(*atom);
            }
        }
        return result;
    }

    MaybeSym run_sum(SymId id) {
        const auto replaced = replace_atoms(id);
        if (!replaced) return std::nullopt;
        return replaced->constant ? fold(replaced->terms, replaced->factors)
                                  : rebuild(replaced->terms, replaced->factors);
    }

    // The operand of a comparison or division can exceed 64 bits although the result does not: in
    // canonical form n < 2**62 is a difference, and n \ 2**62 has a raised numerator.
    MaybeSym run_wide(SymId id, const Node& n) {
        const SymId inner = pool.operand(id, 0);
        const bool test = (n.op == SymOp::LessEqual || n.op == SymOp::Equal) && n.count == 1;
        const bool division = n.op == SymOp::Div || n.op == SymOp::Mod;
        if ((!test && !division) || !pool.is(inner, NodeKind::Sum)) return std::nullopt;
        const auto divisor = division ? pool.as_int(pool.operand(id, 1)) : 1;
        const auto replaced = divisor && *divisor > 0 ? replace_atoms(inner) : std::nullopt;
        if (!replaced || !replaced->constant) return std::nullopt;
        WideSum sum = wide_sum(replaced->terms, replaced->factors);
        if (!sum.valid) return std::nullopt;
        if (n.op == SymOp::LessEqual) return pool.boolean(sum.total <= 0);
        if (n.op == SymOp::Equal) return pool.boolean(sum.total == 0);
        Wide quotient = sum.total / *divisor, remainder = sum.total % *divisor;
        if (remainder < 0) --quotient, remainder += *divisor;
        sum.total = n.op == SymOp::Div ? quotient : remainder;
        const auto value = sum.value();
        return value ? pool.integer(*value) : pool.fail(SymFault::Overflow);
    }

    MaybeSym fold(const Terms& terms, const std::vector<std::vector<Factor>>& factors) {
        const auto value = wide_sum(terms, factors).value();
        return value ? pool.integer(*value) : pool.fail(SymFault::Overflow);
    }

    WideSum wide_sum(const Terms& terms, const std::vector<std::vector<Factor>>& factors) {
        WideSum sum;
        for (size_t i = 0; i < terms.size(); ++i) {
            Wide product = terms[i].coef;
            for (const Factor& factor : factors[i])
                for (uint32_t k = 0; k < factor.power; ++k)
                    sum.valid =
                        sum.valid &&
                        !__builtin_mul_overflow(product, Wide{*pool.as_int(factor.atom)}, &product);
            sum.add(product);
        }
        return sum;
    }

    MaybeSym rebuild(const Terms& terms, const std::vector<std::vector<Factor>>& factors) {
        std::vector<SymId> products;
        for (size_t i = 0; i < terms.size(); ++i) {
            MaybeSym product = pool.integer(terms[i].coef);
            for (const Factor& factor : factors[i])
                for (uint32_t k = 0; k < factor.power && product; ++k)
                    product = pool.multiply(*product, factor.atom);
            if (!product) return std::nullopt;
            products.push_back(*product);
        }
        return pool.add_all(products);
    }

    MaybeSym run_op(SymId id, const Node& n) {
        std::vector<SymId> x = pool.copy_operands(id);
        if (n.op == SymOp::Select) {
            const MaybeSym condition = run(x[0]);
            if (!condition) return std::nullopt;
            if (const auto value = pool.as_bool(*condition)) return run(*value ? x[1] : x[2]);
        }
        if (n.op == SymOp::And || n.op == SymOp::Or) return run_junction(n.op, x);
        if (const MaybeSym result = run_wide(id, n)) return result;
        for (SymId& operand : x) {
            const MaybeSym replaced = run(operand);
            if (!replaced) return std::nullopt;
            operand = *replaced;
        }
        if (n.op == SymOp::Function) return pool.function(pool.names[n.name], x[0]);
        if (x.size() == 1 && n.op == SymOp::LessEqual)
            return pool.at_most_zero(pool.terms_of(x[0]));
        if (x.size() == 1 && n.op == SymOp::Equal) return pool.equals_zero(pool.terms_of(x[0]));
        return pool.dispatch(n.op, x);
    }

    MaybeSym run_junction(SymOp op, std::vector<SymId>& x) {
        const bool decisive = op == SymOp::Or;
        SymFault trouble = SymFault::None;
        for (SymId& operand : x) {
            const MaybeSym replaced = run(operand);
            if (!replaced) {
                trouble = pool.fault;
                continue;
            }
            operand = *replaced;
            if (pool.as_bool(operand) == decisive) return operand;
        }
        if (trouble != SymFault::None) return pool.fail(trouble);
        return pool.dispatch(op, x);
    }
};

std::optional<SymId> SymbolPool::substitute(SymId id, const Impl::Replacement& with) {
    impl_->fault = SymFault::None;
    return Impl::Substitution{*impl_, with, {}}.run(id);
}

std::optional<SymbolPool::Affine> SymbolPool::affine_in(SymId id, SymId symbol) const {
    if (!impl_->is(symbol, NodeKind::Symbol)) return std::nullopt;
    if (id == symbol) return Affine{1, 0};
    if (!impl_->is(id, NodeKind::Sum)) return std::nullopt;
    Affine result{0, 0};
    for (const Term& term : impl_->terms_of(id)) {
        if (term.mono == kUnit)
            result.offset = term.coef;
        else if (impl_->linear_atom(term) == symbol)
            result.factor = term.coef;
        else
            return std::nullopt;
    }
    return result;
}

std::vector<SymId> SymbolPool::symbols_of(SymId id) const {
    std::vector<SymId> found, open = {id};
    std::unordered_set<SymId, IdHash> seen = {id};
    const auto visit = [&](SymId next) {
        if (seen.insert(next).second) open.push_back(next);
    };
    while (!open.empty()) {
        const SymId current = open.back();
        open.pop_back();
        switch (impl_->node(current).kind) {
            case NodeKind::Symbol:
                found.push_back(current);
                break;
            case NodeKind::Sum:
                for (const Term& term : impl_->terms_of(current))
                    for (const Factor& factor : impl_->factors(term.mono)) visit(factor.atom);
                break;
            default:
                for (const SymId operand : impl_->operands(current)) visit(operand);
        }
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace lemma::ir
