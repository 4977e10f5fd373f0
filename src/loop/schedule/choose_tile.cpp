// SPDX-License-Identifier: Apache-2.0
// Chooses the tile of a contraction: the vectors and points in registers, by the cost of a step.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "loop/schedule/points.h"
#include "loop/schedule/schedule.h"

namespace lemma::loop {

namespace {

// Bytes of weights that stay in the L2 of each thread, and points of a row that many threads share.
// The next kernel cuts the points in the same places, so its operands are where they were made.
constexpr int64_t kSmallWeights = int64_t{512} << 10;
constexpr int64_t kManyPoints = 512;

// The loads of a step: elements of A for all lanes; elements of A in vectors; vectors of B where it
// lies, which cross cache lines; vectors of B whose lanes lie apart.
enum class Loads : uint8_t { Elements, Vectors, InPlace, Apart };

// Cycles for one step of the reduction in a tile: the multiplications, the loads, or their latency.
// By measurement, tiles of one or two vectors are a little slower.
double tile_cost(int64_t vectors, int64_t points, Loads kind) {
    const auto v = static_cast<double>(vectors);
    const auto p = static_cast<double>(points);
    const double loads = kind == Loads::Vectors   ? v * (p + 1) / 2
                         : kind == Loads::InPlace ? (2 * v + p) / 2
                         : kind == Loads::Apart   ? (4 * v + p) / 2
                                                  : (v + p) / 2;
    const double measured = vectors == 1 ? 1.15 : vectors == 2 ? 1.04 : vectors == 4 ? 1.0 : 1.02;
    // Lanes that lie apart are picked from two vectors, by a unit that multiplies, too.
    const double picks = kind == Loads::Apart ? v / 2 : 0;
    return (std::max({v * p / 2 + picks, loads, 4.0}) + 0.25 + 0.1 * v) * measured;
}

// The space that tiles are cut from.
struct Whole {
    int64_t vectors, rows, columns;
    int64_t outer;  // points outside rows and columns
    int64_t depth;  // of the sums
    Loads loads;
    int64_t stride = 0;  // bytes from a column to the next in A; 0: irregular
};
Whole whole_of(const Contraction& c,
               const StagePool& pool,
               const BufferViews& places,
               const Target& target,
               const Points& points,
               const Lanes& lanes) {
    const Expr& b = pool[c.b];
    const bool direct = c.in_place && !c.copies;
    const bool apart = direct && stride_of(pool, places.at(tensor_of(b)), b.args, c.lane) != 1;
    Whole whole{c.stacked.valid() ? pool.extent(c.stacked) : ceil_of(lanes.extent, target.lanes()),
                points.rows(),
                points.columns(),
                points.outer(),
                1,
                c.lane_in_a ? Loads::Vectors
                : apart     ? Loads::Apart
                : direct    ? Loads::InPlace
                            : Loads::Elements};
    for (const VarId var : c.reduced) whole.depth *= pool.extent(var);
    if (points.vars.empty()) return whole;
    const Expr& a = pool[c.a];
    const BufferView& from = places.at(tensor_of(a));
    const int64_t stride = stride_of(pool, from, a.args, points.vars.back());
    if (stride != INT64_MAX) whole.stride = stride * tensor::dtype_size(from.dtype);
    return whole;
}

struct TileShape {
    int64_t vectors, rows, columns;
};

// The cost of all tiles, including those at the edges.
double cost_of(const Whole& whole, const TileShape& tile) {
    const auto row = [&](int64_t vectors, int64_t height) {
        double cost = static_cast<double>(whole.columns / tile.columns) *
                      tile_cost(vectors, height * tile.columns, whole.loads);
        const int64_t rest = whole.columns % tile.columns;
        if (rest) cost += tile_cost(vectors, height * rest, whole.loads);
        return cost;
    };
    const auto rows = [&](int64_t vectors) {
        const int64_t rest = whole.rows % tile.rows;
        return static_cast<double>(whole.rows / tile.rows) * row(vectors, tile.rows) +
               (rest ? row(vectors, rest) : 0);
    };
    const int64_t rest = whole.vectors % tile.vectors;
    return static_cast<double>(whole.vectors / tile.vectors) * rows(tile.vectors) +
           (rest ? rows(rest) : 0);
}

// The cheapest tile of `vectors` vectors and at most `most_points` points, if there is one.
struct Priced {
    TileShape tile;
    double cost = HUGE_VAL;
};
Priced cheapest(const Whole& whole, int64_t vectors, int64_t most_points) {
    Priced best;
    for (int64_t rows = 1; rows <= std::min<int64_t>(whole.rows, 4); ++rows) {
        for (int64_t columns = 1; columns <= std::min(whole.columns, most_points / rows);
             ++columns) {
            if (rows > 1 && columns != whole.columns) continue;
            const TileShape tile{vectors, rows, columns};
            const double cost = cost_of(whole, tile);
            if (cost < best.cost * 0.999) best = {tile, cost};
        }
    }
    return best;
}

// The elements of A for a step of one vector come from as many cache lines as there are points.
// Lines at a distance of a power of two compete for few places in the cache.
int64_t points_in_cache(int64_t stride) {
    constexpr int64_t kWays = 8, kSets = 64, kLine = 64;
    if (stride == 0) return kWays * kSets;
    const int64_t distance = std::gcd(stride, kSets * kLine);
    return kWays * (kSets * kLine / std::max(distance, kLine));
}

// The points that fit the registers, beside the vectors of weights and one element of A.
int64_t most_points(const Target& target, const Whole& whole, int64_t vectors) {
    int64_t most = (target.registers - 1 - vectors) / vectors;
    if (vectors == 1) most = std::min(most, points_in_cache(whole.stride));
    if (whole.loads != Loads::Vectors) return most;
    return vectors > 2 ? 0 : std::min(most, 14 / vectors);
}

// ---- Long sums ----------------------------------------------------------------------------------

// One panel is in use while the next is loaded.
int64_t panel_bytes(const Target& target) { return target.l2_bytes / 3; }

// Whether the result's memory can hold totals between parts: the type is the same, and nobody reads
// the old contents.
bool can_be_cut(const Stage& stage,
                const StagePool& pool,
                const BufferViews& places,
                const Contraction& c) {
    const StageWrite& write = stage.writes[0];
    const BufferView& to = places.at(write.tensor);
    bool free = to.dtype == tensor::DType::F32 && c.kind == Kind::F32 && !c.lane_in_a &&
                !c.in_place && !c.squares.valid();
    for (const ExprId value : {write.value, stage.initial, stage.finish}) {
        pool.visit_reads(value, [&](ExprId, const Expr& e) {
            const auto from = places.find(tensor_of(e));
            if (from != places.end()) free = free && from->second.storage != to.storage;
        });
    }
    return free;
}

// See Contraction.
struct Cut {
    size_t at = 0;
    int64_t steps = 0;
    int64_t parts = 1;
};
// The fewest parts whose share of a panel stays in the cache.
Cut cut_of(const Contraction& c, const StagePool& pool, const Target& target, int64_t vectors) {
    Cut cut;
    int64_t inner = vectors * target.vector_bytes;  // of one step
    for (const VarId var : c.reduced) inner *= pool.extent(var);
    for (; cut.at < c.reduced.size(); ++cut.at) {
        const int64_t extent = pool.extent(c.reduced[cut.at]);
        inner /= extent;
        if (inner > panel_bytes(target)) {
            cut.parts *= extent;
            continue;
        }
        const int64_t pieces = ceil_of(extent, std::max<int64_t>(panel_bytes(target) / inner, 1));
        cut.steps = ceil_of(extent, pieces);
        cut.parts *= ceil_of(extent, cut.steps);
        return cut;
    }
    return {};
}

bool contains(const std::vector<VarId>& vars, VarId var) {
    return std::ranges::find(vars, var) != vars.end();
}

// The longest batch variable of B alone, if the lanes fill one vector at most.
VarId stacked_of(const Contraction& c,
                 const StagePool& pool,
                 const Target& target,
                 const Lanes& lanes) {
    VarId best;
    if (!c.in_place || lanes.extent > target.lanes()) return best;
    for (const VarId var : c.batch) {
        if (pool.depends(c.a, var) || contains(lanes.merged, var)) continue;
        if (!best.valid() || pool.extent(var) > pool.extent(best)) best = var;
    }
    return best;
}

// See Contraction.
bool copies_of(const Contraction& c,
               const StagePool& pool,
               const BufferViews& places,
               const Points& points,
               const Lanes& lanes) {
    if (!c.in_place || c.stacked.valid() || points.vars.size() != 1) return false;
    int64_t steps = 1;
    for (const VarId var : c.reduced) steps = total_elements(steps, pool.extent(var));
    const Expr& b = pool[c.b];
    const bool apart = stride_of(pool, places.at(tensor_of(b)), b.args, c.lane) != 1;
    return pays_to_copy({points.columns(), steps, lanes.extent, apart});
}

// The blocks of a panel: runs of a few cache lines in the operand and in the result are slow. The
// panel stays in the cache, and threads have enough panels.
int64_t blocks_of_panel(const Contraction& c, const Target& target, int64_t depth) {
    constexpr int64_t kRun = 2048;  // bytes
    constexpr int64_t kLeastPanels = 8;
    const int64_t width = c.vectors * target.vector_bytes;
    const int64_t most = target.l2_bytes / 4 / total_elements(width, depth);
    return std::max<int64_t>(std::min({most, kRun / width, c.blocks / kLeastPanels}), 1);
}

// Whether tiles of an operand in place write many rows of a result that leaves the cache: each row
// would get a few cache lines at a time.
bool writes_far_rows(const Stage& stage,
                     const BufferViews& places,
                     const Target& target,
                     const Points& points,
                     const Contraction& c) {
    if (!c.in_place || c.stacked.valid() || points.columns() <= c.columns) return false;
    const BufferView& to = places.at(stage.writes[0].tensor);
    if (!to.extents.empty()) return false;
    const int64_t elements = *tensor::volume(to.shape);
    return total_elements(elements, tensor::dtype_size(to.dtype)) > target.l2_bytes / 2;
}

// ---- Weights that are read once
// ------------------------------------------------------------------

// Whether the time is that of reading the weights: each is used for one point only, and they do not
// stay in the cache. Weights of few bits also take time to unpack.
bool only_reads(const Contraction& c, const Target& target, const Whole& whole) {
    if (c.in_place || c.lane_in_a || c.narrow || c.kind != Kind::F32 || !c.batch.empty()) {
        return false;
    }
    const int64_t weights = total_elements(whole.vectors * target.vector_bytes, whole.depth);
    return whole.outer * whole.rows * whole.columns == 1 && weights > target.l2_bytes;
}

// The cost of reading with blocks of so many vectors, where 2 to 16 threads share the blocks: with
// few of them, some threads would have nothing to do. All numbers of threads have the same plan.
double reading_cost(int64_t all, int64_t vectors) {
    if (vectors == 1 && all > 1) return HUGE_VAL;  // one sum at a time has to wait for its totals
    const int64_t blocks = ceil_of(all, vectors);
    double cost = 0;
    for (const int64_t threads : {2, 4, 8, 16}) {
        cost += static_cast<double>(ceil_of(blocks, threads) * threads * vectors);
    }
    // Every block begins anew.
    return cost + 0.02 * static_cast<double>(all * 4) / static_cast<double>(vectors);
}

void take(Contraction& c, const TileShape& tile) {
    c.vectors = tile.vectors;
    c.rows = tile.rows;
    c.columns = tile.columns;
}

}  // namespace

Points merge_points(const Stage& stage,
                    const std::vector<VarId>& vars,
                    const StagePool& pool,
                    const BufferViews& places) {
    Points result{vars, {}, {}};
    for (const VarId var : vars) result.extents.push_back(pool.extent(var));
    for (size_t i = vars.size(); i-- > 1;) {
        if (!can_collapse(
                stage, pool, places, result.vars[i - 1], result.vars[i], result.extents[i]))
            continue;
        result.merged.push_back(result.vars[i - 1]);
        result.extents[i] *= result.extents[i - 1];
        result.vars.erase(result.vars.begin() + static_cast<ptrdiff_t>(i) - 1);
        result.extents.erase(result.extents.begin() + static_cast<ptrdiff_t>(i) - 1);
    }
    return result;
}

Lanes merge_lanes(const Stage& stage,
                  const Contraction& c,
                  const StagePool& pool,
                  const BufferViews& places) {
    Lanes result{pool.extent(c.lane), {}};
    const auto continues = [&](VarId var) {
        return !contains(result.merged, var) &&
               can_collapse(stage, pool, places, var, c.lane, result.extent);
    };
    while (c.in_place) {
        const auto next = std::ranges::find_if(c.batch, continues);
        if (next == c.batch.end()) break;
        result.extent = total_elements(result.extent, pool.extent(*next));
        result.merged.push_back(*next);
    }
    return result;
}

void choose_tile(const Stage& stage,
                 StagePool& pool,
                 const BufferViews& places,
                 const Target& target,
                 Contraction& c) {
    const Expr a = pool[c.surrounded()];
    const BufferView& from = places.at(tensor_of(a));
    // The reduction reads memory of A in order; of B, if it is read in place.
    std::ranges::stable_sort(
        c.reduced, std::greater(), [&](VarId var) { return stride_of(pool, from, a.args, var); });
    // Tiles are cut from the last points; any order serves an operand in place.
    if (c.in_place) {
        std::ranges::stable_sort(c.points, {}, [&](VarId var) { return pool.extent(var); });
    }
    const Lanes along = merge_lanes(stage, c, pool, places);
    c.stacked = stacked_of(c, pool, target, along);
    const Points points = merge_points(stage, c.points, pool, places);
    c.copies = copies_of(c, pool, places, points, along);
    const Whole whole = whole_of(c, pool, places, target, points, along);
    const int64_t lanes = target.lanes();
    const bool used_again = whole.outer * whole.rows * whole.columns > 32;
    const bool cuttable = used_again && can_be_cut(stage, pool, places, c);
    const StageWrite& write = stage.writes[0];
    const auto step = [&](VarId var) {
        return std::abs(stride_of(pool, places.at(write.tensor), write.index, var));
    };
    // Cost of moving all totals to memory and back, relative to a step of the sums.
    const double moves = (step(c.lane) == 1 ? 1.5 : 24.0) *
                         static_cast<double>(whole.vectors * whole.rows * whole.columns) /
                         static_cast<double>(whole.depth);
    const bool reading = only_reads(c, target, whole);
    double best = HUGE_VAL;
    for (int64_t j = 1; j <= std::min<int64_t>(whole.vectors, target.registers / 4); ++j) {
        Priced tile = cheapest(whole, j, most_points(target, whole, j));
        if (reading) tile.cost = reading_cost(whole.vectors, j);
        const bool long_sum = j * target.vector_bytes * whole.depth > panel_bytes(target);
        Cut cut;
        if (long_sum && used_again) {
            if (cuttable) cut = cut_of(c, pool, target, j);
            const double at_once = tile.cost * (j > 1 ? 1.3 : 1.0);
            const double in_parts = tile.cost * 1.03 + static_cast<double>(cut.parts) * moves;
            if (at_once <= in_parts) cut = {};
            tile.cost = cut.steps > 0 ? in_parts : at_once;
        }
        if (tile.cost >= best * 0.999) continue;
        best = tile.cost;
        take(c, tile.tile);
        c.cut = cut.at;
        c.cut_steps = cut.steps;
    }
    c.blocks = ceil_of(whole.vectors, c.vectors);
    if (c.copies || writes_far_rows(stage, places, target, points, c)) {
        c.panel_blocks = blocks_of_panel(c, target, whole.depth);
    }
    const int64_t weights = c.blocks * c.vectors * lanes * 4 * whole.depth;
    c.weights_inside = !c.in_place && weights <= kSmallWeights &&
                       (whole.rows * whole.outer > 1 || whole.columns >= kManyPoints);
    // Groups of channels are adjacent in every point, so threads share the points instead of the
    // groups.
    int64_t all_weights = weights;
    bool groups = !c.batch.empty() && !points.vars.empty();
    for (const VarId var : c.batch) {
        if (pool.depends(c.b, var)) all_weights *= pool.extent(var);
        groups = groups && step(var) < step(points.vars.back());
    }
    c.batch_inside = !c.in_place && groups && all_weights <= kSmallWeights;
}

// The packed operand stays valid, because its order depends on the vectors alone.
bool narrow_tile(const Stage& stage,
                 const StagePool& pool,
                 const BufferViews& places,
                 const Target& target,
                 Contraction& c) {
    const Points points = merge_points(stage, c.points, pool, places);
    const Lanes along = merge_lanes(stage, c, pool, places);
    const Whole whole = whole_of(c, pool, places, target, points, along);
    const Priced tile = cheapest(whole, c.vectors, c.rows * c.columns - 1);
    if (tile.cost == HUGE_VAL) return false;
    take(c, tile.tile);
    return true;
}

}  // namespace lemma::loop
