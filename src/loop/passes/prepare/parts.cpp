#include "loop/passes/prepare/parts.h"

#include <algorithm>

namespace lemma::loop {

namespace {

// Whether the stages are independent of each other and each has its own tensor.
bool falls_apart(const FusionGroup& unit) {
    constexpr size_t kMostParts = 16;  // larger splits are packs for loops
    const size_t parts = unit.stages.size();
    if (!unit.compiled() || parts < 2 || parts > kMostParts || unit.writes.size() != parts) {
        return false;
    }
    for (size_t i = 0; i < parts; ++i) {
        const Stage& stage = unit.stages[i];
        if (stage.writes.size() != 1 || stage.writes[0].tensor != unit.writes[i]) return false;
        if (std::ranges::find(unit.reads, unit.writes[i]) != unit.reads.end()) return false;
    }
    return true;
}

}  // namespace

int separate_parts(StageGraph& graph) {
    int count = 0;
    std::vector<FusionGroup> units;
    for (FusionGroup& unit : graph.units) {
        if (!falls_apart(unit)) {
            units.push_back(std::move(unit));
            continue;
        }
        ++count;
        for (size_t i = 0; i < unit.stages.size(); ++i) {
            FusionGroup part;
            part.op = unit.op;
            part.label = unit.label;
            part.once = unit.once;
            part.stages.push_back(std::move(unit.stages[i]));
            part.writes = {unit.writes[i]};
            find_reads(graph, part);
            units.push_back(std::move(part));
        }
    }
    graph.units = std::move(units);
    return count;
}

}  // namespace lemma::loop
