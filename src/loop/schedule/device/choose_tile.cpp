// SPDX-License-Identifier: Apache-2.0
// Chooses the tile of a sum of products on a device: large tiles read little, small ones give all
// processors of the device work.
#include <algorithm>
#include <cmath>

#include "loop/schedule/nest.h"
#include "loop/schedule/points.h"
#include "loop/schedule/schedule.h"

namespace lemma::loop {

namespace {

constexpr int64_t kLeastExtent = 8;                               // of points, lanes and steps
constexpr double kCores = 132;                                    // processors of a large device
constexpr double kCoreProducts = 128, kCoreMatrixProducts = 512;  // in a cycle
constexpr double kMostThreads = 2048, kFullThreads = 256;         // of a processor
constexpr int64_t kSharedBytes = 46 << 10, kMostStages = 4, kMostSlices = 8;
constexpr int64_t kMostGroupThreads = 512;
constexpr double kGroupCycles = 1200;                    // beside the sum
constexpr int64_t kMostParts = 16, kLeastPart = 16;      // steps of a part
constexpr double kAddCycles = 3500, kAddedElements = 8;  // of the kernel that adds the parts

struct Candidate {
    int64_t rows, columns, own_rows, own_columns;
    double share;  // of the peak
};
constexpr Candidate kTiles[] = {
    {128, 128, 8, 8, 0.80},
    {128, 64, 8, 8, 0.75},
    {64, 128, 8, 8, 0.75},
    {64, 64, 8, 4, 0.65},
    {32, 64, 4, 4, 0.50},
    {64, 32, 4, 4, 0.50},
    {32, 32, 4, 4, 0.45},
};
constexpr Candidate kMatrixTiles[] = {
    {128, 128, 64, 32, 0.80},
    {128, 64, 64, 32, 0.70},
    {64, 128, 32, 64, 0.70},
    {64, 64, 32, 32, 0.60},
    {32, 64, 16, 32, 0.40},
    {64, 32, 32, 16, 0.40},
    {32, 32, 16, 16, 0.30},
};

int64_t shared_bytes(const DeviceTile& tile) {
    constexpr int64_t kApart = 16;  // at most, between rows
    return 4 * (tile.rows * (tile.section + kApart) + tile.section * (tile.columns + kApart));
}

struct Whole {
    int64_t points, lanes, steps, batch;
};
// In cycles.
double cost_of(const Whole& whole, const DeviceTile& tile, double share) {
    const auto tiles = static_cast<double>(total_elements(
        total_elements(ceil_of(whole.points, tile.rows), ceil_of(whole.lanes, tile.columns)),
        whole.batch));
    const double waves = std::ceil(tiles / kCores);
    const auto threads = static_cast<double>(tile.threads() * tile.slices);
    const double resident = std::min(waves, std::floor(kMostThreads / threads));
    const double busy = std::min(1.0, resident * threads / kFullThreads);
    const double rate = tile.products ? kCoreMatrixProducts : kCoreProducts;
    const auto work = static_cast<double>(tile.rows * tile.columns) *
                      static_cast<double>(ceil_of(whole.steps, tile.section) * tile.section);
    const double join = tile.slices > 1 ? 300 * std::log2(static_cast<double>(tile.slices)) : 0;
    return waves * (work / (rate * share * busy) + join) + kGroupCycles;
}

}  // namespace

bool suits_device(const Stage& stage, const StagePool& pool, const Contraction& c) {
    const auto extent = [&](const std::vector<VarId>& vars) {
        int64_t product = 1;
        for (const VarId var : vars) product = total_elements(product, pool.extent(var));
        return product;
    };
    // Zeros fill the last section of a sum of products.
    const bool whole = c.product || extent(c.reduced) % DeviceTile().section == 0;
    return stage.combine == ir::FormulaOp::Sum && whole && c.kind == Kind::F32 && !c.lane_in_a &&
           !stage.kept && pool.extent(c.lane) >= kLeastExtent && extent(c.points) >= kLeastExtent &&
           extent(c.reduced) >= kLeastExtent && is_for_device(stage, pool);
}

namespace {

// The cheapest tile for sums that are split into so many parts.
struct Priced {
    DeviceTile tile;
    double cost = HUGE_VAL;
};
Priced cheapest(Whole whole, int64_t parts, std::optional<MatrixProducts> products, bool product) {
    Priced best;
    whole.steps /= parts;
    whole.batch = total_elements(whole.batch, parts);
    for (const Candidate& one : products ? kMatrixTiles : kTiles) {
        DeviceTile tile{one.rows, one.columns, one.own_rows, one.own_columns};
        tile.products = products;
        for (; tile.slices <= kMostSlices; tile.slices *= 2) {
            if (tile.threads() * tile.slices > kMostGroupThreads) break;
            if (tile.slices > 1 && whole.steps < 2 * tile.section * tile.slices) break;
            if (!product && whole.steps % (tile.section * tile.slices) != 0) break;
            const int64_t joined = 2 * tile.slices * tile.rows * tile.columns;
            const int64_t bytes = shared_bytes(tile) * tile.slices;
            const int64_t room = kSharedBytes - (tile.slices > 1 ? joined : 0);
            if (room / bytes < 2) break;
            tile.stages = std::min(room / bytes, kMostStages);
            const double cost = cost_of(whole, tile, one.share);
            if (cost < best.cost) best = {tile, cost};
        }
    }
    if (parts > 1) {
        const auto elements = static_cast<double>(whole.points) * static_cast<double>(whole.lanes) *
                              static_cast<double>(whole.batch);
        best.cost += kAddCycles + elements / kCores / kAddedElements;
    }
    return best;
}

// Numbers of 16 bits are TF32, too: their products are exact.
std::optional<MatrixProducts> matrix_products(const StagePool& pool,
                                              const BufferViews& places,
                                              bool fast,
                                              const Contraction& c) {
    const auto dtype_of = [&](ExprId value) {
        const Expr& e = pool[value];
        return e.op == Op::Read ? places.at(tensor_of(e)).dtype : tensor::DType::F32;
    };
    const tensor::DType a = dtype_of(c.a), b = dtype_of(c.b);
    if (!c.product) return std::nullopt;
    if (c.group > 1) return a == tensor::DType::F16 ? MatrixProducts::F16 : MatrixProducts::Bf16;
    if (fast || (a != tensor::DType::F32 && b != tensor::DType::F32)) return MatrixProducts::Tf32;
    return std::nullopt;
}

}  // namespace

int64_t choose_device_tile(const StagePool& pool,
                           const BufferViews& places,
                           const Target& target,
                           bool fast,
                           Contraction& c) {
    const Expr& a = pool[c.a];
    const BufferView& place = places.at(tensor_of(a));
    const auto along = std::ranges::find_if(
        c.reduced, [&](VarId var) { return stride_of(pool, place, a.args, var) == 1; });
    if (along != c.reduced.end()) std::rotate(along, along + 1, c.reduced.end());
    Whole whole{1, pool.extent(c.lane), 1, 1};
    int64_t longest = 1;
    for (const VarId var : c.points) whole.points = total_elements(whole.points, pool.extent(var));
    for (const VarId var : c.batch) whole.batch = total_elements(whole.batch, pool.extent(var));
    for (const VarId var : c.reduced) {
        whole.steps = total_elements(whole.steps, pool.extent(var));
        longest = std::max(longest, pool.extent(var));
    }
    const auto products = matrix_products(pool, places, fast, c);
    const Priced one = cheapest(whole, 1, products, c.product);
    c.device = one.tile;
    c.vectors = c.device->columns / target.lanes();
    c.blocks = ceil_of(pool.extent(c.lane), c.device->columns);
    int64_t best = 1;
    double least = one.cost;
    for (int64_t parts = 2; parts <= kMostParts && longest % parts == 0; parts *= 2) {
        if (longest / parts < kLeastPart) break;
        const double cost = cheapest(whole, parts, products, c.product).cost;
        if (cost >= least) continue;
        least = cost;
        best = parts;
    }
    return best;
}

}  // namespace lemma::loop
