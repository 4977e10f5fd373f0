// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/parts.h"

#include <algorithm>

namespace lemma::loop {

namespace {

// Whether the stages are independent of each other and each has its own tensor.
bool falls_apart(const FusionGroup& group) {
    constexpr size_t kMostParts = 16;  // larger splits are packs for loops
    const size_t parts = group.stages.size();
    if (!group.compiled() || parts < 2 || parts > kMostParts || group.writes.size() != parts) {
        return false;
    }
    for (size_t i = 0; i < parts; ++i) {
        const Stage& stage = group.stages[i];
        if (stage.writes.size() != 1 || stage.writes[0].tensor != group.writes[i]) return false;
        if (std::ranges::find(group.reads, group.writes[i]) != group.reads.end()) return false;
    }
    return true;
}

}  // namespace

int separate_parts(StageGraph& graph) {
    int count = 0;
    std::vector<FusionGroup> groups;
    for (FusionGroup& group : graph.groups) {
        if (!falls_apart(group)) {
            groups.push_back(std::move(group));
            continue;
        }
        ++count;
        for (size_t i = 0; i < group.stages.size(); ++i) {
            FusionGroup part;
            part.op = group.op;
            part.label = group.label;
            part.once = group.once;
            part.stages.push_back(std::move(group.stages[i]));
            part.writes = {group.writes[i]};
            find_reads(graph, part);
            groups.push_back(std::move(part));
        }
    }
    graph.groups = std::move(groups);
    return count;
}

}  // namespace lemma::loop
