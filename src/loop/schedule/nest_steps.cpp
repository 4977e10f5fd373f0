// SPDX-License-Identifier: Apache-2.0
// The steps for an element: guards, conditions, index checks, sums.
#include <algorithm>
#include <cmath>

#include "loop/schedule/device/device.h"
#include "loop/stage/index_fit.h"

namespace lemma::loop {

namespace {

constexpr int64_t kLongReduction = 4096;  // longer sums of floats use double
constexpr int64_t kSums = 4;              // at a time, along the lanes
constexpr int64_t kSection = 16;          // floats of a lane, before they are added to a double

}  // namespace

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

// ---- Index checks -------------------------------------------------------------------------------

ExprId Faults::of(ExprId id) {
    if (!id.valid()) return {};
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    const Expr e = pool_[id];
    ExprId result;
    if (e.op == Op::Select) {
        const ExprId then = of(e.args[1]);
        const ExprId other = of(e.args[2]);
        const ExprId no = pool_.build.boolean(false);
        if (then.valid() || other.valid()) {
            result =
                pool_.build.select(e.args[0], then.valid() ? then : no, other.valid() ? other : no);
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

ExprId Faults::outside(ir::TensorId tensor, const std::vector<ExprId>& index) {
    Builder& build = pool_.build;
    ExprId result;
    for (size_t axis = 0; axis < index.size(); ++axis) {
        const BufferView& place = places_.at(tensor);
        if (is_inside(pool_, place, axis, index[axis])) continue;
        const ExprId extent = extent_of(pool_, place, axis);
        result = either(result, build.make(Op::Less, {index[axis], build.integer(0)}));
        result = either(result, build.make(Op::LessEqual, {extent, index[axis]}));
    }
    return result;
}

ExprId Faults::either(ExprId a, ExprId b) {
    if (!a.valid() || !b.valid()) return a.valid() ? a : b;
    return pool_.build.make(Op::Or, {a, b});
}

NestSteps::NestSteps(const NestContext& context,
                     const NestShape& shape,
                     ScheduledKernel& result,
                     Lowering& lower)
    : whole_stage_(&context.stage),
      stage_(&context.stage),
      pool_(context.pool),
      places_(context.places),
      target_(context.target),
      shape_(shape),
      result_(result),
      lower_(lower),
      build_(lower.build),
      faults_(context.pool, context.places) {}

BufferId NestSteps::flag() {
    if (!flag_.valid()) {
        flag_ = build_.buffer("failed", tensor::DType::I64, true);
        result_.arguments.push_back({});
    }
    return flag_;
}

void NestSteps::report(ExprId fault, Block& out) {
    If bad{fault, {}};
    bad.body.push_back({StoreStmt{flag(), Address{}, build_.integer(1), {}}});
    out.push_back({std::move(bad)});
}

// The condition under which a step fails; missing: never.
ExprId NestSteps::step_fault() {
    ExprId fault = faults_.of(stage_->condition);
    for (const StageWrite& write : stage_->writes) {
        fault = faults_.either(fault, faults_.of(write.value));
        for (const ExprId index : write.index) fault = faults_.either(fault, faults_.of(index));
        fault = faults_.either(fault, faults_.outside(write.tensor, write.index));
    }
    return fault;
}

void NestSteps::report_faults(Block& out) {
    const ExprId fault = step_fault();
    if (!fault.valid()) return;
    flag();  // must precede the buffers that the condition reads
    ExprId any = lower_.value(fault);
    if (lower_.mask().valid()) any = build_.make(Op::And, {any, lower_.mask()});
    report(build_.make(Op::AnyLanes, {any}), out);
}

void NestSteps::check_sizes(Block& out) {
    ExprId fault = build_.boolean(false);
    for (const ExprId size : stage_->sizes) {
        const ExprId most = build_.real(kMostIndex, Kind::F64);
        const ExprId far = build_.make(Op::Less, {most, lower_.value(size)});
        fault = build_.make(Op::Or, {fault, far});
    }
    if (!stage_->sizes.empty()) report(fault, out);
}

// ---- Skipped steps ------------------------------------------------------------------------------

ExprId NestSteps::extent_of_guard(const StageGuard& guard) {
    return guard.end.valid() ? lower_.value(guard.end) : build_.integer(guard.extent);
}

ExprId NestSteps::holds(const StageGuard& guard) {
    const ExprId index = lower_.value(guard.index);
    return build_.make(Op::And,
                       {build_.make(Op::LessEqual, {build_.integer(0), index}),
                        build_.make(Op::Less, {index, extent_of_guard(guard)})});
}

std::vector<StageGuard> NestSteps::active_guards() const {
    if (unguarded_) return {};
    std::vector<StageGuard> guards = stage_->guards;
    if (inside_) {
        std::erase_if(guards, [&](const StageGuard& guard) {
            return pool_.depends(guard.index, shape_.lane);
        });
    }
    return guards;
}

void NestSteps::guarded(const std::vector<StageGuard>& guards, Block& out, const NestBody& body) {
    ExprId all = build_.boolean(true);
    const ExprId before = lower_.mask();
    for (const StageGuard& guard : guards) {
        if (lower_.in_lanes(guard.index)) {
            lower_.narrow(holds(guard));
        } else {
            all = build_.make(Op::And, {all, holds(guard)});
        }
    }
    when(all, build_, out, body);
    lower_.restore(before);
}

void NestSteps::on_condition(Block& out, const NestBody& body) {
    if (!stage_->condition.valid()) return body(out);
    const ExprId condition = lower_.value(stage_->condition);
    where(condition, out, body);
}

void NestSteps::where(ExprId condition, Block& out, const NestBody& body) {
    if (build_.type(condition).lanes == 1) return when(condition, build_, out, body);
    const ExprId before = lower_.narrow(condition);
    body(out);
    lower_.restore(before);
}

// ---- Assignments --------------------------------------------------------------------------------

void NestSteps::sequential(Block& out, const std::vector<VarId>& bound) {
    std::function<void(size_t, Block&)> loops = [&](size_t depth, Block& block) {
        if (depth < stage_->loops.size()) {
            const StageLoop& loop = stage_->loops[depth];
            if (std::ranges::find(bound, loop.var) != bound.end()) return loops(depth + 1, block);
            const VarId var = build_.var({});
            lower_.bind(loop.var, var);
            const NestLoop all{loop.var, loop.extent, false, pool_.end(loop.var)};
            For body{var, build_.integer(0), steps_of(all, lower_), 1, {}};
            loops(depth + 1, body.body);
            block.push_back({std::move(body)});
            return;
        }
        guarded(stage_->guards, block, [&](Block& inner) {
            on_condition(inner, [&](Block& last) { write_all(true, last); });
        });
    };
    loops(0, out);
}

void NestSteps::write_all(bool in_order, Block& out) {
    report_faults(out);
    std::vector<ExprId> values;
    for (const StageWrite& w : stage_->writes) {
        ExprId value = lower_.value(w.value);
        if (in_order && accumulates(*stage_)) {
            value =
                build_.make(combining_op(stage_->combine), {lower_.load(w.tensor, w.index), value});
        }
        if (in_order || stage_->writes.size() > 1) out.push_back({Let{value}});
        values.push_back(value);
    }
    for (size_t i = 0; i < values.size(); ++i) store(stage_->writes[i], values[i], out);
}

// An element outside the tensor is not written.
void NestSteps::store(const StageWrite& write, ExprId value, Block& out) {
    const ExprId bad = faults_.outside(write.tensor, write.index);
    const ExprId good =
        bad.valid() ? build_.make(Op::Not, {lower_.value(bad)}) : build_.boolean(true);
    where(good, out, [&](Block& block) {
        block.push_back(lower_.store(write.tensor, write.index, value));
    });
}

void NestSteps::element(Block& out) {
    const std::vector<StageGuard> guards = active_guards();
    if (!accumulates(*stage_)) {
        guarded(guards, out, [&](Block& inner) {
            on_condition(inner, [&](Block& last) { write_all(false, last); });
        });
        return;
    }
    if (stage_->initial.valid()) return total_and_store(guards, out);
    // Elements without steps keep their value.
    std::vector<StageGuard> outside, inside;
    std::vector<VarId> inner;
    for (const NestLoop& loop : shape_.reductions) inner.push_back(loop.var);
    for (const StageGuard& guard : guards) {
        (pool_.depends_on_any(guard.index, inner) ? inside : outside).push_back(guard);
    }
    guarded(outside, out, [&](Block& block) { total_and_store(inside, block); });
}

// ---- Reductions ---------------------------------------------------------------------------------

ExprId NestSteps::starting_value() {
    const StageWrite& write = stage_->writes[0];
    return stage_->initial.valid() ? lower_.value(stage_->initial)
                                   : lower_.load(write.tensor, write.index);
}

ExprId NestSteps::neutral(Type type) {
    ExprId value;
    const bool real = type.real();
    switch (stage_->combine) {
        case ir::FormulaOp::Sum:
            value = real ? build_.real(0, type.kind) : build_.integer(0);
            break;
        case ir::FormulaOp::Product:
            value = real ? build_.real(1, type.kind) : build_.integer(1);
            break;
        case ir::FormulaOp::All:
        case ir::FormulaOp::Any:
            value = build_.boolean(stage_->combine == ir::FormulaOp::All);
            break;
        default: {
            const bool least = stage_->combine == ir::FormulaOp::Max;
            value = real ? build_.real(least ? -HUGE_VAL : HUGE_VAL, type.kind)
                         : build_.integer(least ? INT64_MIN : INT64_MAX);
        }
    }
    return build_.spread(value, type.lanes);
}

void NestSteps::total_and_store(const std::vector<StageGuard>& guards, Block& out) {
    if (!shared_) return store(stage_->writes[0], total(guards, out), out);
    const ExprId sum = sum_up(guards, out);
    out.push_back({Let{sum}});
    ExprId first = build_.make(Op::Equal, {build_.index(shared_->thread), build_.integer(0)});
    if (shared_->inside.valid()) first = build_.make(Op::And, {first, shared_->inside});
    when(first, build_, out, [&](Block& block) {
        store(stage_->writes[0], finished(sum, block), block);
    });
}

ExprId NestSteps::total(const std::vector<StageGuard>& guards, Block& out) {
    return finished(sum_up(guards, out), out);
}

ExprId NestSteps::sum_up(const std::vector<StageGuard>& guards, Block& out) {
    const StageWrite& write = stage_->writes[0];
    const Kind held = stage_->finish.valid() ? pool_[stage_->total].type.kind
                                             : kind_of(places_.at(write.tensor).dtype);
    Kind kind = std::max(pool_[write.value].type.kind, held);
    int64_t steps = 1;  // at most
    for (const NestLoop& loop : shape_.reductions) steps = total_elements(steps, loop.extent);
    const bool adds =
        stage_->combine == ir::FormulaOp::Sum || stage_->combine == ir::FormulaOp::Product;
    if (shared_) steps = (steps + shared_->threads - 1) / shared_->threads;
    const bool wide = adds && steps > kLongReduction && !pool_.strict;
    if (kind == Kind::F32 && wide) kind = Kind::F64;
    const uint16_t lanes = shape_.lane_reduces ? target_.lanes() : lower_.lanes();
    const Type type{kind, lanes};
    Sums sums(count_sums());
    const ExprId start = build_.cast(starting_value(), kind);
    const bool in_parts = shape_.lane_reduces || shared_;
    for (LocalId& sum : sums) {
        sum = build_.local(type);
        out.push_back({Set{sum, in_parts ? neutral(type) : build_.spread(start, lanes)}});
    }
    reductions(0, guards, sums, out);
    ExprId value = all_of(sums);
    if (shape_.lane_reduces) value = build_.make(lanes_op(stage_->combine), {value});
    if (shared_) {
        value = shared_->column.valid() ? over_columns(value, out) : over_group(value, out);
    }
    return in_parts ? build_.make(combining_op(stage_->combine), {start, value}) : value;
}

// The stored value of a total.
ExprId NestSteps::finished(ExprId total, Block& out) {
    if (!stage_->finish.valid()) return total;
    // Converts the total to the type that the tensor would have held.
    const ExprId value = build_.cast(total, pool_[stage_->total].type.kind);
    lower_.forget_values();
    lower_.define(stage_->total, value);
    out.push_back({Let{value}});
    return lower_.value(stage_->finish);
}

// ---- Groups -------------------------------------------------------------------------------------

void NestSteps::add_arguments() {
    for_each_value(*stage_, [&](ExprId id) {
        pool_.visit_reads(id, [&](ExprId at, const Expr& e) {
            if (at != stage_->total) lower_.buffer(tensor_of(e), false);
        });
    });
    lower_.buffer(stage_->writes[0].tensor, true);
    if (step_fault().valid()) flag();
}

void NestSteps::store_total(ExprId sum, Block& out) {
    lower_.forget_values();
    const ExprId start = build_.cast(starting_value(), build_.type(sum).kind);
    const Expr& e = build_[start];
    const bool zero = e.op == Op::Constant && e.real == 0;
    const ExprId total = zero ? sum : build_.make(Op::Add, {start, sum});
    store(stage_->writes[0], finished(total, out), out);
}

// Adds the parts of the items of a warp, and then those of all warps in order.
ExprId NestSteps::over_group(ExprId part, Block& out) {
    const Op combine = combining_op(stage_->combine);
    const ExprId sum = over_warp(build_, combine, part, std::min(shared_->threads, kWarp), out);
    if (shared_->threads <= kWarp) return sum;
    return over_warps(build_, {combine, sum, shared_->thread, shared_->threads}, out);
}

// Adds the parts of each column in order.
ExprId NestSteps::over_columns(ExprId part, Block& out) {
    const BufferId parts =
        build_.shared(memory_of(build_.type(part).kind), shared_->threads * kWarp);
    Address own;
    own.add(shared_->thread, kWarp);
    own.add(shared_->column, 1);
    out.push_back({StoreStmt{parts, std::move(own), part, {}}});
    build_.stored();
    out.push_back({Barrier{}});
    ExprId total;
    for (int64_t i = 0; i < shared_->threads; ++i) {
        Address at;
        at.offset = i * kWarp;
        at.add(shared_->column, 1);
        const ExprId next = build_.load(parts, std::move(at));
        total = i == 0 ? next : build_.make(combining_op(stage_->combine), {total, next});
    }
    return total;
}

// One sum, or several if the loop has several vectors.
size_t NestSteps::count_sums() const {
    if (!shape_.lane_reduces) return 1;
    const int64_t vectors = shape_.reductions.back().extent / target_.lanes();
    return vectors >= kSums ? kSums : vectors >= 2 ? 2 : 1;
}

// Adds neighbours first.
ExprId NestSteps::all_of(const Sums& sums) {
    std::vector<ExprId> values;
    for (const LocalId sum : sums) values.push_back(build_.get(sum));
    for (; values.size() > 1; values.resize(values.size() / 2)) {
        for (size_t i = 0; i < values.size() / 2; ++i) {
            values[i] =
                build_.make(combining_op(stage_->combine), {values[2 * i], values[2 * i + 1]});
        }
    }
    return values[0];
}

// Whether floats are added to doubles.
bool NestSteps::adds_wide_floats(const Sums& sums) {
    return stage_->combine == ir::FormulaOp::Sum &&
           build_.type(build_.get(sums[0])).kind == Kind::F64 &&
           pool_[stage_->writes[0].value].type.kind == Kind::F32;
}

// Converting every vector would take longer than adding it. So a few are added as floats first.
void NestSteps::in_sections(ExprId end, const Sums& sums, Block& out, const AddVectors& add) {
    const Type type{Kind::F32, target_.lanes()};
    const int64_t steps = kSection * std::ssize(sums);
    const VarId section = build_.var({});
    For all{section, build_.integer(0), end, steps, {}};
    Sums parts;
    for (size_t i = 0; i < sums.size(); ++i) {
        parts.push_back(build_.local(type));
        all.body.push_back({Set{parts.back(), neutral(type)}});
    }
    const ExprId begin = build_.index(section);
    const ExprId last = build_.make(Op::Add, {begin, build_.integer(steps)});
    add(begin, build_.make(Op::Min, {last, end}), parts, all.body);
    for (size_t i = 0; i < sums.size(); ++i) {
        const ExprId part = build_.cast(build_.get(parts[i]), Kind::F64);
        all.body.push_back({Set{sums[i], build_.make(Op::Add, {build_.get(sums[i]), part})}});
    }
    out.push_back({std::move(all)});
}

// The innermost reduction: each of the sums takes vectors in turn, then a masked vector for the
// rest.
void NestSteps::in_lanes(const NestLoop& loop,
                         const std::vector<StageGuard>& guards,
                         const Sums& sums,
                         Block& out) {
    const auto count = static_cast<int64_t>(sums.size());
    const ExprId lanes = build_.integer(target_.lanes());
    const ExprId steps = steps_of(loop, lower_);
    const ExprId whole = build_.make(Op::Div, {steps, lanes});
    const ExprId turns = build_.integer(count);
    const ExprId in_turns = build_.make(Op::Mul, {build_.make(Op::Div, {whole, turns}), turns});
    const auto add_vector = [&](LocalId sum, ExprId mask, Block& block) {
        lower_.set_lanes(target_.lanes(), mask);
        guarded(guards, block, [&](Block& inner) { accumulate(sum, inner); });
        fresh_ = false;
    };
    const auto add_vectors = [&](ExprId begin, ExprId end, const Sums& to, Block& block) {
        const VarId blocks = build_.var({});
        For body{blocks, begin, end, std::ssize(to), {}};
        for (size_t i = 0; i < to.size(); ++i) {
            Address address;
            address.offset = static_cast<int64_t>(i) * target_.lanes();
            address.add(blocks, target_.lanes());
            address.add(lower_.lane_var, 1);
            lower_.bind(loop.var, std::move(address));
            add_vector(to[i], {}, body.body);
        }
        block.push_back({std::move(body)});
    };
    // Few vectors need no loop. The reduction around them may have one, unless it is the only one.
    const int64_t vectors = loop.extent / target_.lanes();
    const bool few = !loop.end.valid() && vectors < 2 * kSums;
    const bool only = !loop.end.valid() && shape_.reductions.size() == 1;
    if (!few && !build_.is_integer(in_turns, 0)) {
        if (adds_wide_floats(sums)) {
            in_sections(in_turns, sums, out, add_vectors);
        } else {
            add_vectors(build_.integer(0), in_turns, sums, out);
        }
    }
    int64_t next = few ? 0 : vectors / count * count;
    if (!loop.end.valid()) {
        for (; next < vectors; ++next) {
            bind_lanes(loop.var, build_.integer(next * target_.lanes()), lower_, out);
            fresh_ = few && only && next < count;
            add_vector(sums[static_cast<size_t>(next % count)], {}, out);
        }
    } else if (count > 1) {
        add_vectors(in_turns, whole, {sums[0]}, out);
    }
    const ExprId in_whole = build_.make(Op::Mul, {whole, lanes});
    const ExprId rest = build_.make(Op::Sub, {steps, in_whole});
    when(build_.make(Op::Less, {build_.integer(0), rest}), build_, out, [&](Block& block) {
        bind_lanes(loop.var, in_whole, lower_, block);
        const ExprId mask = build_.make(Op::Less, {build_.ramp(target_.lanes()), rest});
        const int64_t at = loop.end.valid() ? 0 : next % count;
        fresh_ = few && only && next < count;
        add_vector(sums[static_cast<size_t>(at)], mask, block);
    });
    lower_.set_lanes(1, {});
}

// Whether this reduction and those inside it are steps one behind the other.
bool NestSteps::is_copied(size_t depth, const std::vector<StageGuard>& guards) const {
    if (most_copies_ == 0 || !guards.empty() || stage_->condition.valid() || stage_->kept)
        return false;
    int64_t copies = 1;
    for (size_t i = depth; i < shape_.reductions.size(); ++i) {
        const NestLoop& loop = shape_.reductions[i];
        if (loop.end.valid() || loop.var == shape_.lane) return false;
        copies = total_elements(copies, loop.extent);
    }
    return copies <= most_copies_;
}

// Guards that are affine in the variable of a loop become bounds of that loop.
void NestSteps::reductions(size_t depth,
                           std::vector<StageGuard> guards,
                           const Sums& sums,
                           Block& out) {
    if (depth == shape_.reductions.size()) {
        guarded(guards, out, [&](Block& inner) { accumulate(sums[0], inner); });
        return;
    }
    const NestLoop& loop = shape_.reductions[depth];
    if (loop.var == shape_.lane) return in_lanes(loop, guards, sums, out);
    if (is_copied(depth, guards)) {
        for (int64_t i = 0; i < loop.extent; ++i) {
            Address at;
            at.offset = i;
            lower_.bind(loop.var, std::move(at));
            reductions(depth + 1, guards, sums, out);
        }
        return;
    }
    const VarId var = build_.var({});
    ExprId begin = build_.integer(0);
    ExprId end = steps_of(loop, lower_);
    std::vector<VarId> later;
    for (size_t i = depth + 1; i < shape_.reductions.size(); ++i) {
        later.push_back(shape_.reductions[i].var);
    }
    std::erase_if(guards, [&](const StageGuard& guard) {
        const auto affine = pool_.affine(guard.index);
        if (!affine || pool_.depends_on_any(guard.index, later)) return false;
        if (shape_.lane.valid() && pool_.depends(guard.index, shape_.lane)) return false;
        const auto term = std::ranges::find(affine->terms, loop.var, &AddressTerm::var);
        if (term == affine->terms.end() || term->factor < 1) return false;
        lower_.bind(loop.var, Address{});
        const ExprId rest = lower_.value(guard.index);
        const ExprId factor = build_.integer(term->factor);
        const auto first_not_below = [&](ExprId limit) {  // ceil((limit - rest) / factor)
            const ExprId up = build_.make(Op::Add, {limit, build_.integer(term->factor - 1)});
            return build_.make(Op::Div, {build_.make(Op::Sub, {up, rest}), factor});
        };
        begin = build_.make(Op::Max, {begin, first_not_below(build_.integer(0))});
        end = build_.make(Op::Min, {end, first_not_below(extent_of_guard(guard))});
        return true;
    });
    lower_.bind(loop.var, var);
    const bool shares = shared_ && loop.var == shared_->var;
    if (shares) begin = build_.make(Op::Add, {begin, build_.index(shared_->thread)});
    For body{var, begin, end, shares ? shared_->threads : 1, {}};
    reductions(depth + 1, guards, sums, body.body);
    out.push_back({std::move(body)});
}

void NestSteps::accumulate(LocalId sum, Block& out) {
    on_condition(out, [&](Block& block) { add(sum, block); });
}

void NestSteps::add(LocalId sum, Block& out) {
    report_faults(out);
    const Type type = build_.type(build_.get(sum));
    const ExprId before = fresh_ ? neutral(type) : build_.get(sum);
    const ExprId value = lower_.value(stage_->writes[0].value);
    const Expr& e = build_[value];
    ExprId after;
    if (fresh_) {
        after = build_.spread(build_.cast(value, type.kind), type.lanes);
    } else if (stage_->combine == ir::FormulaOp::Sum && e.op == Op::Mul && e.type == type &&
               type.real() && !pool_.strict) {
        after = build_.make(Op::Fma, {e.args[0], e.args[1], before});
    } else {
        after = build_.make(combining_op(stage_->combine), {before, build_.cast(value, type.kind)});
    }
    if (lower_.mask().valid() && type.lanes > 1) {
        after = build_.select(lower_.mask(), after, before);
    }
    out.push_back({Set{sum, after}});
    if (const auto& kept = stage_->kept) {
        out.push_back(lower_.store(kept->tensor, kept->index, lower_.value(kept->value)));
    }
}

}  // namespace lemma::loop
