// Finding sums of products, and preparing their constant operands.
#include <algorithm>

#include "loop/passes/graph.h"
#include "tensor/room.h"

namespace lemma::loop {

namespace {

constexpr int64_t kLeastLanes = 8;
constexpr size_t kMostReads = 8;

bool reads_constants(const StageGraph& graph, ExprId value) {
    bool constant = true;
    graph.pool.visit_reads(
        value, [&](ExprId, const Expr& e) { constant &= graph.constants.contains(tensor_of(e)); });
    return constant;
}

bool contains(const std::vector<VarId>& vars, VarId var) {
    return std::ranges::find(vars, var) != vars.end();
}

class Finder {
public:
    Finder(StageGraph& graph, const Stage& stage)
        : graph_(graph), pool_(graph.pool), stage_(stage) {}

    std::optional<Contraction> find() {
        const bool reduction = is_sum() || stage_.combine == ir::FormulaOp::Min ||
                               stage_.combine == ir::FormulaOp::Max;
        if (!reduction || stage_.writes.size() != 1 || !stage_.initial.valid() ||
            stage_.condition.valid() || stage_.empty)
            return std::nullopt;
        const StageWrite& write = stage_.writes[0];
        if (pool_[write.value].type.kind != Kind::F32 || !affine(write.index)) return std::nullopt;
        double steps = 1;
        for (const StageLoop& loop : stage_.loops) steps *= static_cast<double>(loop.extent);
        if (steps < graph_.least_steps) return std::nullopt;
        std::vector<ExprId> reads;
        bool good = true;
        pool_.visit_reads(write.value, [&](ExprId id, const Expr& e) {
            reads.push_back(id);
            good &= affine(e.args) && graph_.dtypes.at(tensor_of(e)) == tensor::DType::F32;
        });
        if (!good || reads.size() < 2 || reads.size() > kMostReads) return std::nullopt;
        std::ranges::sort(reads, {}, &ExprId::value);
        std::optional<Contraction> best;
        for (const ExprId a : reads) {
            const auto split = split_at(a, write.value);
            if (!split) continue;
            const bool constant = is_constant(split->b);
            if (is_constant(a) && !constant) continue;
            auto found = with(a, split->b, split->product, constant);
            if (found && (!best || better(*found, *best))) best = found;
        }
        return best;
    }

private:
    bool is_sum() const { return stage_.combine == ir::FormulaOp::Sum; }
    bool affine(const std::vector<ExprId>& index) const {
        return std::ranges::all_of(index, [&](ExprId i) { return pool_.affine(i).has_value(); });
    }
    bool is_constant(ExprId value) const { return reads_constants(graph_, value); }
    struct Split {
        ExprId b;
        bool product;
    };
    // What the value makes of `a` and one other part: their product, or anything else.
    std::optional<Split> split_at(ExprId a, ExprId value) {
        std::vector<ExprId> factors;
        if (is_sum() && find_factors(a, value, factors) && !factors.empty()) {
            ExprId b = factors[0];
            for (size_t i = 1; i < factors.size(); ++i) {
                b = pool_.build.make(Op::Mul, {b, factors[i]});
            }
            return Split{b, true};
        }
        if (!stage_.guards.empty()) return std::nullopt;  // zeros would count
        ExprId b;
        if (!find_other(a, value, b) || !b.valid()) return std::nullopt;
        if (pool_[b].type.kind != Kind::F32) return std::nullopt;
        return Split{b, false};
    }
    // Of a product in which `a` is one factor: the others.
    bool find_factors(ExprId a, ExprId value, std::vector<ExprId>& factors) const {
        int found = 0;
        std::vector<ExprId> work = {value};
        while (!work.empty()) {
            const ExprId at = work.back();
            work.pop_back();
            const Expr& e = pool_[at];
            if (at == a) {
                ++found;
            } else if (e.op == Op::Mul && e.type.kind == Kind::F32) {
                work.insert(work.end(), e.args.rbegin(), e.args.rend());
            } else if (e.type.kind != Kind::F32 || pool_.has_part(at, a)) {
                return false;
            } else {
                factors.push_back(at);
            }
        }
        return found == 1;
    }
    // The one largest part that has no `a` in it; literals aside, and elements that are the same
    // for all that `a` is the same for.
    bool find_other(ExprId a, ExprId value, ExprId& other) const {
        if (value == a || pool_[value].op == Op::Constant) return true;
        if (pool_.has_part(value, a)) {
            return std::ranges::all_of(pool_[value].args,
                                       [&](ExprId arg) { return find_other(a, arg, other); });
        }
        const bool beside = pool_[value].op == Op::Read &&
                            std::ranges::all_of(stage_.loops, [&](const StageLoop& loop) {
                                return !uses(value, loop.var) || uses(a, loop.var);
                            });
        if (beside) return true;
        if (other.valid() && other != value) return false;
        other = value;
        return true;
    }
    bool uses(ExprId read, VarId var) const { return pool_.depends(read, var); }
    bool writes_side_by_side(VarId var) const {
        const StageWrite& write = stage_.writes[0];
        if (write.index.empty()) return false;
        const auto last = pool_.affine(write.index.back());
        return std::ranges::find(last->terms, AddressTerm{var, 1}) != last->terms.end();
    }
    bool better(const Contraction& a, const Contraction& b) const {
        if (a.lane_in_a != b.lane_in_a) return !a.lane_in_a;
        return writes_side_by_side(a.lane) && !writes_side_by_side(b.lane);
    }
    // All guards are about elements of A, and skip what is outside of the tensor, where zeros can
    // be put: not what a slice of it leaves out.
    bool guards_are_of(ExprId read) const {
        const Expr& a = pool_[read];
        const tensor::Shape& shape = graph_.shapes.at(tensor_of(a));
        return std::ranges::all_of(stage_.guards, [&](const StageGuard& guard) {
            for (size_t axis = 0; axis < a.args.size(); ++axis) {
                const Expr& e = pool_[a.args[axis]];
                if (e.op == Op::Assume && e.args[0] == guard.index && e.integer == guard.extent &&
                    guard.extent == shape[axis]) {
                    return true;
                }
            }
            return false;
        });
    }

    std::optional<Contraction> with(ExprId a, ExprId b, bool product, bool constant) const {
        if (!guards_are_of(a)) return std::nullopt;
        const std::vector<VarId> outputs = write_shape(stage_, stage_.writes[0], pool_).vars;
        Contraction c;
        c.a = a;
        c.b = b;
        c.product = product;
        const auto consider = [&](VarId var) {
            const int64_t extent = pool_.extent(var);
            const bool better_one = !c.lane.valid() || extent > pool_.extent(c.lane);
            if (extent >= kLeastLanes && better_one) c.lane = var;
        };
        for (const VarId var : outputs) {
            if (uses(b, var) && !uses(a, var)) consider(var);
        }
        if (!c.lane.valid()) {
            c.lane_in_a = true;
            for (const VarId var : outputs) {
                if (uses(b, var) && uses(a, var)) consider(var);
            }
        }
        if (!c.lane.valid() || !lane_axis_is_plain(c)) return std::nullopt;
        double points = 1;
        for (const StageLoop& loop : stage_.loops) {
            if (loop.var == c.lane) continue;
            const bool in_a = uses(a, loop.var);
            const bool in_b = uses(b, loop.var);
            if (!in_a && !in_b) return std::nullopt;
            if (!contains(outputs, loop.var)) {
                c.reduced.push_back(loop.var);
            } else if (in_b) {
                c.batch.push_back(loop.var);
            } else {
                c.points.push_back(loop.var);
                points *= static_cast<double>(loop.extent);
            }
        }
        // Packing what every run brings anew takes as long as a few rows of products.
        if (!constant && points < 6) return std::nullopt;
        if (packed_elements(c) > tensor::kMaxElements) return std::nullopt;
        return c;
    }
    // At most, whatever the tile is.
    int64_t packed_elements(const Contraction& c) const {
        constexpr int64_t kMostWidth = 128;
        int64_t elements = pool_.extent(c.lane) + kMostWidth;
        for (const auto* vars : {&c.batch, &c.reduced}) {
            for (const VarId var : *vars) elements = total_elements(elements, pool_.extent(var));
        }
        return elements;
    }
    // One axis of the output counts along the lanes one by one, and so does one of A if it does.
    bool lane_axis_is_plain(const Contraction& c) const {
        const auto plain = [&](const std::vector<ExprId>& index) {
            int axes = 0;
            for (const ExprId i : index) {
                const auto affine_index = pool_.affine(i);
                for (const AddressTerm& term : affine_index->terms) {
                    if (term.var != c.lane) continue;
                    if (term.factor != 1) return false;
                    ++axes;
                }
            }
            return axes == 1;
        };
        return plain(stage_.writes[0].index) && (!c.lane_in_a || plain(pool_[c.a].args));
    }

    StageGraph& graph_;
    StagePool& pool_;
    const Stage& stage_;
};

}  // namespace

std::optional<Contraction> find_contraction(StageGraph& graph, const Stage& stage) {
    return Finder(graph, stage).find();
}

void widen_halo(const StagePool& pool, const Expr& read, Halo& halo) {
    halo.below.resize(read.args.size());
    halo.above.resize(read.args.size());
    for (size_t axis = 0; axis < read.args.size(); ++axis) {
        const Expr& e = pool[read.args[axis]];
        if (e.op != Op::Assume) continue;
        const StagePool::Range range = pool.range(e.args[0]);
        halo.below[axis] = std::max(halo.below[axis], -range.low);
        halo.above[axis] = std::max(halo.above[axis], range.high - (e.integer - 1));
    }
}

namespace {

// The zeros around a tensor take no more room than is good.
bool is_affordable(const Halo& halo, const tensor::Shape& shape) {
    constexpr int64_t kFew = int64_t{1} << 24;
    constexpr int64_t kManyTimes = 16;
    int64_t elements = 1, with_halo = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        elements = total_elements(elements, shape[axis]);
        const int64_t around = halo.below[axis] + halo.above[axis];
        with_halo = total_elements(with_halo, shape[axis] + around);
    }
    return with_halo <= kFew ||
           (with_halo <= tensor::kMaxElements && with_halo / kManyTimes <= elements);
}

}  // namespace

void find_contractions(StageGraph& graph) {
    std::unordered_map<ir::TensorId, Halo, IdHash> halos;  // of all that read the tensor
    for (FusionGroup& unit : graph.units) {
        if (unit.interpreted || unit.once || unit.stages.size() != 1) continue;
        auto found = find_contraction(graph, unit.stages[0]);
        if (!found) continue;
        const Expr& a = graph.pool[found->a];
        Halo halo = halos[tensor_of(a)];
        widen_halo(graph.pool, a, halo);
        if (!is_affordable(halo, graph.shapes.at(tensor_of(a)))) continue;
        halos[tensor_of(a)] = std::move(halo);
        unit.contraction = std::move(found);
        // Where zeros are read, nothing has to be skipped.
        unit.stages[0].guards.clear();
    }
}

// ---- Scales and shifts --------------------------------------------------------------------------

namespace {

// total * factor + shift
struct Linear {
    ExprId factor, shift;
};

class ScaleFolder {
public:
    ScaleFolder(StageGraph& graph, FusionGroup& unit)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build), unit_(unit) {
        const Contraction& c = *unit.contraction;
        for (const VarId var : c.batch) {
            if (pool_.depends(c.b, var)) channel_.push_back(var);
        }
        channel_.push_back(c.lane);
    }

    // A unit that computes the start of the sums, to run before.
    std::optional<FusionGroup> run() {
        Stage& stage = unit_.stages[0];
        const Contraction& c = *unit_.contraction;
        if (!c.product || !reads_constants(graph_, c.b) || !by_channel(stage.initial)) {
            return std::nullopt;
        }
        find(stage.finish);
        if (!part_.valid() || part_ == stage.total || several_ || rounded_) {
            return std::nullopt;
        }
        const Linear linear = *linear_of(part_);
        unit_.weight_factor = linear.factor;
        const ExprId start = build_.make(
            Op::Add,
            {build_.make(Op::Mul, {build_.cast(stage.initial, Kind::F32), linear.factor}),
             linear.shift});
        const MadeConstant constant{start, new_constant(graph_, channel_)};
        FusionGroup made = constants_unit(graph_, unit_, " start", channel_, {constant});
        std::vector<ExprId> index;
        for (const VarId var : channel_) index.push_back(build_.index(var));
        stage.initial = build_.read(constant.tensor.value, Kind::F32, std::move(index));
        stage.finish = pool_.replace(stage.finish, part_, stage.total);
        find_reads(graph_, unit_);
        return made;
    }

private:
    // KnownExtents before the first run, and the same for all points.
    bool by_channel(ExprId id) const {
        bool constant = true;
        pool_.visit_reads(id, [&](ExprId, const Expr& e) {
            constant &= graph_.constants.contains(tensor_of(e));
        });
        std::vector<VarId> others;
        for (const StageLoop& loop : unit_.stages[0].loops) {
            if (!contains(channel_, loop.var)) others.push_back(loop.var);
        }
        return constant && !pool_.depends_on_any(id, others);
    }
    std::optional<Linear> linear_of(ExprId id) {
        if (id == unit_.stages[0].total) {
            return Linear{build_.real(1, Kind::F32), build_.real(0, Kind::F32)};
        }
        const Expr e = pool_[id];
        if (e.type.kind != Kind::F32) return std::nullopt;
        const bool known = e.op == Op::Add || e.op == Op::Sub || e.op == Op::Mul || e.op == Op::Div;
        if (!known) return std::nullopt;
        for (const size_t side : {size_t{0}, size_t{1}}) {
            const ExprId other = e.args[1 - side];
            if (!by_channel(other) || pool_.has_part(other, unit_.stages[0].total)) continue;
            const auto inner = linear_of(e.args[side]);
            if (!inner) continue;
            const auto [factor, shift] = *inner;
            const auto op = [&](Op o, ExprId a, ExprId b) { return build_.make(o, {a, b}); };
            switch (e.op) {
                case Op::Add:
                    return Linear{factor, op(Op::Add, shift, other)};
                case Op::Mul:
                    return Linear{op(Op::Mul, factor, other), op(Op::Mul, shift, other)};
                case Op::Sub:
                    if (side == 0) return Linear{factor, op(Op::Sub, shift, other)};
                    return Linear{build_.make(Op::Neg, {factor}), op(Op::Sub, other, shift)};
                default:
                    if (side == 1) return std::nullopt;
                    return Linear{op(Op::Div, factor, other), op(Op::Div, shift, other)};
            }
        }
        return std::nullopt;
    }
    // The largest parts that are linear; several_: there is more than one; rounded_: to a whole
    // number.
    void find(ExprId id) {
        if (!id.valid() || !pool_.has_part(id, unit_.stages[0].total)) return;
        if (linear_of(id)) {
            several_ |= part_.valid() && part_ != id;
            part_ = id;
            return;
        }
        const Expr e = pool_[id];
        // The last place of a scale decides about halves: what is rounded is computed as written.
        const bool to_int = e.op == Op::Cast && e.type.kind == Kind::Int;
        if (to_int || e.op == Op::Rint || e.op == Op::Round || e.op == Op::Floor ||
            e.op == Op::Ceil || e.op == Op::Trunc) {
            rounded_ = true;
            return;
        }
        for (const ExprId arg : e.args) find(arg);
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    FusionGroup& unit_;
    std::vector<VarId> channel_;  // the variables of the weights that are not summed
    ExprId part_;
    bool several_ = false;
    bool rounded_ = false;
};

}  // namespace

void fold_scales(StageGraph& graph) {
    std::vector<FusionGroup> units;
    for (FusionGroup& unit : graph.units) {
        if (unit.contraction && unit.stages[0].finish.valid()) {
            if (auto start = ScaleFolder(graph, unit).run()) units.push_back(std::move(*start));
        }
        units.push_back(std::move(unit));
    }
    graph.units = std::move(units);
}

// ---- Packing ------------------------------------------------------------------------------------

namespace {

FusionGroup pack_unit(StageGraph& graph, FusionGroup& unit, const Target& target) {
    Contraction& c = *unit.contraction;
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
    for (const VarId var : c.batch) {
        if (!pool.depends(c.b, var)) continue;
        c.packed_batch.push_back(var);
        with[var] = add(pool.extent(var));
    }
    const ExprId block = add(c.blocks);
    for (const VarId var : c.reduced) with[var] = add(pool.extent(var));
    const int64_t width = c.vectors * target.lanes();
    const ExprId lane = add(width);
    ExprId channel =
        build.make(Op::Add, {build.make(Op::Mul, {block, build.integer(width)}), lane});
    const int64_t extent = pool.extent(c.lane);
    if (c.blocks * width > extent) {
        stage.guards.push_back({channel, extent});
        channel = build.assume(channel, extent);
    }
    with[c.lane] = channel;
    ExprId value = c.b;
    if (unit.weight_factor.valid()) value = build.make(Op::Mul, {value, unit.weight_factor});
    write.value = pool.substitute(value, with);
    c.packed = graph.new_tensor(tensor::DType::F32, shape);
    write.tensor = c.packed;
    if (c.blocks * width > extent) graph.padded.insert(c.packed);
    stage.writes.push_back(std::move(write));
    FusionGroup made;
    made.op = unit.op;
    made.label = unit.label + " pack";
    made.once = reads_constants(graph, c.b);
    if (made.once) graph.constants.insert(c.packed);
    made.stages.push_back(std::move(stage));
    made.writes = {c.packed};
    find_reads(graph, made);
    return made;
}

}  // namespace

void pack_weights(StageGraph& graph, const BufferViews& places, const Target& target) {
    std::vector<FusionGroup> units;
    for (FusionGroup& unit : graph.units) {
        if (unit.contraction) {
            choose_tile(unit.stages[0], graph.pool, places, target, *unit.contraction);
            FusionGroup made = pack_unit(graph, unit, target);
            unit.reads.push_back(made.writes[0]);
            units.push_back(std::move(made));
        }
        units.push_back(std::move(unit));
    }
    graph.units = std::move(units);
}

}  // namespace lemma::loop
