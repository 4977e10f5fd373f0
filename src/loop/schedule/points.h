// SPDX-License-Identifier: Apache-2.0
// loop/schedule/points.h — the points of a contraction, for the choice of its tile and for its
// kernel.
#pragma once

#include <vector>

#include "loop/ir/layout.h"
#include "loop/schedule/schedule.h"
#include "loop/stage/stage.h"

namespace lemma::loop {

// Points that are contiguous in all operands become one variable: the last one, with a longer
// extent.
struct Points {
    std::vector<VarId> vars;
    std::vector<int64_t> extents;
    std::vector<VarId> merged;  // always 0

    // The last two variables: tiles are cut from them.
    int64_t columns() const { return vars.empty() ? 1 : extents.back(); }
    int64_t rows() const { return vars.size() < 2 ? 1 : extents[extents.size() - 2]; }
    // The product of the other extents.
    int64_t outer() const {
        int64_t product = 1;
        for (size_t i = 0; i + 2 < extents.size(); ++i) product *= extents[i];
        return product;
    }
};
Points merge_points(const Stage& stage,
                    const std::vector<VarId>& vars,
                    const StagePool& pool,
                    const BufferViews& places);

// The lanes of a contraction. If B is read in place, batch variables whose steps continue evenly
// beyond the last lane become part of the lane variable, which then has a longer extent.
struct Lanes {
    int64_t extent = 1;
    std::vector<VarId> merged;  // always 0
};
Lanes merge_lanes(const Stage& stage,
                  const Contraction& c,
                  const StagePool& pool,
                  const BufferViews& places);

// Whether items should copy their panels of an operand in place, which many points use. A panel has
// many steps that compete for places in the cache; or its lanes lie apart, and are picked once
// instead of for each tile.
struct PanelUse {
    int64_t points, steps, lanes;
    bool apart;
};
inline bool pays_to_copy(const PanelUse& use) {
    constexpr int64_t kShared = 32, kLong = 32, kLarge = 12'000;
    const bool large = use.steps >= kLong && total_elements(use.steps, use.lanes) > kLarge;
    return use.points > kShared && (large || use.apart);
}

constexpr int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace lemma::loop
