// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/once.h"

#include <algorithm>

namespace lemma::loop {

int mark_once(RegionGraph& region) {
    StageGraph& graph = region.graph;
    for (const FusionGroup& group : graph.groups) {
        for (const ir::TensorId id : group.reads) {
            if (region.constants.contains(id)) graph.constants.insert(id);
        }
    }
    int count = 0;
    for (FusionGroup& group : graph.groups) {
        if (!group.compiled()) continue;
        group.once = std::ranges::all_of(group.reads, [&](ir::TensorId id) {
            const bool own = std::ranges::find(group.writes, id) != group.writes.end();
            return own || graph.constants.contains(id);
        });
        if (!group.once) continue;
        graph.constants.insert(group.writes.begin(), group.writes.end());
        ++count;
    }
    region.constants.insert(graph.constants.begin(), graph.constants.end());
    return count;
}

}  // namespace lemma::loop
