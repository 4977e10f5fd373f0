// loop/schedule/run_items.h — how the steps of a kernel become items that threads share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lemma::loop {

constexpr int64_t kEnoughItems = 64;  // to share among threads
constexpr int64_t kLeastWork = 4096;  // steps of all loops that an item does

// How many steps of a loop an item does, if all steps together are so much work.
int64_t piece_of(int64_t steps, int64_t work);

// How a kernel with run-time extents is cut: the steps of its outermost loop become items.
struct RunItems {
    // `times` as much as a number that the run tells, or as one.
    struct Extent {
        std::optional<size_t> number;
        int64_t times = 1;
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

}  // namespace lemma::loop
