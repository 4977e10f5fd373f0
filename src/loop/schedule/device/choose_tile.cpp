// SPDX-License-Identifier: Apache-2.0
// Chooses the tile of a sum of products on a device: large tiles read little, small ones give all
// processors of the device work.
#include <algorithm>
#include <cmath>
#include <span>

#include "loop/schedule/nest.h"
#include "loop/schedule/points.h"
#include "loop/schedule/schedule.h"

namespace lemma::loop {

namespace {

constexpr int64_t kQuad = 4;         // neighbouring columns of an item without matrix products
constexpr int64_t kLeastExtent = 8;  // of points, lanes and steps
constexpr double kCores = 132;       // processors of a large device
constexpr double kCoreProducts = 128, kCoreMatrixProducts = 512;  // in a cycle
constexpr double kMostThreads = 2048, kFullThreads = 256;         // of a processor
constexpr int64_t kCoreRegisters = 64 << 10, kOtherRegisters = 64;
constexpr int64_t kCoreMemory = 224 << 10;  // for groups
constexpr int64_t kMostStages = 4, kMostSlices = 8;
constexpr int64_t kMostGroupThreads = 512;
constexpr double kGroupCycles = 1200;                     // beside the sum
constexpr double kTileCycles = 700, kStoredInCycle = 32;  // before and behind the sum of a tile
constexpr int64_t kMostParts = 16, kLeastPart = 16;       // steps of a part
constexpr double kAddCycles = 3500, kAddedElements = 8;   // of the kernel that adds the parts

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
    {256, 128, 64, 64, 0.95},
    {128, 256, 64, 64, 0.95},
    {128, 128, 64, 64, 0.90},
    {128, 128, 64, 32, 0.80},
    {128, 64, 64, 32, 0.70},
    {64, 128, 32, 64, 0.70},
    {64, 64, 32, 32, 0.60},
    {32, 64, 16, 32, 0.40},
    {64, 32, 32, 16, 0.40},
    {32, 32, 16, 16, 0.30},
};

// Of a section in each slice, and of what the slices exchange in the end.
int64_t section_bytes(const DeviceTile& tile) {
    constexpr int64_t kApart = 8;  // at most, between rows
    const int64_t words =
        tile.rows * (tile.section + kApart) + tile.section * (tile.columns + kApart);
    return 4 * words * tile.slices;
}
int64_t joined_bytes(const DeviceTile& tile) {
    return tile.slices > 1 ? 2 * tile.slices * tile.rows * tile.columns : 0;
}

// Groups that a processor has at a time.
int64_t most_resident(const DeviceTile& tile) {
    const int64_t threads = tile.threads() * tile.slices;
    const int64_t own = tile.own_rows * tile.own_columns / (tile.products ? kWarp : 1);
    const int64_t bytes = tile.stages * section_bytes(tile) + joined_bytes(tile);
    return std::min(kCoreRegisters / (threads * (own + kOtherRegisters)), kCoreMemory / bytes);
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
    const double resident = std::min(
        {waves, std::floor(kMostThreads / threads), static_cast<double>(most_resident(tile))});
    const double busy = std::min(1.0, resident * threads / kFullThreads);
    const double rate = tile.products ? kCoreMatrixProducts : kCoreProducts;
    const auto work = static_cast<double>(tile.rows * tile.columns) *
                      static_cast<double>(ceil_of(whole.steps, tile.section) * tile.section);
    const double join = tile.slices > 1 ? 300 * std::log2(static_cast<double>(tile.slices)) : 0;
    // Other groups of the processor go on meanwhile.
    const double stored = static_cast<double>(tile.rows * tile.columns) / kStoredInCycle;
    const double alone = (kTileCycles + stored) / std::max(1.0, resident);
    return waves * (work / (rate * share * busy) + join + alone) + kGroupCycles;
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
    // Bytes are multiplied in groups of four.
    const bool known = c.kind == Kind::F32 || (c.kind == Kind::I32 && c.inner.valid());
    return stage.combine == ir::FormulaOp::Sum && whole && known && !c.lane_in_a && !stage.kept &&
           pool.extent(c.lane) >= kLeastExtent && extent(c.points) >= kLeastExtent &&
           extent(c.reduced) >= kLeastExtent && is_for_device(stage, pool);
}

ExprId packed_column(Builder& build, const DeviceTile& tile, ExprId position) {
    constexpr int64_t kColumns = 8, kPair = 2;  // of a matrix; neighbours of an item
    if (!tile.products || tile.together == kPair) return position;
    const int64_t matrices = tile.together / kPair;
    const auto binary = [&](Op op, ExprId a, int64_t b) {
        return build.make(op, {a, build.integer(b)});
    };
    const auto add = [&](ExprId a, ExprId b) { return build.make(Op::Add, {a, b}); };
    const ExprId matrix = binary(Op::Div, position, kColumns);
    const ExprId column = binary(Op::Mod, position, kColumns);
    const ExprId before = binary(Op::Mul, binary(Op::Div, matrix, matrices), matrices * kColumns);
    const ExprId of_item = binary(Op::Mul, binary(Op::Div, column, kPair), tile.together);
    const ExprId pair = binary(Op::Mul, binary(Op::Mod, matrix, matrices), kPair);
    return add(add(before, of_item), add(pair, binary(Op::Mod, column, kPair)));
}

namespace {

// The cheapest tile for sums that are split into so many parts.
struct Priced {
    DeviceTile tile;
    double cost = HUGE_VAL;
};
Priced cheapest(Whole whole,
                int64_t parts,
                std::optional<MatrixProducts> products,
                const Contraction& c) {
    Priced best;
    whole.steps /= parts;
    whole.batch = total_elements(whole.batch, parts);
    for (const Candidate& one : products ? std::span<const Candidate>(kMatrixTiles) : kTiles) {
        DeviceTile tile{one.rows, one.columns, one.own_rows, one.own_columns};
        tile.products = products;
        if (!products) tile.together = kQuad;
        for (; tile.slices <= kMostSlices; tile.slices *= 2) {
            if (tile.threads() * tile.slices > kMostGroupThreads) break;
            if (tile.slices > 1 && whole.steps < 2 * tile.section * tile.slices) break;
            if (!c.product && whole.steps % (tile.section * tile.slices) != 0) break;
            if (c.squares.valid() && tile.slices > 1) break;
            const int64_t room = kMostGroupMemory - joined_bytes(tile);
            tile.stages = std::min(room / section_bytes(tile), kMostStages);
            if (tile.stages < 2 || most_resident(tile) < 1) break;
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
    if (c.kind == Kind::I32) {
        const bool u8 = b == tensor::DType::U8;
        if (a == tensor::DType::U8) return u8 ? MatrixProducts::U8 : MatrixProducts::U8I8;
        return u8 ? MatrixProducts::I8U8 : MatrixProducts::I8;
    }
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
        c.reduced, [&](VarId var) { return stride_of(pool, place, a.args, var) == c.group; });
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
    const Priced one = cheapest(whole, 1, products, c);
    c.device = one.tile;
    c.vectors = c.device->columns / target.lanes();
    c.blocks = ceil_of(pool.extent(c.lane), c.device->columns);
    int64_t best = 1;
    double least = one.cost;
    // Distances are known when their whole sums are. Parts of sums are floats.
    const int64_t most = c.squares.valid() || c.kind != Kind::F32 ? 1 : kMostParts;
    for (int64_t parts = 2; parts <= most && longest % parts == 0; parts *= 2) {
        if (longest / parts < kLeastPart) break;
        const double cost = cheapest(whole, parts, products, c).cost;
        if (cost >= least) continue;
        least = cost;
        best = parts;
    }
    return best;
}

}  // namespace lemma::loop
