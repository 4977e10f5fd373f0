// SPDX-License-Identifier: Apache-2.0
// loop/passes/region.h — the stage graph of one region, which is the main graph of a program, the
// body of a loop or the arm of a branch, with the results of passes.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "loop/passes/graph.h"

namespace lemma::loop {

enum class RegionKind : uint8_t { Main, Loop, Once };

// Zeros around the tensor, by axis: below index 0 and above the last index.
struct Halo {
    std::vector<int64_t> below, above;
    friend bool operator==(const Halo&, const Halo&) = default;
};
struct Layouts {
    std::unordered_map<ir::TensorId, size_t, IdHash> innermost;  // axis, where not the last
    std::unordered_map<ir::TensorId, Halo, IdHash> halos;
};

struct RegionGraph {
    // For all regions.
    const ir::Program& program;
    BufferViews& places;   // of tensors that already have memory
    TensorSet& constants;  // values that no run changes

    RegionKind kind{};
    StageGraph graph;

    // ---- In a loop ------------------------------------------------------------------------------
    TensorSet changing;  // values that differ between iterations
    // Items at regular distances in memory, one per iteration.
    std::unordered_map<ir::TensorId, StoragePack, IdHash> packs;
    int64_t steps = 0;  // of a loop with such items: at most
    // For items that lifted sums read: the tensor of all items. And the results of those sums: an
    // item per iteration, and the tensor of all of them (lift.h).
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash> wholes;
    std::vector<std::pair<ir::TensorId, ir::TensorId>> made_items;

    // ---- Results of passes ----------------------------------------------------------------------
    TensorSet outer;  // read, but made elsewhere (boundary.h)
    TensorSet fixed;  // row-major, because others use them (boundary.h)
    Layouts layouts;  // layouts.h
    // Tensors that are a part of another one, with their first index by axis (concat.h).
    std::unordered_map<ir::TensorId, std::pair<ir::TensorId, std::vector<int64_t>>, IdHash> inside;
    // Tensors inside another one, with their first element (views.h).
    std::unordered_map<ir::TensorId, std::pair<ir::TensorId, int64_t>, IdHash> parents;
    TensorSet lifted;   // made before the loop (when.h)
    TensorSet written;  // by a group of this region other than control flow (when.h)
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash>
        in_place;  // result: operand (in_place.h)
};

// The layout of the tensor in this region, and its size in elements of memory.
Layout layout_of(const RegionGraph& region, ir::TensorId id, int64_t& elements);

// Tensors that share memory with other tensors, as the container or the part.
TensorSet find_shared(const RegionGraph& region);

}  // namespace lemma::loop
