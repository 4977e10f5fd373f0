// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/windows.h"

namespace lemma::loop {

namespace {

constexpr int64_t kMostScratch = int64_t{1} << 23;  // elements for each thread

}  // namespace

int find_windows(StageGraph& graph, const Target& target, Numerics numerics, double share) {
    int count = 0;
    Target alone = target;
    alone.threads = 1;
    for (FusionGroup& group : graph.groups) {
        if (!group.contraction || group.once) continue;
        Contraction& c = *group.contraction;
        // Products of bytes and of bf16 have instructions of their own.
        if (c.kind != Kind::F32 || c.inner.valid() || c.in_place) continue;
        if (!reads_constants(graph, c.b)) continue;
        double best = direct_cost(graph.pool, alone, c) * share;
        std::optional<Window> chosen;
        for (const int64_t outputs : {2, 4}) {
            if (outputs > 2 && numerics != Numerics::Fast) continue;
            Contraction with = c;
            with.window = find_window(group.stages[0], graph.pool, c, outputs);
            if (!with.window) break;
            const double cost = choose_window(graph.pool, alone, with);
            if (cost >= best) continue;
            if (scratch_elements(graph.pool, alone, with) > kMostScratch) continue;
            best = cost;
            chosen = with.window;
        }
        c.window = chosen;
        count += chosen.has_value();
    }
    return count;
}

}  // namespace lemma::loop
