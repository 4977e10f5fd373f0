// loop/schedule/schedule_dynamic.h — kernels with run-time extents.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "loop/schedule/schedule.h"
#include "loop/stage/dynamic.h"

namespace lemma::loop {

// How the steps of the outermost loop become items, when the extents are known.
struct RunItems {
    struct Extent {
        std::optional<size_t> number;  // of the run; else
        int64_t constant = 1;
    };
    bool one = true;                 // item: the steps must keep their order, or are no loop
    Extent outermost;                // the loop that is cut
    int64_t together = 1;            // steps of it that are one vector
    std::vector<Extent> inner = {};  // loops inside of it
};
struct RunCut {
    int64_t items;
    int64_t steps;  // of an item: vectors, if the loop runs along lanes
};
RunCut cut_items(const RunItems& items, std::span<const int64_t> numbers);

struct ScheduledDynamic {
    ScheduledKernel kernel;
    RunItems items;
};
// BufferViews of tensors without a shape have only a storage and a type.
ScheduledDynamic schedule_dynamic(const Stage& stage,
                                  const DynamicShape& run_time,
                                  StagePool& pool,
                                  const BufferViews& places,
                                  const Target& target);

}  // namespace lemma::loop
