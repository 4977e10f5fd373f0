// SPDX-License-Identifier: Apache-2.0
#include "diff/views.h"

#include <algorithm>

#include "base/match.h"
#include "tensor/tensor.h"

namespace lemma::diff {

namespace {

using ir::SymId;
using ir::SymOp;

constexpr size_t kMaxIndices = 32;   // of a view; a longer one stays an operation
constexpr size_t kMaxAccesses = 64;  // of an element-wise formula
constexpr int kMaxDepth = 64;        // of element-wise formulas in one another
constexpr int64_t kMaxWork = 256;    // element-wise results in one formula

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

ir::TensorId Views::alike(ir::TensorId id) const {
    if (!id.valid()) return id;
    const auto& view = views_[id];
    return view && view->alike ? view->base : id;
}

// ---- Learning -----------------------------------------------------------------------------------

void Views::learn(const ir::Operation& op) {
    struct Writer {
        const ir::Formula* formula = nullptr;
        size_t count = 0;
    };
    std::unordered_map<ir::TensorId, Writer, IdHash> writers;
    for (const ir::Formula& formula : op.formulas) {
        for (const ir::Write& write : formula.writes) {
            Writer& writer = writers[write.tensor];
            writer.formula = &formula;
            ++writer.count;
        }
    }
    for (const auto& [tensor, writer] : writers) {
        if (writer.count != 1) continue;
        if (const auto value = filled_with(*writer.formula)) {
            filled_[tensor] = value;
            continue;
        }
        views_[tensor] = view_of(*writer.formula);
        if (inline_maps_ && !views_[tensor]) maps_[tensor] = map_of(*writer.formula);
    }
}

// The value of a formula that gives all elements the same constant.
std::optional<SymId> Views::filled_with(const ir::Formula& formula) {
    if (formula.op != ir::FormulaOp::Assign || formula.writes.size() != 1 ||
        formula.condition.valid() || formula.counter.valid())
        return std::nullopt;
    const ir::Write& write = formula.writes[0];
    const ir::Tensor& to = program_.tensors[write.tensor];
    if (!program_.symbols.is_constant(write.value) || to.quantizer ||
        write.indices.size() > kMaxIndices)
        return std::nullopt;
    std::vector<SymId> axes;
    if (!inverse(write, formula, axes)) return std::nullopt;
    if (!tensor::is_real(to.dtype)) return write.value;
    const auto real = program_.symbols.as_real(write.value);
    if (!real) return std::nullopt;
    return program_.symbols.real(tensor::round_to(to.dtype, *real));
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
    view.plain = is_plain(view, to, true);
    view.alike = is_plain(view, to, false);
    return view;
}

// Whether the view has the axes of its base in order; `units`: those of extent 1, too.
bool Views::is_plain(const View& view, const ir::Tensor& to, bool units) const {
    const ir::Tensor& base = program_.tensors[view.base];
    if (units && base.shape != to.shape) return false;
    size_t axis = 0;
    for (size_t i = 0; i < view.indices.size(); ++i) {
        if (is_unit(base.shape[i])) continue;
        while (axis < view.axes.size() && is_unit(to.shape[axis])) ++axis;
        if (axis == view.axes.size() || view.indices[i] != view.axes[axis] ||
            base.shape[i] != to.shape[axis])
            return false;
        ++axis;
    }
    while (axis < view.axes.size() && is_unit(to.shape[axis])) ++axis;
    return axis == view.axes.size();
}

// A result that is rounded is not the number that its formula says.
bool Views::rounds(const ir::Formula& formula) const {
    using tensor::DType;
    const DType to = program_.tensors[formula.writes[0].tensor].dtype;
    const bool wide = to == DType::F32 || to == DType::F64 || to == DType::I64 ||
                      to == DType::Bool || to == DType::Str;
    return !wide || std::ranges::any_of(formula.accesses, [&](const ir::Access& access) {
        const DType from = program_.tensors[access.tensor].dtype;
        return from != to && tensor::is_real(from) && tensor::is_real(to);
    });
}

std::optional<Views::Map> Views::map_of(const ir::Formula& formula) {
    if (formula.op != ir::FormulaOp::Assign || formula.writes.size() != 1 ||
        formula.condition.valid() || formula.counter.valid() ||
        formula.accesses.size() > kMaxAccesses || rounds(formula))
        return std::nullopt;
    const ir::Write& write = formula.writes[0];
    if (program_.tensors[write.tensor].quantizer || write.indices.size() > kMaxIndices)
        return std::nullopt;
    for (const ir::Access& access : formula.accesses)
        for (const ir::IndexTerm& term : access.indices)
            if (term.guard != ir::Guard::None) return std::nullopt;
    Map map;
    Substitution own;
    for (ir::Access access : formula.accesses) {
        const SymId before = access.symbol;
        for (ir::IndexTerm& term : access.indices) term.value = replaced(term.value, own);
        const ir::SymbolPool& pool = program_.symbols;
        access.symbol = program_.symbols.symbol("e", pool.type(before), pool.range(before));
        own[before] = access.symbol;
        map.accesses.push_back(std::move(access));
    }
    map.value = replaced(write.value, own);
    auto bounds = inverse(write, formula, map.axes);
    if (!bounds) return std::nullopt;
    map.bounds = std::move(*bounds);
    return map;
}

// ---- Hashes -------------------------------------------------------------------------------------

// The value of a constant with one value.
std::optional<SymId> Views::constant(ir::TensorId id) {
    if (filled_[id]) return filled_[id];
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

bool Views::is_zero(const ir::Formula& formula) const {
    return program_.symbols.as_real(formula.writes[0].value) == 0.0;
}

std::optional<Views::Sum> Views::sum_of(const ir::Operation& op, ir::TensorId id) {
    std::vector<const ir::Formula*> writers;
    for (const ir::Formula& formula : op.formulas)
        for (const ir::Write& write : formula.writes)
            if (write.tensor == id) writers.push_back(&formula);
    if (writers.size() != 2 || writers[0]->op != ir::FormulaOp::Assign ||
        writers[1]->op != ir::FormulaOp::Sum || writers[0]->writes.size() != 1 ||
        writers[1]->writes.size() != 1)
        return std::nullopt;
    return Sum{writers[0], writers[1]};
}

Hash Views::type_hash(ir::TensorId id, ExprHasher& expressions) {
    expressions.begin();
    const ir::Tensor& tensor = program_.tensors[id];
    Hasher hasher("type");
    hasher.add(static_cast<uint64_t>(tensor.dtype));
    for (const SymId extent : tensor.shape)
        if (!is_unit(extent)) hasher.add(expressions.hash(extent));
    return hasher.hash();
}

std::optional<Hash> Views::filled(ir::TensorId id, ExprHasher& expressions) {
    const auto value = constant(id);
    if (!value || !program_.symbols.is_constant(*value)) return std::nullopt;
    ExprHasher own(program_.symbols);
    const Hash number = own.hash(*value);
    ExprHasher inner(&expressions);
    return Hasher("map").add(number).add(type_hash(id, inner)).hash();
}

std::optional<Hash> Views::meaning(const ir::Operation& op,
                                   ir::TensorId id,
                                   ExprHasher& expressions,
                                   const TensorHash& tensors) {
    const Hash type = type_hash(id, expressions);
    const bool f32 = program_.tensors[id].dtype == tensor::DType::F32;
    if (const auto sum = sum_of(op, id); sum && f32) {
        auto start = map_of(*sum->start);
        if (!start) return std::nullopt;
        const Hash rest = formula_hash(*sum->rest, expressions, tensors);
        const Hash bare = Hasher("sum").add(rest).add(type).hash();
        if (is_zero(*sum->start)) return bare;
        start->sum = bare;
        maps_[id] = std::move(start);
    }
    if (auto value = filled(id, expressions)) return value;
    if (!maps_[id] && !views_[id]) return std::nullopt;
    const std::vector<SymId> axes = maps_[id] ? maps_[id]->axes : views_[id]->axes;
    expressions.begin();
    work_ = 0;
    Indices indices;
    uint64_t count = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
        const SymId axis = axes[i], extent = program_.tensors[id].shape[i];
        indices.push_back(is_unit(extent) ? program_.symbols.integer(0) : axis);
        if (is_unit(extent)) continue;
        const Hash size = expressions.hash(extent);
        expressions.bind(axis, Hasher("bound").add(count++).add(size).hash());
    }
    return Hasher("map").add(element_hash(id, indices, expressions, tensors)).add(type).hash();
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

Hash Views::access_hash(const ir::Access& access,
                        const Substitution& with,
                        ExprHasher& expressions,
                        const TensorHash& tensors) {
    const auto& shape = program_.tensors[access.tensor].shape;
    Hasher guards("guarded");
    bool guarded = false;
    Indices indices;
    for (size_t i = 0; i < access.indices.size(); ++i) {
        const ir::IndexTerm& term = access.indices[i];
        indices.push_back(replaced(term.value, with));
        if (term.guard == ir::Guard::None) continue;
        guarded = true;
        guards.add(guard_hash(term, indices.back(), shape[i], with, expressions));
    }
    const Hash element = element_hash(access.tensor, std::move(indices), expressions, tensors);
    return guarded ? guards.add(element).hash() : element;
}

Hash Views::element_hash(ir::TensorId tensor,
                         Indices indices,
                         ExprHasher& expressions,
                         const TensorHash& tensors) {
    if (const auto& view = views_[tensor]) {
        Substitution onto;
        for (size_t i = 0; i < view->axes.size(); ++i) onto[view->axes[i]] = indices[i];
        indices.clear();
        for (const SymId index : view->indices) indices.push_back(replaced(index, onto));
        tensor = view->base;
    }
    if (const auto value = constant(tensor)) return expressions.hash(*value);
    if (maps_[tensor] && depth_ < kMaxDepth && work_ < kMaxWork)
        return map_hash(tensor, indices, expressions, tensors);
    Hasher hasher("element");
    hasher.add(tensors(tensor));
    const auto& shape = program_.tensors[tensor].shape;
    for (size_t i = 0; i < indices.size(); ++i)
        if (!is_unit(shape[i])) hasher.add(expressions.hash(indices[i]));
    return hasher.hash();
}

// The formula of an element-wise result, computed at the indices.
Hash Views::map_hash(ir::TensorId tensor,
                     const Indices& indices,
                     ExprHasher& expressions,
                     const TensorHash& tensors) {
    Hasher place("map");
    place.add(tensor.value);
    for (const SymId index : indices) place.add(expressions.hash(index));
    const Hash key = place.hash();
    const bool lasting = !expressions.saw_free();
    if (const auto found = elements_.find(key); lasting && found != elements_.end())
        return found->second;
    ++depth_;
    ++work_;
    const Map& map = *maps_[tensor];
    Substitution axes, bounds;
    for (size_t i = 0; i < map.axes.size(); ++i) axes[map.axes[i]] = indices[i];
    for (const auto& [bound, value] : map.bounds) bounds[bound] = replaced(value, axes);
    ExprHasher inner(&expressions);
    for (const ir::Access& access : map.accesses) {
        Indices at;
        for (const ir::IndexTerm& term : access.indices) at.push_back(replaced(term.value, bounds));
        inner.bind(access.symbol, element_hash(access.tensor, std::move(at), inner, tensors));
    }
    Hash made = inner.hash(replaced(map.value, bounds));
    if (map.sum) {
        Hasher element("element");
        element.add(*map.sum);
        for (size_t i = 0; i < indices.size(); ++i)
            if (!is_unit(program_.tensors[tensor].shape[i]))
                element.add(expressions.hash(indices[i]));
        made = ExprHasher::sum(element.hash(), made);
    }
    --depth_;
    if (lasting && !expressions.saw_free()) elements_[key] = made;
    return made;
}

Hash Views::formula_hash(const ir::Formula& formula,
                         ExprHasher& expressions,
                         const TensorHash& tensors) {
    expressions.begin();
    work_ = 0;
    const Substitution with = units(formula);
    Hasher hasher("formula");
    hasher.add(static_cast<uint64_t>(formula.op));
    uint64_t count = 0;
    for (const ir::Bound& bound : formula.bounds) {
        if (with.contains(bound.index)) continue;
        // The extent decides what an expression of the index simplifies to.
        const Hash extent = expressions.hash(bound.extent);
        expressions.bind(bound.index, Hasher("bound").add(count++).add(extent).hash());
    }
    if (formula.counter.valid()) expressions.bind(formula.counter, Hasher("counter").hash());
    for (const ir::Access& access : formula.accesses)
        expressions.bind(access.symbol, access_hash(access, with, expressions, tensors));
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
