// Plain loops whose ends the run tells: outputs outside, reductions inside, one variable in lanes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/checked.h"
#include "loop/schedule/dynamic_access.h"
#include "loop/schedule/lowering.h"
#include "loop/schedule/schedule_dynamic.h"
#include "loop/stage/dynamic.h"
#include "loop/stage/index_fit.h"

namespace lemma::loop {

namespace {

bool contains(const std::vector<VarId>& vars, VarId var) {
    return std::ranges::find(vars, var) != vars.end();
}

VarId var_of(const Expr& e) { return make_id<VarId>(static_cast<size_t>(e.integer)); }

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

// ---- The loops ----------------------------------------------------------------------------------

class DynamicNest {
public:
    DynamicNest(const Stage& stage,
                const DynamicShape& run_time,
                StagePool& pool,
                const BufferViews& places,
                const Target& target)
        : stage_(stage),
          run_time_(run_time),
          pool_(pool),
          places_(places),
          target_(target),
          accesses_(stage, run_time, pool, places),
          lower_(pool, places, result_.kernel),
          build_(lower_.build) {
        lower_.use_run_time(run_time, stage);
    }

    ScheduledDynamic make();

private:
    using Body = std::function<void(Block&)>;

    bool accumulates() const {
        return stage_.combine != ir::FormulaOp::Assign && stage_.combine != ir::FormulaOp::Update;
    }
    bool distinct(const StageWrite& write, std::vector<VarId>& vars) const;
    bool reads(ir::TensorId tensor) const;
    bool parallel(std::vector<VarId>& vars) const;
    void find_loops(const std::vector<VarId>& vars);
    double lane_cost(const StageLoop& loop, bool reduction) const;
    void choose_lanes();
    void load_numbers(Block& out);
    void check_sizes(Block& out);
    void report(ExprId fault, Block& out);
    RunItems::Extent extent_of(const StageLoop& loop) const;
    void choose_items();
    ExprId end(const StageLoop& loop) {
        return loop.end.valid() ? lower_.value(loop.end) : build_.integer(loop.extent);
    }
    void sequential(size_t depth, Block& out);
    void output_loops(size_t depth, Block& out);
    void in_lane_blocks(const StageLoop& loop, bool outermost, Block& out, const Body& body);
    void when(ExprId condition, Block& out, const Body& body);
    void guarded(const std::vector<StageGuard>& guards, Block& out, const Body& body);
    void where_it_holds(Block& out, const Body& body);
    ExprId holds(const StageGuard& guard);
    void report_faults(Block& out);
    void step(Block& out, bool in_order);
    void element(Block& out);
    void total(const std::vector<StageGuard>& guards, Block& out);
    void reductions(size_t depth, const std::vector<StageGuard>& guards, LocalId sum, Block& out);
    void accumulate(LocalId sum, Block& out);
    ExprId neutral(Type type);

    const Stage& stage_;
    const DynamicShape& run_time_;
    StagePool& pool_;
    const BufferViews& places_;
    const Target& target_;
    ScheduledDynamic result_;
    DynamicAccess accesses_;
    Lowering lower_;
    Builder& build_;
    std::vector<StageLoop> outputs_;     // outermost first
    std::vector<StageLoop> reductions_;  // outermost first
    VarId lane_;                         // of the stage; missing: scalar code
    bool lane_reduces_ = false;
    ExprId piece_;  // steps of the outermost loop, or vectors of it, that an item does
    BufferId failed_;
};

// ---- What may be done ---------------------------------------------------------------------------

// Whether steps that differ in a variable of the index never write the same element.
bool DynamicNest::distinct(const StageWrite& write, std::vector<VarId>& vars) const {
    for (const ExprId index : write.index) {
        const auto affine = pool_.affine(index);
        if (!affine) return false;
        std::vector<AddressTerm> terms = affine->terms;
        std::erase_if(terms, [&](const AddressTerm& term) {
            return std::ranges::find(stage_.loops, term.var, &StageLoop::var) == stage_.loops.end();
        });
        std::ranges::sort(terms, {}, [](const AddressTerm& t) { return std::abs(t.factor); });
        int64_t reach = 0;  // of the smaller terms together
        for (const AddressTerm& term : terms) {
            constexpr int64_t kMostFactor = int64_t{1} << 24;  // so that nothing overflows
            const int64_t factor = std::abs(term.factor);
            if (factor <= reach || factor > kMostFactor) return false;
            reach += factor * (pool_.extent(term.var) - 1);
            if (!contains(vars, term.var)) vars.push_back(term.var);
        }
    }
    return true;
}

bool DynamicNest::reads(ir::TensorId tensor) const {
    bool found = false;
    const auto visit = [&](ExprId, const Expr& e) { found |= e.integer == tensor.value; };
    for (const StageWrite& write : stage_.writes) {
        pool_.visit_reads(write.value, visit);
        for (const ExprId index : write.index) pool_.visit_reads(index, visit);
    }
    pool_.visit_reads(stage_.condition, visit);
    for (const StageGuard& guard : stage_.guards) pool_.visit_reads(guard.index, visit);
    return found;
}

bool DynamicNest::parallel(std::vector<VarId>& vars) const {
    for (size_t i = 0; i < stage_.writes.size(); ++i) {
        const StageWrite& write = stage_.writes[i];
        vars.clear();
        if (!distinct(write, vars) || reads(write.tensor)) return false;
        for (size_t k = 0; k < i; ++k) {
            if (stage_.writes[k].tensor == write.tensor) return false;
        }
        const bool all = vars.size() == stage_.loops.size();
        if (!all && (!accumulates() || stage_.writes.size() > 1)) return false;
    }
    return true;
}

// In the order of the result's axes: threads write far from each other.
void DynamicNest::find_loops(const std::vector<VarId>& vars) {
    for (const VarId var : vars) {
        outputs_.push_back(*std::ranges::find(stage_.loops, var, &StageLoop::var));
    }
    for (const StageLoop& loop : stage_.loops) {
        if (!contains(vars, loop.var)) reductions_.push_back(loop);
    }
}

// What an element costs if the loop runs along lanes.
double DynamicNest::lane_cost(const StageLoop& loop, bool reduction) const {
    const double lanes = target_.lanes();
    double cost = 0.5;
    const auto read = [&](ExprId, const Expr& e) {
        const int64_t stride = accesses_.stride(tensor_of(e), e.args, loop.var);
        cost += stride == 0 ? 0.5 : stride == 1 ? 1.0 : 1.5 * lanes;
    };
    for (const StageWrite& write : stage_.writes) {
        pool_.visit_reads(write.value, read);
        if (reduction) continue;
        const int64_t stride = accesses_.stride(write.tensor, write.index, loop.var);
        const double one = stride == 0 || stride == 1 ? 1.0 : 2.5 * lanes;
        cost += reductions_.empty() ? one : one / 8;
    }
    if (loop.end.valid()) return cost / lanes;
    const auto blocks = static_cast<double>((loop.extent + target_.lanes() - 1) / target_.lanes());
    return cost * blocks / static_cast<double>(loop.extent);
}

void DynamicNest::choose_lanes() {
    double best = 0.5 + (reductions_.empty() ? static_cast<double>(stage_.writes.size()) : 0.1);
    for (const StageWrite& write : stage_.writes) {
        pool_.visit_reads(write.value, [&](ExprId, const Expr&) { best += 1; });
    }
    const auto consider = [&](const StageLoop& loop, bool reduction) {
        if (loop.extent < 4) return;
        const double cost = lane_cost(loop, reduction);
        if (cost >= best) return;
        best = cost;
        lane_ = loop.var;
        lane_reduces_ = reduction;
    };
    // Of equal ones the innermost.
    for (size_t i = outputs_.size(); i-- > 0;) consider(outputs_[i], false);
    const bool any_order = stage_.writes.size() == 1 && !pool_.strict;
    for (size_t i = reductions_.size(); i-- > 0 && any_order;) consider(reductions_[i], true);
    if (!lane_.valid()) return;
    auto& loops = lane_reduces_ ? reductions_ : outputs_;
    const auto at = std::ranges::find(loops, lane_, &StageLoop::var);
    std::rotate(at, at + 1, loops.end());  // innermost
}

RunItems::Extent DynamicNest::extent_of(const StageLoop& loop) const {
    RunItems::Extent result{std::nullopt, loop.extent};
    if (!loop.end.valid()) return result;
    const VarId var = var_of(pool_[loop.end]);
    const auto number = std::ranges::find(run_time_.numbers, var, &ShapeArgument::var);
    result.number = static_cast<size_t>(number - run_time_.numbers.begin());
    return result;
}

void DynamicNest::choose_items() {
    RunItems& items = result_.items;
    items.one = outputs_.empty();
    if (items.one) return;
    items.outermost = extent_of(outputs_[0]);
    items.together = outputs_[0].var == lane_ ? target_.lanes() : 1;
    for (size_t i = 1; i < outputs_.size(); ++i) items.inner.push_back(extent_of(outputs_[i]));
    for (const StageLoop& loop : reductions_) items.inner.push_back(extent_of(loop));
}

// ---- Making it ----------------------------------------------------------------------------------

ScheduledDynamic DynamicNest::make() {
    Function& function = result_.kernel.function;
    function.item = build_.var("item");
    function.name = "dynamic";
    for (const StageWrite& write : stage_.writes) lower_.buffer(write.tensor, true);
    if (stage_.empty) {
        function.items = 0;
        result_.kernel.schedule = "nothing";
        return std::move(result_);
    }
    load_numbers(function.body);
    check_sizes(function.body);
    std::vector<VarId> vars;
    if (!parallel(vars)) {
        sequential(0, function.body);
        result_.kernel.schedule = "run-time extents, in order";
        return std::move(result_);
    }
    find_loops(vars);
    choose_lanes();
    choose_items();
    output_loops(0, function.body);
    result_.kernel.schedule =
        lane_.valid()
            ? fmt::format("run-time extents x{}{}", target_.lanes(), lane_reduces_ ? " sum" : "")
            : "run-time extents";
    return std::move(result_);
}

void DynamicNest::load_numbers(Block& out) {
    const BufferId told = lower_.buffer(run_time_.told, false);
    const auto load = [&](size_t at) {
        Address address;
        address.offset = static_cast<int64_t>(at);
        return build_.load(told, std::move(address));
    };
    for (size_t i = 0; i < run_time_.numbers.size(); ++i) {
        if (!run_time_.numbers[i].var.valid()) continue;
        const VarId var = build_.var({});
        out.push_back({Bind{var, load(i)}});
        lower_.bind(run_time_.numbers[i].var, var);
    }
    const VarId piece = build_.var({});
    out.push_back({Bind{piece, load(run_time_.numbers.size())}});
    piece_ = build_.index(piece);
}

// Indices whose arithmetic wraps around may name other elements than those that are meant.
void DynamicNest::check_sizes(Block& out) {
    ExprId fault;
    for (const ExprId size : stage_.sizes) {
        const ExprId far =
            build_.make(Op::Less, {build_.real(kMostIndex, Kind::F64), lower_.value(size)});
        fault = fault.valid() ? build_.make(Op::Or, {fault, far}) : far;
    }
    if (fault.valid()) report(fault, out);
}

void DynamicNest::when(ExprId condition, Block& out, const Body& body) {
    if (const Expr e = build_[condition]; e.op == Op::Constant) {
        if (e.integer != 0) body(out);
        return;
    }
    If only{condition, {}};
    body(only.body);
    out.push_back({std::move(only)});
}

ExprId DynamicNest::holds(const StageGuard& guard) {
    const ExprId index = lower_.value(guard.index);
    const ExprId extent =
        guard.end.valid() ? lower_.value(guard.end) : build_.integer(guard.extent);
    return build_.make(Op::And,
                       {build_.make(Op::LessEqual, {build_.integer(0), index}),
                        build_.make(Op::Less, {index, extent})});
}

// Skips where guards do not hold; those that differ from lane to lane narrow the mask.
void DynamicNest::guarded(const std::vector<StageGuard>& guards, Block& out, const Body& body) {
    ExprId all = build_.boolean(true);
    for (const StageGuard& guard : guards) {
        if (!lower_.in_lanes(guard.index)) all = build_.make(Op::And, {all, holds(guard)});
    }
    when(all, out, [&](Block& inner) {
        const ExprId before = lower_.mask();
        for (const StageGuard& guard : guards) {
            if (lower_.in_lanes(guard.index)) lower_.narrow(holds(guard));
        }
        body(inner);
        lower_.restore(before);
    });
}

void DynamicNest::where_it_holds(Block& out, const Body& body) {
    if (!stage_.condition.valid()) return body(out);
    const ExprId condition = lower_.value(stage_.condition);
    if (build_.type(condition).lanes == 1) return when(condition, out, body);
    const ExprId before = lower_.narrow(condition);
    body(out);
    lower_.restore(before);
}

void DynamicNest::report_faults(Block& out) {
    ExprId fault = accesses_.fault(stage_.condition);
    for (const StageWrite& write : stage_.writes) {
        fault = accesses_.either(fault, accesses_.fault(write.value));
        for (const ExprId index : write.index) {
            fault = accesses_.either(fault, accesses_.fault(index));
        }
        fault = accesses_.either(fault, accesses_.outside(write.tensor, write.index));
    }
    if (!fault.valid()) return;
    ExprId any = lower_.value(fault);
    if (lower_.mask().valid()) any = build_.make(Op::And, {any, lower_.mask()});
    report(build_.make(Op::AnyLanes, {any}), out);
}

void DynamicNest::report(ExprId fault, Block& out) {
    if (!failed_.valid()) {
        failed_ = build_.buffer("failed", tensor::DType::I64, true);
        result_.kernel.arguments.push_back({});
    }
    If then{fault, {}};
    then.body.push_back({StoreStmt{failed_, Address{}, build_.integer(1), {}}});
    out.push_back({std::move(then)});
}

// One step of the formula; an element that is outside is not written.
void DynamicNest::step(Block& out, bool in_order) {
    report_faults(out);
    std::vector<ExprId> values;
    for (const StageWrite& w : stage_.writes) {
        ExprId value = lower_.value(w.value);
        if (in_order && accumulates()) {
            value =
                build_.make(combining_op(stage_.combine), {lower_.load(w.tensor, w.index), value});
        }
        values.push_back(value);
        if (in_order || stage_.writes.size() > 1) out.push_back({Let{value}});
    }
    for (size_t i = 0; i < values.size(); ++i) {
        const StageWrite& w = stage_.writes[i];
        const ExprId bad = accesses_.outside(w.tensor, w.index);
        if (!bad.valid()) {
            out.push_back(lower_.store(w.tensor, w.index, values[i]));
            continue;
        }
        const ExprId good = build_.make(Op::Not, {lower_.value(bad)});
        if (build_.type(good).lanes == 1) {
            when(good, out, [&](Block& inner) {
                inner.push_back(lower_.store(w.tensor, w.index, values[i]));
            });
            continue;
        }
        const ExprId before = lower_.narrow(good);
        out.push_back(lower_.store(w.tensor, w.index, values[i]));
        lower_.restore(before);
    }
}

// The loops as the formula has them, one step at a time.
void DynamicNest::sequential(size_t depth, Block& out) {
    if (depth < stage_.loops.size()) {
        const StageLoop& loop = stage_.loops[depth];
        const VarId var = build_.var({});
        For body{var, build_.integer(0), end(loop), 1, {}};
        lower_.bind(loop.var, var);
        sequential(depth + 1, body.body);
        out.push_back({std::move(body)});
        return;
    }
    guarded(stage_.guards, out, [&](Block& inner) {
        where_it_holds(inner, [&](Block& last) { step(last, true); });
    });
}

void DynamicNest::output_loops(size_t depth, Block& out) {
    if (depth == outputs_.size()) return element(out);
    const StageLoop& loop = outputs_[depth];
    const bool outermost = depth == 0;
    if (loop.var == lane_) {
        in_lane_blocks(loop, outermost, out, [&](Block& body) { output_loops(depth + 1, body); });
        return;
    }
    ExprId begin = build_.integer(0);
    ExprId last = end(loop);
    if (outermost) {
        begin = build_.make(Op::Mul, {build_.index(result_.kernel.function.item), piece_});
        last = build_.make(Op::Min, {build_.make(Op::Add, {begin, piece_}), last});
    }
    const VarId var = build_.var({});
    lower_.bind(loop.var, var);
    For body{var, begin, last, 1, {}};
    output_loops(depth + 1, body.body);
    out.push_back({std::move(body)});
}

// Whole vectors, then what is left in a masked one.
void DynamicNest::in_lane_blocks(const StageLoop& loop,
                                 bool outermost,
                                 Block& out,
                                 const Body& body) {
    const ExprId lanes = build_.integer(target_.lanes());
    const ExprId steps = end(loop);
    const ExprId whole = build_.make(Op::Div, {steps, lanes});
    const ExprId rest = build_.make(Op::Sub, {steps, build_.make(Op::Mul, {whole, lanes})});
    ExprId begin = build_.integer(0);
    ExprId last = whole;
    ExprId has_rest = build_.make(Op::Less, {build_.integer(0), rest});
    if (outermost) {
        begin = build_.make(Op::Mul, {build_.index(result_.kernel.function.item), piece_});
        const ExprId item_end = build_.make(Op::Add, {begin, piece_});
        last = build_.make(Op::Min, {item_end, whole});
        has_rest = build_.make(Op::And, {has_rest, build_.make(Op::Less, {whole, item_end})});
    }
    const auto in_lanes = [&](VarId blocks, int64_t factor, ExprId mask, Block& block) {
        Address address;
        address.add(blocks, factor);
        address.add(lower_.lane_var, 1);
        lower_.bind(loop.var, std::move(address));
        lower_.set_lanes(target_.lanes(), mask);
        body(block);
        lower_.set_lanes(1, {});
    };
    if (!build_.is_integer(whole, 0)) {
        For all{build_.var({}), begin, last, 1, {}};
        in_lanes(all.var, target_.lanes(), {}, all.body);
        out.push_back({std::move(all)});
    }
    when(has_rest, out, [&](Block& block) {
        const VarId first = build_.var({});
        block.push_back({Bind{first, build_.make(Op::Mul, {whole, lanes})}});
        in_lanes(first, 1, build_.make(Op::Less, {build_.ramp(target_.lanes()), rest}), block);
    });
}

// ---- Elements -----------------------------------------------------------------------------------

ExprId DynamicNest::neutral(Type type) {
    const bool real = type.real();
    const auto number = [&](double value, int64_t integer) {
        return real ? build_.real(value, type.kind) : build_.integer(integer);
    };
    ExprId value;
    switch (stage_.combine) {
        case ir::FormulaOp::Sum:
            value = number(0, 0);
            break;
        case ir::FormulaOp::Product:
            value = number(1, 1);
            break;
        case ir::FormulaOp::All:
        case ir::FormulaOp::Any:
            value = build_.boolean(stage_.combine == ir::FormulaOp::All);
            break;
        case ir::FormulaOp::Max:
            value = number(-HUGE_VAL, INT64_MIN);
            break;
        default:
            value = number(HUGE_VAL, INT64_MAX);
    }
    return build_.spread(value, type.lanes);
}

void DynamicNest::element(Block& out) {
    if (!accumulates()) {
        guarded(stage_.guards, out, [&](Block& inner) {
            where_it_holds(inner, [&](Block& last) { step(last, false); });
        });
        return;
    }
    if (stage_.initial.valid()) return total(stage_.guards, out);
    // Elements that no step is for stay as they are.
    std::vector<StageGuard> outside, inside;
    std::vector<VarId> inner;
    for (const StageLoop& loop : reductions_) inner.push_back(loop.var);
    for (const StageGuard& guard : stage_.guards) {
        (pool_.depends_on_any(guard.index, inner) ? inside : outside).push_back(guard);
    }
    guarded(outside, out, [&](Block& block) { total(inside, block); });
}

// One element of a reduction, from its start to its store. How many steps there are is not known:
// floats are summed in double.
void DynamicNest::total(const std::vector<StageGuard>& guards, Block& out) {
    const StageWrite& write = stage_.writes[0];
    Kind kind = std::max(pool_[write.value].type.kind, kind_of(places_.at(write.tensor).dtype));
    const bool adds =
        stage_.combine == ir::FormulaOp::Sum || stage_.combine == ir::FormulaOp::Product;
    if (kind == Kind::F32 && adds) kind = Kind::F64;
    const uint16_t lanes = lane_reduces_ ? target_.lanes() : lower_.lanes();
    const Type type{kind, lanes};
    const LocalId sum = build_.local(type);
    const ExprId held = stage_.initial.valid() ? lower_.value(stage_.initial)
                                               : lower_.load(write.tensor, write.index);
    const ExprId start = build_.cast(held, kind);
    out.push_back({Let{start}});
    out.push_back({Set{sum, lane_reduces_ ? neutral(type) : build_.spread(start, lanes)}});
    reductions(0, guards, sum, out);
    ExprId value = build_.get(sum);
    if (lane_reduces_) {
        value = build_.make(lanes_op(stage_.combine), {value});
        value = build_.make(combining_op(stage_.combine), {start, value});
    }
    out.push_back(lower_.store(write.tensor, write.index, value));
}

void DynamicNest::reductions(size_t depth,
                             const std::vector<StageGuard>& guards,
                             LocalId sum,
                             Block& out) {
    if (depth == reductions_.size()) {
        guarded(guards, out, [&](Block& inner) {
            where_it_holds(inner, [&](Block& last) { accumulate(sum, last); });
        });
        return;
    }
    const StageLoop& loop = reductions_[depth];
    if (loop.var == lane_) {
        in_lane_blocks(
            loop, false, out, [&](Block& body) { reductions(depth + 1, guards, sum, body); });
        return;
    }
    For body{build_.var({}), build_.integer(0), end(loop), 1, {}};
    lower_.bind(loop.var, body.var);
    reductions(depth + 1, guards, sum, body.body);
    out.push_back({std::move(body)});
}

void DynamicNest::accumulate(LocalId sum, Block& out) {
    report_faults(out);
    const ExprId before = build_.get(sum);
    const Type type = build_.type(before);
    const ExprId value = build_.cast(lower_.value(stage_.writes[0].value), type.kind);
    ExprId after = build_.make(combining_op(stage_.combine), {before, value});
    if (lower_.mask().valid() && type.lanes > 1) {
        after = build_.select(lower_.mask(), after, before);
    }
    out.push_back({Set{sum, after}});
}

}  // namespace

ScheduledDynamic schedule_dynamic(const Stage& stage,
                                  const DynamicShape& run_time,
                                  StagePool& pool,
                                  const BufferViews& places,
                                  const Target& target) {
    return DynamicNest(stage, run_time, pool, places, target).make();
}

RunCut cut_items(const RunItems& items, std::span<const int64_t> numbers) {
    if (items.one) return {1, 1};
    constexpr int64_t kMostItems = 64;
    constexpr int64_t kLeastWork = 4096;  // steps of all loops
    const auto extent = [&](const RunItems::Extent& e) {
        return e.number ? numbers[*e.number] : e.constant;
    };
    const int64_t steps = (extent(items.outermost) + items.together - 1) / items.together;
    int64_t work = items.together;  // of a step; counting ends where it is enough
    for (const RunItems::Extent& inner : items.inner) {
        work = std::min(checked_mul(work, extent(inner)).value_or(kLeastWork), kLeastWork);
    }
    const int64_t least = kLeastWork / std::max<int64_t>(work, 1);
    const int64_t most = (steps + kMostItems - 1) / kMostItems;
    const int64_t piece = std::max({int64_t{1}, least, most});
    return {(steps + piece - 1) / piece, piece};
}

}  // namespace lemma::loop
