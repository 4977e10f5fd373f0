// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/pack.h"

#include <algorithm>

#include "base/check.h"
#include "loop/passes/contraction/groups.h"
#include "loop/passes/contraction/narrow_weights.h"
#include "loop/passes/contraction/round_weights.h"
#include "loop/passes/contraction/split_sums.h"
#include "loop/passes/contraction/terms.h"
#include "loop/schedule/tiles.h"
#include "loop/schedule/winograd.h"

namespace lemma::loop {

namespace {

// The weights of each position in a tile, rounded once.
std::vector<ExprId> transformed_weights(StageGraph& graph, const Window& window, ExprId weight) {
    Builder& build = graph.pool.build;
    const Filtering& by = filtering(window.outputs);
    std::vector<ExprId> values = {weight};
    for (const Window::Axis& axis : window.axes) {
        std::vector<ExprId> next;
        for (const ExprId value : values) {
            for (int64_t tap = 0; tap < kTaps; ++tap) {
                next.push_back(graph.pool.substitute(value, {{axis.tap, build.integer(tap)}}));
            }
        }
        values = std::move(next);
    }
    for (ExprId& value : values) value = build.cast(value, Kind::F64);
    values = along_axes(
        std::move(values),
        window.axes.size(),
        kTaps,
        by.size(),
        [&](const std::vector<ExprId>& line) { return transform(build, by.weights, line); });
    for (ExprId& value : values) value = build.cast(value, Kind::F32);
    return values;
}

// The values of a packed element: transformed weights, or the terms of a float.
std::vector<ExprId> values_of(StageGraph& graph, const Contraction& c, ExprId value) {
    if (c.window) return transformed_weights(graph, *c.window, value);
    if (c.terms) return terms_of(graph.pool.build, value);
    return {value};
}

// Groups of bytes or bf16 stay as they are; everything else but terms becomes float.
tensor::DType dtype_of(const StageGraph& graph, const Contraction& c) {
    if (c.terms) return tensor::DType::BF16;
    if (c.kind == Kind::F32 && c.group == 1) return tensor::DType::F32;
    return graph.dtypes.at(tensor_of(graph.pool[c.b]));
}

void choose(FusionGroup& group, StagePool& pool, const BufferViews& places, const Target& target) {
    const Stage& stage = group.stages[0];
    Contraction& c = *group.contraction;
    if (c.group > 1 && suits_tiles(stage, pool, places, target, c)) {
        return choose_tiles(stage, pool, places, target, c);
    }
    choose_tile(stage, pool, places, target, c);
}

FusionGroup pack_group(StageGraph& graph, FusionGroup& group, const Target& target) {
    Contraction& c = *group.contraction;
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
    size_t position = shape.size();  // of the axis for several values
    ExprId group_index;
    if (c.window) {
        add(1);
        with[c.window->channel] = add(pool.extent(c.window->channel));
    } else {
        for (const VarId var : c.reduced) {
            const ExprId index = add(pool.extent(var));
            (var == c.groups ? group_index : with[var]) = index;
        }
        if (c.terms) {
            position = shape.size();
            add(1);
        }
    }
    const int64_t width = c.vectors * target.lanes();
    const ExprId lane = add(width);
    const ExprId column = c.device ? packed_column(build, *c.device, lane) : lane;
    ExprId channel =
        build.make(Op::Add, {build.make(Op::Mul, {block, build.integer(width)}), column});
    const int64_t extent = pool.extent(c.lane);
    bool padded = c.blocks * width > extent;
    if (padded) {
        stage.guards.push_back({channel, extent});
        channel = build.assume(channel, extent);
    }
    with[c.lane] = channel;
    if (c.group > 1) {
        const ExprId first = build.make(Op::Mul, {group_index, build.integer(c.group)});
        ExprId element = build.make(Op::Add, {first, add(c.group)});
        const int64_t elements = pool.extent(c.inner);
        if (elements % c.group != 0) {
            stage.guards.push_back({element, elements});
            element = build.assume(element, elements);
            padded = true;
        }
        with[c.inner] = element;
    }
    ExprId value = c.b;
    if (group.weight_factor.valid()) value = build.make(Op::Mul, {value, group.weight_factor});
    const std::vector<ExprId> values = values_of(graph, c, value);
    const bool several = values.size() > 1;
    if (several) shape[position] = std::ssize(values);
    c.packed = graph.new_tensor(dtype_of(graph, c), shape);
    write.tensor = c.packed;
    if (padded) graph.padded.insert(c.packed);
    for (size_t i = 0; i < values.size(); ++i) {
        if (several) write.index[position] = build.integer(static_cast<int64_t>(i));
        write.value = pool.substitute(values[i], with);
        stage.writes.push_back(write);
    }
    FusionGroup made;
    made.op = group.op;
    made.label = group.label + " pack";
    made.once = reads_constants(graph, c.b);
    if (made.once) graph.constants.insert(c.packed);
    made.stages.push_back(std::move(stage));
    made.writes = {c.packed};
    find_reads(graph, made);
    return made;
}

// Whether the channels of a point lie side by side.
bool reads_channels(const StageGraph& graph, const BufferViews& places, const Contraction& c) {
    const Expr& a = graph.pool[c.a];
    return stride_of(graph.pool, places.at(tensor_of(a)), a.args, c.window->channel) == 1;
}

void add_scratch(StageGraph& graph, FusionGroup& group, const Target& target) {
    Contraction& c = *group.contraction;
    choose_window(graph.pool, target, c);
    const int64_t elements = scratch_elements(graph.pool, target, c);
    c.window->scratch = graph.new_tensor(tensor::DType::F32, {elements});
    graph.scratch.insert(c.window->scratch);
    group.writes.push_back(c.window->scratch);
}

// The group that adds the parts of the sum, if it is split. Bytes that do not lie in groups of four
// stay plain loops.
std::optional<FusionGroup> choose_for_device(RegionGraph& region,
                                             FusionGroup& group,
                                             const Target& target,
                                             Numerics numerics) {
    Contraction& c = *group.contraction;
    const bool fast = numerics == Numerics::Fast;
    std::optional<FusionGroup> adding;
    if (!group_steps(region, group, target) && c.kind == Kind::I32) {
        group.contraction.reset();
        return adding;
    }
    const int64_t parts = choose_device_tile(region.graph.pool, region.places, target, fast, c);
    if (parts > 1) adding = split_sum(region, group, parts);
    if (adding) choose_device_tile(region.graph.pool, region.places, target, fast, c);
    return adding;
}

// Lets the items of a device have more neighbouring columns. Weights are packed once; to pack
// others in that order takes too long.
void join_columns(const StageGraph& graph, Contraction& c) {
    constexpr int64_t kColumns = 8, kMostMatrices = 4;
    if (!c.device || !c.device->products || !reads_constants(graph, c.b)) return;
    c.device->together *= std::min(c.device->own_columns / kColumns, kMostMatrices);
}

// Memory for the panel that an item copies, if the operand is copied.
void add_panel(StageGraph& graph, FusionGroup& group, const Target& target) {
    Contraction& c = *group.contraction;
    if (!c.copies) return;
    int64_t elements = c.panel_blocks * c.vectors * target.lanes();
    for (const VarId var : c.reduced) elements = total_elements(elements, graph.pool.extent(var));
    c.panel = graph.new_tensor(tensor::DType::F32, {elements});
    graph.scratch.insert(c.panel);
    group.writes.push_back(c.panel);
}

}  // namespace

int pack_weights(RegionGraph& region, const Target& target, Numerics numerics) {
    StageGraph& graph = region.graph;
    int count = 0;
    int narrow = target.device ? 0 : find_narrow_weights(graph);
    if (!target.device && numerics == Numerics::Fast) narrow += round_weights(graph);
    std::vector<FusionGroup> groups;
    for (FusionGroup& group : graph.groups) {
        std::optional<FusionGroup> adding;
        if (group.contraction) {
            ++count;
            Contraction& c = *group.contraction;
            if (c.window && !reads_channels(graph, region.places, c)) c.window.reset();
            if (target.device) {
                adding = choose_for_device(region, group, target, numerics);
            } else if (c.window) {
                add_scratch(graph, group, target);
            } else if (c.narrow) {
                choose_tile(group.stages[0], graph.pool, region.places, target, c);
            } else {
                const bool grouped = group_steps(region, group, target);
                LEMMA_CHECK(grouped || !c.terms);
                choose(group, graph.pool, region.places, target);
            }
        }
        if (group.contraction && group.contraction->narrow) {
            pack_narrow(graph, group, target, groups);
        } else if (group.contraction && group.contraction->in_place) {
            add_panel(graph, group, target);
        } else if (group.contraction) {
            join_columns(graph, *group.contraction);
            FusionGroup made = pack_group(graph, group, target);
            group.reads.push_back(made.writes[0]);
            groups.push_back(std::move(made));
        }
        groups.push_back(std::move(group));
        if (adding) groups.push_back(std::move(*adding));
    }
    graph.groups = std::move(groups);
    if (narrow > 0) drop_unread(graph);
    return count;
}

}  // namespace lemma::loop
