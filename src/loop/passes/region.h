// loop/passes/region.h — the stage graph of one region, which is the main graph of a program, the
// body of a loop or the arm of a branch, with what passes find out about it.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "loop/passes/graph.h"

namespace lemma::loop {

enum class RegionKind : uint8_t { Main, Loop, Once };

// Zeros around the tensor, by axis: below index 0 and above the last one.
struct Halo {
    std::vector<int64_t> below, above;
    friend bool operator==(const Halo&, const Halo&) = default;
};
struct Layouts {
    std::unordered_map<ir::TensorId, size_t, IdHash> innermost;  // axis, where not the last
    std::unordered_map<ir::TensorId, Halo, IdHash> halos;
};

struct RegionGraph {
    // Of all regions.
    const ir::Program& program;
    BufferViews& places;   // of tensors that have memory already
    TensorSet& constants;  // values that no run changes

    RegionKind kind{};
    StageGraph graph;

    // ---- Of a loop ------------------------------------------------------------------------------
    TensorSet changing;  // what differs from step to step
    // Items that lie one behind the other, each with one for every step.
    std::unordered_map<ir::TensorId, StoragePack, IdHash> packs;
    int64_t steps = 0;  // of a loop that has such items: at most
    // Of the items that sums before the loop read: all in one tensor. And what those sums make: an
    // item for each step, and all of them in one tensor (lift.h).
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash> wholes;
    std::vector<std::pair<ir::TensorId, ir::TensorId>> made_items;

    // ---- What passes find -----------------------------------------------------------------------
    TensorSet outer;  // read, but made elsewhere (boundary.h)
    TensorSet fixed;  // row-major, for others see them (boundary.h)
    Layouts layouts;  // layouts.h
    // Tensors that are a part of another one, by axis from some index on (concat.h).
    std::unordered_map<ir::TensorId, std::pair<ir::TensorId, std::vector<int64_t>>, IdHash> inside;
    // Tensors that lie inside of another one from some element on (views.h).
    std::unordered_map<ir::TensorId, std::pair<ir::TensorId, int64_t>, IdHash> parents;
    TensorSet lifted;   // made before the loop (when.h)
    TensorSet written;  // by a group of this region that is no control flow (when.h)
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash>
        in_place;  // result: operand (in_place.h)
};

// How the region lays out the tensor, and how many elements of memory that takes.
Layout layout_of(const RegionGraph& region, ir::TensorId id, int64_t& elements);

// Tensors in whose memory others lie, or which lie in that of others.
TensorSet find_shared(const RegionGraph& region);

}  // namespace lemma::loop
