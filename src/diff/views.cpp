// SPDX-License-Identifier: Apache-2.0
#include "diff/views.h"

#include <algorithm>

#include "base/match.h"
#include "tensor/tensor.h"

namespace lemma::diff {

namespace {

using ir::SymId;
using ir::SymOp;

constexpr size_t kMaxIndices = 32;  // of a view; a longer one stays an operation

}  // namespace

ir::TensorId Views::base(ir::TensorId id) const {
    const auto& view = views_[id];
    return view ? view->base : id;
}

ir::TensorId Views::same(ir::TensorId id) const {
    if (!id.valid()) return id;
    const auto& view = views_[id];
    return view && view->plain ? view->base : id;
}

// ---- Learning -----------------------------------------------------------------------------------

void Views::learn(const ir::Operation& op) {
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) {
            const ir::Formula* only = nullptr;
            size_t count = 0;
            for (const ir::Formula& formula : op.formulas) {
                for (const ir::Write& write : formula.writes) {
                    if (write.tensor != output) continue;
                    only = &formula;
                    ++count;
                }
            }
            if (count == 1) views_[output] = view_of(*only);
        }
    }
}

// Indices over an axis of extent 1 are 0.
Views::Substitution Views::units(const ir::Formula& formula) {
    Substitution with;
    for (const ir::Bound& bound : formula.bounds)
        if (is_unit(bound.extent)) with[bound.index] = program_.symbols.integer(0);
    return with;
}

SymId Views::replaced(SymId id, const Substitution& with) {
    if (!id.valid() || with.empty()) return id;
    return program_.symbols.substitute(id, with).value_or(id);
}

// `axis` is index = s0*i0 + s1*i1 + …, in row-major order of the bounds. Then i0 = axis/s0, and
// i1 = axis/s1 % e1.
bool Views::invert_axis(
    SymId index, SymId extent, SymId axis, const ir::Formula& formula, Substitution& found) {
    ir::SymbolPool& pool = program_.symbols;
    struct Digit {
        SymId bound;
        int64_t stride;
        SymId extent;
    };
    std::vector<Digit> digits;
    const auto add = [&](SymId symbol, int64_t stride) {
        const auto bound = std::ranges::find(formula.bounds, symbol, &ir::Bound::index);
        if (bound == formula.bounds.end() || stride <= 0 || found.contains(symbol)) return false;
        digits.push_back({symbol, stride, bound->extent});
        return true;
    };
    const ir::SymNode node = pool.node(index);
    if (node.kind == ir::SymKind::Constant) return pool.as_int(index) == 0 && is_unit(extent);
    if (node.kind == ir::SymKind::Symbol) {
        if (!add(index, 1)) return false;
    } else if (node.kind == ir::SymKind::Polynomial) {
        for (const ir::SymTerm& term : node.terms) {
            if (term.factors.size() != 1 || term.factors[0].power != 1) return false;
            if (!add(term.factors[0].atom, term.coefficient)) return false;
        }
    } else {
        return false;
    }
    std::ranges::sort(digits, std::greater<>(), &Digit::stride);
    if (digits.empty() || digits.back().stride != 1) return false;
    for (size_t i = 0; i + 1 < digits.size(); ++i) {
        const auto inner = pool.as_int(digits[i + 1].extent);
        const auto product =
            pool.apply(SymOp::Mul, pool.integer(digits[i + 1].stride), digits[i + 1].extent);
        if (!inner || !product || pool.as_int(*product) != digits[i].stride) return false;
    }
    const auto whole = pool.apply(SymOp::Mul, pool.integer(digits[0].stride), digits[0].extent);
    if (!whole || *whole != extent) return false;
    for (size_t i = 0; i < digits.size(); ++i) {
        auto value = pool.apply(SymOp::Div, axis, pool.integer(digits[i].stride));
        if (value && i > 0) value = pool.apply(SymOp::Mod, *value, digits[i].extent);
        if (!value) return false;
        found[digits[i].bound] = *value;
    }
    return true;
}

// The bounds of the formula by the axes of what it writes; nothing if it does not write each
// element once.
std::optional<Views::Substitution> Views::inverse(const ir::Write& write,
                                                  const ir::Formula& formula,
                                                  std::vector<SymId>& axes) {
    ir::SymbolPool& pool = program_.symbols;
    const auto& shape = program_.tensors[write.tensor].shape;
    const Substitution unit = units(formula);
    Substitution found;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (write.indices[i].guard != ir::Guard::None) return std::nullopt;
        const int64_t high = pool.range(shape[i]).high;
        const SymId axis =
            pool.symbol("a",
                        ir::ScalarType::Int,
                        {0, high == INT64_MAX ? high : std::max<int64_t>(high - 1, 0)});
        axes.push_back(axis);
        const SymId index = replaced(write.indices[i].value, unit);
        if (!invert_axis(index, shape[i], axis, formula, found)) return std::nullopt;
    }
    for (const auto& [symbol, zero] : unit) found[symbol] = zero;
    for (const ir::Bound& bound : formula.bounds)
        if (!found.contains(bound.index)) return std::nullopt;
    return found;
}

std::optional<Views::View> Views::view_of(const ir::Formula& formula) {
    if (formula.op != ir::FormulaOp::Assign || formula.writes.size() != 1 ||
        formula.condition.valid() || formula.counter.valid() || formula.accesses.size() != 1)
        return std::nullopt;
    const ir::Write& write = formula.writes[0];
    const ir::Access& access = formula.accesses[0];
    const ir::Tensor& to = program_.tensors[write.tensor];
    const ir::Tensor& from = program_.tensors[access.tensor];
    if (write.value != access.symbol || to.dtype != from.dtype || to.quantizer ||
        access.indices.size() > kMaxIndices || write.indices.size() > kMaxIndices)
        return std::nullopt;
    View view{.base = access.tensor};
    const auto with = inverse(write, formula, view.axes);
    if (!with) return std::nullopt;
    for (const ir::IndexTerm& term : access.indices) {
        if (term.guard != ir::Guard::None) return std::nullopt;
        view.indices.push_back(replaced(term.value, *with));
    }
    if (const auto& outer = views_[access.tensor]) {
        Substitution onto;
        for (size_t i = 0; i < outer->axes.size(); ++i) onto[outer->axes[i]] = view.indices[i];
        std::vector<SymId> indices;
        for (const SymId index : outer->indices) indices.push_back(replaced(index, onto));
        view.base = outer->base;
        view.indices = std::move(indices);
    }
    const ir::Tensor& base = program_.tensors[view.base];
    view.plain = base.shape == to.shape;
    for (size_t i = 0; i < view.indices.size() && view.plain; ++i)
        view.plain = view.indices[i] == view.axes[i] || is_unit(base.shape[i]);
    return view;
}

// ---- Hashes -------------------------------------------------------------------------------------

// The value of a constant with one value.
std::optional<SymId> Views::constant(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    if (tensor.role != ir::TensorRole::Constant || tensor.items.size() != 1) return std::nullopt;
    ir::SymbolPool& pool = program_.symbols;
    const bool real = tensor::is_real(tensor.dtype);
    return match(
        tensor.items.front(),
        [&](int64_t number) -> std::optional<SymId> {
            return real ? pool.real(static_cast<double>(number)) : pool.integer(number);
        },
        [&](double number) -> std::optional<SymId> {
            return pool.real(tensor::round_to(tensor.dtype, number));
        },
        [&](bool truth) -> std::optional<SymId> { return pool.boolean(truth); },
        [&](const std::string& text) -> std::optional<SymId> { return pool.string(text); },
        [&](SymId symbol) -> std::optional<SymId> { return symbol; });
}

// An index outside of the extent skips the step, or takes another value.
Hash Views::guard_hash(const ir::IndexTerm& term,
                       SymId value,
                       SymId extent,
                       const Substitution& with,
                       ExprHasher& expressions) {
    return Hasher("guard")
        .add(static_cast<uint64_t>(term.guard))
        .add(expressions.hash(value))
        .add(expressions.hash(extent))
        .add(expressions.hash(replaced(term.below, with)))
        .add(expressions.hash(replaced(term.above, with)))
        .hash();
}

Hash Views::element_hash(const ir::Access& access,
                         const Substitution& with,
                         ExprHasher& expressions,
                         const TensorHash& tensors) {
    Element element{.tensor = access.tensor};
    const auto& shape = program_.tensors[access.tensor].shape;
    bool remapped = false;
    for (size_t i = 0; i < access.indices.size(); ++i) {
        const ir::IndexTerm& term = access.indices[i];
        element.indices.push_back(replaced(term.value, with));
        if (term.guard == ir::Guard::None) continue;
        remapped = remapped || term.guard == ir::Guard::Remap;
        element.guards.push_back(
            guard_hash(term, element.indices.back(), shape[i], with, expressions));
    }
    const auto& view = views_[access.tensor];
    if (view && !remapped) {
        Substitution onto;
        for (size_t i = 0; i < view->axes.size(); ++i) onto[view->axes[i]] = element.indices[i];
        element.indices.clear();
        for (const SymId index : view->indices) element.indices.push_back(replaced(index, onto));
        element.tensor = view->base;
    }
    if (const auto value = constant(element.tensor); value && element.guards.empty())
        return expressions.hash(*value);
    Hasher hasher("element");
    hasher.add(tensors(element.tensor));
    const auto& base = program_.tensors[element.tensor].shape;
    for (size_t i = 0; i < element.indices.size(); ++i)
        if (!is_unit(base[i])) hasher.add(expressions.hash(element.indices[i]));
    for (const Hash& guard : element.guards) hasher.add(guard);
    return hasher.hash();
}

Hash Views::formula_hash(const ir::Formula& formula,
                         ExprHasher& expressions,
                         const TensorHash& tensors) {
    expressions.begin();
    const Substitution with = units(formula);
    Hasher hasher("formula");
    hasher.add(static_cast<uint64_t>(formula.op));
    uint64_t count = 0;
    for (const ir::Bound& bound : formula.bounds) {
        if (with.contains(bound.index)) continue;
        expressions.bind(bound.index, Hasher("bound").add(count++).hash());
    }
    if (formula.counter.valid()) expressions.bind(formula.counter, Hasher("counter").hash());
    for (const ir::Access& access : formula.accesses)
        expressions.bind(access.symbol, element_hash(access, with, expressions, tensors));
    for (const ir::Bound& bound : formula.bounds)
        if (!with.contains(bound.index)) hasher.add(expressions.hash(bound.extent));
    for (const ir::Write& write : formula.writes) {
        hasher.add(tensors(write.tensor));
        const auto& shape = program_.tensors[write.tensor].shape;
        for (size_t i = 0; i < write.indices.size(); ++i) {
            const ir::IndexTerm& term = write.indices[i];
            const SymId value = replaced(term.value, with);
            if (term.guard != ir::Guard::None)
                hasher.add(guard_hash(term, value, shape[i], with, expressions));
            if (!is_unit(shape[i])) hasher.add(expressions.hash(value));
        }
        hasher.add(expressions.hash(replaced(write.value, with)));
    }
    return hasher.add(expressions.hash(replaced(formula.condition, with))).hash();
}

}  // namespace lemma::diff
