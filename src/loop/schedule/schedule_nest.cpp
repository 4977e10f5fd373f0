// SPDX-License-Identifier: Apache-2.0
// Kernels of plain loops: outputs outside, reductions inside, one variable in lanes.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "loop/schedule/device/device.h"
#include "loop/stage/dynamic.h"

namespace lemma::loop {

namespace {

// Binds the shape arguments. Returns the last one, the number of steps of an item.
ExprId load_numbers(const DynamicShape& run_time, Lowering& lower, Block& out) {
    Builder& build = lower.build;
    const BufferId told = lower.buffer(run_time.told, false);
    const auto load = [&](size_t at) {
        Address address;
        address.offset = static_cast<int64_t>(at);
        const VarId var = build.var({});
        out.push_back({Bind{var, build.load(told, std::move(address))}});
        return var;
    };
    for (size_t i = 0; i < run_time.numbers.size(); ++i) {
        const VarId var = run_time.numbers[i].var;
        if (var.valid()) lower.bind(var, load(i));
    }
    return build.index(load(run_time.numbers.size()));
}

RunItems::Extent run_extent(const NestLoop& loop, const NestContext& context) {
    if (!loop.end.valid()) return {std::nullopt, loop.extent};
    const auto end = context.pool.affine(loop.end);
    LEMMA_CHECK(end && end->terms.size() == 1 && end->offset == 0);
    const auto& numbers = context.run_time->numbers;
    const auto number = std::ranges::find(numbers, end->terms[0].var, &ShapeArgument::var);
    return {static_cast<size_t>(number - numbers.begin()), end->terms[0].factor};
}

RunItems run_items(const NestShape& shape, const NestContext& context) {
    RunItems items;
    items.one = shape.outputs.empty();
    if (items.one) return items;
    const NestLoop& outermost = shape.outputs[0];
    items.outermost = run_extent(outermost, context);
    items.together = outermost.var == shape.lane ? context.target.lanes() : 1;
    for (size_t i = 1; i < shape.outputs.size(); ++i) {
        items.inner.push_back(run_extent(shape.outputs[i], context));
    }
    for (const NestLoop& loop : shape.reductions) items.inner.push_back(run_extent(loop, context));
    return items;
}

int64_t count_work(const NestShape& shape) {
    int64_t work = 1;
    for (const auto* loops : {&shape.outputs, &shape.reductions}) {
        for (const NestLoop& loop : *loops) work *= loop.extent;
    }
    return work;
}

}  // namespace

ScheduledKernel schedule_nest(const Stage& stage,
                              StagePool& pool,
                              const BufferViews& places,
                              const Target& target,
                              const DynamicShape* run_time) {
    LEMMA_CHECK(stage.inverses.empty());
    ScheduledKernel result;
    Lowering lower(pool, places, result);
    Function& function = result.function;
    function.item = lower.build.var("item");
    function.name = "nest";
    if (stage.empty) {
        for (const StageWrite& write : stage.writes) lower.buffer(write.tensor, true);
        function.items = 0;
        result.schedule = "nothing";
        return result;
    }
    const NestContext context{stage, pool, places, target, run_time};
    const bool device = target.device && is_for_device(stage, pool);
    if (!run_time && !device) {
        if (auto transposed = schedule_transposed(context)) return std::move(*transposed);
        if (auto interleaved = schedule_interleaved(context)) return std::move(*interleaved);
    }
    NestShape shape;
    NestSteps steps(context, shape, result, lower);
    const char* const kind = run_time ? "run-time extents, " : "";
    ExprId piece;
    if (run_time) {
        piece = load_numbers(*run_time, lower, function.body);
        steps.check_sizes(function.body);
    }
    if (!any_order(stage, pool)) {
        const bool can = target.device && !run_time && needs_no_library(stage, pool);
        lower.has_library = !can;
        if (can && schedule_device_order(context, steps, result, lower)) return result;
        lower.has_library = true;
        steps.sequential(function.body);
        result.schedule = fmt::format("{}in order", kind);
        return result;
    }
    shape = find_loops(context, {});
    if (device) order_as_memory(context, shape);
    collapse(context, shape, lower);
    if (device) {
        lower.has_library = false;
        const auto pieces = [&] {
            result.run_items = run_items(shape, context);
            return piece;
        };
        schedule_threads(context, shape, steps, result, lower, run_time ? pieces() : ExprId());
        return result;
    }
    choose_lanes(context, shape);
    lower.multiplies_quotients = may_multiply_quotients(stage, pool, target, steps_in_lanes(shape));
    NestLoops loops(shape.outputs, shape.lane, target, result, lower);
    loops.copied = shape.reductions.empty();
    loops.parts = split_lanes(context, shape);
    std::vector<LoopPiece> pieces;
    if (loops.parts.empty() && shape.lane.valid() && !shape.lane_reduces) {
        pieces = pieces_of(stage, pool, shape.lane);
        loops.parts = parts_of(pieces);
    }
    loops.on_part = [&](const LanePart& part) { steps.set_part(part); };
    const auto element = [&](Block& out) { steps.element(out); };
    if (run_time) {
        result.run_items = run_items(shape, context);
        loops.as_pieces(piece, function.body, element);
    } else {
        loops.as_items(count_work(shape), function.body, element);
    }
    result.schedule = fmt::format("{}scalar", kind);
    if (shape.lane.valid()) {
        const char* const sum = shape.lane_reduces ? " sum" : "";
        result.schedule = fmt::format("{}x{}{}", kind, target.lanes(), sum);
    }
    return result;
}

}  // namespace lemma::loop
