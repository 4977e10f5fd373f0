// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/scatter.h"

#include <algorithm>

#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kMostParts = 64;  // of a split sum

class Inverter {
public:
    Inverter(StageGraph& graph, Stage& stage, bool in_order)
        : graph_(graph),
          pool_(graph.pool),
          build_(graph.pool.build),
          stage_(stage),
          in_order_(in_order) {}

    bool run() {
        if (!accumulates(stage_) || stage_.writes.size() != 1 || stage_.empty) return false;
        const StageWrite& write = stage_.writes[0];
        const auto found = graph_.shapes.find(write.tensor);
        if (found == graph_.shapes.end()) return false;
        shape_ = found->second;
        if (covers(stage_, graph_) || !find_axes()) return false;  // each element has its own steps
        if (in_order_ && !std::ranges::all_of(axes_, [](const Axis& axis) {
                return !axis.tap.valid() || axis.tap_factor > 0;
            })) {
            return false;
        }
        for (const Axis& axis : axes_) {
            const VarId output = invert(axis);
            if (in_order_ && axis.tap.valid()) keep_order(axis, output);
        }
        return true;
    }

private:
    // factor * position + tap_factor * tap + offset
    struct Axis {
        size_t number;
        VarId position, tap;
        int64_t factor = 1, tap_factor = 0, offset = 0;
    };

    bool in_other_axis(VarId var, size_t axis) const {
        const std::vector<ExprId>& index = stage_.writes[0].index;
        for (size_t i = 0; i < index.size(); ++i) {
            if (i != axis && pool_.depends(index[i], var)) return true;
        }
        return false;
    }
    // Whether the term is the position rather than the one found before: the one with a stride, or
    // the longer one.
    bool is_position(const Axis& axis, const AddressTerm& term) const {
        if (!axis.position.valid()) return true;
        if (!in_order_ && (axis.factor == 1) != (term.factor == 1)) return axis.factor == 1;
        return pool_.extent(term.var) > pool_.extent(axis.position);
    }
    std::optional<Axis> axis_of(size_t number, const Address& index) const {
        Axis axis{.number = number, .offset = index.offset};
        for (const AddressTerm& term : index.terms) {
            const bool free = term.factor > 0 && !in_other_axis(term.var, number);
            if (free && is_position(axis, term)) {
                axis.tap = axis.position;
                axis.tap_factor = axis.factor;
                axis.position = term.var;
                axis.factor = term.factor;
            } else if (axis.tap.valid()) {
                return std::nullopt;
            } else {
                axis.tap = term.var;
                axis.tap_factor = term.factor;
            }
        }
        if (!axis.position.valid() || shape_[number] < 2) return std::nullopt;
        return axis;
    }
    // Whether all axes are whole or can be inverted; at least one is a sum of two variables, or has
    // gaps.
    bool find_axes() {
        const std::vector<ExprId>& index = stage_.writes[0].index;
        int64_t parts = 1;
        bool scattered = false;
        for (size_t i = 0; i < index.size(); ++i) {
            const auto affine = pool_.affine(index[i]);
            if (!affine) return false;
            if (affine->terms.empty() && affine->offset == 0 && shape_[i] == 1) continue;
            const bool whole = affine->terms.size() == 1 && affine->offset == 0 &&
                               affine->terms[0].factor == 1 &&
                               pool_.extent(affine->terms[0].var) == shape_[i] &&
                               !in_other_axis(affine->terms[0].var, i);
            if (whole) continue;
            const auto axis = affine->terms.size() <= 2 ? axis_of(i, *affine) : std::nullopt;
            if (!axis) return false;
            axes_.push_back(*axis);
            // Neighbouring remainders become one part (split.cpp).
            const bool joined = !in_order_ && axis->tap.valid() && axis->tap_factor == 1;
            parts *= joined ? std::min<int64_t>(axis->factor, 3) : axis->factor;
            scattered |= affine->terms.size() == 2 || axis->factor > 1;
            if (parts > kMostParts) return false;
        }
        return scattered;
    }

    // The variable that counts the elements of the axis.
    VarId invert(const Axis& axis) {
        const int64_t extent = shape_[axis.number];
        const VarId output = pool_.new_var(extent);
        Address moved;
        moved.offset = -axis.offset;
        moved.add(output, 1);
        if (axis.tap.valid()) moved.add(axis.tap, -axis.tap_factor);
        ExprId position = build_.sum(moved);
        if (axis.factor > 1) {
            position = build_.make(Op::Div, {position, build_.integer(axis.factor)});
            stage_.inverses.push_back(
                {output, axis.tap, axis.factor, axis.tap_factor, axis.offset, position});
        }
        const int64_t positions = pool_.extent(axis.position);
        StageWrite& write = stage_.writes[0];
        const ExprId written = inner(write.index[axis.number]);
        std::erase_if(stage_.guards, [&](const StageGuard& guard) {
            return guard.index == written && guard.extent == extent;
        });
        const std::unordered_map<VarId, ExprId, IdHash> with = {
            {axis.position, build_.assume(position, positions)}};
        write.value = pool_.substitute(write.value, with);
        if (stage_.condition.valid()) stage_.condition = pool_.substitute(stage_.condition, with);
        for (StageGuard& guard : stage_.guards) guard.index = pool_.substitute(guard.index, with);
        stage_.guards.push_back({position, positions});
        write.index[axis.number] = build_.index(output);
        for (StageLoop& loop : stage_.loops) {
            if (loop.var == axis.position) loop = {output, extent};
        }
        return output;
    }
    // For one element, the position grows in the order of the formula, so the tap falls. The loop
    // of the tap runs where the position ran, from the last tap on.
    void keep_order(const Axis& axis, VarId output) {
        const int64_t taps = pool_.extent(axis.tap);
        const VarId back = pool_.new_var(taps);
        Address last;
        last.offset = taps - 1;
        last.add(back, -1);
        const std::unordered_map<VarId, ExprId, IdHash> with = {{axis.tap, build_.sum(last)}};
        for_each_expr(stage_, [&](ExprId& value) { value = pool_.substitute(value, with); });
        for (StageInverse& inverse : stage_.inverses) {
            if (inverse.output == output) inverse.tap = {};
        }
        for (StageLoop& loop : stage_.loops) {
            if (loop.var == output) {
                loop = {back, taps};
            } else if (loop.var == axis.tap) {
                loop = {output, shape_[axis.number]};
            }
        }
    }
    ExprId inner(ExprId index) const {
        return pool_[index].op == Op::Assume ? pool_[index].args[0] : index;
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    Stage& stage_;
    tensor::Shape shape_;
    bool in_order_;
    std::vector<Axis> axes_;
};

}  // namespace

bool invert_scatter(StageGraph& graph, Stage& stage, bool in_order) {
    return Inverter(graph, stage, in_order).run();
}

}  // namespace lemma::loop
