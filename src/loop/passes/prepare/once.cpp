#include "loop/passes/prepare/once.h"

#include <algorithm>

namespace lemma::loop {

int mark_once(RegionGraph& region) {
    StageGraph& graph = region.graph;
    for (const FusionGroup& unit : graph.units) {
        for (const ir::TensorId id : unit.reads) {
            if (region.constants.contains(id)) graph.constants.insert(id);
        }
    }
    int count = 0;
    for (FusionGroup& unit : graph.units) {
        if (!unit.compiled()) continue;
        unit.once = std::ranges::all_of(unit.reads, [&](ir::TensorId id) {
            const bool own = std::ranges::find(unit.writes, id) != unit.writes.end();
            return own || graph.constants.contains(id);
        });
        if (!unit.once) continue;
        graph.constants.insert(unit.writes.begin(), unit.writes.end());
        ++count;
    }
    region.constants.insert(graph.constants.begin(), graph.constants.end());
    return count;
}

}  // namespace lemma::loop
