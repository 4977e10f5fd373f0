// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/unused.h"

#include <algorithm>

namespace lemma::loop {

int drop_unused(StageGraph& graph) {
    TensorSet wanted = graph.results;
    for (size_t i = graph.groups.size(); i-- > 0;) {
        FusionGroup& group = graph.groups[i];
        const bool used =
            std::ranges::any_of(group.writes, [&](ir::TensorId id) { return wanted.contains(id); });
        group.dead = !used && group.compiled();
        if (!group.dead) wanted.insert(group.reads.begin(), group.reads.end());
    }
    const auto dropped =
        std::erase_if(graph.groups, [](const FusionGroup& group) { return group.dead; });
    return static_cast<int>(dropped);
}

}  // namespace lemma::loop
