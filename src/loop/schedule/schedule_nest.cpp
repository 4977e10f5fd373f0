// Plain loops: outputs outside, reductions inside, one variable in lanes.
#include <fmt/format.h>

#include "base/check.h"
#include "loop/schedule/nest.h"

namespace lemma::loop {

ScheduledKernel schedule_nest(const Stage& stage,
                              StagePool& pool,
                              const BufferViews& places,
                              const Target& target) {
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
    const NestContext context{stage, pool, places, target};
    if (auto transposed = schedule_transposed(context)) return std::move(*transposed);
    NestShape shape;
    NestSteps steps(context, shape, result, lower);
    if (!any_order(stage, pool)) {
        steps.sequential(function.body);
        result.schedule = "in order";
        return result;
    }
    shape = find_loops(context, {});
    collapse(context, shape, lower);
    choose_lanes(context, shape);
    int64_t work = 1;
    for (const auto* loops : {&shape.outputs, &shape.reductions}) {
        for (const NestLoop& loop : *loops) work *= loop.extent;
    }
    NestLoops loops(shape.outputs, shape.lane, target, result, lower);
    loops.copied = shape.reductions.empty();
    loops.parts = split_lanes(context, shape);
    loops.on_part = [&](const LanePart& part) { steps.set_inside(part.inside); };
    loops.as_items(work, function.body, [&](Block& out) { steps.element(out); });
    result.schedule = shape.lane.valid()
                          ? fmt::format("x{}{}", target.lanes(), shape.lane_reduces ? " sum" : "")
                          : "scalar";
    return result;
}

}  // namespace lemma::loop
