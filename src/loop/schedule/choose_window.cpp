// SPDX-License-Identifier: Apache-2.0
// Finds sums over windows that can be computed on transformed tiles, and chooses their blocks.
#include <algorithm>
#include <cmath>

#include "loop/schedule/points.h"
#include "loop/schedule/window.h"
#include "loop/schedule/winograd.h"

namespace lemma::loop {

namespace {

// Cycles to read bytes behind the L2 while the processor multiplies: from the last cache, or from
// memory.
double stream_cost(int64_t bytes, int64_t of_all) {
    constexpr int64_t kMany = int64_t{8} << 20;
    return static_cast<double>(bytes) / (of_all > kMany ? 3.0 : 5.0);
}
constexpr int64_t kLine = 16;  // elements of a cache line

bool contains(const std::vector<VarId>& vars, VarId var) {
    return std::ranges::find(vars, var) != vars.end();
}

// The only axis of the index with the variable; nothing if there are several.
std::optional<size_t> only_axis(const StagePool& pool,
                                const std::vector<ExprId>& index,
                                VarId var) {
    std::optional<size_t> result;
    for (size_t axis = 0; axis < index.size(); ++axis) {
        if (!pool.depends(index[axis], var)) continue;
        if (result) return std::nullopt;
        result = axis;
    }
    return result;
}

// The point that the tap is added to.
VarId point_of(const StagePool& pool, const Contraction& c, VarId tap) {
    const Expr& a = pool[c.a];
    const auto axis = only_axis(pool, a.args, tap);
    if (!axis) return {};
    const auto index = pool.affine(a.args[*axis]);
    if (!index || index->terms.size() != 2) return {};
    VarId point;
    for (const AddressTerm& term : index->terms) {
        if (term.factor != 1) return {};
        if (term.var != tap) point = term.var;
    }
    const bool good = contains(c.points, point) && only_axis(pool, a.args, point) == axis;
    return good ? point : VarId();
}

// ---- Costs in cycles ----------------------------------------------------------------------------

// Products and reads at the same time: the shorter one is not hidden completely.
double at_once(double products, double stream) {
    return std::max(products, stream) + 0.15 * std::min(products, stream);
}

// A step of the products in a tile of registers, as in choose_tile.
double step_cost(int64_t vectors, int64_t points) {
    const auto v = static_cast<double>(vectors);
    const auto p = static_cast<double>(points);
    return std::max({v * p / 2, (v + p) / 2, 4.0}) + 0.25 + 0.1 * v;
}

// Transforms of one tile and one vector of channels, by measurement.
double input_cost(const WindowSizes& sizes, size_t axes) {
    const auto positions = static_cast<double>(sizes.positions);
    return positions * (1.5 + (sizes.outputs == 2 ? 0.6 : 1.2) * static_cast<double>(axes));
}
double back_cost(const WindowSizes& sizes, size_t axes) {
    const auto positions = static_cast<double>(sizes.positions);
    return positions * (1.0 + 0.5 * static_cast<double>(axes)) + 10;
}

struct Blocks {
    int64_t vectors, points, tiles, groups;
};
double cost_of(const WindowSizes& sizes, const Target& target, size_t axes, const Blocks& b) {
    const int64_t blocks = ceil_of(sizes.vectors, b.vectors);
    const int64_t in_group = ceil_of(blocks, b.groups);
    const int64_t tile_blocks = ceil_of(sizes.tiles, b.tiles);
    const int64_t items = sizes.batches * tile_blocks * ceil_of(blocks, in_group);
    const int64_t tiles = std::min(b.tiles, sizes.tiles);
    const int64_t rest = tiles % b.points;
    double steps = static_cast<double>(tiles / b.points) * step_cost(b.vectors, b.points);
    if (rest) steps += step_cost(b.vectors, rest);
    const auto number = [](int64_t n) { return static_cast<double>(n); };
    double products = steps * number(sizes.positions * sizes.channels * in_group);
    const int64_t panel = sizes.channels * b.vectors * target.vector_bytes;
    const int64_t weights = sizes.positions * panel * in_group;
    const int64_t all_weights = sizes.batches * sizes.positions * panel * blocks;
    if (all_weights > target.l2_bytes / 2) {
        // Weights of a group that stay in the cache are read once for all blocks of tiles.
        const bool stays = weights <= target.l2_bytes / 4;
        const double stream = stream_cost(weights, all_weights) / number(stays ? tile_blocks : 1);
        products = at_once(products, stream);
    }
    const WindowScratch scratch = window_scratch(sizes, target, tiles, b.vectors);
    if (scratch.elements * 4 + 2 * panel > target.l2_bytes * 7 / 8) {
        products += stream_cost(scratch.totals * 4 * in_group, 0);
    }
    const int64_t channel_vectors = ceil_of(sizes.channels, target.lanes());
    const double transforms =
        number(tiles * channel_vectors) * input_cost(sizes, axes) +
        number(tiles * std::min(sizes.vectors, in_group * b.vectors)) * back_cost(sizes, axes);
    const double item = products + transforms + 500;
    // The last block of tiles is smaller.
    const double alone = item * number(items) * number(sizes.tiles) / number(tile_blocks * tiles);
    if (target.threads == 1) return alone;
    const auto shared_by = [&](int64_t threads) {
        return item * number(ceil_of(items, threads) * threads);
    };
    // One thread uses the plan for two.
    if (target.threads == 2) return (alone + shared_by(2)) / 2;
    // With one item for each of many threads, all would wait for the slowest, and twice as long if
    // the pool leaves one out.
    constexpr int64_t kMany = 4;
    if (target.threads < kMany) return shared_by(target.threads);
    return 0.85 * shared_by(target.threads) + 0.15 * shared_by(target.threads - 1);
}

}  // namespace

std::optional<Window> find_window(const Stage& stage,
                                  const StagePool& pool,
                                  const Contraction& c,
                                  int64_t outputs) {
    if (!c.product || c.lane_in_a || c.in_place || c.squares.valid() || stage.kept)
        return std::nullopt;
    if (stage.combine != ir::FormulaOp::Sum) return std::nullopt;
    Window window;
    window.outputs = outputs;
    for (const VarId var : c.reduced) {
        const VarId point = pool.extent(var) == kTaps ? point_of(pool, c, var) : VarId();
        if (point.valid()) {
            window.axes.push_back({point, var});
        } else if (window.channel.valid()) {
            return std::nullopt;
        } else {
            window.channel = var;
        }
    }
    if (window.axes.empty() || window.axes.size() > 2) return std::nullopt;
    if (window.axes.size() == 2 && window.axes[0].point == window.axes[1].point) {
        return std::nullopt;
    }
    if (!window.channel.valid()) return std::nullopt;
    std::ranges::sort(window.axes, {}, [&](const Window::Axis& axis) {
        return std::ranges::find(c.points, axis.point) - c.points.begin();
    });
    return window;
}

WindowSizes window_sizes(const StagePool& pool, const Target& target, const Contraction& c) {
    const Window& window = *c.window;
    WindowSizes sizes;
    sizes.outputs = window.outputs;
    sizes.size = filtering(window.outputs).size();
    sizes.channels = pool.extent(window.channel);
    for (const VarId var : c.points) {
        if (std::ranges::find(window.axes, var, &Window::Axis::point) != window.axes.end()) {
            continue;
        }
        sizes.others.push_back(var);
        sizes.tiles *= pool.extent(var);
    }
    for (const Window::Axis& axis : window.axes) {
        sizes.positions *= sizes.size;
        sizes.counts.push_back(ceil_of(pool.extent(axis.point), sizes.outputs));
        sizes.tiles *= sizes.counts.back();
    }
    sizes.vectors = ceil_of(pool.extent(c.lane), target.lanes());
    for (const VarId var : c.batch) sizes.batches *= pool.extent(var);
    return sizes;
}

WindowScratch window_scratch(const WindowSizes& sizes,
                             const Target& target,
                             int64_t tiles,
                             int64_t vectors) {
    const int64_t lanes = target.lanes();
    WindowScratch result;
    result.tile_step = ceil_of(sizes.channels, lanes) * lanes;
    result.position_step = tiles * result.tile_step + kLine;
    result.totals = sizes.positions * result.position_step;
    result.total_tile_step = vectors * lanes;
    result.total_position_step = tiles * result.total_tile_step + kLine;
    result.elements = result.totals + sizes.positions * result.total_position_step;
    return result;
}

int64_t scratch_elements(const StagePool& pool, const Target& target, const Contraction& c) {
    const WindowSizes sizes = window_sizes(pool, target, c);
    return window_scratch(sizes, target, c.window->tiles, c.vectors).elements;
}

double choose_window(const StagePool& pool, const Target& target, Contraction& c) {
    constexpr int64_t kMostTilesOfItem = 240;
    const WindowSizes sizes = window_sizes(pool, target, c);
    const size_t axes = c.window->axes.size();
    double best = HUGE_VAL;
    const auto consider = [&](const Blocks& b) {
        const double cost = cost_of(sizes, target, axes, b);
        if (cost >= best * 0.999) return;
        best = cost;
        c.vectors = b.vectors;
        c.rows = 1;
        c.columns = b.points;
        c.window->tiles = b.tiles;
        c.window->groups = b.groups;
    };
    const int64_t most_vectors = std::min(sizes.vectors, target.registers / 8);
    for (int64_t vectors = 1; vectors <= most_vectors; ++vectors) {
        const int64_t blocks = ceil_of(sizes.vectors, vectors);
        const int64_t most = (target.registers - 1 - vectors) / vectors;
        for (int64_t points = std::max<int64_t>(1, most - 3); points <= most; ++points) {
            const int64_t most_tiles =
                std::min(ceil_of(sizes.tiles, points) * points, kMostTilesOfItem);
            for (int64_t tiles = points; tiles <= most_tiles; tiles += points) {
                const int64_t used = std::min(tiles, sizes.tiles);
                for (int64_t groups = 1; groups <= blocks; groups *= 2) {
                    consider({vectors, points, used, groups});
                }
            }
        }
    }
    c.blocks = ceil_of(sizes.vectors, c.vectors);
    // The same number of blocks in each group, as far as possible.
    c.window->groups = ceil_of(c.blocks, ceil_of(c.blocks, c.window->groups));
    return best;
}

double direct_cost(const StagePool& pool, const Target& target, const Contraction& c) {
    double steps = 1;
    for (const auto* vars : {&c.points, &c.batch, &c.reduced}) {
        for (const VarId var : *vars) steps *= static_cast<double>(pool.extent(var));
    }
    const int64_t vectors = ceil_of(pool.extent(c.lane), target.lanes());
    const double products = steps * static_cast<double>(vectors) / 2 / 0.93;
    int64_t weights = total_elements(vectors, target.vector_bytes);
    for (const auto* vars : {&c.batch, &c.reduced}) {
        for (const VarId var : *vars) weights = total_elements(weights, pool.extent(var));
    }
    if (weights <= target.l2_bytes / 2) return products;
    const double stream = stream_cost(weights, weights);
    return at_once(products, stream);
}

}  // namespace lemma::loop
