// The tile of a contraction: how many vectors and points stay in registers, by what a step costs.
#include <algorithm>
#include <cmath>
#include <functional>

#include "loop/points.h"
#include "loop/schedule.h"

namespace lemma::loop {

namespace {

constexpr int64_t kSmallWeights = int64_t{512} << 10;

// Cycles for one step of the reduction in a tile: multiplications, loads, or their latency. Tiles
// of one or two vectors were measured to be a little slower than that.
double tile_cost(int64_t vectors, int64_t points, bool vector_loads) {
    const auto v = static_cast<double>(vectors);
    const auto p = static_cast<double>(points);
    const double loads = vector_loads ? v * (p + 1) / 2 : (v + p) / 2;
    const double measured = vectors == 1 ? 1.15 : vectors == 2 ? 1.04 : vectors == 4 ? 1.0 : 1.02;
    return (std::max({v * p / 2, loads, 4.0}) + 0.25 + 0.1 * v) * measured;
}

}  // namespace

Points merge_points(const Stage& stage,
                    const std::vector<VarId>& vars,
                    const StagePool& pool,
                    const Places& places) {
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

void choose_tile(const Stage& stage,
                 StagePool& pool,
                 const Places& places,
                 const Target& target,
                 Contraction& c) {
    const Expr a = pool[c.a];
    const Place& from = places.at(tensor_of(a));
    // The reduction walks memory of A in order.
    std::ranges::stable_sort(
        c.reduced, std::greater(), [&](VarId var) { return stride_of(pool, from, a.args, var); });
    const Points points = merge_points(stage, c.points, pool, places);
    const int64_t columns = points.columns();
    const int64_t rows = points.rows();
    const int64_t outer = points.outer();
    const int64_t lanes = target.lanes();
    const int64_t all_vectors = ceil_of(pool.extent(c.lane), lanes);
    int64_t depth = 1;
    for (const VarId var : c.reduced) depth *= pool.extent(var);
    double best = HUGE_VAL;
    for (int64_t j = 1; j <= std::min<int64_t>(all_vectors, target.registers / 4); ++j) {
        const int64_t panel = j * lanes * 4 * depth;
        const bool used_again = outer * rows * columns > 32;
        // One is used while the next comes in.
        const double spill = panel > target.l2_bytes / 3 && j > 1 && used_again ? 1.3 : 1.0;
        const int64_t most = (target.registers - 1 - j) / j;
        for (int64_t th = 1; th <= std::min<int64_t>(rows, 4); ++th) {
            for (int64_t tw = 1; tw <= std::min(columns, most / th); ++tw) {
                if (th > 1 && tw != columns) continue;
                if (c.lane_in_a && (j > 2 || th * tw * j > 14)) continue;
                const auto of_rows = [&](int64_t vectors) {
                    const auto row = [&](int64_t height) {
                        double cost = static_cast<double>(columns / tw) *
                                      tile_cost(vectors, height * tw, c.lane_in_a);
                        if (columns % tw) {
                            cost += tile_cost(vectors, height * (columns % tw), c.lane_in_a);
                        }
                        return cost;
                    };
                    return static_cast<double>(rows / th) * row(th) +
                           (rows % th ? row(rows % th) : 0);
                };
                double cost = static_cast<double>(all_vectors / j) * of_rows(j);
                if (all_vectors % j) cost += of_rows(all_vectors % j);
                cost *= spill;
                if (cost >= best * 0.999) continue;
                best = cost;
                c.vectors = j;
                c.rows = th;
                c.columns = tw;
            }
        }
    }
    c.blocks = ceil_of(all_vectors, c.vectors);
    const int64_t weights = c.blocks * c.vectors * lanes * 4 * depth;
    c.weights_inside = weights <= kSmallWeights && rows * outer > 1;
    // Groups of channels lie side by side in every point: threads share the points, then, not the
    // groups.
    int64_t all_weights = weights;
    bool groups = !c.batch.empty() && !points.vars.empty();
    const StageWrite& write = stage.writes[0];
    const auto step = [&](VarId var) {
        return std::abs(stride_of(pool, places.at(write.tensor), write.index, var));
    };
    for (const VarId var : c.batch) {
        if (pool.depends(c.b, var)) all_weights *= pool.extent(var);
        groups = groups && step(var) < step(points.vars.back());
    }
    c.batch_inside = groups && all_weights <= kSmallWeights;
}

}  // namespace lemma::loop
