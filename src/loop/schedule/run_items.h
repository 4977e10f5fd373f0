// SPDX-License-Identifier: Apache-2.0
// loop/schedule/run_items.h — divides the steps of a kernel into items that threads share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lemma::loop {

constexpr int64_t kEnoughItems = 64;  // to share among threads
constexpr int64_t kLeastWork = 4096;  // minimum number of steps of all loops in an item

// The steps of a loop in one item, where all steps together are `work`.
int64_t piece_of(int64_t steps, int64_t work);

// The division of a kernel with run-time extents: the steps of its outermost loop become items.
struct RunItems {
    // `times` a shape argument, or just `times`.
    struct Extent {
        std::optional<size_t> number;
        int64_t times = 1;
    };
    bool one = true;                 // one item: the steps must keep their order, or are no loop
    Extent outermost;                // the loop that is cut
    int64_t together = 1;            // steps of it in one vector
    std::vector<Extent> inner = {};  // loops inside it
    bool single = false;             // an item for each step, for devices
};
struct RunCut {
    int64_t items;
    int64_t steps;  // of an item; vectors, if the loop runs along lanes
};
RunCut cut_items(const RunItems& items, std::span<const int64_t> numbers);

}  // namespace lemma::loop
