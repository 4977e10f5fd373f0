// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/split.h"

#include <algorithm>
#include <numeric>

#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Splitter {
public:
    explicit Splitter(StageGraph& graph)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build) {}

    std::vector<Stage> run(const Stage& stage) {
        std::vector<Stage> parts = {stage};
        parts[0].inverses.clear();
        for (const StageInverse& inverse : stage.inverses) {
            std::vector<Stage> next;
            for (Stage& part : parts) {
                if (!accumulates(part)) {  // no sum to split
                    next.push_back(std::move(part));
                    continue;
                }
                for (int64_t rest = 0; rest < inverse.factor;) {
                    const int64_t count = alike(inverse, rest);
                    split(part, inverse, rest, count, next);
                    rest += count;
                }
            }
            parts = std::move(next);
        }
        return parts;
    }

private:
    // first + step * (a variable of so many steps)
    struct Range {
        int64_t first, step, count;
    };
    ExprId range_of(const Range& range, VarId var) {
        Address at;
        at.offset = range.first;
        if (range.count > 1) at.add(var, range.step);
        return build_.sum(at);
    }

    Range outputs_of(const StageInverse& inverse, int64_t rest) const {
        const int64_t factor = inverse.factor;
        return {rest, factor, ceil_of(pool_.extent(inverse.output) - rest, factor)};
    }
    int64_t position_of(const StageInverse& inverse, int64_t rest, const Range& taps) const {
        return (rest - inverse.offset - inverse.tap_factor * taps.first) / inverse.factor;
    }
    // The number of remainders from `rest` on whose parts differ by the first tap alone, which
    // grows by one each time. They become one part.
    int64_t alike(const StageInverse& inverse, int64_t rest) const {
        const auto first = taps_of(inverse, rest);
        if (!first || !inverse.tap.valid()) return 1;
        int64_t count = 1;
        for (; rest + count < inverse.factor; ++count) {
            const auto taps = taps_of(inverse, rest + count);
            const bool same =
                taps && taps->first == first->first + count && taps->count == first->count &&
                position_of(inverse, rest + count, *taps) == position_of(inverse, rest, *first) &&
                outputs_of(inverse, rest + count).count == outputs_of(inverse, rest).count;
            if (!same) break;
        }
        return count;
    }

    // The part of the stage for the elements whose index has `rest` or one of the `alike`
    // remainders from there on.
    void split(const Stage& from,
               const StageInverse& inverse,
               int64_t rest,
               int64_t alike,
               std::vector<Stage>& to) {
        const Range outputs = outputs_of(inverse, rest);
        if (outputs.count < 1) return;
        const auto taps = taps_of(inverse, rest);
        const VarId p = pool_.new_var(outputs.count);
        if (!taps) return without_taps(from, inverse, outputs, p, to);
        const VarId t = pool_.new_var(std::max<int64_t>(taps->count, 1));
        // (factor * p + rest - tap_factor * (first + step * t) - offset) / factor
        Address position;
        position.offset = position_of(inverse, rest, *taps);
        if (outputs.count > 1) position.add(p, 1);
        if (taps->count > 1) {
            position.add(t, -inverse.tap_factor * taps->step / inverse.factor);
        }
        Stage part = from;
        ExprId output = range_of(outputs, p);
        ExprId tap = inverse.tap.valid() ? range_of(*taps, t) : ExprId();
        if (alike > 1) {
            const VarId r = pool_.new_var(alike);
            output = build_.make(Op::Add, {output, build_.index(r)});
            tap = build_.make(Op::Add, {tap, build_.index(r)});
            part.loops.push_back({r, alike});
        }
        std::unordered_map<VarId, ExprId, IdHash> with = {{inverse.output, output}};
        if (tap.valid()) with[inverse.tap] = tap;
        rewrite(part, inverse.position, build_.sum(position), with);
        set_loop(part, inverse.output, p, outputs.count);
        if (inverse.tap.valid()) set_loop(part, inverse.tap, t, taps->count);
        to.push_back(std::move(part));
    }
    // The taps with a whole position; nothing if there are none.
    std::optional<Range> taps_of(const StageInverse& inverse, int64_t rest) const {
        const int64_t factor = inverse.factor;
        const auto whole = [&](int64_t tap) {
            return (rest - inverse.offset - inverse.tap_factor * tap) % factor == 0;
        };
        if (!inverse.tap.valid()) {
            return whole(0) ? std::optional(Range{0, 1, 1}) : std::nullopt;
        }
        const int64_t step = factor / std::gcd(inverse.tap_factor, factor);
        const int64_t extent = pool_.extent(inverse.tap);
        for (int64_t tap = 0; tap < std::min(step, extent); ++tap) {
            if (whole(tap)) return Range{tap, step, ceil_of(extent - tap, step)};
        }
        return std::nullopt;
    }
    // Elements without taps get the initial value.
    void without_taps(const Stage& from,
                      const StageInverse& inverse,
                      const Range& outputs,
                      VarId p,
                      std::vector<Stage>& to) {
        if (!from.initial.valid()) return;
        Stage part;
        part.combine = ir::FormulaOp::Assign;
        const Kind kind = kind_of(graph_.dtypes.at(from.writes[0].tensor));
        StageWrite write = from.writes[0];
        write.value = build_.cast(from.initial, kind);
        if (from.finish.valid()) {
            const ExprId total = build_.cast(from.initial, pool_[from.total].type.kind);
            write.value = build_.cast(pool_.replace(from.finish, from.total, total), kind);
        }
        const std::vector<VarId> vars = write_shape(from, from.writes[0], pool_).vars;
        for (const StageLoop& loop : from.loops) {
            if (std::ranges::find(vars, loop.var) != vars.end()) part.loops.push_back(loop);
        }
        part.writes.push_back(std::move(write));
        rewrite(part, {}, {}, {{inverse.output, range_of(outputs, p)}});
        set_loop(part, inverse.output, p, outputs.count);
        to.push_back(std::move(part));
    }
    void rewrite(Stage& stage,
                 ExprId from,
                 ExprId position,
                 const std::unordered_map<VarId, ExprId, IdHash>& with) {
        for_each_expr(stage, [&](ExprId& id) {
            if (from.valid()) id = pool_.replace(id, from, position);
            id = pool_.substitute(id, with);
        });
    }
    // A loop with one step is removed.
    static void set_loop(Stage& stage, VarId from, VarId to, int64_t extent) {
        if (extent == 1) {
            std::erase_if(stage.loops, [&](const StageLoop& loop) { return loop.var == from; });
            return;
        }
        for (StageLoop& loop : stage.loops) {
            if (loop.var == from) loop = {to, extent};
        }
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
};

}  // namespace

int split_inverses(StageGraph& graph) {
    int count = 0;
    Splitter splitter(graph);
    std::vector<FusionGroup> groups;
    for (FusionGroup& group : graph.groups) {
        const bool inverted = std::ranges::any_of(
            group.stages, [](const Stage& stage) { return !stage.inverses.empty(); });
        if (!inverted) {
            groups.push_back(std::move(group));
            continue;
        }
        ++count;
        std::vector<Stage> stages;
        for (const Stage& stage : group.stages) {
            for (Stage& part : splitter.run(stage)) stages.push_back(std::move(part));
        }
        const bool apart = group.stages.size() == 1;  // else their order stays
        group.stages.clear();
        if (!apart) {
            group.stages = std::move(stages);
            groups.push_back(std::move(group));
            continue;
        }
        for (Stage& stage : stages) {
            groups.push_back(group);
            groups.back().stages = {std::move(stage)};
            find_reads(graph, groups.back());
        }
    }
    graph.groups = std::move(groups);
    return count;
}

}  // namespace lemma::loop
