// Sums that are written all over the place, as those of a transposed convolution: each element of
// the result fetches what is to be added to it, instead. Elements at a distance of the stride add
// up the same taps, and become a sum of their own.
#include <algorithm>
#include <numeric>

#include "loop/passes/graph.h"
#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kMostParts = 64;  // sums that one becomes

int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

// ---- From elements to what is added to them -----------------------------------------------------

class Inverter {
public:
    Inverter(StageGraph& graph, Stage& stage)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build), stage_(stage) {}

    void run() {
        if (!accumulates(stage_) || stage_.writes.size() != 1 || stage_.empty) return;
        const StageWrite& write = stage_.writes[0];
        const auto found = graph_.shapes.find(write.tensor);
        if (found == graph_.shapes.end()) return;
        shape_ = found->second;
        if (covers(stage_, graph_) || !find_axes()) return;  // each element has its own steps
        for (const Axis& axis : axes_) invert(axis);
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
    std::optional<Axis> axis_of(size_t number, const Address& index) const {
        Axis axis{.number = number, .offset = index.offset};
        for (const AddressTerm& term : index.terms) {
            const bool free = term.factor > 0 && !in_other_axis(term.var, number);
            const bool longer =
                !axis.position.valid() || pool_.extent(term.var) > pool_.extent(axis.position);
            if (free && longer) {
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
    // All axes are whole, or can be inverted; one at least is a sum of two variables, or has gaps.
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
            parts *= axis->factor;
            scattered |= affine->terms.size() == 2 || axis->factor > 1;
            if (parts > kMostParts) return false;
        }
        return scattered;
    }

    void invert(const Axis& axis) {
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
    }
    ExprId inner(ExprId index) const {
        return pool_[index].op == Op::Assume ? pool_[index].args[0] : index;
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    Stage& stage_;
    tensor::Shape shape_;
    std::vector<Axis> axes_;
};

// ---- One sum for each remainder -----------------------------------------------------------------

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
                if (!accumulates(part)) {  // nothing is added there
                    next.push_back(std::move(part));
                    continue;
                }
                for (int64_t rest = 0; rest < inverse.factor; ++rest) {
                    split(part, inverse, rest, next);
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

    // The elements whose number leaves `rest` when it is divided by the factor.
    void split(const Stage& from,
               const StageInverse& inverse,
               int64_t rest,
               std::vector<Stage>& to) {
        const int64_t factor = inverse.factor;
        const Range outputs{rest, factor, ceil_of(pool_.extent(inverse.output) - rest, factor)};
        if (outputs.count < 1) return;
        const auto taps = taps_of(inverse, rest);
        const VarId p = pool_.new_var(outputs.count);
        if (!taps) return without_taps(from, inverse, outputs, p, to);
        const VarId t = pool_.new_var(std::max<int64_t>(taps->count, 1));
        // (factor * p + rest - tap_factor * (first + step * t) - offset) / factor
        Address position;
        position.offset = (rest - inverse.offset - inverse.tap_factor * taps->first) / factor;
        if (outputs.count > 1) position.add(p, 1);
        if (taps->count > 1) position.add(t, -inverse.tap_factor * taps->step / factor);
        Stage part = from;
        std::unordered_map<VarId, ExprId, IdHash> with = {{inverse.output, range_of(outputs, p)}};
        if (inverse.tap.valid()) with[inverse.tap] = range_of(*taps, t);
        rewrite(part, inverse.position, build_.sum(position), with);
        set_loop(part, inverse.output, p, outputs.count);
        if (inverse.tap.valid()) set_loop(part, inverse.tap, t, taps->count);
        to.push_back(std::move(part));
    }
    // Taps for which the position is whole; nothing if there are none.
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
    // What is stored where nothing is added.
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
        const auto here = [&](ExprId& id) {
            if (!id.valid()) return;
            if (from.valid()) id = pool_.replace(id, from, position);
            id = pool_.substitute(id, with);
        };
        for (StageWrite& write : stage.writes) {
            here(write.value);
            for (ExprId& index : write.index) here(index);
        }
        for (StageGuard& guard : stage.guards) here(guard.index);
        here(stage.condition);
        here(stage.initial);
        here(stage.finish);
        here(stage.total);
    }
    // No loop has one step only.
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

void invert_scatter(StageGraph& graph, Stage& stage) { Inverter(graph, stage).run(); }

void split_inverses(StageGraph& graph) {
    Splitter splitter(graph);
    std::vector<FusionGroup> units;
    for (FusionGroup& unit : graph.units) {
        const bool inverted = std::ranges::any_of(
            unit.stages, [](const Stage& stage) { return !stage.inverses.empty(); });
        if (!inverted) {
            units.push_back(std::move(unit));
            continue;
        }
        std::vector<Stage> stages;
        for (const Stage& stage : unit.stages) {
            for (Stage& part : splitter.run(stage)) stages.push_back(std::move(part));
        }
        const bool apart = unit.stages.size() == 1;  // else they are done in their order
        unit.stages.clear();
        if (!apart) {
            unit.stages = std::move(stages);
            units.push_back(std::move(unit));
            continue;
        }
        for (Stage& stage : stages) {
            units.push_back(unit);
            units.back().stages = {std::move(stage)};
            find_reads(graph, units.back());
        }
    }
    graph.units = std::move(units);
}

}  // namespace lemma::loop
