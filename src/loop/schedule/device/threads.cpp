// SPDX-License-Identifier: Apache-2.0
// Kernels for a device: an item is a thread, and computes an element. Where elements are few and
// sums are long, a group of items computes an element.
#include <algorithm>
#include <unordered_set>

#include "base/checked.h"
#include "loop/schedule/device/device.h"
#include "loop/schedule/device/wide_math.h"

namespace lemma::loop {

namespace {

constexpr int64_t kFewElements = int64_t{1} << 14;  // fewer threads leave a device idle
constexpr int64_t kDeviceSums = 4;                  // of a group, each by a warp

bool needs_library(const Expr& e) {
    if (e.op != Op::Library) return false;
    return e.type.kind != Kind::F32 || !(is_expanded(e.name) || is_expanded_wide(e.name));
}

}  // namespace

bool is_for_device(const Stage& stage, const StagePool& pool) {
    return any_order(stage, pool) && needs_no_library(stage, pool);
}

bool needs_no_library(const Stage& stage, const StagePool& pool) {
    std::vector<ExprId> work;
    for_each_expr(stage, [&](ExprId id) { work.push_back(id); });
    std::unordered_set<ExprId, IdHash> seen;
    while (!work.empty()) {
        const ExprId at = work.back();
        work.pop_back();
        if (!at.valid() || !seen.insert(at).second) continue;
        const Expr& e = pool[at];
        if (needs_library(e)) return false;
        work.insert(work.end(), e.args.begin(), e.args.end());
    }
    return true;
}

// All accesses to a written tensor have the variable as the same index.
std::vector<NestLoop> independent_loops(const Stage& stage, const StagePool& pool) {
    constexpr int64_t kLeastItems = 32, kMostOrdered = 128;
    const auto is_var = [&](ExprId id, VarId var) {
        const Expr& e = pool[id];
        return e.op == Op::Var && static_cast<uint64_t>(e.integer) == var.value;
    };
    const auto is_apart = [&](const StageWrite& write, size_t axis, VarId var) {
        bool good = true;
        const auto check = [&](ir::TensorId tensor, const std::vector<ExprId>& index) {
            if (tensor == write.tensor) good &= is_var(index[axis], var);
        };
        for (const StageWrite& other : stage.writes) check(other.tensor, other.index);
        for_each_value(stage, [&](ExprId value) {
            pool.visit_reads(value, [&](ExprId, const Expr& e) { check(tensor_of(e), e.args); });
        });
        return good;
    };
    std::vector<NestLoop> result;
    int64_t items = 1, ordered = 1;
    for (const StageLoop& loop : stage.loops) {
        const bool apart = std::ranges::all_of(stage.writes, [&](const StageWrite& write) {
            for (size_t axis = 0; axis < write.index.size(); ++axis) {
                if (is_apart(write, axis, loop.var)) return true;
            }
            return false;
        });
        if (apart) result.push_back({loop.var, loop.extent});
        (apart ? items : ordered) = total_elements(apart ? items : ordered, loop.extent);
    }
    if (items < kLeastItems && ordered > kMostOrdered) return {};
    return result;
}

tensor::DType memory_of(Kind kind) {
    switch (kind) {
        case Kind::F32:
            return tensor::DType::F32;
        case Kind::F64:
            return tensor::DType::F64;
        case Kind::Bool:
            return tensor::DType::Bool;
        default:
            return tensor::DType::I64;
    }
}

ExprId over_warp(Builder& build, Op combine, ExprId part, int64_t width, Block& out) {
    const LocalId sum = build.local(build.type(part)), other = build.local(build.type(part));
    out.push_back({Set{sum, part}});
    for (int64_t distance = width / 2; distance > 0; distance /= 2) {
        out.push_back({Exchange{other, build.get(sum), distance}});
        out.push_back({Set{sum, build.make(combine, {build.get(sum), build.get(other)})}});
    }
    return build.get(sum);
}

ExprId over_warps(Builder& build, const WarpParts& parts, Block& out) {
    const int64_t warps = parts.threads / kWarp;
    const BufferId memory = build.shared(memory_of(build.type(parts.part).kind), warps);
    const ExprId thread = build.index(parts.thread), warp = build.integer(kWarp);
    const ExprId lane = build.make(Op::Mod, {thread, warp});
    when(build.make(Op::Equal, {lane, build.integer(0)}), build, out, [&](Block& block) {
        Address own;
        own.dynamic = build.make(Op::Div, {thread, warp});
        block.push_back({StoreStmt{memory, std::move(own), parts.part, {}}});
    });
    build.stored();
    out.push_back({Barrier{}});
    ExprId total;
    for (int64_t i = 0; i < warps; ++i) {
        Address at;
        at.offset = i;
        const ExprId next = build.load(memory, std::move(at));
        total = i == 0 ? next : build.make(parts.combine, {total, next});
    }
    return total;
}

namespace {

// How items share the steps of a sum.
struct SumChoice {
    VarId var;            // missing: an item does all of them
    int64_t threads = 1;  // for an element
    bool columns = false;
};

// Whether neighbouring steps of the sum read neighbouring elements.
bool reads_along(const NestContext& context, VarId var) {
    bool found = false;
    context.pool.visit_reads(context.stage.writes[0].value, [&](ExprId, const Expr& e) {
        found |= context.stride(tensor_of(e), e.args, var) == 1;
    });
    return found;
}

// The elements of all tensors whose reads lie apart in neighbouring steps of the loop.
int64_t scattered_along(const NestContext& context, VarId var) {
    int64_t elements = 0;
    context.pool.visit_reads(context.stage.writes[0].value, [&](ExprId, const Expr& e) {
        const int64_t stride = context.stride(tensor_of(e), e.args, var);
        if (stride == 0 || stride == 1) return;
        int64_t own = 1;
        for (const int64_t extent : context.places.at(tensor_of(e)).shape) {
            own = total_elements(own, extent);
        }
        elements = std::min(elements + own, kAbsurdElements);
    });
    return elements;
}

// A warp for an element, or a group if elements are few. If neighbouring elements, not neighbouring
// steps, lie side by side, the items of a warp compute neighbouring elements.
SumChoice choose_sum(const NestContext& context, const NestShape& shape) {
    const Stage& stage = context.stage;
    if (!accumulates(stage) || stage.writes.size() != 1 || context.pool.strict) return {};
    if (shape.reductions.empty() || context.run_time) return {};
    const int64_t elements = elements_of(shape.outputs);
    const auto longest = std::ranges::max_element(shape.reductions, {}, &NestLoop::extent);
    const int64_t most = shape.outputs.empty() ? kAbsurdElements
                                               : scattered_along(context, shape.outputs.back().var);
    const auto along = std::ranges::find_if(shape.reductions, [&](const NestLoop& loop) {
        return loop.extent >= kWarp && reads_along(context, loop.var) &&
               scattered_along(context, loop.var) <= most;
    });
    constexpr int64_t kLongSum = 1024, kLongStrided = 64, kVeryLong = 16384;
    if (along != shape.reductions.end()) {
        const bool few = elements < kDeviceThreads / kDeviceGroup;
        if (!few || along->extent < kLongSum) return {along->var, kWarp};
        return {along->var, along->extent < kVeryLong ? kDeviceGroup : kMostGroup};
    }
    if (elements >= kFewElements || longest->extent < kLongStrided) return {};
    const bool apart = !shape.outputs.empty() && stage.initial.valid() && !stage.kept &&
                       reads_along(context, shape.outputs.back().var);
    if (!apart) return {longest->var, kWarp};
    return {longest->var, kDeviceGroup / kWarp, true};
}

// Binds the loops of an element, and the parts of its sum.
void schedule_shared_sum(const NestContext& context,
                         const NestShape& shape,
                         const SumChoice& choice,
                         NestSteps& steps,
                         ScheduledKernel& result,
                         Lowering& lower) {
    Builder& build = lower.build;
    Function& function = result.function;
    const ExprId item = build.index(function.item);
    const auto new_var = [&](ExprId value) {
        const VarId var = build.var({});
        function.body.push_back({Bind{var, value}});
        return var;
    };
    const auto part = [&](Op op, ExprId value, int64_t by) {
        return build.make(op, {value, build.integer(by)});
    };
    SharedSum shared{choice.var, {}, choice.threads, {}, {}};
    NestLoops loops(shape.outputs, {}, context.target, result, lower);
    const auto element = [&](Block& out) { steps.element(out); };
    if (!choice.columns) {
        // Skipped elements must not keep others from an exchange.
        const bool one = choice.threads > kWarp || !context.stage.initial.valid();
        function.group = one ? choice.threads : kDeviceSums * kWarp;
        result.schedule = choice.threads > kWarp ? "groups" : "warps";
        shared.thread = new_var(part(Op::Mod, item, choice.threads));
        steps.add_arguments();
        steps.share(shared);
        return loops.as_threads(choice.threads, function.body, element);
    }
    function.group = choice.threads * kWarp;
    result.schedule = "groups of columns";
    const int64_t elements = elements_of(shape.outputs);
    const int64_t groups = (elements + kWarp - 1) / kWarp;
    function.items = total_elements(groups, function.group);
    shared.column = new_var(part(Op::Mod, item, kWarp));
    shared.thread = new_var(part(Op::Mod, part(Op::Div, item, kWarp), choice.threads));
    Address number;
    number.add(shared.column, 1);
    number.add(new_var(part(Op::Div, item, function.group)), kWarp);
    const ExprId at = build.sum(number), last = build.integer(elements - 1);
    shared.inside = build.make(Op::LessEqual, {at, last});
    steps.add_arguments();
    steps.share(shared);
    loops.bind_items(build.make(Op::Min, {at, last}), shape.outputs.size(), function.body);
    element(function.body);
}

// With run-time extents: an item for each step of the outermost loop and of all loops with known
// extents. False if there is no outermost loop, or if there are too many items.
bool schedule_open_loops(const NestContext& context,
                         const NestShape& shape,
                         NestSteps& steps,
                         ScheduledKernel& result,
                         Lowering& lower) {
    if (shape.outputs.empty()) return false;
    std::vector<NestLoop> items, open;
    for (size_t i = 1; i < shape.outputs.size(); ++i) {
        (shape.outputs[i].end.valid() ? open : items).push_back(shape.outputs[i]);
    }
    const auto times = checked_mul(result.run_items.outermost.times, elements_of(items));
    if (!times || *times >= kAbsurdElements) return false;
    result.run_items.outermost.times = *times;
    items.insert(items.begin(), shape.outputs[0]);
    Block& out = result.function.body;
    const ExprId item = lower.build.index(result.function.item);
    NestLoops(items, {}, context.target, result, lower).bind_items(item, items.size(), out);
    NestLoops(open, {}, context.target, result, lower).all(out, [&](Block& block) {
        steps.element(block);
    });
    return true;
}

}  // namespace

bool schedule_device_order(const NestContext& context,
                           NestSteps& steps,
                           ScheduledKernel& result,
                           Lowering& lower) {
    const std::vector<NestLoop> loops = independent_loops(context.stage, context.pool);
    if (loops.empty()) return false;
    std::vector<VarId> vars;
    for (const NestLoop& loop : loops) vars.push_back(loop.var);
    result.function.group = kDeviceLoopGroup;
    result.schedule = "threads, in order";
    NestLoops(loops, {}, context.target, result, lower)
        .as_threads(1, result.function.body, [&](Block& out) { steps.sequential(out, vars); });
    return true;
}

void schedule_threads(const NestContext& context,
                      const NestShape& shape,
                      NestSteps& steps,
                      ScheduledKernel& result,
                      Lowering& lower,
                      ExprId piece) {
    Function& function = result.function;
    NestLoops loops(shape.outputs, {}, context.target, result, lower);
    loops.copied = shape.reductions.empty();
    const auto element = [&](Block& out) { steps.element(out); };
    if (piece.valid()) {
        function.group = kDeviceLoopGroup;
        function.items = kAbsurdElements;  // calls have fewer
        result.run_items.single = true;
        result.schedule = "run-time extents, threads";
        if (schedule_open_loops(context, shape, steps, result, lower)) return;
        return loops.as_pieces(piece, function.body, element);
    }
    if (const SumChoice sum = choose_sum(context, shape); sum.var.valid()) {
        return schedule_shared_sum(context, shape, sum, steps, result, lower);
    }
    if (const auto window = find_device_window(context, shape)) {
        return schedule_device_windows(context, shape, *window, steps, result, lower);
    }
    if (schedule_device_transpose(context, shape, steps, result, lower)) return;
    if (const int64_t lanes = device_lanes(context, shape); lanes > 1) {
        return schedule_device_vectors(shape, lanes, steps, context, result, lower);
    }
    function.group = kDeviceGroup;
    result.schedule = "threads";
    loops.as_threads(1, function.body, element);
}

}  // namespace lemma::loop
