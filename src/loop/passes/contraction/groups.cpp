// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/groups.h"

#include <algorithm>

#include "loop/schedule/tiles.h"

namespace lemma::loop {

namespace {

constexpr int64_t kGroupBytes = 4;

// The axis of A that the variable alone is the index of. With terms, it may be a part of the index.
std::optional<size_t> axis_of(const StagePool& pool, const Contraction& c) {
    const Expr& a = pool[c.a];
    for (size_t axis = 0; axis < a.args.size(); ++axis) {
        const Expr& index = pool[a.args[axis]];
        if (index.op == Op::Var && index.integer == c.inner.value) return axis;
        if (c.terms && pool.depends(a.args[axis], c.inner)) return axis;
    }
    return std::nullopt;
}

// Whether memory has room for the last group behind every element.
bool has_room(const RegionGraph& region, const Expr& a, size_t axis, int64_t group) {
    const int64_t extent = region.graph.shapes.at(tensor_of(a))[axis];
    const int64_t missing = (group - extent % group) % group;
    if (missing == 0) return true;
    const auto halo = region.layouts.halos.find(tensor_of(a));
    return halo != region.layouts.halos.end() && halo->second.above[axis] >= missing &&
           !region.inside.contains(tensor_of(a)) && !region.parents.contains(tensor_of(a));
}

}  // namespace

bool group_steps(RegionGraph& region, FusionGroup& group, const Target& target) {
    StagePool& pool = region.graph.pool;
    Contraction& c = *group.contraction;
    if (c.lane_in_a || !c.inner.valid()) return false;
    const bool dots = c.kind == Kind::I32 ? target.byte_dots : target.bf16_dots && !c.terms;
    const bool possible =
        target.device || dots || suits_tiles(group.stages[0], pool, region.places, target, c);
    if (!possible) return false;
    const Expr a = pool[c.a];
    const auto axis = axis_of(pool, c);
    const BufferView& place = region.places.at(tensor_of(a));
    if (!axis || stride_of(pool, place, a.args, c.inner) != 1) return false;
    const int64_t size = kGroupBytes / tensor::dtype_size(place.dtype);
    if (!has_room(region, a, *axis, size)) return false;
    const int64_t extent = pool.extent(c.inner);
    const VarId groups = pool.new_var((extent + size - 1) / size);
    Builder& build = pool.build;
    const ExprId first = build.make(Op::Mul, {build.index(groups), build.integer(size)});
    Stage& stage = group.stages[0];
    c.a = pool.substitute(c.a, {{c.inner, first}});
    stage.writes[0].value = pool.substitute(stage.writes[0].value, {{c.inner, first}});
    for (StageLoop& loop : stage.loops) {
        if (loop.var == c.inner) loop = {groups, pool.extent(groups)};
    }
    std::ranges::replace(c.reduced, c.inner, groups);
    c.groups = groups;
    c.group = size;
    return true;
}

}  // namespace lemma::loop
