// SPDX-License-Identifier: Apache-2.0
// loop/schedule/contraction_kernel.h — the kernel of a sum of products: a tile of outputs stays in
// registers during the reduction. The packed operand is one stream; the other is read element by
// element for all lanes.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "loop/schedule/lowering.h"
#include "loop/schedule/points.h"
#include "loop/schedule/schedule.h"

namespace lemma::loop {

class ContractionKernel {
public:
    ContractionKernel(const Stage& stage,
                      const Contraction& contraction,
                      StagePool& pool,
                      const BufferViews& places,
                      const Target& target)
        : stage_(stage),
          c_(contraction),
          pool_(pool),
          places_(places),
          target_(target),
          lower_(pool, places, result_),
          build_(lower_.build),
          points_(merge_points(stage, contraction.points, pool, places)),
          lanes_(merge_lanes(stage, contraction, pool, places)) {}

    ScheduledKernel make();

private:
    // The points of a tile: `rows` and `columns` from the first ones on.
    struct Tile {
        int64_t vectors, rows, columns;
        Address first_row, first_column;
        bool masked;     // the last vector is not full; of stacked ones, none is
        Address number;  // among all tiles of a panel of weights
    };
    bool is_masked(const Tile& tile, int64_t vector) const {
        return tile.masked && (c_.stacked.valid() || vector == tile.vectors - 1);
    }
    // Whether an item computes several blocks for the same points in turn.
    bool has_panels() const { return c_.copies || c_.panel_blocks > 1; }
    int64_t panels() const { return ceil_of(c_.blocks, c_.panel_blocks); }
    bool is_merged(VarId var) const {
        return std::ranges::find(lanes_.merged, var) != lanes_.merged.end();
    }
    void decode_item(Block& out);
    void rows_of(Block& out, int64_t vectors, bool masked);
    Address first_number() const;
    void columns_of(Block& out, Tile tile);
    void tile(Block& out, const Tile& tile);
    // Binds the point and the lanes of each total, then visits it.
    template <class Visit>
    void each_total(const Tile& tile, Visit&& visit);
    void start(Block& out, const Tile& tile);
    void cut_rows();
    void cut_items(int64_t others);
    void panel(Block& out);
    // Visits the blocks of a panel, with their number of vectors.
    template <class Visit>
    void each_block(Block& out, Visit&& visit);
    void copy_panel(Block& out, int64_t vectors, bool masked);
    void blocks_of(Block& out, const Tile& all);
    void parts(Block& out);
    void sum(Block& out, const Tile& tile);
    void distances(Block& out, const Tile& tile);
    bool is_long() const;
    bool scales_totals() const;
    size_t behind_group() const;
    bool has_sections() const { return is_long() || scales_totals(); }
    // Of a sum with sections: so many steps of the loop at this depth; 0: the whole loop.
    struct Section {
        size_t depth = 0;
        int64_t steps = 0;
        bool operator==(const Section&) const = default;
    };
    Section section_of() const;
    // The steps of a loop of the reduction, in a part of a cut sum.
    int64_t steps_of(size_t depth) const {
        return cut_steps_ > 0 && depth == c_.cut ? cut_steps_ : pool_.extent(c_.reduced[depth]);
    }
    template <class Steps>
    void section(Block& out, const Tile& tile, Steps&& steps);
    void reduction(size_t depth, Block& out, const Tile& tile);
    void loops(size_t depth, Block& out, const Tile& tile);
    void loop_over(size_t depth, Block& out, const Tile& tile, ExprId begin, ExprId end);
    void step(Block& out, const Tile& tile, int64_t ahead);
    ExprId added(LocalId total, ExprId a, ExprId b);
    int64_t reduced_steps() const;
    void plan_prefetch();
    void prefetch(Block& out, int64_t unroll);
    void prefetch_ahead(Block& out, int64_t ahead);
    void bind_point(const Tile& tile, int64_t row, int64_t column);
    void bind_lanes(int64_t vector, bool masked);
    Address weights(int64_t vector, int64_t ahead) const;
    std::vector<ExprId> loaded(const Tile& tile, int64_t ahead);
    ExprId per_group(ir::TensorId tensor, int64_t vector);
    ExprId weight(int64_t vector, int64_t ahead);
    ExprId operand(const Expr& a);
    ExprId total_of(LocalId total);
    bool starts_with_initial() const;
    bool is_signed(ir::TensorId tensor) const {
        return tensor::is_signed(places_.at(tensor).dtype);
    }
    void finish(Block& out, const Tile& tile);
    int64_t unroll_of(VarId var) const;

    const Stage& stage_;
    const Contraction& c_;
    StagePool& pool_;
    const BufferViews& places_;
    const Target& target_;
    ScheduledKernel result_;
    Lowering lower_;
    Builder& build_;
    Points points_;
    Lanes lanes_;
    VarId block_, row_, chunk_;
    VarId panel_;             // of copied panels
    int64_t block_step_ = 0;  // in a copied panel
    // The work of tiles. Of a cut sum, totals are in memory between these passes.
    enum class Pass : uint8_t { All, Start, Add, Finish };
    Pass pass_ = Pass::All;
    VarId run_, part_;  // of a cut sum: rows of tiles in an item, and part of the sum
    int64_t runs_ = 1, run_tiles_ = 1, cut_steps_ = 0;
    int64_t row_tiles_ = 1, column_tiles_ = 1, chunks_ = 1, chunk_tiles_ = 1;
    std::vector<std::pair<VarId, int64_t>> weight_steps_;  // kernel variables of the packed operand
    std::vector<VarId> reduced_vars_;
    BufferId packed_;
    std::vector<LocalId> totals_;
    // While a panel of weights is in use, the next one is prefetched: this many lines per round of
    // the innermost loop, by this many tiles.
    int64_t fetched_lines_ = 0, fetching_tiles_ = 0;
    bool fetching_ = false;
    int64_t ahead_bytes_ = 0;  // each step prefetches what lies so far behind its own weights
    bool by_products_ = true;  // a step adds the product of the operands, else the value
    VarId fetch_;              // number of the tile, at most fetching_tiles_
};

template <class Visit>
void ContractionKernel::each_total(const Tile& tile, Visit&& visit) {
    size_t next = 0;
    for (int64_t row = 0; row < tile.rows; ++row) {
        for (int64_t column = 0; column < tile.columns; ++column) {
            for (int64_t j = 0; j < tile.vectors; ++j) {
                bind_point(tile, row, column);
                bind_lanes(j, is_masked(tile, j));
                visit(totals_[next++]);
            }
        }
    }
}

}  // namespace lemma::loop
