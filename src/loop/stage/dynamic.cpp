// SPDX-License-Identifier: Apache-2.0
#include "loop/stage/dynamic.h"

#include <algorithm>
#include <map>

#include "base/checked.h"

namespace lemma::loop {

// ---- Shape arguments ----------------------------------------------------------------------------

ExprId run_number(DynamicShape& run_time,
                  const ir::SymbolPool& symbols,
                  ir::SymId id,
                  bool count,
                  StagePool& pool) {
    const ir::Interval range = symbols.range(id);
    if (range.low >= 0) count = false;  // already not negative
    const auto same = [&](const ShapeArgument& n) { return n.symbol == id && n.count == count; };
    auto found = std::ranges::find_if(run_time.numbers, same);
    if (found == run_time.numbers.end()) {
        ShapeArgument number{.symbol = id, .count = count, .var = {}};
        if (range.low >= 0 || count) {
            number.most = std::clamp<int64_t>(range.high, 0, kMostExtent);
            number.var = pool.new_var(number.most + 1);
        }
        found = run_time.numbers.insert(found, number);
    }
    if (found->var.valid()) return pool.build.index(found->var);
    const ExprId at = pool.build.integer(found - run_time.numbers.begin());
    return pool.build.read(run_time.told.value, Kind::Int, {at});
}

// ---- Proofs -------------------------------------------------------------------------------------

namespace {

using Monomial = std::vector<std::pair<uint32_t, uint32_t>>;  // atoms and their powers

// A sum of products of atoms; it has no value if a coefficient overflows.
class Sum {
public:
    void add(const Monomial& monomial, int64_t coefficient) {
        int64_t& to = terms_[monomial];
        const auto sum = checked_add(to, coefficient);
        fits_ &= sum.has_value();
        to = sum.value_or(0);
    }
    void add(const ir::SymbolPool& symbols, ir::SymId id, int64_t factor) {
        if (const auto number = symbols.as_int(id)) return add_scaled({}, *number, factor);
        const ir::SymNode node = symbols.node(id);
        if (node.kind != ir::SymKind::Polynomial) return add({{id.value, 1}}, factor);
        for (const ir::SymTerm& term : node.terms) {
            Monomial monomial;
            for (const ir::SymFactor& f : term.factors) {
                monomial.emplace_back(f.atom.value, f.power);
            }
            std::ranges::sort(monomial);
            add_scaled(monomial, term.coefficient, factor);
        }
    }
    // Whether it is at least 0 for all values in the ranges of its atoms.
    bool never_negative(const ir::SymbolPool& symbols) const {
        return fits_ && std::ranges::all_of(terms_, [&](const auto& term) {
                   const auto& [monomial, coefficient] = term;
                   if (coefficient == 0) return true;
                   return coefficient > 0 && std::ranges::all_of(monomial, [&](const auto& factor) {
                              return symbols.range(make_id<ir::SymId>(factor.first)).low >= 0;
                          });
               });
    }

private:
    void add_scaled(const Monomial& monomial, int64_t coefficient, int64_t factor) {
        const auto product = checked_mul(coefficient, factor);
        fits_ &= product.has_value();
        add(monomial, product.value_or(0));
    }

    std::map<Monomial, int64_t> terms_;
    bool fits_ = true;
};

}  // namespace

// Each variable counts from 0 to its extent less one; the rest of the index is constant.
bool always_inside(const ir::SymbolPool& symbols,
                   ir::SymId index,
                   ir::SymId extent,
                   const std::vector<ir::Bound>& bounds) {
    std::vector<ir::SymTerm> terms;
    const ir::SymNode node = symbols.node(index);
    if (const auto number = symbols.as_int(index)) {
        terms.push_back({*number, {}});
    } else if (node.kind == ir::SymKind::Polynomial) {
        terms = node.terms;
    } else {
        terms.push_back({1, {{index, 1}}});
    }
    Sum least, room;  // room: extent - 1 - most
    room.add(symbols, extent, 1);
    room.add(Monomial(), -1);
    for (const ir::SymTerm& term : terms) {
        const auto bound = std::ranges::find_if(bounds, [&](const ir::Bound& b) {
            return term.factors.size() == 1 && term.factors[0].power == 1 &&
                   term.factors[0].atom == b.index;
        });
        const int64_t factor = term.coefficient;
        if (factor == INT64_MIN) return false;
        if (bound != bounds.end()) {
            Sum& far = factor > 0 ? room : least;
            const int64_t sign = factor > 0 ? -factor : factor;
            far.add(symbols, bound->extent, sign);
            far.add(Monomial(), -sign);
            continue;
        }
        // An unknown number of its range, the same in both.
        Monomial monomial;
        for (const ir::SymFactor& f : term.factors) monomial.emplace_back(f.atom.value, f.power);
        std::ranges::sort(monomial);
        least.add(monomial, factor);
        room.add(monomial, -factor);
    }
    return least.never_negative(symbols) && room.never_negative(symbols);
}

// ---- Stages -------------------------------------------------------------------------------------

namespace {

// The writes and reads of a group's stages.
class Coverage {
public:
    Coverage(const DynamicShape& run_time, StagePool& pool, const Shapes& shapes)
        : run_time_(run_time), pool_(pool), shapes_(shapes) {}

    // The variables of the write's index, if they are the whole index and reach every element.
    std::optional<std::vector<VarId>> vars(const Stage& stage) const {
        if (stage.writes.size() != 1 || stage.empty) return std::nullopt;
        const StageWrite& write = stage.writes[0];
        std::vector<VarId> seen;
        for (size_t axis = 0; axis < write.index.size(); ++axis) {
            const auto known = known_extent(write.tensor, axis);
            const Expr& index = pool_[write.index[axis]];
            if (known == 1 && index.op == Op::Constant && index.integer == 0) continue;
            if (index.op != Op::Var) return std::nullopt;
            const auto var = make_id<VarId>(static_cast<size_t>(index.integer));
            const auto loop = std::ranges::find(stage.loops, var, &StageLoop::var);
            const bool fresh = std::ranges::find(seen, var) == seen.end();
            if (loop == stage.loops.end() || !fresh) return std::nullopt;
            const ExprId end = pool_.end(var);
            const bool same =
                end.valid() ? end == told_extent(write.tensor, axis) : known == loop->extent;
            if (!same) return std::nullopt;
            seen.push_back(var);
        }
        return seen;
    }
    // Whether every read of the value is inside its tensor.
    bool is_safe(ExprId value) const {
        bool safe = true;
        pool_.visit_reads(value, [&](ExprId, const Expr& e) {
            const ir::TensorId tensor = tensor_of(e);
            for (size_t axis = 0; axis < e.args.size(); ++axis) {
                const auto known = known_extent(tensor, axis);
                const ExprId extent =
                    known ? pool_.build.integer(*known) : told_extent(tensor, axis);
                const bool inside = extent.valid() && pool_.is_inside(e.args[axis], extent);
                safe &= inside || tensor == run_time_.told;
            }
        });
        return safe;
    }
    bool reads(const Stage& stage, ir::TensorId tensor) const {
        bool found = false;
        const auto visit = [&](ExprId, const Expr& e) { found |= tensor_of(e) == tensor; };
        for_each_value(stage, [&](ExprId value) { pool_.visit_reads(value, visit); });
        return found;
    }
    // Merges the first stage into the second; false if that is not possible.
    bool merge(const Stage& first, Stage& second) const {
        const bool sums = second.combine != ir::FormulaOp::Assign &&
                          second.combine != ir::FormulaOp::Update && !second.initial.valid();
        const auto from = vars(first);
        const auto to = vars(second);
        if (!sums || !is_plain(first) || !from || !to || from->size() != to->size()) return false;
        const StageWrite& write = first.writes[0];
        if (write.tensor != second.writes[0].tensor || from->size() != first.loops.size()) {
            return false;
        }
        if (reads(first, write.tensor) || reads(second, write.tensor)) return false;
        if (!is_safe(write.value)) return false;
        std::unordered_map<VarId, ExprId, IdHash> with;
        for (size_t i = 0; i < from->size(); ++i) with[(*from)[i]] = pool_.build.index((*to)[i]);
        second.initial = pool_.substitute(write.value, with);
        second.sizes.insert(second.sizes.end(), first.sizes.begin(), first.sizes.end());
        return true;
    }

private:
    std::optional<int64_t> known_extent(ir::TensorId tensor, size_t axis) const {
        if (const auto shape = shapes_.find(tensor); shape != shapes_.end()) {
            return axis < shape->second.size() ? std::optional(shape->second[axis]) : std::nullopt;
        }
        const ExprId extent = told_extent(tensor, axis);
        if (!extent.valid() || pool_[extent].op != Op::Constant) return std::nullopt;
        return pool_[extent].integer;
    }
    ExprId told_extent(ir::TensorId tensor, size_t axis) const {
        const auto extents = run_time_.extents.find(tensor);
        return extents != run_time_.extents.end() ? extents->second[axis] : ExprId();
    }

    const DynamicShape& run_time_;
    StagePool& pool_;
    const Shapes& shapes_;
};

}  // namespace

std::vector<ir::TensorId> tensors_of(const std::vector<Stage>& stages, const StagePool& pool) {
    std::vector<ir::TensorId> found;
    const auto add = [&](ir::TensorId id) {
        if (std::ranges::find(found, id) == found.end()) found.push_back(id);
    };
    for (const Stage& stage : stages) {
        const auto visit = [&](ExprId id, const Expr& e) {
            if (id != stage.total) add(tensor_of(e));
        };
        for (const StageWrite& write : stage.writes) add(write.tensor);
        for_each_value(stage, [&](ExprId value) { pool.visit_reads(value, visit); });
    }
    return found;
}

bool writes_all(const Stage& stage,
                StagePool& pool,
                const DynamicShape& run_time,
                const Shapes& shapes) {
    return Coverage(run_time, pool, shapes).vars(stage).has_value();
}

bool is_element_wise(const Stage& stage,
                     StagePool& pool,
                     const DynamicShape& run_time,
                     const Shapes& shapes) {
    const Coverage coverage(run_time, pool, shapes);
    return assigns_all(stage, pool, run_time, shapes) && coverage.is_safe(stage.writes[0].value) &&
           !coverage.reads(stage, stage.writes[0].tensor);
}

bool assigns_all(const Stage& stage,
                 StagePool& pool,
                 const DynamicShape& run_time,
                 const Shapes& shapes) {
    const auto vars = Coverage(run_time, pool, shapes).vars(stage);
    return is_plain(stage) && vars && vars->size() == stage.loops.size();
}

void merge_starts(DynamicShape& run_time, StagePool& pool, const Shapes& shapes) {
    std::vector<Stage>& stages = run_time.stages;
    const Coverage coverage(run_time, pool, shapes);
    for (size_t i = 1; i < stages.size();) {
        if (coverage.merge(stages[i - 1], stages[i])) {
            stages.erase(stages.begin() + static_cast<ptrdiff_t>(i) - 1);
        } else {
            ++i;
        }
    }
}

}  // namespace lemma::loop
