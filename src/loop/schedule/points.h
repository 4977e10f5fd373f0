// SPDX-License-Identifier: Apache-2.0
// loop/schedule/points.h — the points of a contraction, for the choice of its tile and for its
// kernel.
#pragma once

#include <vector>

#include "loop/ir/layout.h"
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

constexpr int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace lemma::loop
