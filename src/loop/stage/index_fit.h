// SPDX-License-Identifier: Apache-2.0
// loop/stage/index_fit.h — whether the arithmetic of an index fits 64 bits. Values of tensors may
// wrap around; an index that wraps around would name the wrong element, and is an error.
#pragma once

#include <vector>

#include "loop/stage/stage.h"

namespace lemma::loop {

struct IndexFit {
    enum class When : uint8_t {
        Always,
        // It may wrap around, but then the result is outside every tensor: a run-time value plus a
        // small distance.
        OutsideElse,
        Sometimes,  // where `good` holds
        Unknown,
    };
    When when = When::Always;
    ExprId good;  // a condition on elements of tensors
};
// `ends` has the variables of a stage with run-time extents, with the ends of their ranges. The
// arithmetic of these variables fits if all `sizes`, which are reals, stay below kMostIndex.
constexpr double kMostIndex = 4.6e18;
struct RunEnds {
    std::unordered_map<VarId, ExprId, IdHash> ends;
    std::vector<ExprId> sizes;
};
IndexFit index_fit(StagePool& pool, ExprId index, RunEnds* ends = nullptr);

}  // namespace lemma::loop
