// SPDX-License-Identifier: Apache-2.0
// Kernels for a device whose items compute several elements: neighbours in memory, which are loaded
// and stored as vectors, or neighbouring windows, which share what they read.
#include <fmt/format.h>

#include <algorithm>

#include "loop/schedule/device/device.h"

namespace lemma::loop {

namespace {

constexpr int64_t kVectorBytes = 16;  // that an item loads or stores at once
constexpr int64_t kMostBytes = 32;    // of a vector of the widest tensor
constexpr int64_t kMostLanes = 8;
constexpr int64_t kManyElements = int64_t{1} << 15;  // of maps; fewer need all threads
constexpr int64_t kManySums = int64_t{1} << 19;

// The sizes of elements that lie side by side along the variable.
struct Widths {
    int64_t least = INT64_MAX, most = 0;
    bool good = true;

    void add(tensor::DType dtype) {
        least = std::min(least, tensor::dtype_size(dtype));
        most = std::max(most, tensor::dtype_size(dtype));
    }
};

Widths widths_along(const NestContext& context, VarId var) {
    Widths widths;
    const auto add = [&](ir::TensorId tensor, const std::vector<ExprId>& index, bool written) {
        const int64_t stride = context.stride(tensor, index, var);
        if (stride == 0 && !written) return;
        widths.good &= stride == 1;
        widths.add(context.places.at(tensor).dtype);
    };
    const Stage& stage = context.stage;
    for (const StageWrite& write : stage.writes) add(write.tensor, write.index, true);
    for_each_value(stage, [&](ExprId value) {
        context.pool.visit_reads(value, [&](ExprId at, const Expr& e) {
            if (at != stage.total) add(tensor_of(e), e.args, false);
        });
    });
    for (const StageGuard& guard : stage.guards) {
        widths.good &= !context.pool.depends(guard.index, var);
    }
    if (stage.condition.valid()) widths.good &= !context.pool.depends(stage.condition, var);
    return widths;
}

// Whether vectors begin at whole vectors in every step of the loop.
bool keeps_alignment(const NestContext& context, const NestLoop& loop, VarId lane, int64_t lanes) {
    bool good = true;
    const auto check = [&](ir::TensorId tensor, const std::vector<ExprId>& index) {
        const int64_t stride = context.stride(tensor, index, loop.var);
        const bool vector = context.stride(tensor, index, lane) == 1;
        if (vector && stride != INT64_MAX) good &= stride % lanes == 0;
    };
    for (const StageWrite& write : context.stage.writes) {
        check(write.tensor, write.index);
        context.pool.visit_reads(write.value,
                                 [&](ExprId, const Expr& e) { check(tensor_of(e), e.args); });
    }
    return good;
}

}  // namespace

int64_t device_lanes(const NestContext& context, const NestShape& shape) {
    if (shape.outputs.empty() || context.stage.kept) return 1;
    const NestLoop& last = shape.outputs.back();
    const int64_t elements = elements_of(shape.outputs);
    if (elements < (shape.reductions.empty() ? kManyElements : kManySums)) return 1;
    const Widths widths = widths_along(context, last.var);
    if (!widths.good) return 1;
    int64_t lanes = std::min(kVectorBytes / widths.least, kMostLanes);
    while (lanes * widths.most > kMostBytes) lanes /= 2;
    if (lanes < 2 || (last.extent % lanes != 0 && shape.outputs.size() > 1)) return 1;
    const bool aligned = std::ranges::all_of(shape.outputs, [&](const NestLoop& loop) {
        return loop.var == last.var || keeps_alignment(context, loop, last.var, lanes);
    });
    return aligned ? lanes : 1;
}

// The elements behind the last whole vector are computed one by one.
void schedule_device_vectors(const NestShape& shape,
                             int64_t lanes,
                             NestSteps& steps,
                             const NestContext& context,
                             ScheduledKernel& result,
                             Lowering& lower) {
    Builder& build = lower.build;
    Function& function = result.function;
    function.group = kDeviceGroup;
    result.schedule = fmt::format("threads x{}", lanes);
    const NestLoop last = shape.outputs.back();
    const int64_t whole = last.extent / lanes, rest = last.extent % lanes;
    std::vector<NestLoop> outer = shape.outputs;
    outer.back().extent = whole + (rest > 0 ? 1 : 0);
    NestLoops loops(std::move(outer), {}, context.target, result, lower);
    loops.as_threads(1, function.body, [&](Block& out) {
        const VarId number = lower.bound(last.var).terms[0].var;
        const auto one_vector = [&](Block& block) {
            Address at;
            at.add(number, lanes);
            at.add(lower.lane_var, 1);
            lower.bind(last.var, std::move(at));
            lower.set_lanes(static_cast<uint16_t>(lanes), {});
            steps.element(block);
            lower.set_lanes(1, {});
        };
        if (rest == 0) return one_vector(out);
        const ExprId first = build.index(number), end = build.integer(whole);
        when(build.make(Op::Less, {first, end}), build, out, one_vector);
        when(build.make(Op::LessEqual, {end, first}), build, out, [&](Block& block) {
            const VarId var = build.var({});
            For tail{var, build.integer(whole * lanes), build.integer(last.extent), 1, {}};
            lower.bind(last.var, var);
            steps.element(tail.body);
            block.push_back({std::move(tail)});
        });
    });
}

// ---- Windows ------------------------------------------------------------------------------------

namespace {

constexpr int64_t kMostTaps = 64;
constexpr int64_t kMostProducts = 128;  // of all windows of an item

// Whether a read moves with the variable and with a reduction: windows overlap.
bool overlaps(const NestContext& context, const NestShape& shape, VarId var) {
    bool found = false;
    context.pool.visit_reads(context.stage.writes[0].value, [&](ExprId, const Expr& e) {
        for (const ExprId index : e.args) {
            if (!context.pool.depends(index, var)) continue;
            found |= std::ranges::any_of(shape.reductions, [&](const NestLoop& loop) {
                return context.pool.depends(index, loop.var);
            });
        }
    });
    return found;
}

}  // namespace

std::optional<DeviceWindow> find_device_window(const NestContext& context, const NestShape& shape) {
    const Stage& stage = context.stage;
    const bool plain = accumulates(stage) && stage.writes.size() == 1 && !stage.kept &&
                       stage.initial.valid() && !stage.condition.valid() && !context.run_time;
    if (!plain || shape.reductions.empty() || shape.outputs.empty()) return std::nullopt;
    const int64_t taps = elements_of(shape.reductions);
    if (taps > kMostTaps) return std::nullopt;
    for (const StageGuard& guard : stage.guards) {
        if (guard.end.valid() || !context.pool.affine(guard.index)) return std::nullopt;
    }
    DeviceWindow window;
    const int64_t elements = elements_of(shape.outputs);
    if (shape.outputs.size() < 2) return window;
    const NestLoop& rows = shape.outputs[shape.outputs.size() - 2];
    if (!overlaps(context, shape, rows.var)) return window;
    constexpr int64_t kMostRows = 4;
    for (int64_t count = kMostRows; count > 1; count /= 2) {
        const bool many = elements / count >= kDeviceThreads && rows.extent >= count;
        if (!many || count * taps > kMostProducts) continue;
        window.rows = rows.var;
        window.count = count;
        return window;
    }
    return window;
}

namespace {

class DeviceWindows {
public:
    DeviceWindows(const NestContext& context,
                  const NestShape& shape,
                  const DeviceWindow& window,
                  NestSteps& steps,
                  ScheduledKernel& result,
                  Lowering& lower)
        : context_(context),
          shape_(shape),
          window_(window),
          steps_(steps),
          result_(result),
          lower_(lower),
          build_(lower.build) {}

    void make();

private:
    bool is_row(const NestLoop& loop) const { return loop.var == window_.rows; }
    ExprId inside(const StageGuard& guard);
    void compute(Block& out);

    const NestContext& context_;
    const NestShape& shape_;
    const DeviceWindow& window_;
    NestSteps& steps_;
    ScheduledKernel& result_;
    Lowering& lower_;
    Builder& build_;
    int64_t extent_ = 1;  // of the rows
    VarId block_;         // of rows
};

// Whether the guard holds for all windows of the item.
ExprId DeviceWindows::inside(const StageGuard& guard) {
    const Address index = *context_.pool.affine(guard.index);
    Address at;
    at.offset = index.offset;
    int64_t low = 0, high = 0;
    const auto reach = [&](int64_t factor, int64_t steps) {
        (factor < 0 ? low : high) += factor * (steps - 1);
    };
    for (const AddressTerm& term : index.terms) {
        const auto tap = std::ranges::find(shape_.reductions, term.var, &NestLoop::var);
        if (tap != shape_.reductions.end()) {
            reach(term.factor, tap->extent);
            continue;
        }
        if (term.var == window_.rows) {
            reach(term.factor, window_.count);
            at.add(block_, term.factor * window_.count);
            continue;
        }
        const Address& bound = lower_.bound(term.var);
        at.offset += term.factor * bound.offset;
        for (const AddressTerm& part : bound.terms) at.add(part.var, term.factor * part.factor);
    }
    const ExprId first = build_.sum(at);
    const auto moved = [&](int64_t by) {
        return build_.make(Op::Add, {first, build_.integer(by)});
    };
    return build_.make(Op::And,
                       {build_.make(Op::LessEqual, {build_.integer(0), moved(low)}),
                        build_.make(Op::Less, {moved(high), build_.integer(guard.extent)})});
}

// Inside, all taps of all windows are steps without conditions, and equal elements are read once.
void DeviceWindows::compute(Block& out) {
    const auto row = [&](ExprId of) {
        return build_.make(Op::Less, {of, build_.integer(extent_)});
    };
    ExprId all = build_.boolean(true);
    for (const StageGuard& guard : context_.stage.guards) {
        all = build_.make(Op::And, {all, inside(guard)});
    }
    Address last;
    last.offset = window_.count - 1;
    if (window_.count > 1) last.add(block_, window_.count);
    if (extent_ % window_.count != 0) all = build_.make(Op::And, {all, row(build_.sum(last))});
    when(all, build_, out, [&](Block& block) {
        steps_.set_unguarded(true);
        for (int64_t i = 0; i < window_.count; ++i) {
            Address at;
            at.offset = i;
            if (window_.count > 1) {
                at.add(block_, window_.count);
                lower_.bind(window_.rows, std::move(at));
            }
            steps_.element(block);
        }
        steps_.set_unguarded(false);
    });
    when(build_.make(Op::Not, {all}), build_, out, [&](Block& block) {
        if (window_.count == 1) return steps_.element(block);
        const VarId var = build_.var({});
        Address begin, end;
        begin.add(block_, window_.count);
        end.add(block_, window_.count);
        end.offset = window_.count;
        const ExprId most = build_.make(Op::Min, {build_.sum(end), build_.integer(extent_)});
        For rows{var, build_.sum(begin), most, 1, {}};
        lower_.bind(window_.rows, var);
        steps_.element(rows.body);
        block.push_back({std::move(rows)});
    });
}

void DeviceWindows::make() {
    Function& function = result_.function;
    function.group = kDeviceGroup;
    result_.schedule = window_.count > 1 ? fmt::format("threads, {} windows", window_.count)
                                         : std::string("threads, windows");
    std::vector<NestLoop> outer = shape_.outputs;
    for (NestLoop& loop : outer) {
        if (!is_row(loop)) continue;
        extent_ = loop.extent;
        loop.extent = (loop.extent + window_.count - 1) / window_.count;
    }
    steps_.copies_taps(kMostTaps);
    NestLoops loops(std::move(outer), {}, context_.target, result_, lower_);
    loops.as_threads(1, function.body, [&](Block& out) {
        if (window_.count > 1) block_ = lower_.bound(window_.rows).terms[0].var;
        compute(out);
    });
}

}  // namespace

void schedule_device_windows(const NestContext& context,
                             const NestShape& shape,
                             const DeviceWindow& window,
                             NestSteps& steps,
                             ScheduledKernel& result,
                             Lowering& lower) {
    DeviceWindows(context, shape, window, steps, result, lower).make();
}

}  // namespace lemma::loop
