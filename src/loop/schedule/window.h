// SPDX-License-Identifier: Apache-2.0
// loop/schedule/window.h — the sizes of a contraction with a window, for the choice of its blocks
// and for its kernel.
#pragma once

#include <vector>

#include "loop/schedule/schedule.h"

namespace lemma::loop {

struct WindowSizes {
    int64_t outputs = 2, size = 4;  // of a tile along each axis: sums and products
    int64_t positions = 1;          // products of a tile
    int64_t channels = 1;
    std::vector<VarId> others;    // points outside the window, outermost first
    std::vector<int64_t> counts;  // of tiles along each axis of the window
    int64_t tiles = 1;            // all
    int64_t vectors = 1;          // along the lane variable
    int64_t batches = 1;
};
WindowSizes window_sizes(const StagePool& pool, const Target& target, const Contraction& c);
// With the chosen blocks.
WindowItems window_items(const StagePool& pool, const Target& target, const Contraction& c);

// The scratch memory: [positions, tiles, channels], then [positions, tiles, vectors * lanes].
// Positions are a line more apart, because a multiple of the page size would fall on few lines of
// the cache.
struct WindowScratch {
    int64_t tile_step = 0, position_step = 0;
    int64_t totals = 0;  // first element of the totals
    int64_t total_tile_step = 0, total_position_step = 0;
    int64_t elements = 0;
};
WindowScratch window_scratch(const WindowItems& items, int64_t tiles);

}  // namespace lemma::loop
