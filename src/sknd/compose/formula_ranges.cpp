// SPDX-License-Identifier: Apache-2.0
// Finds indices that certainly leave their tensors, before the run. A sum of loop indices with
// factors reaches its extremes if every loop has a known extent and nothing prevents the read.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "sknd/compose/formula_builder.h"

namespace lemma::sknd {

namespace {

bool has_guard(const std::vector<ir::IndexTerm>& indices) {
    return std::ranges::any_of(
        indices, [](const ir::IndexTerm& term) { return term.guard == ir::Guard::Skip; });
}

// The elements that each step of the formula reads, whatever their values.
class CertainReads {
public:
    CertainReads(const ir::SymbolPool& symbols, const ir::Formula& formula) : symbols_(symbols) {
        for (const ir::Access& access : formula.accesses) accesses_.emplace(access.symbol, &access);
    }

    void add(ir::SymId id) {
        pending_.push_back(id);
        while (!pending_.empty()) {
            const ir::SymId next = pending_.back();
            pending_.pop_back();
            if (seen_.insert(next).second) visit(next);
        }
    }
    bool contains(ir::SymId element) const { return seen_.contains(element); }

private:
    void visit(ir::SymId id) {
        if (const auto access = accesses_.find(id); access != accesses_.end()) {
            for (const ir::IndexTerm& term : access->second->indices) push(term.value);
            return;
        }
        const ir::SymNode node = symbols_.node(id);
        for (const ir::SymTerm& term : node.terms) {
            for (const ir::SymFactor& factor : term.factors) push(factor.atom);
        }
        if (node.operands.empty()) return;
        // The other operands may not be evaluated.
        const bool lazy =
            node.op == ir::SymOp::Select || node.op == ir::SymOp::And || node.op == ir::SymOp::Or;
        const size_t count = lazy ? 1 : node.operands.size();
        for (size_t i = 0; i < count; ++i) push(node.operands[i]);
    }
    void push(ir::SymId id) { pending_.push_back(id); }

    const ir::SymbolPool& symbols_;
    std::unordered_map<ir::SymId, const ir::Access*, IdHash> accesses_;
    std::unordered_set<ir::SymId, IdHash> seen_;
    std::vector<ir::SymId> pending_;
};

}  // namespace

// Whether the index takes every value of its range at some step: each loop index occurs once in it.
bool FormulaBuilder::takes_its_extremes(ir::SymId index) const {
    const auto is_bound = [&](ir::SymId id) {
        return std::ranges::any_of(formula_.bounds,
                                   [&](const ir::Bound& bound) { return bound.index == id; });
    };
    if (is_bound(index)) return true;
    const ir::SymNode node = symbols().node(index);
    return node.kind == ir::SymKind::Polynomial &&
           std::ranges::all_of(node.terms, [&](const ir::SymTerm& term) {
               return term.factors.empty() ||
                      (term.factors.size() == 1 && term.factors[0].power == 1 &&
                       is_bound(term.factors[0].atom));
           });
}

bool FormulaBuilder::leaves(const ir::IndexTerm& term, ir::SymId extent) const {
    const auto size = symbols().as_int(extent);
    if (!size || term.guard != ir::Guard::None) return false;
    const ir::Interval range = symbols().range(term.value);
    return (range.low < 0 || range.high >= *size) && takes_its_extremes(term.value);
}

bool FormulaBuilder::check_ranges(const LowerStmt& stmt) {
    const bool every_step = std::ranges::all_of(formula_.bounds, [&](const ir::Bound& bound) {
        return symbols().as_int(bound.extent).value_or(0) > 0;
    });
    const auto guarded = [](const auto& access) { return has_guard(access.indices); };
    if (!every_step || std::ranges::any_of(formula_.accesses, guarded) ||
        std::ranges::any_of(formula_.writes, guarded)) {
        return true;
    }
    std::optional<CertainReads> certain;
    const auto read_for_sure = [&](ir::SymId element) {
        if (!certain) {
            certain.emplace(symbols(), formula_);
            if (formula_.condition.valid()) certain->add(formula_.condition);
            for (const ir::Write& write : formula_.writes) {
                if (formula_.condition.valid()) break;
                certain->add(write.value);
                for (const ir::IndexTerm& term : write.indices) certain->add(term.value);
            }
        }
        return certain->contains(element);
    };
    for (size_t i = 0; i < formula_.accesses.size(); ++i) {
        const ir::Access& access = formula_.accesses[i];
        const auto& shape = composer_.program_.tensors[access.tensor].shape;
        for (size_t axis = 0; axis < access.indices.size(); ++axis) {
            if (!leaves(access.indices[axis], shape[axis]) || !read_for_sure(access.symbol))
                continue;
            const Span span = access_spans_[i].valid() ? access_spans_[i] : stmt.span;
            report_range(access.tensor, access.indices[axis].value, shape[axis], span);
            return false;
        }
    }
    for (const ir::Write& write : formula_.writes) {
        const auto& shape = composer_.program_.tensors[write.tensor].shape;
        for (size_t axis = 0; axis < write.indices.size(); ++axis) {
            if (formula_.condition.valid() || !leaves(write.indices[axis], shape[axis])) continue;
            report_range(
                write.tensor, write.indices[axis].value, shape[axis], expr(stmt.target).span);
            return false;
        }
    }
    return true;
}

void FormulaBuilder::report_range(ir::TensorId tensor,
                                  ir::SymId index,
                                  ir::SymId extent,
                                  Span span) {
    const ir::Interval range = symbols().range(index);
    const std::string text = symbols().text(index);
    composer_
        .inner_error(frame_,
                     span,
                     DiagKind::IndexRange,
                     fmt::format("index {} of `{}` runs from {} to {}, outside of its extent {}",
                                 text,
                                 composer_.program_.tensors[tensor].name,
                                 range.low,
                                 range.high,
                                 symbols().text(extent)))
        .note(fmt::format("lower the bound of the loop, or guard the index: `|{}|` skips what lies "
                          "outside, `|{} <> a : b|` takes `a` below and `b` above",
                          text,
                          text));
}

}  // namespace lemma::sknd
