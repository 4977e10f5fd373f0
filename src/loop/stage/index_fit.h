// loop/stage/index_fit.h — whether the arithmetic of an index fits 64 bits. Values of tensors wrap
// around; an index that does names another element than the one that was meant, and is an error.
#pragma once

#include <vector>

#include "loop/stage/stage.h"

namespace lemma::loop {

struct IndexFit {
    enum class When : uint8_t {
        Always,
        // It may wrap around, but what comes out is outside of every tensor then: one number that
        // the run tells, and a small distance from it.
        OutsideElse,
        Sometimes,  // where `good` holds
        Unknown,
    };
    When when = When::Always;
    ExprId good;  // a condition on elements of tensors
};
// `ends` has the variables of a stage with run-time extents, and what tells how far they count:
// their arithmetic is taken to fit, as far as `sizes` do, which are reals that must stay below
// kMostIndex.
constexpr double kMostIndex = 4.6e18;
struct RunEnds {
    std::unordered_map<VarId, ExprId, IdHash> ends;
    std::vector<ExprId> sizes;
};
IndexFit index_fit(StagePool& pool, ExprId index, RunEnds* ends = nullptr);

}  // namespace lemma::loop
