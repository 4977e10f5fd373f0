// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/narrow_weights.h"

#include <algorithm>

namespace lemma::loop {

namespace {

using tensor::DType;

// More points use the weights so often that unpacking them once is cheaper.
constexpr int64_t kMostPoints = 4;

struct IntRange {
    int64_t low, high;
    bool inside(int64_t least, int64_t most) const { return low >= least && high <= most; }
};

// A value as (number - zero) * scale.
struct Parts {
    ExprId number;  // an int, or an element of 16 bits
    DType dtype{};  // that holds it
    bool nibble = false;
    ExprId zero, scale;  // floats; may be missing
};

class NarrowFinder {
public:
    explicit NarrowFinder(StageGraph& graph) : graph_(graph), pool_(graph.pool) {}

    bool find(FusionGroup& group) {
        Contraction& c = *group.contraction;
        if (!suits_narrow_weights(graph_, group)) return false;
        auto parts = parts_of(inlined(c.b));
        if (!parts) return false;
        if (group.weight_factor.valid()) parts->scale = times(parts->scale, group.weight_factor);
        VarId groups;
        if (!split(group, *parts, groups)) return false;
        c.narrow = NarrowWeights{.number = parts->number,
                                 .dtype = parts->dtype,
                                 .nibble = parts->nibble,
                                 .zero = parts->zero,
                                 .scale = parts->scale,
                                 .group = groups};
        return true;
    }

private:
    ExprId times(ExprId a, ExprId b) { return a.valid() ? pool_.build.make(Op::Mul, {a, b}) : b; }

    // The formula of a tensor that is computed once, in place of its element.
    ExprId inlined(ExprId value) {
        const Expr e = pool_[value];
        if (e.op != Op::Read) return value;
        for (const FusionGroup& maker : graph_.groups) {
            const bool makes = maker.compiled() && maker.once && maker.stages.size() == 1 &&
                               maker.writes.size() == 1 && maker.writes[0] == tensor_of(e);
            if (!makes) continue;
            const Stage& stage = maker.stages[0];
            if (!is_map(stage, graph_) || graph_.dtypes.at(tensor_of(e)) != DType::F32) break;
            std::unordered_map<VarId, ExprId, IdHash> with;
            for (size_t axis = 0; axis < e.args.size(); ++axis) {
                const Expr& index = pool_[stage.writes[0].index[axis]];
                if (index.op != Op::Var) continue;
                with[make_id<VarId>(static_cast<size_t>(index.integer))] = e.args[axis];
            }
            return pool_.substitute(stage.writes[0].value, with);
        }
        return value;
    }

    ExprId without_casts(ExprId id) const {
        while (pool_[id].op == Op::Cast && pool_[id].type.real()) id = pool_[id].args[0];
        return id;
    }
    bool is_zero(ExprId id) const {
        const Expr& e = pool_[without_casts(id)];
        return e.op == Op::Constant && (e.type.real() ? e.real == 0 : e.integer == 0);
    }

    std::optional<IntRange> range_of(ExprId id) const {
        const Expr& e = pool_[id];
        if (e.type.kind != Kind::Int) return std::nullopt;
        if (e.op == Op::Constant) return IntRange{e.integer, e.integer};
        if (e.op == Op::Read) {
            switch (graph_.dtypes.at(tensor_of(e))) {
                case DType::I8:
                    return IntRange{-128, 127};
                case DType::U8:
                    return IntRange{0, 255};
                default:
                    return std::nullopt;
            }
        }
        if (e.op == Op::Mod && pool_[e.args[1]].op == Op::Constant && pool_[e.args[1]].integer > 0)
            return IntRange{0, pool_[e.args[1]].integer - 1};
        return std::nullopt;
    }

    // The number of a factor, in the type that holds it.
    bool take_number(ExprId id, Parts& parts) const {
        const Expr& e = pool_[id];
        const DType dtype = e.op == Op::Read ? graph_.dtypes.at(tensor_of(e)) : DType::F32;
        if (dtype == DType::F16 || dtype == DType::BF16) {
            parts.dtype = dtype;
        } else if (const auto range = range_of(id)) {
            if (range->inside(0, 15)) {
                parts.nibble = true;
                parts.dtype = DType::U8;
            } else if (range->inside(-128, 127)) {
                parts.dtype = DType::I8;
            } else if (range->inside(0, 255)) {
                parts.dtype = DType::U8;
            } else {
                return false;
            }
        } else {
            return false;
        }
        parts.number = id;
        return true;
    }

    std::optional<Parts> parts_of(ExprId value) {
        Parts parts;
        std::vector<ExprId> work = {value};
        while (!work.empty()) {
            const ExprId at = without_casts(work.back());
            work.pop_back();
            const Expr e = pool_[at];
            if (e.op == Op::Mul && e.type.real()) {
                work.insert(work.end(), e.args.rbegin(), e.args.rend());
                continue;
            }
            if (!parts.number.valid() && take_number(at, parts)) continue;
            const bool moved = e.op == Op::Sub && e.type.real() && !parts.number.valid() &&
                               take_number(without_casts(e.args[0]), parts);
            if (moved) {
                if (!is_zero(e.args[1])) parts.zero = pool_.build.cast(e.args[1], Kind::F32);
                continue;
            }
            parts.scale = times(parts.scale, pool_.build.cast(at, Kind::F32));
        }
        if (!parts.number.valid()) return std::nullopt;
        return parts;
    }

    // The steps of the variable that share scales: the divisor, if it occurs in this form only.
    std::optional<int64_t> divisor(ExprId value, VarId var) const {
        std::optional<int64_t> found;
        bool good = true;
        std::vector<ExprId> work = {value};
        std::unordered_set<ExprId, IdHash> seen;
        while (!work.empty() && good) {
            const ExprId at = work.back();
            work.pop_back();
            if (!at.valid() || !seen.insert(at).second || !pool_.depends(at, var)) continue;
            const Expr& e = pool_[at];
            const bool divided = e.op == Op::Div && e.type.kind == Kind::Int &&
                                 is_var(e.args[0], var) && pool_[e.args[1]].op == Op::Constant;
            if (divided) {
                const int64_t by = pool_[e.args[1]].integer;
                good = by > 1 && (!found || *found == by);
                found = by;
                continue;
            }
            good = e.op != Op::Var;
            work.insert(work.end(), e.args.begin(), e.args.end());
        }
        return good ? found : std::nullopt;
    }
    bool is_var(ExprId id, VarId var) const {
        return pool_[id].op == Op::Var && pool_[id].integer == static_cast<int64_t>(var.value);
    }
    bool depends(ExprId id, VarId var) const { return id.valid() && pool_.depends(id, var); }

    // Splits the reduced variable along which scales change into groups with the same scale and the
    // steps of a group. False if that is not possible.
    bool split(FusionGroup& group, Parts& parts, VarId& groups) {
        Contraction& c = *group.contraction;
        VarId along;
        for (const VarId var : c.reduced) {
            if (!depends(parts.scale, var) && !depends(parts.zero, var)) continue;
            if (along.valid()) return false;
            along = var;
        }
        if (!along.valid()) return true;
        std::optional<int64_t> steps;
        for (const ExprId value : {parts.scale, parts.zero}) {
            if (!depends(value, along)) continue;
            const auto here = divisor(value, along);
            if (!here || (steps && *steps != *here)) return false;
            steps = here;
        }
        const int64_t extent = pool_.extent(along);
        if (extent % *steps != 0 || extent == *steps) return false;
        Builder& build = pool_.build;
        groups = pool_.new_var(extent / *steps);
        const VarId inner = pool_.new_var(*steps);
        const ExprId quotient = build.make(Op::Div, {build.index(along), build.integer(*steps)});
        for (ExprId* const value : {&parts.scale, &parts.zero}) {
            if (value->valid()) *value = pool_.replace(*value, quotient, build.index(groups));
        }
        const ExprId whole =
            build.make(Op::Add,
                       {build.make(Op::Mul, {build.index(groups), build.integer(*steps)}),
                        build.index(inner)});
        const std::unordered_map<VarId, ExprId, IdHash> with = {{along, whole}};
        parts.number = pool_.substitute(parts.number, with);
        c.a = pool_.substitute(c.a, with);
        c.b = pool_.substitute(c.b, with);
        Stage& stage = group.stages[0];
        for_each_expr(stage, [&](ExprId& id) { id = pool_.substitute(id, with); });
        const auto loop = std::ranges::find(stage.loops, along, &StageLoop::var);
        *loop = {groups, pool_.extent(groups)};
        stage.loops.insert(loop + 1, {inner, *steps});
        const auto at = std::ranges::find(c.reduced, along);
        *at = groups;
        c.reduced.insert(at + 1, inner);
        return true;
    }

    StageGraph& graph_;
    StagePool& pool_;
};

// ---- Packing ------------------------------------------------------------------------------------

// A value in the order of the kernel's accesses.
struct Packed {
    ExprId value;
    tensor::DType dtype = tensor::DType::F32;
    std::vector<VarId> reduced;  // axes between the blocks and the lanes
    bool nibble = false;         // a byte has two numbers, half of the lanes apart
    const char* what = "pack";
};

FusionGroup packed_group(StageGraph& graph,
                         const FusionGroup& group,
                         const Target& target,
                         const Packed& packed) {
    const Contraction& c = *group.contraction;
    StagePool& pool = graph.pool;
    Builder& build = pool.build;
    Stage stage;
    stage.combine = ir::FormulaOp::Assign;
    std::unordered_map<VarId, ExprId, IdHash> with;
    StageWrite write;
    tensor::Shape shape;
    const auto add = [&](int64_t extent) {
        shape.push_back(extent);
        if (extent == 1) {
            write.index.push_back(build.integer(0));
            return build.integer(0);
        }
        const VarId var = pool.new_var(extent);
        stage.loops.push_back({var, extent});
        write.index.push_back(build.index(var));
        return build.index(var);
    };
    for (const VarId var : c.packed_batch) with[var] = add(pool.extent(var));
    const ExprId block = add(c.blocks);
    for (const VarId var : packed.reduced) with[var] = add(pool.extent(var));
    const int64_t width = c.vectors * target.lanes();
    const ExprId lane = add(packed.nibble ? width / 2 : width);
    ExprId channel =
        build.make(Op::Add, {build.make(Op::Mul, {block, build.integer(width)}), lane});
    const int64_t extent = pool.extent(c.lane);
    const bool padded = c.blocks * width > extent;
    if (padded) {
        stage.guards.push_back({channel, extent});
        channel = build.assume(channel, extent);
    }
    with[c.lane] = channel;
    write.value = pool.substitute(packed.value, with);
    if (packed.nibble) {
        with[c.lane] = build.make(Op::Add, {channel, build.integer(width / 2)});
        const ExprId other = pool.substitute(packed.value, with);
        write.value =
            build.make(Op::Add, {write.value, build.make(Op::Mul, {other, build.integer(16)})});
    }
    write.tensor = graph.new_tensor(packed.dtype, shape);
    if (padded) graph.padded.insert(write.tensor);
    FusionGroup made;
    made.op = group.op;
    made.label = group.label + " " + packed.what;
    made.once = reads_constants(graph, packed.value);
    if (made.once) graph.constants.insert(write.tensor);
    made.writes = {write.tensor};
    stage.writes.push_back(std::move(write));
    made.stages.push_back(std::move(stage));
    find_reads(graph, made);
    return made;
}

// Two numbers in a byte need whole pairs of vectors.
bool has_pairs(const Contraction& c, const StagePool& pool, const Target& target) {
    return c.vectors % 2 == 0 && pool.extent(c.lane) % (c.vectors * target.lanes()) == 0;
}

}  // namespace

bool suits_narrow_weights(const StageGraph& graph, const FusionGroup& group) {
    const Contraction& c = *group.contraction;
    // Pairs of bf16 have kernels of their own.
    const bool pairs = c.inner.valid();
    const DType operand = graph.dtypes.at(tensor_of(graph.pool[c.a]));
    const bool plain = c.product && c.kind == Kind::F32 && c.group == 1 && !c.lane_in_a &&
                       !c.in_place && !c.window && !c.terms && !c.squares.valid() && !pairs &&
                       tensor::is_real(operand) && operand != DType::F64;
    if (!plain || !reads_constants(graph, c.b)) return false;
    int64_t points = 1;
    for (const VarId var : c.points) points = total_elements(points, graph.pool.extent(var));
    return points <= kMostPoints;
}

int find_narrow_weights(StageGraph& graph) {
    int count = 0;
    NarrowFinder finder(graph);
    for (FusionGroup& group : graph.groups) {
        if (group.contraction && finder.find(group)) ++count;
    }
    return count;
}

void pack_narrow(StageGraph& graph,
                 FusionGroup& group,
                 const Target& target,
                 std::vector<FusionGroup>& groups) {
    Contraction& c = *group.contraction;
    for (const VarId var : c.batch) {
        if (graph.pool.depends(c.b, var)) c.packed_batch.push_back(var);
    }
    const auto add = [&](const Packed& packed) {
        FusionGroup made = packed_group(graph, group, target, packed);
        const ir::TensorId tensor = made.writes[0];
        group.reads.push_back(tensor);
        groups.push_back(std::move(made));
        return tensor;
    };
    NarrowWeights& narrow = *c.narrow;
    narrow.nibble = narrow.nibble && has_pairs(c, graph.pool, target);
    c.packed = add({.value = narrow.number,
                    .dtype = narrow.dtype,
                    .reduced = c.reduced,
                    .nibble = narrow.nibble});
    std::vector<VarId> axes;
    if (narrow.group.valid()) axes.push_back(narrow.group);
    if (narrow.scale.valid())
        narrow.scales = add({.value = narrow.scale, .reduced = axes, .what = "scales"});
    if (narrow.zero.valid())
        narrow.zeros = add({.value = narrow.zero, .reduced = axes, .what = "zeros"});
}

// Weights that were unpacked once, if narrow ones replaced them.
void drop_unread(StageGraph& graph) {
    TensorSet read;
    for (const FusionGroup& group : graph.groups)
        read.insert(group.reads.begin(), group.reads.end());
    std::erase_if(graph.groups, [&](const FusionGroup& group) {
        return group.compiled() && group.once &&
               std::ranges::none_of(group.writes, [&](ir::TensorId id) {
                   return read.contains(id) || graph.results.contains(id);
               });
    });
}

}  // namespace lemma::loop
