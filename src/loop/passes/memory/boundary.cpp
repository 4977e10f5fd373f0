// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/memory/boundary.h"

namespace lemma::loop {

void find_outer(RegionGraph& region) {
    TensorSet made;
    for (const FusionGroup& group : region.graph.groups) {
        made.insert(group.writes.begin(), group.writes.end());
    }
    region.outer.clear();
    for (const FusionGroup& group : region.graph.groups) {
        for (const ir::TensorId id : group.reads) {
            if (!made.contains(id)) region.outer.insert(id);
        }
    }
}

int find_boundary(RegionGraph& region) {
    find_outer(region);
    region.fixed.insert(region.graph.results.begin(), region.graph.results.end());
    region.fixed.insert(region.outer.begin(), region.outer.end());
    for (const FusionGroup& group : region.graph.groups) {
        if (group.compiled()) continue;
        region.fixed.insert(group.reads.begin(), group.reads.end());
        region.fixed.insert(group.writes.begin(), group.writes.end());
    }
    return static_cast<int>(region.fixed.size());
}

int mark_invariants(RegionGraph& region) {
    find_outer(region);
    if (region.kind != RegionKind::Loop) return 0;
    TensorSet wholes;
    for (const auto& [item, whole] : region.wholes) wholes.insert(whole);
    int count = 0;
    for (const ir::TensorId id : region.outer) {
        const bool same = !region.changing.contains(id) && !wholes.contains(id);
        if (same) count += region.graph.constants.insert(id).second ? 1 : 0;
    }
    return count;
}

}  // namespace lemma::loop
