#include "loop/passes/prepare/unused.h"

#include <algorithm>

namespace lemma::loop {

int drop_unused(StageGraph& graph) {
    TensorSet wanted = graph.results;
    for (size_t i = graph.units.size(); i-- > 0;) {
        FusionGroup& unit = graph.units[i];
        const bool used =
            std::ranges::any_of(unit.writes, [&](ir::TensorId id) { return wanted.contains(id); });
        unit.dead = !used && unit.compiled();
        if (!unit.dead) wanted.insert(unit.reads.begin(), unit.reads.end());
    }
    const auto dropped =
        std::erase_if(graph.units, [](const FusionGroup& unit) { return unit.dead; });
    return static_cast<int>(dropped);
}

}  // namespace lemma::loop
