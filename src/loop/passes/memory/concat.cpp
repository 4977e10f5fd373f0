// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/memory/concat.h"

#include <algorithm>

namespace lemma::loop {

namespace {

// A copy of all elements of a tensor into a part of another one.
struct Insertion {
    ir::TensorId from;
    std::vector<int64_t> begin;  // by axis
};

std::optional<Insertion> insertion_of(const Stage& stage, const StageGraph& graph) {
    if (!is_plain(stage)) return std::nullopt;
    const StageWrite& write = stage.writes[0];
    const Expr& value = graph.pool[write.value];
    if (value.op != Op::Read || value.args.size() != write.index.size()) return std::nullopt;
    Insertion result{tensor_of(value), {}};
    const auto shape = graph.shapes.find(result.from);
    if (shape == graph.shapes.end() || result.from == write.tensor) return std::nullopt;
    if (graph.dtypes.at(result.from) != graph.dtypes.at(write.tensor)) return std::nullopt;
    for (size_t axis = 0; axis < value.args.size(); ++axis) {
        const auto from = graph.pool.affine(value.args[axis]);
        const auto to = graph.pool.affine(write.index[axis]);
        if (!from || !to || from->offset != 0 || from->terms != to->terms) return std::nullopt;
        const int64_t extent = shape->second[axis];
        const bool whole = from->terms.empty()
                               ? extent == 1
                               : from->terms.size() == 1 && from->terms[0].factor == 1 &&
                                     graph.pool.extent(from->terms[0].var) == extent;
        if (!whole) return std::nullopt;
        result.begin.push_back(to->offset);
    }
    return result;
}

}  // namespace

int find_insertions(RegionGraph& region) {
    StageGraph& graph = region.graph;
    const size_t before = region.inside.size();
    TensorSet made;  // by one kernel each, internal to the region
    for (const FusionGroup& group : graph.groups) {
        if (group.compiled() && !group.once && group.writes.size() == 1)
            made.insert(group.writes[0]);
    }
    const auto free = [&](ir::TensorId id) {
        return made.contains(id) && !region.fixed.contains(id) && !graph.results.contains(id) &&
               !graph.constants.contains(id) && !graph.padded.contains(id) &&
               !region.places.contains(id);
    };
    for (FusionGroup& group : graph.groups) {
        if (!group.compiled() || group.once || group.contraction || group.writes.size() != 1)
            continue;
        const ir::TensorId whole = group.writes[0];
        if (group.stages.size() < 2 || !free(whole)) continue;
        const bool parts = std::ranges::all_of(group.stages, [&](const Stage& stage) {
            return stage.empty || insertion_of(stage, graph);
        });
        if (!parts) continue;
        std::erase_if(group.stages, [&](const Stage& stage) {
            const auto insertion = insertion_of(stage, graph);
            if (!insertion || !free(insertion->from)) return false;
            if (region.inside.contains(insertion->from)) return false;
            if (region.layouts.halos.contains(insertion->from)) return false;
            region.inside[insertion->from] = {whole, insertion->begin};
            return true;
        });
        find_reads(graph, group);
    }
    std::erase_if(graph.groups, [](const FusionGroup& group) {
        return group.compiled() && group.stages.empty();
    });
    return static_cast<int>(region.inside.size() - before);
}

}  // namespace lemma::loop
