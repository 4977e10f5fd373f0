// SPDX-License-Identifier: Apache-2.0
// Finds sums over windows that can be computed on transformed tiles, and chooses their blocks.
#include <algorithm>
#include <cmath>

#include "loop/schedule/points.h"
#include "loop/schedule/tiles.h"
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
constexpr int64_t kLeastThreads = 2;

int64_t lanes_of(const WindowItems& w) { return w.vector_bytes / 4; }

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
double input_cost(const WindowItems& w) {
    const auto positions = static_cast<double>(w.positions);
    return positions * (1.5 + (w.outputs == 2 ? 0.6 : 1.2) * static_cast<double>(w.axes));
}
double back_cost(const WindowItems& w) {
    const auto positions = static_cast<double>(w.positions);
    return positions * (1.0 + 0.5 * static_cast<double>(w.axes)) + 10;
}

WindowCut cut_of(const WindowItems& w, int64_t tiles, int64_t groups) {
    WindowCut cut;
    const int64_t blocks = ceil_of(w.vectors, w.block);
    cut.tiles = std::min(tiles, w.tiles);
    cut.tile_blocks = ceil_of(w.tiles, cut.tiles);
    // The same number of blocks in each group, as far as possible.
    cut.in_group = ceil_of(blocks, groups);
    cut.groups = ceil_of(blocks, cut.in_group);
    cut.items = w.batches * cut.tile_blocks * cut.groups;
    return cut;
}

// The cycles of an item.
double item_cost(const WindowItems& w, const WindowCut& cut) {
    const auto number = [](int64_t n) { return static_cast<double>(n); };
    const int64_t rest = cut.tiles % w.points;
    double steps = number(cut.tiles / w.points) * step_cost(w.block, w.points);
    if (rest) steps += step_cost(w.block, rest);
    double products = steps * number(w.positions * w.channels * cut.in_group);
    const int64_t panel = w.channels * w.block * w.vector_bytes;
    const int64_t weights = w.positions * panel * cut.in_group;
    if (const int64_t bytes = all_weights(w); bytes > w.l2_bytes / 2) {
        // Weights of a group that stay in the cache are read once for all blocks of tiles.
        const bool stays = weights <= w.l2_bytes / 4;
        const double all = stream_cost(weights, bytes);
        products = at_once(products, all / number(stays ? cut.tile_blocks : 1));
    }
    const WindowScratch scratch = window_scratch(w, cut.tiles);
    if (scratch.elements * 4 + 2 * panel > w.l2_bytes * 7 / 8) {
        products += stream_cost(scratch.totals * 4 * cut.in_group, 0);
    }
    const int64_t channel_vectors = ceil_of(w.channels, lanes_of(w));
    const int64_t vectors = std::min(w.vectors, cut.in_group * w.block);
    const double transforms = number(cut.tiles * channel_vectors) * input_cost(w) +
                              number(cut.tiles * vectors) * back_cost(w);
    return products + transforms + 500;
}

// The cycles of all items, times the threads.
double cost_of(const WindowItems& w, const WindowCut& cut, int64_t threads) {
    const double item = item_cost(w, cut);
    const auto number = [](int64_t n) { return static_cast<double>(n); };
    // The last block of tiles is smaller.
    const double alone =
        item * number(cut.items) * number(w.tiles) / number(cut.tile_blocks * cut.tiles);
    if (threads == 1) return alone;
    const auto shared_by = [&](int64_t n) { return item * number(ceil_of(cut.items, n) * n); };
    // One thread uses the plan for two.
    if (threads == 2) return (alone + shared_by(2)) / 2;
    // With one item for each of many threads, all would wait for the slowest, and twice as long if
    // the pool leaves one out.
    constexpr int64_t kMany = 4;
    if (threads < kMany) return shared_by(threads);
    return 0.85 * shared_by(threads) + 0.15 * shared_by(threads - 1);
}

// The cheapest division with blocks of at most `room` tiles.
struct Priced {
    WindowCut cut;
    double cost = HUGE_VAL;
};
Priced cheapest(const WindowItems& w, int64_t threads) {
    Priced best;
    const int64_t blocks = ceil_of(w.vectors, w.block);
    const int64_t most_tiles = ceil_of(std::min(w.tiles, w.room), w.points) * w.points;
    for (int64_t tiles = w.points; tiles <= most_tiles; tiles += w.points) {
        if (std::min(tiles, w.tiles) > w.room) break;
        for (int64_t groups = 1; groups <= blocks; groups *= 2) {
            const WindowCut cut = cut_of(w, tiles, groups);
            const double cost = cost_of(w, cut, threads);
            if (cost < best.cost * 0.999) best = {cut, cost};
        }
    }
    return best;
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

WindowItems window_items(const StagePool& pool, const Target& target, const Contraction& c) {
    const WindowSizes sizes = window_sizes(pool, target, c);
    return {.outputs = sizes.outputs,
            .positions = sizes.positions,
            .axes = std::ssize(c.window->axes),
            .channels = sizes.channels,
            .tiles = sizes.tiles,
            .vectors = sizes.vectors,
            .batches = sizes.batches,
            .vector_bytes = target.vector_bytes,
            .l2_bytes = target.l2_bytes,
            .block = c.vectors,
            .points = c.columns,
            .room = c.window->tiles};
}

WindowScratch window_scratch(const WindowItems& w, int64_t tiles) {
    const int64_t lanes = lanes_of(w);
    WindowScratch result;
    result.tile_step = ceil_of(w.channels, lanes) * lanes;
    result.position_step = tiles * result.tile_step + kLine;
    result.totals = w.positions * result.position_step;
    result.total_tile_step = w.block * lanes;
    result.total_position_step = tiles * result.total_tile_step + kLine;
    result.elements = result.totals + w.positions * result.total_position_step;
    return result;
}

int64_t all_weights(const WindowItems& w) {
    const int64_t panel = w.channels * w.block * w.vector_bytes;
    return w.batches * w.positions * panel * ceil_of(w.vectors, w.block);
}

WindowCut cut_items(const WindowItems& w, int64_t threads) {
    return cheapest(w, std::max<int64_t>(threads, kLeastThreads)).cut;
}

int64_t scratch_elements(const StagePool& pool, const Target& target, const Contraction& c) {
    return window_scratch(window_items(pool, target, c), c.window->tiles).elements;
}

double choose_window(const StagePool& pool, const Target& target, Contraction& c) {
    constexpr int64_t kMostTilesOfItem = 240;
    WindowItems w = window_items(pool, target, c);
    w.room = kMostTilesOfItem;
    double best = HUGE_VAL;
    const int64_t threads = target.threads == kAnyThreads ? kLeastThreads : target.threads;
    const int64_t most_vectors = std::min(w.vectors, target.registers / 8);
    for (w.block = 1; w.block <= most_vectors; ++w.block) {
        const int64_t most = (target.registers - 1 - w.block) / w.block;
        for (w.points = std::max<int64_t>(1, most - 3); w.points <= most; ++w.points) {
            const Priced found = cheapest(w, threads);
            if (found.cost >= best * 0.999) continue;
            best = found.cost;
            c.vectors = w.block;
            c.rows = 1;
            c.columns = w.points;
            c.blocks = ceil_of(w.vectors, w.block);
            c.window->tiles = found.cut.tiles;
            c.window->groups = found.cut.groups;
        }
    }
    return best;
}

// The cost of products, and of reading their packed operand if it does not stay in the cache.
static double with_weights(const StagePool& pool,
                           const Target& target,
                           const Contraction& c,
                           double products) {
    const int64_t vectors = ceil_of(pool.extent(c.lane), target.lanes());
    int64_t weights = total_elements(vectors, target.vector_bytes);
    for (const auto* vars : {&c.batch, &c.reduced}) {
        for (const VarId var : *vars) weights = total_elements(weights, pool.extent(var));
    }
    if (weights <= target.l2_bytes / 2) return products;
    const double stream = stream_cost(weights, weights);
    return at_once(products, stream);
}

double direct_cost(const StagePool& pool, const Target& target, const Contraction& c) {
    double steps = 1;
    for (const auto* vars : {&c.points, &c.batch, &c.reduced}) {
        for (const VarId var : *vars) steps *= static_cast<double>(pool.extent(var));
    }
    const int64_t vectors = ceil_of(pool.extent(c.lane), target.lanes());
    return with_weights(pool, target, c, steps * static_cast<double>(vectors) / 2 / 0.93);
}

// Steps of the products on tile registers, for one tile of points. In the layout of the terms, the
// inner axis is followed by the last one of the others. Steps of a window along that one continue
// those of the inner variable.
static double tile_steps(const StagePool& pool, const Contraction& c) {
    const std::vector<ExprId>& index = pool[c.a].args;
    size_t inner = 0;
    while (inner < index.size() && !pool.depends(index[inner], c.inner)) ++inner;
    const size_t next = index.size() - (inner + 1 == index.size() ? 2 : 1);
    const auto affine = next < index.size() ? pool.affine(index[next]) : std::nullopt;
    int64_t run = ceil_of(pool.extent(c.inner), 2);
    double steps = 1;
    for (const VarId var : c.reduced) {
        if (var == c.inner) continue;
        const bool continues =
            affine && std::ranges::find(affine->terms, AddressTerm{var, 1}) != affine->terms.end();
        if (continues) {
            run = total_elements(run, pool.extent(var));
        } else {
            steps *= static_cast<double>(pool.extent(var));
        }
    }
    return steps * static_cast<double>(run / tile_part(run));
}

double terms_cost(const StagePool& pool, const Target& target, const Contraction& c) {
    // For each step, twelve products of tiles take 16 cycles each, and their eight tiles come from
    // the L2 in part. With one vector, each total waits for three products.
    constexpr double kStep = 240, kEnd = 320;
    constexpr double kOneStep = 170, kOneEnd = 160;
    const auto number = [](int64_t n) { return static_cast<double>(n); };
    // Points of a plain operand are merged (points.h).
    bool plain = true;
    for (const ExprId index : pool[c.a].args) {
        const auto affine = pool.affine(index);
        plain = plain && affine && affine->terms.size() < 2 && pool[index].op != Op::Assume &&
                (affine->terms.empty() || affine->terms[0].factor == 1);
    }
    double others = 1;  // rows of points, and batches
    int64_t columns = pool.extent(c.points.back());
    for (size_t i = 0; i + 1 < c.points.size(); ++i) {
        const int64_t extent = pool.extent(c.points[i]);
        if (plain) columns = total_elements(columns, extent);
        others *= plain ? 1 : number(extent);
    }
    for (const VarId var : c.batch) others *= number(pool.extent(var));
    const int64_t rows = part_of(columns, kMostTileRows);
    const double pairs = std::ceil(others * number(ceil_of(columns, rows)) / kTileSegments);
    const double steps = tile_steps(pool, c);
    const int64_t vectors = ceil_of(pool.extent(c.lane), kTileLanes);
    const double blocks = number(vectors / kMostTileVectors) * (kEnd + kStep * steps) +
                          number(vectors % kMostTileVectors) * (kOneEnd + kOneStep * steps);
    return with_weights(pool, target, c, pairs * blocks);
}

}  // namespace lemma::loop
