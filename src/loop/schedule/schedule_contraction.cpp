// SPDX-License-Identifier: Apache-2.0
// Sums of products: a tile of outputs stays in registers during the reduction. The packed operand
// is one stream; the other is read element by element for all lanes.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "loop/schedule/lowering.h"
#include "loop/schedule/points.h"
#include "loop/schedule/schedule.h"
#include "loop/schedule/tiles.h"
#include "loop/schedule/unpack.h"

namespace lemma::loop {

namespace {

constexpr int64_t kUnroll = 8;
// A sum of at least kLongSum steps is summed in sections of at most kSection steps.
constexpr int64_t kLongSum = 384, kSection = 256;
constexpr int64_t kLine = 64;  // bytes of a cache line

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
          points_(merge_points(stage, contraction.points, pool, places)) {}

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
    void parts(Block& out);
    void sum(Block& out, const Tile& tile);
    void distances(Block& out, const Tile& tile);
    bool is_long() const;
    std::optional<size_t> section_depth() const;
    template <class Steps>
    void section(Block& out, Steps&& steps);
    void reduction(size_t depth, Block& out, const Tile& tile);
    void loops(size_t depth, Block& out, const Tile& tile);
    void loop_over(size_t depth, Block& out, const Tile& tile, ExprId begin, ExprId end);
    void step(Block& out, const Tile& tile, int64_t ahead);
    ExprId added(LocalId total, ExprId a, ExprId b);
    void plan_prefetch();
    void prefetch(Block& out, int64_t unroll);
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
    VarId block_, row_, chunk_;
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
    bool by_products_ = true;  // a step adds the product of the operands, else the value
    VarId fetch_;              // number of the tile, at most fetching_tiles_
};

ScheduledKernel ContractionKernel::make() {
    Function& function = result_.function;
    function.name = "contraction";
    function.item = build_.var("item");
    for (const VarId var : points_.merged) lower_.bind(var, Address{});
    if (!c_.in_place) packed_ = lower_.buffer(c_.packed, false);
    cut_steps_ = c_.cut_steps;
    if (cut_steps_ > 0 && c_.cut + 1 == c_.reduced.size()) {
        const int64_t unroll = unroll_of(c_.reduced.back());
        cut_steps_ = ceil_of(cut_steps_, unroll) * unroll;
    }
    decode_item(function.body);
    plan_prefetch();
    if (cut_steps_ > 0) {
        parts(function.body);
    } else {
        panel(function.body);
    }
    const int64_t lanes = target_.lanes();
    result_.schedule = fmt::format("tile {}x({}x{})x{}", c_.vectors, c_.rows, c_.columns, lanes);
    if (c_.in_place) result_.schedule += " in place";
    result_.schedule += narrow_text(c_.narrow);
    if (cut_steps_ > 0) result_.schedule += " cut";
    return std::move(result_);
}

// All tiles of an item.
void ContractionKernel::panel(Block& out) {
    const int64_t lanes = target_.lanes();
    const int64_t extent = pool_.extent(c_.lane);
    const bool stacked = c_.stacked.valid();
    const int64_t all_vectors = stacked ? pool_.extent(c_.stacked) : ceil_of(extent, lanes);
    const int64_t last = all_vectors - (c_.blocks - 1) * c_.vectors;
    const bool masked = extent % lanes != 0;
    const bool even = last == c_.vectors && !masked;
    if (even) {
        rows_of(out, c_.vectors, false);
    } else {
        const ExprId block = build_.index(block_);
        const ExprId limit = build_.integer(c_.blocks - 1);
        if (c_.blocks > 1) {
            If whole{build_.make(Op::Less, {block, limit}), {}};
            rows_of(whole.body, c_.vectors, stacked && masked);
            out.push_back({std::move(whole)});
        }
        If rest{build_.make(Op::Equal, {block, limit}), {}};
        rows_of(rest.body, last, masked);
        out.push_back({std::move(rest)});
    }
}

// Items are batches, blocks of lanes, rows of points, and runs of tiles in a row.
void ContractionKernel::decode_item(Block& out) {
    const int64_t columns = points_.columns();
    const int64_t rows = points_.rows();
    row_tiles_ = ceil_of(rows, c_.rows);
    column_tiles_ = ceil_of(columns, c_.columns);
    cut_rows();
    if (cut_steps_ > 0) cut_items(points_.outer());

    struct Part {
        VarId* kernel;
        VarId stage;
        int64_t extent;
    };
    std::vector<Part> parts;  // outermost first
    std::vector<VarId> made(c_.batch.size() + points_.vars.size());
    size_t next = 0;
    std::vector<Part> batch;
    for (const VarId var : c_.batch) {
        if (var != c_.stacked) batch.push_back({&made[next++], var, pool_.extent(var)});
    }
    const Part blocks{&block_, {}, c_.blocks};
    const bool blocks_inside = c_.weights_inside || c_.batch_inside;
    if (!c_.batch_inside) parts = batch;
    if (!blocks_inside) parts.push_back(blocks);
    for (size_t i = 0; i + 2 < points_.vars.size(); ++i) {
        parts.push_back({&made[next++], points_.vars[i], points_.extents[i]});
    }
    if (cut_steps_ > 0) {
        parts.push_back({&run_, {}, runs_});
    } else {
        parts.push_back({&row_, {}, row_tiles_});
    }
    parts.push_back({&chunk_, {}, chunks_});
    if (c_.batch_inside) parts.insert(parts.end(), batch.begin(), batch.end());
    if (blocks_inside) parts.push_back(blocks);
    Function& function = result_.function;
    function.items = 1;
    for (const Part& part : parts) {
        *part.kernel = build_.var({});
        function.items *= part.extent;
        if (part.stage.valid()) lower_.bind(part.stage, *part.kernel);
    }
    ExprId rest = build_.index(function.item);
    for (size_t i = parts.size(); i-- > 0;) {
        const ExprId extent = build_.integer(parts[i].extent);
        const ExprId value = parts[i].extent == 1 ? build_.integer(0)
                             : i == 0             ? rest
                                                  : build_.make(Op::Mod, {rest, extent});
        out.push_back({Bind{*parts[i].kernel, value}});
        rest = build_.make(Op::Div, {rest, extent});
    }
    if (cut_steps_ > 0) part_ = build_.var({});
    for (size_t i = 0; i < c_.reduced.size(); ++i) reduced_vars_.push_back(build_.var({}));
    if (c_.in_place) return;
    // The packed operand is read in the order of its axes.
    const BufferView& packed = places_.at(c_.packed);
    size_t axis = 0;
    for (const VarId var : c_.packed_batch) {
        const auto at = std::ranges::find(c_.batch, var) - c_.batch.begin();
        weight_steps_.emplace_back(made[static_cast<size_t>(at)], packed.layout.strides[axis++]);
    }
    weight_steps_.emplace_back(block_, packed.layout.strides[axis++]);
    for (const VarId var : reduced_vars_) {
        weight_steps_.emplace_back(var, packed.layout.strides[axis++]);
    }
}

// Cuts long rows, so that many threads get nearly the same work. Threads take neighbouring items
// together, so short items cost little.
void ContractionKernel::cut_rows() {
    constexpr int64_t kItems = 256;
    constexpr int64_t kLeastItem = 8192;  // multiplications of vectors: about 2 µs
    int64_t others = std::max<int64_t>(row_tiles_ * points_.outer(), 1) * c_.blocks;
    for (const VarId var : c_.batch) others *= std::max<int64_t>(pool_.extent(var), 1);
    int64_t tile = c_.vectors * c_.rows * c_.columns;
    for (const VarId var : c_.reduced) tile *= std::max<int64_t>(pool_.extent(var), 1);
    const int64_t most = std::max<int64_t>(column_tiles_ / ceil_of(kLeastItem, tile), 1);
    chunks_ = std::clamp<int64_t>(ceil_of(kItems, others), 1, most);
    chunk_tiles_ = ceil_of(column_tiles_, chunks_);
    chunks_ = ceil_of(column_tiles_, chunk_tiles_);
}

// Few items with many points each, because each item reads its panel of weights again.
void ContractionKernel::cut_items(int64_t others) {
    constexpr int64_t kItems = 16;
    others *= c_.blocks;
    for (const VarId var : c_.batch) others *= pool_.extent(var);
    const int64_t wanted = ceil_of(kItems, others);
    if (row_tiles_ > 1) {
        run_tiles_ = ceil_of(row_tiles_, std::min(wanted, row_tiles_));
        runs_ = ceil_of(row_tiles_, run_tiles_);
        chunks_ = 1;
    } else {
        chunks_ = std::min(wanted, std::max<int64_t>(column_tiles_ / 8, 1));
    }
    chunk_tiles_ = ceil_of(column_tiles_, chunks_);
    chunks_ = ceil_of(column_tiles_, chunk_tiles_);
}

// Three passes: store the initial values in the results' memory, add each part to them, and apply
// the epilogue.
void ContractionKernel::parts(Block& out) {
    const auto rows = [&](Pass pass) {
        pass_ = pass;
        const ExprId begin = build_.make(Op::Mul, {build_.index(run_), build_.integer(run_tiles_)});
        const ExprId end = build_.make(Op::Min,
                                       {build_.make(Op::Add, {begin, build_.integer(run_tiles_)}),
                                        build_.integer(row_tiles_)});
        row_ = build_.var({});
        For loop{row_, begin, end, 1, {}};
        panel(loop.body);
        return Stmt{std::move(loop)};
    };
    out.push_back(rows(Pass::Start));
    Stmt inner = rows(Pass::Add);
    for (size_t i = c_.cut + 1; i-- > 0;) {
        const int64_t extent = pool_.extent(c_.reduced[i]);
        const bool whole = i < c_.cut;
        For loop{whole ? reduced_vars_[i] : part_,
                 build_.integer(0),
                 build_.integer(whole ? extent : ceil_of(extent, cut_steps_)),
                 1,
                 {}};
        loop.body.push_back(std::move(inner));
        inner = Stmt{std::move(loop)};
    }
    out.push_back(std::move(inner));
    if (stage_.finish.valid()) out.push_back(rows(Pass::Finish));
}

void ContractionKernel::rows_of(Block& out, int64_t vectors, bool masked) {
    const int64_t rows = points_.rows();
    Tile all{vectors, c_.rows, c_.columns, {}, {}, masked, {}};
    all.first_row.add(row_, c_.rows);
    const int64_t rest = rows % c_.rows;
    if (rest == 0) return columns_of(out, all);
    const ExprId row = build_.index(row_);
    const ExprId limit = build_.integer(row_tiles_ - 1);
    if (row_tiles_ > 1) {
        If whole{build_.make(Op::Less, {row, limit}), {}};
        columns_of(whole.body, all);
        out.push_back({std::move(whole)});
    }
    If last{build_.make(Op::Equal, {row, limit}), {}};
    all.rows = rest;
    columns_of(last.body, all);
    out.push_back({std::move(last)});
}

// The number of the row's first tile, among the tiles that use a panel of weights in turn.
Address ContractionKernel::first_number() const {
    Address number;
    number.add(row_, column_tiles_);
    if (cut_steps_ > 0) {
        number.add(run_, -run_tiles_ * column_tiles_);
        number.add(chunk_, -chunk_tiles_);
    }
    return number;
}

void ContractionKernel::columns_of(Block& out, Tile all) {
    const int64_t columns = points_.columns();
    const int64_t whole = columns / c_.columns;
    const int64_t rest = columns % c_.columns;
    const auto times = [&](VarId var, int64_t factor) {
        return build_.make(Op::Mul, {build_.index(var), build_.integer(factor)});
    };
    if (whole > 0) {
        const VarId var = build_.var({});
        ExprId begin = build_.integer(0);
        ExprId end = build_.integer(whole);
        if (chunks_ > 1) {
            begin = times(chunk_, chunk_tiles_);
            end = build_.make(Op::Min,
                              {build_.make(Op::Add, {begin, build_.integer(chunk_tiles_)}),
                               build_.integer(whole)});
        }
        For loop{var, begin, end, 1, {}};
        all.first_column = {};
        all.first_column.add(var, c_.columns);
        all.number = first_number();
        all.number.add(var, 1);
        tile(loop.body, all);
        out.push_back({std::move(loop)});
    }
    if (rest == 0) return;
    all.columns = rest;
    all.first_column = {};
    all.first_column.offset = whole * c_.columns;
    all.number = first_number();
    all.number.offset = whole;
    if (chunks_ == 1) return tile(out, all);
    If last{build_.make(Op::Equal, {build_.index(chunk_), build_.integer(chunks_ - 1)}), {}};
    tile(last.body, all);
    out.push_back({std::move(last)});
}

// ---- One tile -----------------------------------------------------------------------------------

void ContractionKernel::bind_point(const Tile& tile, int64_t row, int64_t column) {
    if (points_.vars.empty()) return;
    Address at = tile.first_column;
    at.offset += column;
    lower_.bind(points_.vars.back(), std::move(at));
    if (points_.vars.size() < 2) return;
    Address above = tile.first_row;
    above.offset += row;
    lower_.bind(points_.vars[points_.vars.size() - 2], std::move(above));
}

void ContractionKernel::bind_lanes(int64_t vector, bool masked) {
    const int64_t lanes = target_.lanes();
    const int64_t step = c_.stacked.valid() ? 1 : lanes;
    Address at;
    at.offset = vector * step;
    at.add(block_, c_.vectors * step);
    Address along;
    if (c_.stacked.valid()) {
        lower_.bind(c_.stacked, std::move(at));
    } else {
        along = std::move(at);
    }
    along.add(lower_.lane_var, 1);
    lower_.bind(c_.lane, std::move(along));
    ExprId mask;
    if (masked) {
        const int64_t rest = pool_.extent(c_.lane) % lanes;
        mask = build_.make(Op::Less, {build_.ramp(target_.lanes()), build_.integer(rest)});
    }
    lower_.set_lanes(target_.lanes(), mask);
}

Address ContractionKernel::weights(int64_t vector, int64_t ahead) const {
    Address at;
    for (const auto& [var, stride] : weight_steps_) at.add(var, stride);
    at.offset = vector * target_.lanes() * c_.group;
    if (!reduced_vars_.empty()) at.offset += ahead * weight_steps_.back().second;
    return at;
}

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

void ContractionKernel::start(Block& out, const Tile& tile) {
    for (const VarId var : c_.reduced) lower_.bind(var, Address{});
    each_total(tile, [&](LocalId total) {
        const ExprId initial =
            starts_with_initial() ? lower_.value(stage_.initial) : build_.integer(0);
        const ExprId first = build_.cast(initial, c_.kind);
        out.push_back({Set{total, build_.spread(first, target_.lanes())}});
    });
}

void ContractionKernel::tile(Block& out, const Tile& tile) {
    const int64_t count = tile.vectors * tile.rows * tile.columns;
    const Type type{c_.kind, target_.lanes()};
    totals_.clear();
    for (int64_t i = 0; i < count; ++i) totals_.push_back(build_.local(type));
    const StageWrite& write = stage_.writes[0];
    if (pass_ == Pass::All || pass_ == Pass::Start) {
        start(out, tile);
    } else {
        each_total(tile, [&](LocalId total) {
            out.push_back({Set{total, lower_.load(write.tensor, write.index)}});
        });
    }
    if (pass_ == Pass::All || pass_ == Pass::Add) sum(out, tile);
    if (pass_ == Pass::All || pass_ == Pass::Finish) return finish(out, tile);
    each_total(tile, [&](LocalId total) {
        out.push_back(lower_.store(write.tensor, write.index, build_.get(total)));
    });
}

void ContractionKernel::sum(Block& out, const Tile& tile) {
    fetching_ = fetched_lines_ > 0;
    if (fetching_) {
        fetch_ = build_.var({});
        const ExprId number = build_.sum(tile.number);
        out.push_back(
            {Bind{fetch_, build_.make(Op::Min, {number, build_.integer(fetching_tiles_)})}});
    }
    by_products_ = c_.product || c_.squares.valid();
    reduction(0, out, tile);
    if (c_.squares.valid()) distances(out, tile);
}

// Turns totals of products into totals of squared distances. Rounding errors of the squares carry
// over to the distances, which is acceptable from an eighth of the squares on. A tile with a
// smaller, infinite or nan distance is summed again as written.
void ContractionKernel::distances(Block& out, const Tile& tile) {
    constexpr double kGoodShare = 0.125;
    const auto squares = [&] { return build_.spread(lower_.value(c_.squares), target_.lanes()); };
    each_total(tile, [&](LocalId total) {
        const ExprId minus_two = build_.real(-2, Kind::F32);
        ExprId distance = build_.make(Op::Fma, {build_.get(total), minus_two, squares()});
        // A root may follow, so it must not be negative.
        if (c_.trusts_squares) {
            distance = build_.make(Op::Max, {distance, build_.real(0, Kind::F32)});
        }
        out.push_back({Set{total, distance}});
    });
    if (c_.trusts_squares) return;
    ExprId good;
    each_total(tile, [&](LocalId total) {
        const ExprId distance = build_.get(total);
        const ExprId least = build_.make(Op::Mul, {squares(), build_.real(kGoodShare, Kind::F32)});
        const ExprId infinite = build_.real(HUGE_VAL, Kind::F32);
        const ExprId here = build_.make(Op::And,
                                        {build_.make(Op::LessEqual, {least, distance}),
                                         build_.make(Op::Less, {distance, infinite})});
        good = good.valid() ? build_.make(Op::And, {good, here}) : here;
    });
    If bad{build_.make(Op::Not, {build_.make(Op::AllLanes, {good})}), {}};
    by_products_ = fetching_ = false;
    start(bad.body, tile);
    reduction(0, bad.body, tile);
    out.push_back({std::move(bad)});
}

// ---- Prefetching weights ------------------------------------------------------------------------

void ContractionKernel::plan_prefetch() {
    const bool small = c_.weights_inside || c_.batch_inside;
    const bool narrow = c_.kind == Kind::I32 && c_.group == 1;
    if (small || narrow || c_.lane_in_a || c_.in_place || c_.reduced.empty()) return;
    int64_t depth = 1;
    for (const VarId var : c_.reduced) depth *= pool_.extent(var);
    const int64_t vector_lines = std::max<int64_t>(1, target_.vector_bytes / kLine);
    const int64_t round = unroll_of(c_.reduced.back()) * c_.vectors * vector_lines;
    const int64_t tiles = cut_steps_ > 0 ? run_tiles_ * chunk_tiles_ : row_tiles_ * column_tiles_;
    constexpr int64_t kSmallPanel = int64_t{16} << 10;
    if (tiles < 2 || depth * c_.vectors * target_.vector_bytes < kSmallPanel) return;
    fetched_lines_ = ceil_of(round, tiles);
    fetching_tiles_ = ceil_of(round, fetched_lines_) - 1;
}

// Each tile prefetches the part of the next panel with its own number, from front to back. In a cut
// sum, the data of the next part follows that of this part.
void ContractionKernel::prefetch(Block& out, int64_t unroll) {
    const int64_t line = kLine / tensor::dtype_size(places_.at(c_.packed).dtype);
    const bool cut = cut_steps_ > 0;
    Address at;
    // Steps already done in this panel, in lines of the next one.
    int64_t step = fetched_lines_ * line;
    size_t i = c_.reduced.size();
    while (i-- > (cut ? c_.cut : 0)) {
        const int64_t by = i + 1 == c_.reduced.size() ? unroll : 1;
        at.add(reduced_vars_[i], step / by);
        const bool in_parts = cut && i == c_.cut;
        if (in_parts) at.add(part_, -cut_steps_ * (step / by));
        step *= (in_parts ? cut_steps_ : pool_.extent(c_.reduced[i])) / by;
    }
    at.add(fetch_, step);
    // The variables that are constant while the panel is in use.
    const size_t first = weight_steps_.size() - c_.reduced.size();
    for (size_t k = 0; k < first + (cut ? c_.cut : 0); ++k) {
        at.add(weight_steps_[k].first, weight_steps_[k].second);
    }
    at.offset = weight_steps_[first - 1].second;
    if (cut) {
        at.offset = cut_steps_ * weight_steps_[first + c_.cut].second;
        at.add(part_, at.offset);
    }
    for (int64_t k = 0; k < fetched_lines_; ++k) {
        Address here = at;
        here.offset += k * line;
        out.push_back({Prefetch{packed_, std::move(here)}});
    }
}

// Unrolled steps that share elements of A with other points would keep them in registers, which are
// full.
int64_t ContractionKernel::unroll_of(VarId var) const {
    const Expr& a = pool_[c_.a];
    const BufferView& from = places_.at(tensor_of(a));
    int64_t unroll = std::min(kUnroll, pool_.extent(var));
    const int64_t step = std::abs(stride_of(pool_, from, a.args, var));
    if (c_.lane_in_a) return 1;
    if (!points_.vars.empty() && step > 0) {
        const int64_t point = std::abs(stride_of(pool_, from, a.args, points_.vars.back()));
        if (point > 0) unroll = std::min(unroll, std::max<int64_t>(1, ceil_of(point, step)));
    }
    return unroll;
}

bool ContractionKernel::is_long() const {
    int64_t steps = 1;
    for (const VarId var : c_.reduced) steps *= pool_.extent(var);
    return c_.kind == Kind::F32 && steps >= kLongSum && stage_.combine == ir::FormulaOp::Sum &&
           !c_.squares.valid();
}

// The outermost loop of a section; none if the innermost loop alone has too many steps.
std::optional<size_t> ContractionKernel::section_depth() const {
    int64_t steps = 1;
    size_t depth = c_.reduced.size();
    while (depth > 0 && steps * pool_.extent(c_.reduced[depth - 1]) <= kSection) {
        steps *= pool_.extent(c_.reduced[--depth]);
    }
    const size_t innermost = c_.reduced.size() - 1;
    const bool short_part = cut_steps_ > 0 && c_.cut == innermost && cut_steps_ <= kSection;
    if (depth > innermost && !short_part) return std::nullopt;
    return cut_steps_ > 0 ? std::max(std::min(depth, innermost), c_.cut) : depth;
}

// The rounding error of a sum grows with its steps, so each section has separate totals.
template <class Steps>
void ContractionKernel::section(Block& out, Steps&& steps) {
    const Type type{Kind::F32, target_.lanes()};
    std::vector<LocalId> totals = totals_;
    for (LocalId& total : totals_) {
        total = build_.local(type);
        const ExprId zero = build_.spread(build_.real(0, Kind::F32), target_.lanes());
        out.push_back({Set{total, zero}});
    }
    steps();
    std::swap(totals, totals_);
    for (size_t i = 0; i < totals_.size(); ++i) {
        const ExprId sum = build_.make(Op::Add, {build_.get(totals_[i]), build_.get(totals[i])});
        out.push_back({Set{totals_[i], sum}});
    }
}

void ContractionKernel::reduction(size_t depth, Block& out, const Tile& tile) {
    if (!is_long() || section_depth() != depth) return loops(depth, out, tile);
    section(out, [&] { loops(depth, out, tile); });
}

void ContractionKernel::loops(size_t depth, Block& out, const Tile& tile) {
    if (depth == c_.reduced.size()) return step(out, tile, 0);
    const VarId var = c_.reduced[depth];
    const VarId here = reduced_vars_[depth];
    const int64_t extent = pool_.extent(var);
    if (cut_steps_ > 0 && depth < c_.cut) {
        lower_.bind(var, here);
        return reduction(depth + 1, out, tile);
    }
    const bool innermost = depth + 1 == c_.reduced.size();
    const int64_t unroll = innermost ? unroll_of(var) : 1;
    const int64_t whole = extent / unroll * unroll;
    const bool cut = cut_steps_ > 0 && depth == c_.cut;
    ExprId begin = build_.integer(0);
    ExprId end = build_.integer(whole);
    if (cut) {
        const ExprId steps = build_.integer(cut_steps_);
        begin = build_.make(Op::Mul, {build_.index(part_), steps});
        end = build_.make(Op::Min, {build_.make(Op::Add, {begin, steps}), end});
    }
    if (innermost && is_long() && !section_depth()) {
        const int64_t steps = kSection / unroll * unroll;
        const int64_t sections = ceil_of(cut ? cut_steps_ : whole, steps);
        const VarId part = build_.var({});
        For all{part, build_.integer(0), build_.integer(sections), 1, {}};
        const ExprId first = build_.make(
            Op::Add, {begin, build_.make(Op::Mul, {build_.index(part), build_.integer(steps)})});
        const ExprId last =
            build_.make(Op::Min, {build_.make(Op::Add, {first, build_.integer(steps)}), end});
        section(all.body, [&] { loop_over(depth, all.body, tile, first, last); });
        out.push_back({std::move(all)});
    } else {
        loop_over(depth, out, tile, begin, end);
    }
    if (whole == extent) return;
    For rest{here, build_.integer(whole), build_.integer(extent), 1, {}};
    lower_.bind(var, here);
    step(rest.body, tile, 0);
    if (!cut) return out.push_back({std::move(rest)});
    const ExprId last = build_.integer(ceil_of(extent, cut_steps_) - 1);
    If at_end{build_.make(Op::Equal, {build_.index(part_), last}), {}};
    at_end.body.push_back({std::move(rest)});
    out.push_back({std::move(at_end)});
}

void ContractionKernel::loop_over(
    size_t depth, Block& out, const Tile& tile, ExprId begin, ExprId end) {
    const VarId var = c_.reduced[depth];
    const VarId here = reduced_vars_[depth];
    const bool innermost = depth + 1 == c_.reduced.size();
    const int64_t unroll = innermost ? unroll_of(var) : 1;
    For loop{here, begin, end, unroll, {}};
    if (innermost && fetching_) prefetch(loop.body, unroll);
    for (int64_t ahead = 0; ahead < unroll; ++ahead) {
        Address at;
        at.offset = ahead;
        at.add(here, 1);
        lower_.bind(var, std::move(at));
        if (innermost) {
            step(loop.body, tile, ahead);
        } else {
            reduction(depth + 1, loop.body, tile);
        }
    }
    out.push_back({std::move(loop)});
}

// Scales or zeros of a vector of weights.
ExprId ContractionKernel::per_group(ir::TensorId tensor, int64_t vector) {
    Address at = group_address(c_, places_.at(tensor).layout, weight_steps_, reduced_vars_);
    at.offset = vector * target_.lanes();
    return build_.load(lower_.buffer(tensor, false), std::move(at), target_.lanes());
}

// The weights of a step, a vector each.
std::vector<ExprId> ContractionKernel::loaded(const Tile& tile, int64_t ahead) {
    const bool nibble = c_.narrow && c_.narrow->nibble;
    std::vector<ExprId> w;
    for (int64_t j = 0; j < (nibble ? tile.vectors / 2 : tile.vectors); ++j) {
        w.push_back(weight(j, ahead));
    }
    if (nibble) w = split_nibbles(build_, w);
    for (int64_t j = 0; c_.narrow && j < tile.vectors; ++j) {
        ExprId& vector = w[static_cast<size_t>(j)];
        for (const auto& [op, tensor] :
             {std::pair(Op::Sub, c_.narrow->zeros), std::pair(Op::Mul, c_.narrow->scales)}) {
            if (tensor.valid()) vector = build_.make(op, {vector, per_group(tensor, j)});
        }
    }
    return w;
}

void ContractionKernel::step(Block& out, const Tile& tile, int64_t ahead) {
    const uint16_t lanes = target_.lanes();
    std::vector<ExprId> w = c_.in_place ? std::vector<ExprId>() : loaded(tile, ahead);
    const Expr b = pool_[c_.b];
    for (int64_t j = 0; c_.in_place && j < tile.vectors; ++j) {
        bind_lanes(j, is_masked(tile, j));
        w.push_back(lower_.load(tensor_of(b), b.args));
    }
    for (const ExprId vector : w) out.push_back({Let{vector}});
    const Expr a = pool_[c_.a];
    size_t next = 0;
    for (int64_t row = 0; row < tile.rows; ++row) {
        for (int64_t column = 0; column < tile.columns; ++column) {
            bind_point(tile, row, column);
            for (int64_t j = 0; j < tile.vectors; ++j) {
                if (j == 0 || c_.lane_in_a) bind_lanes(j, is_masked(tile, j));
                const ExprId element = build_.spread(operand(a), lanes);
                const LocalId total = totals_[next++];
                out.push_back({Set{total, added(total, element, w[static_cast<size_t>(j)])}});
            }
        }
    }
}

// A vector of the packed operand.
ExprId ContractionKernel::weight(int64_t vector, int64_t ahead) {
    const uint16_t lanes = target_.lanes();
    if (c_.group > 1) return build_.load_bytes(packed_, weights(vector, ahead), lanes);
    return build_.cast(build_.load(packed_, weights(vector, ahead), lanes), c_.kind);
}

// The element of A, or the group that begins there.
ExprId ContractionKernel::operand(const Expr& a) {
    if (c_.group == 1) return build_.cast(lower_.load(tensor_of(a), a.args), c_.kind);
    Lowering::Element at = lower_.element(tensor_of(a), a.args, false);
    at.address.lane_stride = 1;
    return build_.load_bytes(at.buffer, std::move(at.address));
}

// A total of bytes fits 32 bits. With the initial value it may not.
bool ContractionKernel::starts_with_initial() const {
    return c_.kind == Kind::F32 || stage_.narrow_total || pool_.build.is_integer(stage_.initial, 0);
}

ExprId ContractionKernel::total_of(LocalId total) {
    const ExprId value = build_.get(total);
    if (starts_with_initial()) return value;
    return build_.make(Op::Add, {value, lower_.value(stage_.initial)});
}

// The total after one more step.
ExprId ContractionKernel::added(LocalId total, ExprId a, ExprId b) {
    const ExprId before = build_.get(total);
    if (c_.group > 1) {
        const bool a_signed = is_signed(tensor_of(pool_[c_.a]));
        return build_.dot_bytes(before, a, b, a_signed, is_signed(c_.packed));
    }
    if (c_.kind == Kind::I32) return build_.fma32(a, b, before);
    if (by_products_) return build_.make(Op::Fma, {a, b, before});
    lower_.forget_values();
    lower_.define(c_.a, a);
    lower_.define(c_.b, b);
    const ExprId value = lower_.value(stage_.writes[0].value);
    lower_.forget_values();
    if (stage_.combine == ir::FormulaOp::Min) return build_.make(Op::Min, {before, value});
    if (stage_.combine == ir::FormulaOp::Max) return build_.make(Op::Max, {before, value});
    const Expr e = build_[value];
    if (e.op == Op::Mul) return build_.make(Op::Fma, {e.args[0], e.args[1], before});
    return build_.make(Op::Add, {before, value});
}

void ContractionKernel::finish(Block& out, const Tile& tile) {
    const StageWrite& write = stage_.writes[0];
    each_total(tile, [&](LocalId total) {
        ExprId value = total_of(total);
        if (stage_.finish.valid()) {
            lower_.define(stage_.total, value);
            value = lower_.value(stage_.finish);
        }
        out.push_back(lower_.store(write.tensor, write.index, value));
    });
}

}  // namespace

ScheduledKernel schedule_contraction(const Stage& stage,
                                     const Contraction& contraction,
                                     StagePool& pool,
                                     const BufferViews& places,
                                     const Target& target) {
    if (contraction.device) return schedule_device_contraction(stage, contraction, pool, places);
    if (contraction.tiles) return schedule_tiles(stage, contraction, pool, places, target);
    return ContractionKernel(stage, contraction, pool, places, target).make();
}

}  // namespace lemma::loop
