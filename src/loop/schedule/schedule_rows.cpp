// SPDX-License-Identifier: Apache-2.0
// Several stages in one kernel: all of them for one row, which stays in the cache, then for the
// next row.
#include <fmt/format.h>

#include <algorithm>

#include "loop/schedule/device/device.h"

namespace lemma::loop {

BufferViews row_places(const std::vector<Stage>& stages,
                       const RowGroup& rows,
                       const StagePool& pool,
                       const BufferViews& all) {
    BufferViews result = rows.numbers;
    const auto add = [&](ir::TensorId id) {
        if (!result.contains(id)) result[id] = all.at(id);
    };
    for (const Stage& stage : stages) {
        std::vector<ExprId> values = {stage.initial, stage.finish};
        const auto add_write = [&](const StageWrite& write) {
            add(write.tensor);
            values.push_back(write.value);
        };
        for (const StageWrite& write : stage.writes) add_write(write);
        if (stage.kept) add_write(*stage.kept);
        for (const ExprId value : values) {
            pool.visit_reads(value, [&](ExprId at, const Expr& e) {
                if (at != stage.total) add(tensor_of(e));
            });
        }
    }
    return result;
}

namespace {

class RowsSchedule {
public:
    RowsSchedule(const std::vector<Stage>& stages,
                 const RowGroup& rows,
                 StagePool& pool,
                 const BufferViews& places,
                 const Target& target)
        : stages_(stages),
          rows_(rows),
          pool_(pool),
          target_(target),
          places_(row_places(stages, rows, pool, places)),
          lower_(pool, places_, result_) {}

    ScheduledKernel make();

private:
    NestContext context(const Stage& stage) { return {stage, pool_, places_, target_}; }
    void order_loops();
    void choose_lane();
    double cost_inside();
    double cost_across(const NestLoop& loop);
    bool shares_memory(const NestLoop& loop);
    int64_t steps_of(const Stage& stage) const;
    bool are_short();
    void rows(int64_t count, Block& out);
    ExprId run(const Stage& stage, Block& out);

    using Numbers = std::unordered_map<ir::TensorId, ExprId, IdHash>;

    const std::vector<Stage>& stages_;
    const RowGroup& rows_;
    StagePool& pool_;
    const Target& target_;
    BufferViews places_;
    ScheduledKernel result_;
    Lowering lower_;
    std::vector<NestLoop> loops_;
    std::vector<VarId> vars_;
    VarId lane_;  // rows side by side in lanes; missing: each stage has its own lanes
};

int64_t RowsSchedule::steps_of(const Stage& stage) const {
    int64_t steps = 1;
    for (const StageLoop& loop : stage.loops) steps *= loop.extent;
    return steps;
}

// Orders the loops by the memory of the tensor written last.
void RowsSchedule::order_loops() {
    for (const StageLoop& loop : rows_.loops) {
        loops_.push_back({loop.var, loop.extent});
        vars_.push_back(loop.var);
    }
    const StageWrite& write = stages_.back().writes[0];
    std::ranges::stable_sort(loops_, std::greater(), [&](const NestLoop& loop) {
        return std::abs(context(stages_.back()).stride(write.tensor, write.index, loop.var));
    });
}

double RowsSchedule::cost_inside() {
    double cost = 0;
    for (const Stage& stage : stages_) {
        NestShape shape = find_loops(context(stage), vars_);
        cost += choose_lanes(context(stage), shape) * static_cast<double>(steps_of(stage));
    }
    return cost;
}

double RowsSchedule::cost_across(const NestLoop& loop) {
    double cost = 0;
    for (const Stage& stage : stages_) {
        const NestShape shape = find_loops(context(stage), vars_);
        cost += lane_cost(context(stage), shape, loop) * static_cast<double>(steps_of(stage));
    }
    return cost;
}

// Whether a stage writes the same elements for all rows, into memory for one row at a time.
bool RowsSchedule::shares_memory(const NestLoop& loop) {
    return std::ranges::any_of(stages_, [&](const Stage& stage) {
        const StageWrite& write = stage.writes[0];
        return !rows_.numbers.contains(write.tensor) &&
               context(stage).stride(write.tensor, write.index, loop.var) == 0;
    });
}

void RowsSchedule::choose_lane() {
    constexpr int64_t kFewLanes = 4;
    double best = cost_inside();
    for (const NestLoop& loop : loops_) {
        if (loop.extent < kFewLanes || shares_memory(loop)) continue;
        const double cost = cost_across(loop);
        if (cost >= best) continue;
        best = cost;
        lane_ = loop.var;
    }
    if (!lane_.valid()) return;
    const auto at = std::ranges::find(loops_, lane_, &NestLoop::var);
    std::rotate(at, at + 1, loops_.end());  // innermost
}

// Whether a stage has few steps for a row, so that the processor would wait for results.
bool RowsSchedule::are_short() {
    constexpr int64_t kVectors = 8;
    int64_t rows = 1;
    for (const NestLoop& loop : loops_) rows *= loop.extent;
    return std::ranges::all_of(stages_, [&](const Stage& stage) {
        return steps_of(stage) / rows <= kVectors * target_.lanes();
    });
}

// One row, or several: each stage for all of them, because they do not wait for each other.
void RowsSchedule::rows(int64_t count, Block& out) {
    if (count == 1) {
        for (const Stage& stage : stages_) run(stage, out);
        return;
    }
    const VarId var = loops_.back().var;
    const Address first = lower_.bound(var);
    std::vector<Numbers> numbers(static_cast<size_t>(count));
    for (const Stage& stage : stages_) {
        for (int64_t i = 0; i < count; ++i) {
            Address at = first;
            at.offset += i;
            lower_.bind(var, std::move(at));
            Numbers& own = numbers[static_cast<size_t>(i)];
            for (const auto& [tensor, number] : own) lower_.hold(tensor, number);
            const ExprId number = run(stage, out);
            if (number.valid()) own[stage.writes[0].tensor] = number;
        }
    }
}

// Returns the number that the stage makes of the row, if it does.
ExprId RowsSchedule::run(const Stage& stage, Block& out) {
    lower_.forget_values();
    NestShape shape = find_loops(context(stage), vars_);
    collapse(context(stage), shape, lower_);
    if (!lane_.valid()) choose_lanes(context(stage), shape);
    NestSteps steps(context(stage), shape, result_, lower_);
    steps.copies_taps();
    lower_.multiplies_quotients =
        may_multiply_quotients(stage, pool_, target_, steps_in_lanes(shape));
    const StageWrite& write = stage.writes[0];
    if (!shape.outputs.empty()) {
        NestLoops loops(shape.outputs, shape.lane, target_, result_, lower_);
        loops.all(out, [&](Block& body) { steps.element(body); });
        return {};
    }
    ExprId number = accumulates(stage) ? steps.total({}, out) : lower_.value(write.value);
    number = lower_.build.cast(number, kind_of(places_.at(write.tensor).dtype));
    out.push_back({Let{number}});
    lower_.forget_values();
    lower_.hold(write.tensor, number);
    const bool stored = !rows_.numbers.contains(write.tensor);
    if (stored) out.push_back(lower_.store(write.tensor, write.index, number));
    return number;
}

ScheduledKernel RowsSchedule::make() {
    Function& function = result_.function;
    function.item = lower_.build.var("item");
    function.name = "rows";
    order_loops();
    choose_lane();
    int64_t work = 0;
    for (const Stage& stage : stages_) work += steps_of(stage);
    NestLoops loops(loops_, lane_, target_, result_, lower_);
    constexpr int64_t kTogether = 4;
    const bool apart = !loops_.empty() && !lane_.valid() && !shares_memory(loops_.back());
    if (apart && are_short()) loops.together = kTogether;
    loops.as_items(
        work, function.body, [&](Block& out) { rows(loops.grouped ? kTogether : 1, out); });
    result_.schedule =
        fmt::format("rows{} x{}", lane_.valid() ? " side by side" : "", target_.lanes());
    return std::move(result_);
}

}  // namespace

ScheduledKernel schedule_rows(const std::vector<Stage>& stages,
                              const RowGroup& rows,
                              StagePool& pool,
                              const BufferViews& places,
                              const Target& target) {
    const auto on_device = [&](const Stage& stage) { return needs_no_library(stage, pool); };
    if (target.device && std::ranges::all_of(stages, on_device)) {
        return schedule_device_rows(stages, rows, pool, places, target);
    }
    return RowsSchedule(stages, rows, pool, places, target).make();
}

}  // namespace lemma::loop
