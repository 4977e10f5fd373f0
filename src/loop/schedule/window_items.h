// SPDX-License-Identifier: Apache-2.0
// loop/schedule/window_items.h — divides a sum over windows into items that threads share. The code
// of the sum takes the sizes of its items as numbers, so that it serves any number of threads.
#pragma once

#include <cstdint>
#include <vector>

namespace lemma::loop {

struct WindowItems {
    int64_t outputs = 2, positions = 1, axes = 1;  // of a tile
    int64_t channels = 1;
    int64_t tiles = 1, vectors = 1, batches = 1;  // of the sum
    int64_t vector_bytes = 64, l2_bytes = 0;      // of the processor
    int64_t block = 1, points = 1;                // vectors and tiles in registers
    int64_t room = 1;                             // the most tiles of a block in scratch memory
};

// An item has a group of blocks of vectors, and a block of tiles.
struct WindowCut {
    int64_t tiles = 1, tile_blocks = 1;  // tiles of a block, and such blocks
    int64_t in_group = 1, groups = 1;    // blocks of vectors of a group, and groups
    int64_t items = 1;

    // What the code takes, in this order.
    std::vector<int64_t> numbers() const { return {tiles, tile_blocks, in_group, groups}; }
};
// Bytes of the packed operand.
int64_t all_weights(const WindowItems& w);
// The best division for so many threads. One and two have the same.
WindowCut cut_items(const WindowItems& items, int64_t threads);

}  // namespace lemma::loop
