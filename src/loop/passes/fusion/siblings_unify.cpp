// SPDX-License-Identifier: Apache-2.0
// Unifies the values that siblings store.
#include <algorithm>

#include "loop/passes/fusion/siblings_impl.h"

namespace lemma::loop {

bool is_made_of_constants(const StageGraph& graph, ExprId value) {
    const StagePool& pool = graph.pool;
    bool good = true;
    pool.visit_reads(value, [&](ExprId, const Expr& e) {
        const ir::TensorId id = tensor_of(e);
        good &= graph.constants.contains(id);
        for (size_t axis = 0; good && axis < e.args.size(); ++axis) {
            // Guards ensure an assumed range, and guards do not move with the value.
            const StagePool::Range range = pool.range(e.args[axis]);
            good = pool[e.args[axis]].op != Op::Assume && pool.affine(e.args[axis]).has_value() &&
                   range.low >= 0 && range.high < graph.shapes.at(id)[axis];
        }
    });
    return good;
}

ExprId Unifier::operator()(const Values& values) {
    std::vector<uint32_t> key;
    for (const ExprId value : values) key.push_back(value.value);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    ExprId result;
    if (is_total(values)) {
        result = as_.total;
    } else if (is_common(values)) {
        result = values[0];
    } else if (is_by_lane(values)) {
        result = part(values);
    } else {
        result = by_operands(values);
        if (!result.valid()) result = by_link(values);
    }
    known_[key] = result;
    return result;
}

bool Unifier::is_total(const Values& values) const {
    for (size_t i = 0; i < values.size(); ++i) {
        if (values[i] != stages_[i].total) return false;
    }
    return true;
}

bool Unifier::has_total(size_t stage, ExprId value) const {
    return pool_.has_part(value, stages_[stage].total);
}

// Whether the value is the same in all stages and independent of the lane.
bool Unifier::is_common(const Values& values) const {
    for (size_t i = 0; i < values.size(); ++i) {
        const bool own = pool_.depends(values[i], stages_[i].lane) || has_total(i, values[i]);
        if (values[i] != values[0] || own) return false;
    }
    return true;
}

bool Unifier::is_by_lane(size_t stage, ExprId value) const {
    return pool_[value].type == Type{Kind::F32} && !has_total(stage, value) &&
           !pool_.depends_on_any(value, others_) && is_made_of_constants(graph_, value);
}

bool Unifier::is_by_lane(const Values& values) const {
    for (size_t i = 0; i < values.size(); ++i) {
        if (!is_by_lane(i, values[i])) return false;
    }
    return true;
}

ExprId Unifier::part(const Values& values) {
    const auto tensor = make_id<ir::TensorId>(graph_.next_tensor + parts_.size());
    parts_.push_back({values, tensor});
    return build_.read(tensor.value, Kind::F32, {build_.index(as_.lane)});
}

// The same operation in all stages, with unified operands.
ExprId Unifier::by_operands(const Values& values) {
    const Expr first = pool_[values[0]];
    std::vector<Values> operands(first.args.size(), Values(values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
        const Expr& e = pool_[values[i]];
        const bool same = e.op == first.op && e.type == first.type && e.name == first.name &&
                          e.integer == first.integer && e.args.size() == first.args.size();
        const bool leaf = e.args.empty() || e.op == Op::Read || e.op == Op::Assume;
        if (!same || leaf) return {};
        // Sums and products with the total on either side are the same.
        const bool swaps = (e.op == Op::Add || e.op == Op::Mul) && !has_total(i, e.args[0]);
        for (size_t k = 0; k < e.args.size(); ++k) {
            operands[k][i] = e.args[swaps ? 1 - k : k];
        }
    }
    std::vector<ExprId> args;
    for (const Values& operand : operands) {
        args.push_back((*this)(operand));
        if (!args.back().valid()) return {};
    }
    switch (first.op) {
        case Op::Cast:
            return build_.cast(args[0], first.type.kind);
        case Op::Library:
            return build_.library(first.name, std::move(args));
        default:
            return build_.make(first.op, std::move(args));
    }
}

std::optional<Unifier::Link> Unifier::link_of(size_t stage, ExprId value) const {
    const Expr& e = pool_[value];
    const bool commutes = e.op == Op::Add || e.op == Op::Mul;
    if (!commutes && e.op != Op::Sub && e.op != Op::Div) return std::nullopt;
    if (e.type != Type{Kind::F32}) return std::nullopt;
    for (const size_t side : {size_t{0}, size_t{1}}) {
        if (side == 1 && !commutes) break;
        if (!is_by_lane(stage, e.args[1 - side]) || !has_total(stage, e.args[side])) continue;
        return Link{e.op, e.args[side], e.args[1 - side]};
    }
    return std::nullopt;
}

size_t Unifier::links_of(size_t stage, ExprId value) const {
    size_t count = 0;
    for (auto link = link_of(stage, value); link; link = link_of(stage, value)) {
        ++count;
        value = link->inner;
    }
    return count;
}

// Unifies the last scale or shift of the value with the most of them. Values without it get one
// that keeps every number, also negative zeros.
ExprId Unifier::by_link(const Values& values) {
    size_t most = 0;
    for (size_t i = 1; i < values.size(); ++i) {
        if (links_of(i, values[i]) > links_of(most, values[most])) most = i;
    }
    const auto chosen = link_of(most, values[most]);
    if (!chosen) return {};
    const bool scales = chosen->op == Op::Mul || chosen->op == Op::Div;
    const ExprId neutral = build_.real(scales                  ? 1.0
                                       : chosen->op == Op::Add ? -0.0
                                                               : 0.0,
                                       Kind::F32);
    Values inner, other;
    for (size_t i = 0; i < values.size(); ++i) {
        const auto link = link_of(i, values[i]);
        const bool alike = link && link->op == chosen->op;
        inner.push_back(alike ? link->inner : values[i]);
        other.push_back(alike ? link->other : neutral);
    }
    const ExprId left = (*this)(inner);
    const ExprId right = left.valid() ? (*this)(other) : ExprId{};
    return right.valid() ? build_.make(chosen->op, {left, right}) : ExprId{};
}

}  // namespace lemma::loop
