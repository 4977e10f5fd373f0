// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/memory/when.h"

#include <algorithm>

namespace lemma::loop {

namespace {

// Whether the predicate holds for each tensor that the group reads, or for the tensor that contains
// it.
template <class Good>
bool all_reads(const RegionGraph& region, const FusionGroup& group, const Good& good) {
    return std::ranges::all_of(group.reads, [&](ir::TensorId id) {
        const bool own = std::ranges::find(group.writes, id) != group.writes.end();
        if (own || good(id)) return true;
        auto parent = region.parents.find(id);
        for (; parent != region.parents.end(); parent = region.parents.find(id)) {
            id = parent->second.first;
        }
        return good(id);
    });
}

}  // namespace

int find_when(RegionGraph& region) {
    int count = 0;
    const auto is_constant = [&](ir::TensorId id) { return region.constants.contains(id); };
    const auto stays = [&](ir::TensorId id) {
        const bool same = region.outer.contains(id) && !region.changing.contains(id);
        return same || region.lifted.contains(id) || is_constant(id);
    };
    region.written.clear();
    for (FusionGroup& group : region.graph.groups) {
        if (group.compiled()) {
            group.once = group.once && all_reads(region, group, is_constant);
            if (group.once) {
                region.constants.insert(group.writes.begin(), group.writes.end());
                ++count;
                continue;
            }
            const bool lifted = region.kind == RegionKind::Loop && all_reads(region, group, stays);
            if (lifted) {
                region.lifted.insert(group.writes.begin(), group.writes.end());
                ++count;
                continue;
            }
        }
        const bool control = group.control();
        if (!control) region.written.insert(group.writes.begin(), group.writes.end());
    }
    return count;
}

}  // namespace lemma::loop
