// SPDX-License-Identifier: Apache-2.0
// Kernels for a device: an item is a thread, and computes an element. Where elements are few and
// sums are long, a group of items computes an element.
#include <algorithm>
#include <unordered_set>

#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kFewElements = int64_t{1} << 14;  // fewer threads leave a device idle
constexpr int64_t kLeastShared = kDeviceSumGroup / 2;

bool needs_library(const Expr& e) {
    return e.op == Op::Library && (e.type.kind != Kind::F32 || !is_expanded(e.name));
}

}  // namespace

bool is_for_device(const Stage& stage, const StagePool& pool) {
    if (!any_order(stage, pool)) return false;
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

// The longest one.
VarId shared_reduction(const NestContext& context, const NestShape& shape) {
    const Stage& stage = context.stage;
    if (!accumulates(stage) || stage.writes.size() != 1 || context.pool.strict) return {};
    if (shape.reductions.empty() || context.run_time) return {};
    int64_t elements = 1;
    for (const NestLoop& loop : shape.outputs) elements = total_elements(elements, loop.extent);
    const auto longest = std::ranges::max_element(shape.reductions, {}, &NestLoop::extent);
    if (elements >= kFewElements || longest->extent < kLeastShared) return {};
    return longest->var;
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
        return loops.as_pieces(piece, function.body, element);
    }
    const VarId shared = shared_reduction(context, shape);
    if (!shared.valid()) {
        function.group = kDeviceGroup;
        result.schedule = "threads";
        return loops.as_threads(1, function.body, element);
    }
    function.group = kDeviceSumGroup;
    result.schedule = "groups";
    const VarId thread = lower.build.var("thread");
    const ExprId item = lower.build.index(function.item);
    function.body.push_back(
        {Bind{thread, lower.build.make(Op::Mod, {item, lower.build.integer(function.group)})}});
    steps.share(shared, thread);
    loops.as_threads(function.group, function.body, element);
}

}  // namespace lemma::loop
