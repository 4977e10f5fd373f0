// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/resample.h"

#include <algorithm>
#include <cmath>

namespace lemma::loop {

namespace {

// An element of a table must serve this many elements of the result.
constexpr int64_t kLeastReuse = 4;

struct Interval {
    double low, high;
};

// Bounds of the numbers that an expression can have.
class Intervals {
public:
    explicit Intervals(const StagePool& pool) : pool_(pool) {}

    std::optional<Interval> of(ExprId id) const {
        const Expr& e = pool_[id];
        std::vector<Interval> args;
        if (e.op != Op::Select) {
            for (const ExprId arg : e.args) {
                const auto one = of(arg);
                if (!one) return std::nullopt;
                args.push_back(*one);
            }
        }
        switch (e.op) {
            case Op::Constant: {
                const double value = e.type.real() ? e.real : static_cast<double>(e.integer);
                return Interval{value, value};
            }
            case Op::Var: {
                const auto var = make_id<VarId>(static_cast<size_t>(e.integer));
                return Interval{0, static_cast<double>(pool_.extent(var) - 1)};
            }
            case Op::Cast:
                return cast(e, args[0]);
            case Op::Add:
                return finite({args[0].low + args[1].low, args[0].high + args[1].high});
            case Op::Sub:
                return finite({args[0].low - args[1].high, args[0].high - args[1].low});
            case Op::Mul: {
                const auto [a, b] = std::pair(args[0], args[1]);
                return finite(
                    {std::min({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high}),
                     std::max({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high})});
            }
            case Op::Div:
                if (!e.type.real() || args[1].low != args[1].high || args[1].low == 0) {
                    return std::nullopt;
                }
                return finite({std::min(args[0].low / args[1].low, args[0].high / args[1].low),
                               std::max(args[0].low / args[1].low, args[0].high / args[1].low)});
            case Op::Floor:
                return Interval{std::floor(args[0].low), std::floor(args[0].high)};
            case Op::Ceil:
                return Interval{std::ceil(args[0].low), std::ceil(args[0].high)};
            case Op::Min:
                return Interval{std::min(args[0].low, args[1].low),
                                std::min(args[0].high, args[1].high)};
            case Op::Max:
                return Interval{std::max(args[0].low, args[1].low),
                                std::max(args[0].high, args[1].high)};
            default:
                return std::nullopt;
        }
    }
    // Whether the condition always holds.
    bool holds(ExprId id) const {
        const Expr& e = pool_[id];
        if (e.op == Op::Constant) return e.integer != 0;
        if (e.op == Op::And) return holds(e.args[0]) && holds(e.args[1]);
        if (e.op != Op::Less && e.op != Op::LessEqual) return false;
        const auto a = of(e.args[0]);
        const auto b = of(e.args[1]);
        return a && b && a->high < b->low;
    }

private:
    static std::optional<Interval> finite(Interval value) {
        constexpr double kMost = 0x1p52;  // whole numbers are exact
        return std::abs(value.low) < kMost && std::abs(value.high) < kMost ? std::optional(value)
                                                                           : std::nullopt;
    }
    std::optional<Interval> cast(const Expr& e, Interval from) const {
        const Kind kind = pool_[e.args[0]].type.kind;
        if (kind == Kind::Bool || e.type.kind == Kind::Bool) return std::nullopt;
        if (e.type.kind != Kind::Int || kind == Kind::Int) return finite(from);
        return finite({std::trunc(from.low), std::trunc(from.high)});
    }

    const StagePool& pool_;
};

class Resampler {
public:
    Resampler(StageGraph& graph, FusionGroup& group)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build), group_(group) {}

    // The groups that replace this one; none if it is no interpolation.
    std::vector<FusionGroup> run() {
        if (!find_factors() || !find_axes() || !find_weights() || !pays()) return {};
        std::vector<FusionGroup> groups;
        for (Axis& axis : axes_) groups.push_back(tables_of(axis));
        if (stage().combine == ir::FormulaOp::Assign) {
            pick_by_tables();
        } else {
            sum_by_axis(groups);
        }
        find_reads(graph_, group_);
        groups.push_back(std::move(group_));
        return groups;
    }

private:
    // An axis along which the source is read at positions that no affine index has.
    struct Axis {
        size_t number;
        VarId output, tap;  // without taps: one position for each element
        ExprId position;
        std::vector<ExprId> weights;
        ir::TensorId positions_table, weights_table;
    };
    Stage& stage() { return group_.stages[0]; }
    const Stage& stage() const { return group_.stages[0]; }

    // The source and the other factors of the value.
    bool find_factors() {
        const bool sum = stage().combine == ir::FormulaOp::Sum && stage().initial.valid();
        const bool map = stage().combine == ir::FormulaOp::Assign;
        if ((!sum && !map) || stage().writes.size() != 1 || stage().empty || stage().kept ||
            !stage().guards.empty() || stage().condition.valid() || !stage().inverses.empty()) {
            return false;
        }
        for (const StageLoop& loop : stage().loops) {
            if (pool_.end(loop.var).valid()) return false;
        }
        const StageWrite& write = stage().writes[0];
        if (graph_.dtypes.at(write.tensor) != tensor::DType::F32) return false;
        std::vector<ExprId> work = {write.value};
        while (!work.empty()) {
            const ExprId at = work.back();
            work.pop_back();
            const Expr& e = pool_[at];
            const bool rounded = e.op == Op::Cast && e.type.kind == Kind::F32 &&
                                 pool_[e.args[0]].type.kind == Kind::F64;
            const ExprId inner = rounded ? e.args[0] : at;
            if (pool_[inner].op == Op::Mul && e.type.real()) {
                work.insert(work.end(), pool_[inner].args.begin(), pool_[inner].args.end());
            } else if (e.op == Op::Read) {
                if (source_.valid() || e.type.kind != Kind::F32) return false;
                source_ = at;
            } else {
                bool reads = false;
                pool_.visit_reads(at, [&](ExprId, const Expr&) { reads = true; });
                if (reads || !e.type.real()) return false;
                factors_.push_back(at);
            }
        }
        return source_.valid() && (sum || factors_.empty()) &&
               graph_.dtypes.at(tensor_of(pool_[source_])) == tensor::DType::F32;
    }

    std::vector<VarId> vars_of(ExprId id) const {
        std::vector<VarId> vars;
        for (const StageLoop& loop : stage().loops) {
            if (pool_.depends(id, loop.var)) vars.push_back(loop.var);
        }
        return vars;
    }
    bool is_output(VarId var) const {
        return std::ranges::any_of(stage().writes[0].index,
                                   [&](ExprId index) { return pool_.depends(index, var); });
    }
    // Each axis has the variable of the result's axis as its index, or a position of its own.
    bool find_axes() {
        const Expr source = pool_[source_];
        const StageWrite& write = stage().writes[0];
        if (source.args.size() != write.index.size()) return false;
        for (size_t i = 0; i < source.args.size(); ++i) {
            if (source.args[i] == write.index[i]) {
                const Op op = pool_[write.index[i]].op;
                const bool whole = graph_.shapes.at(tensor_of(source))[i] == extent(i);
                if ((op != Op::Var && op != Op::Constant) || !whole) return false;
                continue;
            }
            if (pool_[write.index[i]].op != Op::Var) return false;
            const auto at = static_cast<size_t>(pool_[write.index[i]].integer);
            Axis axis{i, make_id<VarId>(at), {}, inside(source, i), {}, {}, {}};
            if (!axis.position.valid()) return false;
            for (const VarId var : vars_of(axis.position)) {
                if (var == axis.output) continue;
                if (axis.tap.valid() || is_output(var)) return false;
                axis.tap = var;
            }
            axes_.push_back(std::move(axis));
        }
        return !axes_.empty();
    }
    int64_t extent(size_t axis) const { return graph_.shapes.at(stage().writes[0].tensor)[axis]; }
    // The index without its check, if it is inside the source in any case; not for affine ones.
    ExprId inside(const Expr& source, size_t axis) const {
        ExprId index = source.args[axis];
        if (pool_.affine(index)) return {};
        bool reads = false;
        pool_.visit_reads(index, [&](ExprId, const Expr&) { reads = true; });
        if (reads) return {};
        while (pool_[index].op == Op::Select && Intervals(pool_).holds(pool_[index].args[0])) {
            index = pool_[index].args[1];
        }
        const StagePool::Range range = pool_.range(index);
        const int64_t most = graph_.shapes.at(tensor_of(source))[axis] - 1;
        return range.low >= 0 && range.high <= most ? index : ExprId();
    }
    // Each factor belongs to one axis, and each variable of the sum, too.
    bool find_weights() {
        for (const ExprId factor : factors_) {
            const std::vector<VarId> vars = vars_of(factor);
            const auto axis = std::ranges::find_if(axes_, [&](const Axis& candidate) {
                return std::ranges::all_of(vars, [&](VarId var) {
                    return var == candidate.output || var == candidate.tap;
                });
            });
            if (axis == axes_.end()) return false;
            axis->weights.push_back(factor);
        }
        for (const StageLoop& loop : stage().loops) {
            if (is_output(loop.var)) continue;
            const auto count = std::ranges::count(axes_, loop.var, &Axis::tap);
            if (count != 1) return false;
        }
        const bool sum = stage().combine == ir::FormulaOp::Sum;
        return std::ranges::all_of(axes_, [&](const Axis& axis) {
            return axis.tap.valid() == sum && axis.weights.empty() != sum;
        });
    }
    bool pays() const {
        const auto volume = tensor::volume(graph_.shapes.at(stage().writes[0].tensor));
        return volume && std::ranges::all_of(axes_, [&](const Axis& axis) {
                   const int64_t taps = axis.tap.valid() ? pool_.extent(axis.tap) : 1;
                   return pool_.extent(axis.output) * taps <= *volume / kLeastReuse;
               });
    }

    // ---- Tables ---------------------------------------------------------------------------------

    FusionGroup tables_of(Axis& axis) {
        std::vector<VarId> vars;
        if (axis.tap.valid()) vars.push_back(axis.tap);
        vars.push_back(axis.output);
        tensor::Shape shape;
        for (const VarId var : vars) shape.push_back(pool_.extent(var));
        axis.positions_table = graph_.new_tensor(tensor::DType::I32, shape);
        graph_.constants.insert(axis.positions_table);
        std::vector<MadeConstant> made = {{axis.position, axis.positions_table}};
        if (!axis.weights.empty()) {
            ExprId weight;
            for (const ExprId factor : axis.weights) {
                weight = weight.valid() ? build_.make(Op::Mul, {weight, factor}) : factor;
            }
            axis.weights_table = new_constant(graph_, vars);
            made.push_back({build_.cast(weight, Kind::F32), axis.weights_table});
        }
        return constants_group(graph_, group_, " tables", vars, made);
    }
    // The elements of the tables for an element and a tap.
    std::vector<ExprId> entry(const Axis& axis, ExprId output, VarId tap) {
        if (!axis.tap.valid()) return {output};
        return {build_.index(tap), output};
    }
    ExprId position(const Axis& axis, ExprId output, VarId tap) {
        const ExprId read =
            build_.read(axis.positions_table.value, Kind::Int, entry(axis, output, tap));
        return build_.assume(read, graph_.shapes.at(tensor_of(pool_[source_]))[axis.number]);
    }
    ExprId weight(const Axis& axis, ExprId output, VarId tap) {
        return build_.read(axis.weights_table.value, Kind::F32, entry(axis, output, tap));
    }

    void pick_by_tables() {
        Expr source = pool_[source_];
        for (const Axis& axis : axes_) {
            source.args[axis.number] = position(axis, build_.index(axis.output), {});
        }
        const ExprId value =
            build_.read(static_cast<uint32_t>(source.integer), Kind::F32, std::move(source.args));
        StageWrite& write = stage().writes[0];
        write.value = pool_.replace(write.value, source_, value);
    }

    // ---- One sum for each axis ------------------------------------------------------------------

    // Axes that shrink come first. Of those that grow the last one does, because its elements are
    // gathered.
    void order_axes() {
        const auto key = [&](const Axis& axis) {
            const auto from =
                static_cast<double>(graph_.shapes.at(tensor_of(pool_[source_]))[axis.number]);
            const double growth = static_cast<double>(pool_.extent(axis.output)) / from;
            return std::pair(growth < 1 ? growth : 1.0, -static_cast<int64_t>(axis.number));
        };
        std::ranges::stable_sort(axes_, {}, key);
    }
    void sum_by_axis(std::vector<FusionGroup>& groups) {
        order_axes();
        ir::TensorId from = tensor_of(pool_[source_]);
        for (size_t i = 0; i + 1 < axes_.size(); ++i) {
            groups.push_back(one_sum(axes_[i], from));
            from = groups.back().writes[0];
        }
        // The last one has the variables of the stage.
        const Axis& last = axes_.back();
        std::vector<ExprId> index = stage().writes[0].index;
        index[last.number] = position(last, build_.index(last.output), last.tap);
        std::erase_if(stage().loops, [&](const StageLoop& loop) {
            return !is_output(loop.var) && loop.var != last.tap;
        });
        const ExprId read = build_.read(from.value, Kind::F32, std::move(index));
        stage().writes[0].value =
            build_.make(Op::Mul, {weight(last, build_.index(last.output), last.tap), read});
    }
    FusionGroup one_sum(const Axis& axis, ir::TensorId from) {
        tensor::Shape shape = graph_.shapes.at(from);
        shape[axis.number] = pool_.extent(axis.output);
        const ir::TensorId to = graph_.new_tensor(tensor::DType::F32, std::move(shape));
        FusionGroup made;
        made.op = group_.op;
        made.label = group_.label + " axis";
        made.writes = {to};
        Stage sum = assign_all(graph_, to);
        sum.combine = ir::FormulaOp::Sum;
        sum.initial = build_.real(0, Kind::F32);
        const VarId tap = pool_.new_var(pool_.extent(axis.tap));
        sum.loops.push_back({tap, pool_.extent(axis.tap)});
        std::vector<ExprId> index = sum.writes[0].index;
        const ExprId output = index[axis.number];
        index[axis.number] = position(axis, output, tap);
        const ExprId read = build_.read(from.value, Kind::F32, std::move(index));
        sum.writes[0].value = build_.make(Op::Mul, {weight(axis, output, tap), read});
        made.stages.push_back(std::move(sum));
        find_reads(graph_, made);
        return made;
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    FusionGroup& group_;
    ExprId source_;
    std::vector<ExprId> factors_;
    std::vector<Axis> axes_;
};

}  // namespace

int separate_axes(StageGraph& graph) {
    if (graph.pool.strict) return 0;
    int count = 0;
    std::vector<FusionGroup> groups;
    for (FusionGroup& group : graph.groups) {
        std::vector<FusionGroup> made;
        if (group.compiled() && !group.once && group.stages.size() == 1) {
            made = Resampler(graph, group).run();
        }
        if (made.empty())
            made.push_back(std::move(group));
        else
            ++count;
        for (FusionGroup& one : made) groups.push_back(std::move(one));
    }
    graph.groups = std::move(groups);
    return count;
}

}  // namespace lemma::loop
