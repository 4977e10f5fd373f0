// Plain loops: outputs outside, reductions inside, one variable in lanes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "loop/lowering.h"
#include "loop/schedule.h"

namespace lemma::loop {

namespace {

constexpr int64_t kEnoughItems = 64;      // to share among threads
constexpr int64_t kCopies = 4;            // of short steps in a loop
constexpr int64_t kLeastWork = 4096;      // steps of an item
constexpr int64_t kLongReduction = 4096;  // floats are summed in double beyond

bool contains(const std::vector<VarId>& vars, VarId var) {
    return std::ranges::find(vars, var) != vars.end();
}

// When a step fails: an index that is needed is outside of its tensor. Missing: never.
class Faults {
public:
    Faults(StagePool& pool, const Places& places) : pool_(pool), places_(places) {}

    ExprId of(ExprId id) {
        if (!id.valid()) return {};
        if (const auto found = known_.find(id); found != known_.end()) return found->second;
        const Expr e = pool_[id];
        ExprId result;
        if (e.op == Op::Select) {
            const ExprId then = of(e.args[1]);
            const ExprId other = of(e.args[2]);
            const ExprId no = pool_.build.boolean(false);
            if (then.valid() || other.valid()) {
                result = pool_.build.select(
                    e.args[0], then.valid() ? then : no, other.valid() ? other : no);
            }
            result = either(of(e.args[0]), result);
        } else {
            for (const ExprId arg : e.args) result = either(result, of(arg));
            if (e.op == Op::Read) {
                result = either(result, outside(tensor_of(e), e.args));
            }
        }
        known_[id] = result;
        return result;
    }
    ExprId outside(ir::TensorId tensor, const std::vector<ExprId>& index) {
        Builder& build = pool_.build;
        ExprId result;
        for (size_t axis = 0; axis < index.size(); ++axis) {
            const int64_t extent = places_.at(tensor).shape[axis];
            const StagePool::Range range = pool_.range(index[axis]);
            if (range.low >= 0 && range.high < extent) continue;
            result = either(result, build.make(Op::Less, {index[axis], build.integer(0)}));
            result =
                either(result, build.make(Op::LessEqual, {build.integer(extent), index[axis]}));
        }
        return result;
    }
    ExprId either(ExprId a, ExprId b) {
        if (!a.valid() || !b.valid()) return a.valid() ? a : b;
        return pool_.build.make(Op::Or, {a, b});
    }

private:
    StagePool& pool_;
    const Places& places_;
    std::unordered_map<ExprId, ExprId, IdHash> known_;
};

Op combining_op(ir::FormulaOp op) {
    switch (op) {
        case ir::FormulaOp::Sum:
            return Op::Add;
        case ir::FormulaOp::Product:
            return Op::Mul;
        case ir::FormulaOp::All:
            return Op::And;
        case ir::FormulaOp::Any:
            return Op::Or;
        case ir::FormulaOp::Min:
            return Op::Min;
        default:
            return Op::Max;
    }
}

Op lanes_op(ir::FormulaOp op) {
    switch (op) {
        case ir::FormulaOp::Sum:
            return Op::SumLanes;
        case ir::FormulaOp::Product:
            return Op::ProductLanes;
        case ir::FormulaOp::All:
            return Op::AllLanes;
        case ir::FormulaOp::Any:
            return Op::AnyLanes;
        case ir::FormulaOp::Min:
            return Op::MinLanes;
        default:
            return Op::MaxLanes;
    }
}

class Nest {
public:
    Nest(const Stage& stage, StagePool& pool, const Places& places, const Target& target)
        : stage_(stage),
          pool_(pool),
          places_(places),
          target_(target),
          faults_(pool, places),
          lower_(pool, places, result_),
          build_(lower_.build) {}

    Scheduled make();

private:
    struct Loop {
        VarId var;
        int64_t extent;
        bool reduction = false;
    };
    bool accumulates() const {
        return stage_.combine != ir::FormulaOp::Assign && stage_.combine != ir::FormulaOp::Update;
    }
    bool parallel() const;
    void sequential(Block& out);
    void find_loops();
    // What a vector of steps along the variable costs; memory in other than unit strides is dear.
    double lane_cost(VarId var, bool reduction) const;
    int64_t stride(ir::TensorId tensor, const std::vector<ExprId>& index, VarId var) const {
        return stride_of(pool_, places_.at(tensor), index, var);
    }
    void choose_lanes();
    void choose_items(Block& out);
    int64_t cut_outermost(int64_t work);
    For whole_loop(VarId var, int64_t steps, bool outermost);
    void collapse();
    void output_loops(size_t depth, Block& out);
    void in_lane_blocks(const Loop& loop,
                        VarId blocks,
                        bool outermost,
                        Block& out,
                        const std::function<void(Block&)>& body);
    void element(Block& out);
    void total(const std::vector<StageGuard>& guards, Block& out);
    void reductions(size_t depth, std::vector<StageGuard> guards, LocalId sum, Block& out);
    void accumulate(LocalId sum, Block& out);
    // Skips where guards do not hold; those that differ from lane to lane narrow the mask.
    void guarded(const std::vector<StageGuard>& guards,
                 Block& out,
                 const std::function<void(Block&)>& body);
    ExprId holds(const StageGuard& guard);
    void report_faults(ExprId fault, Block& out);
    ExprId step_fault();
    ExprId starting_value();
    ExprId neutral(Type type);

    const Stage& stage_;
    StagePool& pool_;
    const Places& places_;
    const Target& target_;
    Scheduled result_;
    Faults faults_;
    Lowering lower_;
    Builder& build_;
    std::vector<Loop> outputs_;     // outermost first
    std::vector<Loop> reductions_;  // outermost first
    VarId lane_;                    // of the stage; missing: scalar code
    bool lane_reduces_ = false;
    size_t item_loops_ = 0;
    int64_t piece_ = 0;  // steps of the outermost loop that an item does; 0: all of them
    BufferId failed_;
    std::vector<VarId> bound_;  // variables of the stage that have values here
};

// ---- What may be done ---------------------------------------------------------------------------

bool Nest::parallel() const {
    for (size_t i = 0; i < stage_.writes.size(); ++i) {
        const StageWrite& write = stage_.writes[i];
        const WriteShape shape = write_shape(stage_, write, pool_);
        if (!shape.injective) return false;
        for (size_t k = 0; k < i; ++k) {
            if (stage_.writes[k].tensor == write.tensor) return false;
        }
        const bool last_counts = !accumulates() && shape.vars.size() != stage_.loops.size();
        if (last_counts) return false;
        if (stage_.writes.size() > 1 && shape.vars.size() != stage_.loops.size()) return false;
        bool reads_itself = false;
        const auto visit = [&](ExprId, const Expr& e) {
            reads_itself |= e.integer == write.tensor.value;
        };
        for (const StageWrite& other : stage_.writes) {
            pool_.visit_reads(other.value, visit);
            for (const ExprId index : other.index) pool_.visit_reads(index, visit);
        }
        pool_.visit_reads(stage_.condition, visit);
        for (const StageGuard& guard : stage_.guards) pool_.visit_reads(guard.index, visit);
        if (reads_itself) return false;
    }
    return true;
}

void Nest::find_loops() {
    const WriteShape shape = write_shape(stage_, stage_.writes[0], pool_);
    for (const StageLoop& loop : stage_.loops) {
        const bool reduction = !contains(shape.vars, loop.var);
        (reduction ? reductions_ : outputs_).push_back({loop.var, loop.extent, reduction});
    }
    // In the order of the result's memory: threads write far from each other.
    std::ranges::stable_sort(outputs_, std::greater(), [&](const Loop& loop) {
        return std::abs(stride(stage_.writes[0].tensor, stage_.writes[0].index, loop.var));
    });
}

double Nest::lane_cost(VarId var, bool reduction) const {
    const double lanes = target_.lanes();
    const auto cost = [&](int64_t stride) {
        return stride == 0 ? 0.5 : stride == 1 ? 1.0 : 1.5 * lanes;
    };
    const auto write_cost = [&](int64_t stride) {
        return stride == 0 || stride == 1 ? 1.0 : 2.5 * lanes;
    };
    double reads = 0.5;
    const auto visit = [&](ExprId, const Expr& e) {
        reads += cost(stride(tensor_of(e), e.args, var));
    };
    double writes = 0;
    for (const StageWrite& write : stage_.writes) {
        pool_.visit_reads(write.value, visit);
        if (!reduction) writes += write_cost(stride(write.tensor, write.index, var));
    }
    const bool reduces = !reductions_.empty();
    return (reads + (reduces ? writes / 8 : writes)) / lanes;
}

void Nest::choose_lanes() {
    const auto scalar_cost = [&] {
        double reads = 0.5;
        for (const StageWrite& write : stage_.writes) {
            pool_.visit_reads(write.value, [&](ExprId, const Expr&) { reads += 1; });
        }
        return reads + (reductions_.empty() ? static_cast<double>(stage_.writes.size()) : 0.1);
    };
    double best = scalar_cost();
    const auto consider = [&](const Loop& loop) {
        const int64_t lanes = target_.lanes();
        if (loop.extent < 4) return;
        const int64_t blocks = (loop.extent + lanes - 1) / lanes;
        const double filling =
            static_cast<double>(loop.extent) / static_cast<double>(blocks * lanes);
        const double cost = lane_cost(loop.var, loop.reduction) / filling;
        if (cost >= best) return;
        best = cost;
        lane_ = loop.var;
        lane_reduces_ = loop.reduction;
    };
    // Of equal ones the innermost.
    for (size_t i = outputs_.size(); i-- > 0;) consider(outputs_[i]);
    const bool any_order = stage_.writes.size() == 1 && !pool_.strict;
    for (size_t i = reductions_.size(); i-- > 0 && any_order;) consider(reductions_[i]);
    if (!lane_.valid()) return;
    auto& loops = lane_reduces_ ? reductions_ : outputs_;
    const auto at = std::ranges::find(loops, lane_, &Loop::var);
    std::rotate(at, at + 1, loops.end());  // innermost
}

void Nest::collapse() {
    for (auto* loops : {&outputs_, &reductions_}) {
        for (size_t i = loops->size(); i-- > 1;) {
            Loop& inner = (*loops)[i];
            const VarId outer = (*loops)[i - 1].var;
            if (!can_collapse(stage_, pool_, places_, outer, inner.var, inner.extent)) continue;
            lower_.bind(outer, Address{});
            bound_.push_back(outer);
            inner.extent *= (*loops)[i - 1].extent;
            loops->erase(loops->begin() + static_cast<ptrdiff_t>(i) - 1);
        }
    }
}

// ---- Making it ----------------------------------------------------------------------------------

Scheduled Nest::make() {
    Function& function = result_.function;
    function.item = build_.var("item");
    function.name = "nest";
    if (stage_.empty) {
        for (const StageWrite& write : stage_.writes) lower_.buffer(write.tensor, true);
        function.items = 0;
        result_.schedule = "nothing";
        return std::move(result_);
    }
    if (!parallel()) {
        sequential(function.body);
        result_.schedule = "in order";
    } else {
        find_loops();
        collapse();
        choose_lanes();
        choose_items(function.body);
        result_.schedule = lane_.valid()
                               ? fmt::format("x{}{}", target_.lanes(), lane_reduces_ ? " sum" : "")
                               : "scalar";
    }
    return std::move(result_);
}

ExprId Nest::step_fault() {
    ExprId fault = faults_.of(stage_.condition);
    for (const StageWrite& write : stage_.writes) {
        fault = faults_.either(fault, faults_.of(write.value));
        for (const ExprId index : write.index) fault = faults_.either(fault, faults_.of(index));
        fault = faults_.either(fault, faults_.outside(write.tensor, write.index));
    }
    return fault;
}

void Nest::report_faults(ExprId fault, Block& out) {
    if (!fault.valid()) return;
    if (!failed_.valid()) {
        failed_ = build_.buffer("failed", tensor::DType::I64, true);
        result_.arguments.push_back({});
    }
    ExprId any = lower_.value(fault);
    if (lower_.mask().valid()) any = build_.make(Op::And, {any, lower_.mask()});
    any = build_.make(Op::AnyLanes, {any});
    If report{any, {}};
    report.body.push_back({Store{failed_, Address{}, build_.integer(1), {}}});
    out.push_back({std::move(report)});
}

ExprId Nest::holds(const StageGuard& guard) {
    const ExprId index = lower_.value(guard.index);
    return build_.make(Op::And,
                       {build_.make(Op::LessEqual, {build_.integer(0), index}),
                        build_.make(Op::Less, {index, build_.integer(guard.extent)})});
}

void Nest::guarded(const std::vector<StageGuard>& guards,
                   Block& out,
                   const std::function<void(Block&)>& body) {
    ExprId all;
    const ExprId before = lower_.mask();
    for (const StageGuard& guard : guards) {
        if (lower_.in_lanes(guard.index)) {
            lower_.narrow(holds(guard));
        } else {
            const ExprId one = holds(guard);
            all = all.valid() ? build_.make(Op::And, {all, one}) : one;
        }
    }
    if (all.valid()) {
        If inside{all, {}};
        body(inside.body);
        out.push_back({std::move(inside)});
    } else {
        body(out);
    }
    lower_.restore(before);
}

// The loops as the formula has them, one step at a time.
void Nest::sequential(Block& out) {
    std::function<void(size_t, Block&)> loops = [&](size_t depth, Block& block) {
        if (depth < stage_.loops.size()) {
            const StageLoop& loop = stage_.loops[depth];
            const VarId var = build_.var({});
            lower_.bind(loop.var, var);
            For body{var, build_.integer(0), build_.integer(loop.extent), 1, {}};
            loops(depth + 1, body.body);
            block.push_back({std::move(body)});
            return;
        }
        guarded(stage_.guards, block, [&](Block& inner) {
            const auto write = [&](Block& last) {
                report_faults(step_fault(), last);
                std::vector<ExprId> values;
                for (const StageWrite& w : stage_.writes) {
                    ExprId value = lower_.value(w.value);
                    if (accumulates()) {
                        value = build_.make(combining_op(stage_.combine),
                                            {lower_.load(w.tensor, w.index), value});
                    }
                    last.push_back({Let{value}});
                    values.push_back(value);
                }
                for (size_t i = 0; i < values.size(); ++i) {
                    const StageWrite& w = stage_.writes[i];
                    const ExprId bad = faults_.outside(w.tensor, w.index);
                    if (!bad.valid()) {
                        last.push_back(lower_.store(w.tensor, w.index, values[i]));
                        continue;
                    }
                    If good{build_.make(Op::Not, {lower_.value(bad)}), {}};
                    good.body.push_back(lower_.store(w.tensor, w.index, values[i]));
                    last.push_back({std::move(good)});
                }
            };
            if (!stage_.condition.valid()) return write(inner);
            If only{lower_.value(stage_.condition), {}};
            write(only.body);
            inner.push_back({std::move(only)});
        });
    };
    loops(0, out);
}

// The outermost loops become items, as many as threads can share and as few as keep them long.
void Nest::choose_items(Block& out) {
    int64_t work = 1;
    for (const Loop& loop : outputs_) work *= loop.extent;
    for (const Loop& loop : reductions_) work *= loop.extent;
    int64_t items = 1;
    while (item_loops_ < outputs_.size()) {
        const Loop& loop = outputs_[item_loops_];
        const bool lanes = loop.var == lane_;
        const int64_t steps =
            lanes ? (loop.extent + target_.lanes() - 1) / target_.lanes() : loop.extent;
        if (items >= kEnoughItems || work / items / steps < kLeastWork / 8 || lanes) break;
        items *= steps;
        ++item_loops_;
    }
    Function& function = result_.function;
    if (items == 1) items = cut_outermost(work);
    function.items = items;
    ExprId rest = build_.index(function.item);
    for (size_t i = item_loops_; i-- > 0;) {
        const Loop& loop = outputs_[i];
        const VarId var = build_.var({});
        const bool outermost = i == 0;
        const ExprId extent = build_.integer(loop.extent);
        out.push_back({Bind{var, outermost ? rest : build_.make(Op::Mod, {rest, extent})}});
        rest = build_.make(Op::Div, {rest, extent});
        lower_.bind(loop.var, var);
        bound_.push_back(loop.var);
    }
    output_loops(item_loops_, out);
}

// A long loop of short steps is cut in pieces. Returns how many.
int64_t Nest::cut_outermost(int64_t work) {
    if (outputs_.empty() || work < 2 * kLeastWork) return 1;
    const Loop& loop = outputs_[0];
    const int64_t steps = loop.var == lane_ ? loop.extent / target_.lanes() : loop.extent;
    if (steps < 2) return 1;
    const int64_t least = std::max<int64_t>(1, kLeastWork / std::max<int64_t>(1, work / steps));
    const int64_t wanted = std::clamp<int64_t>(steps / least, 1, kEnoughItems);
    piece_ = (steps + wanted - 1) / wanted;
    return (steps + piece_ - 1) / piece_;
}

// All steps of the loop, or those of the item.
For Nest::whole_loop(VarId var, int64_t steps, bool outermost) {
    if (!outermost || piece_ == 0) {
        return {var, build_.integer(0), build_.integer(steps), 1, {}};
    }
    const ExprId begin =
        build_.make(Op::Mul, {build_.index(result_.function.item), build_.integer(piece_)});
    const ExprId end = build_.make(
        Op::Min, {build_.make(Op::Add, {begin, build_.integer(piece_)}), build_.integer(steps)});
    return {var, begin, end, 1, {}};
}

void Nest::output_loops(size_t depth, Block& out) {
    if (depth == outputs_.size()) return element(out);
    const Loop& loop = outputs_[depth];
    const VarId var = build_.var({});
    if (loop.var == lane_) {
        in_lane_blocks(
            loop, var, depth == 0, out, [&](Block& body) { output_loops(depth + 1, body); });
        return;
    }
    bound_.push_back(loop.var);
    For body = whole_loop(var, loop.extent, depth == 0);
    // Short scalar steps are laid out one behind the other.
    const bool innermost = depth + 1 == outputs_.size();
    const bool copied = innermost && reductions_.empty() && !lane_.valid() && depth > 0;
    body.step = copied && loop.extent % kCopies == 0 ? kCopies : 1;
    for (int64_t copy = 0; copy < body.step; ++copy) {
        Address at;
        at.offset = copy;
        at.add(var, 1);
        lower_.bind(loop.var, std::move(at));
        output_loops(depth + 1, body.body);
    }
    out.push_back({std::move(body)});
    bound_.pop_back();
}

// Whole vectors, then what is left in a masked one.
void Nest::in_lane_blocks(const Loop& loop,
                          VarId blocks,
                          bool outermost,
                          Block& out,
                          const std::function<void(Block&)>& body) {
    const int64_t lanes = target_.lanes();
    Address address;
    address.add(blocks, lanes);
    address.add(lower_.lane_var, 1);
    bound_.push_back(loop.var);
    const int64_t whole = loop.extent / lanes;
    const int64_t rest = loop.extent % lanes;
    if (whole > 0) {
        lower_.bind(loop.var, address);
        lower_.set_lanes(target_.lanes(), {});
        For all = whole_loop(blocks, whole, outermost);
        body(all.body);
        out.push_back({std::move(all)});
    }
    if (rest > 0) {
        Address last;
        last.offset = whole * lanes;
        last.add(lower_.lane_var, 1);
        lower_.bind(loop.var, last);
        const ExprId mask =
            build_.make(Op::Less, {build_.ramp(target_.lanes()), build_.integer(rest)});
        lower_.set_lanes(target_.lanes(), mask);
        if (outermost && piece_ > 0) {
            const ExprId last_item = build_.integer((whole + piece_ - 1) / piece_ - 1);
            If in_last{build_.make(Op::Equal, {build_.index(result_.function.item), last_item}),
                       {}};
            body(in_last.body);
            out.push_back({std::move(in_last)});
        } else {
            body(out);
        }
    }
    bound_.pop_back();
    lower_.set_lanes(1, {});
}

ExprId Nest::starting_value() {
    const StageWrite& write = stage_.writes[0];
    return stage_.initial.valid() ? lower_.value(stage_.initial)
                                  : lower_.load(write.tensor, write.index);
}

ExprId Nest::neutral(Type type) {
    ExprId value;
    const bool real = type.real();
    switch (stage_.combine) {
        case ir::FormulaOp::Sum:
            value = real ? build_.real(0, type.kind) : build_.integer(0);
            break;
        case ir::FormulaOp::Product:
            value = real ? build_.real(1, type.kind) : build_.integer(1);
            break;
        case ir::FormulaOp::All:
        case ir::FormulaOp::Any:
            value = build_.boolean(stage_.combine == ir::FormulaOp::All);
            break;
        default: {
            const bool least = stage_.combine == ir::FormulaOp::Max;
            value = real ? build_.real(least ? -HUGE_VAL : HUGE_VAL, type.kind)
                         : build_.integer(least ? INT64_MIN : INT64_MAX);
        }
    }
    return build_.spread(value, type.lanes);
}

void Nest::element(Block& out) {
    if (!accumulates()) {
        guarded(stage_.guards, out, [&](Block& inner) {
            const auto write = [&](Block& last) {
                report_faults(step_fault(), last);
                std::vector<ExprId> values;
                for (const StageWrite& w : stage_.writes) values.push_back(lower_.value(w.value));
                if (values.size() > 1) {
                    for (const ExprId value : values) last.push_back({Let{value}});
                }
                for (size_t i = 0; i < values.size(); ++i) {
                    last.push_back(
                        lower_.store(stage_.writes[i].tensor, stage_.writes[i].index, values[i]));
                }
            };
            if (!stage_.condition.valid()) return write(inner);
            const ExprId condition = lower_.value(stage_.condition);
            if (build_.type(condition).lanes > 1) {
                const ExprId before = lower_.narrow(condition);
                write(inner);
                lower_.restore(before);
                return;
            }
            If only{condition, {}};
            write(only.body);
            inner.push_back({std::move(only)});
        });
        return;
    }
    if (stage_.initial.valid()) return total(stage_.guards, out);
    // Elements that no step is for stay as they are.
    std::vector<StageGuard> outside, inside;
    std::vector<VarId> inner;
    for (const Loop& loop : reductions_) inner.push_back(loop.var);
    for (const StageGuard& guard : stage_.guards) {
        (pool_.depends_on_any(guard.index, inner) ? inside : outside).push_back(guard);
    }
    guarded(outside, out, [&](Block& block) { total(inside, block); });
}

// One element of a reduction, from its start to its store.
void Nest::total(const std::vector<StageGuard>& guards, Block& out) {
    const StageWrite& write = stage_.writes[0];
    const Kind held = stage_.finish.valid() ? pool_[stage_.total].type.kind
                                            : kind_of(places_.at(write.tensor).dtype);
    Kind kind = std::max(pool_[write.value].type.kind, held);
    int64_t steps = 1;
    for (const Loop& loop : reductions_) steps *= loop.extent;
    const bool adds =
        stage_.combine == ir::FormulaOp::Sum || stage_.combine == ir::FormulaOp::Product;
    if (kind == Kind::F32 && adds && steps > kLongReduction) kind = Kind::F64;
    const uint16_t lanes = lane_reduces_ ? target_.lanes() : lower_.lanes();
    const Type type{kind, lanes};
    const LocalId sum = build_.local(type);
    const ExprId start = build_.cast(starting_value(), kind);
    out.push_back({Set{sum, lane_reduces_ ? neutral(type) : build_.spread(start, lanes)}});
    reductions(0, guards, sum, out);
    ExprId value = build_.get(sum);
    if (lane_reduces_) {
        value = build_.make(lanes_op(stage_.combine), {value});
        value = build_.make(combining_op(stage_.combine), {start, value});
    }
    if (stage_.finish.valid()) {
        // The total is what the tensor would have held.
        value = build_.cast(value, pool_[stage_.total].type.kind);
        lower_.forget_values();
        lower_.define(stage_.total, value);
        out.push_back({Let{value}});
        value = lower_.value(stage_.finish);
    }
    out.push_back(lower_.store(write.tensor, write.index, value));
}

// Guards become bounds of the loop that decides them, where they are affine in its variable.
void Nest::reductions(size_t depth, std::vector<StageGuard> guards, LocalId sum, Block& out) {
    if (depth == reductions_.size()) {
        guarded(guards, out, [&](Block& inner) { accumulate(sum, inner); });
        return;
    }
    const Loop& loop = reductions_[depth];
    const VarId var = build_.var({});
    if (loop.var == lane_) {
        in_lane_blocks(
            loop, var, false, out, [&](Block& body) { reductions(depth + 1, guards, sum, body); });
        return;
    }
    ExprId begin = build_.integer(0);
    ExprId end = build_.integer(loop.extent);
    std::vector<VarId> later;
    for (size_t i = depth + 1; i < reductions_.size(); ++i) later.push_back(reductions_[i].var);
    std::erase_if(guards, [&](const StageGuard& guard) {
        const auto affine = pool_.affine(guard.index);
        if (!affine || pool_.depends_on_any(guard.index, later)) return false;
        if (lane_.valid() && pool_.depends(guard.index, lane_)) return false;
        const auto term = std::ranges::find(affine->terms, loop.var, &AddressTerm::var);
        if (term == affine->terms.end() || term->factor < 1) return false;
        lower_.bind(loop.var, Address{});
        const ExprId rest = lower_.value(guard.index);
        const ExprId factor = build_.integer(term->factor);
        const auto first_not_below = [&](int64_t limit) {  // ceil((limit - rest) / factor)
            const ExprId room =
                build_.make(Op::Sub, {build_.integer(limit + term->factor - 1), rest});
            return build_.make(Op::Div, {room, factor});
        };
        begin = build_.make(Op::Max, {begin, first_not_below(0)});
        end = build_.make(Op::Min, {end, first_not_below(guard.extent)});
        return true;
    });
    lower_.bind(loop.var, var);
    For body{var, begin, end, 1, {}};
    reductions(depth + 1, guards, sum, body.body);
    out.push_back({std::move(body)});
}

void Nest::accumulate(LocalId sum, Block& out) {
    const StageWrite& write = stage_.writes[0];
    const auto add = [&](Block& block) {
        report_faults(step_fault(), block);
        const ExprId before = build_.get(sum);
        const Type type = build_.type(before);
        const ExprId value = lower_.value(write.value);
        const Expr& e = build_[value];
        ExprId after;
        if (stage_.combine == ir::FormulaOp::Sum && e.op == Op::Mul && e.type == type &&
            type.real() && !pool_.strict) {
            after = build_.make(Op::Fma, {e.args[0], e.args[1], before});
        } else {
            after =
                build_.make(combining_op(stage_.combine), {before, build_.cast(value, type.kind)});
        }
        if (lower_.mask().valid() && type.lanes > 1) {
            after = build_.select(lower_.mask(), after, before);
        }
        block.push_back({Set{sum, after}});
    };
    if (!stage_.condition.valid()) return add(out);
    const ExprId condition = lower_.value(stage_.condition);
    if (build_.type(condition).lanes > 1) {
        const ExprId before = lower_.narrow(condition);
        add(out);
        lower_.restore(before);
        return;
    }
    If only{condition, {}};
    add(only.body);
    out.push_back({std::move(only)});
}

}  // namespace

WriteShape write_shape(const Stage& stage, const StageWrite& write, const StagePool& pool) {
    WriteShape result;
    result.injective = true;
    const auto fail = [&] {
        result.injective = false;
        return result;
    };
    for (const ExprId index : write.index) {
        if (pool[index].op == Op::Constant) continue;
        const auto affine = pool.affine(index);
        if (!affine) return fail();
        std::vector<AddressTerm> terms = affine->terms;
        std::ranges::sort(terms, {}, [](const AddressTerm& t) { return std::abs(t.factor); });
        int64_t reach = 0;  // of the smaller terms together
        for (const AddressTerm& term : terms) {
            if (std::abs(term.factor) <= reach) return fail();
            reach += std::abs(term.factor) * (pool.extent(term.var) - 1);
            if (contains(result.vars, term.var)) continue;
            result.vars.push_back(term.var);
        }
    }
    std::ranges::sort(result.vars);
    (void)stage;
    return result;
}

Scheduled schedule_nest(const Stage& stage,
                        StagePool& pool,
                        const Places& places,
                        const Target& target) {
    return Nest(stage, pool, places, target).make();
}

}  // namespace lemma::loop
