// SPDX-License-Identifier: Apache-2.0
// Contractions on tile registers. Two tiles of A, each with consecutive points, times up to two
// tiles of the packed operand, each with a vector of lanes. Totals go through scratch memory to the
// epilogue.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "loop/schedule/lowering.h"
#include "loop/schedule/tiles.h"

namespace lemma::loop {

namespace {

constexpr int64_t kSegments = kTileSegments;
constexpr int64_t kGroupBytes = 4;

// The groups of steps that lie side by side in A: those of the innermost variable, and of outer
// ones that continue it.
struct Run {
    size_t first = 0;    // reduced variables from this one on
    int64_t groups = 1;  // of all of them
};
Run run_of(const Contraction& c, const StagePool& pool, const BufferViews& places) {
    const Expr& a = pool[c.a];
    const BufferView& from = places.at(tensor_of(a));
    Run run{c.reduced.size() - 1, pool.extent(c.reduced.back())};
    while (run.first > 0) {
        const VarId outer = c.reduced[run.first - 1];
        if (stride_of(pool, from, a.args, outer) != run.groups * c.group) break;
        run.groups *= pool.extent(outer);
        --run.first;
    }
    return run;
}

class TileKernel {
public:
    TileKernel(const Stage& stage,
               const Contraction& contraction,
               StagePool& pool,
               const BufferViews& places)
        : stage_(stage),
          c_(contraction),
          pool_(pool),
          places_(places),
          lower_(pool, places, result_),
          build_(lower_.build),
          points_(merge_points(stage, contraction.points, pool, places)),
          run_(run_of(contraction, pool, places)),
          part_(tile_part(run_.groups)),
          rows_(part_of(points_.columns(), kMostTileRows)),
          row_segments_(ceil_of(points_.columns(), rows_)),
          segments_(row_segments_ * points_.rows()) {}

    ScheduledKernel make();

private:
    // Two segments, each a tile of points; the second may be missing.
    struct Segment {
        VarId row, column, skipped;  // first point, and points that another segment has, too
    };
    void add_buffers();
    void add_tiles();
    void decode_item(Block& out);
    void pairs(Block& out);
    Segment segment(Block& out, ExprId number);
    void block_of(Block& out, const std::function<void(Block&, int64_t, bool)>& visit);
    void products(Block& out, int64_t vectors, size_t depth);
    void load_a(Block& out, int tile, size_t segment, int64_t term);
    void load_b(Block& out, int64_t vector, int64_t term);
    void dot(Block& out, size_t segment, int64_t vector, int a);
    void step(Block& out, int64_t vectors);
    void step_of_terms(Block& out, int64_t vectors);
    void epilogue(Block& out, size_t segment, int64_t vectors, bool masked);
    void point(Block& out, size_t segment, VarId row, int64_t vectors, bool masked);
    void bind_lanes(int64_t vector, bool masked);
    ExprId total_at(size_t segment, VarId row, int64_t vector);
    TileProducts kind_of_products() const;
    int total_tile(size_t segment, int64_t vector) const {
        return static_cast<int>(static_cast<int64_t>(segment) * c_.vectors + vector);
    }
    int a_tile(size_t segment) const {
        return static_cast<int>(kSegments * c_.vectors + static_cast<int64_t>(segment));
    }
    int b_tile(int64_t vector) const {
        return static_cast<int>(kSegments * (c_.vectors + 1) + vector);
    }
    ExprId number(int64_t value) { return build_.integer(value); }
    ExprId times(VarId var, int64_t factor) {
        return build_.make(Op::Mul, {build_.index(var), number(factor)});
    }

    const Stage& stage_;
    const Contraction& c_;
    StagePool& pool_;
    const BufferViews& places_;
    ScheduledKernel result_;
    Lowering lower_;
    Builder& build_;
    Points points_;
    Run run_;
    int64_t part_;          // groups of steps in a tile
    int64_t rows_;          // points in a tile
    int64_t row_segments_;  // in a row of points
    int64_t segments_;
    int64_t chunks_ = 1, chunk_pairs_ = 1;
    VarId block_, chunk_;
    BufferId packed_, scratch_;
    int64_t packed_term_ = 0;  // from the first terms of the packed operand to the second
    std::vector<std::pair<VarId, int64_t>> weight_steps_;
    std::vector<VarId> reduced_vars_;
    Segment now_[kSegments];
};

ScheduledKernel TileKernel::make() {
    Function& function = result_.function;
    function.name = "tiles";
    function.item = build_.var("item");
    for (const VarId var : points_.merged) lower_.bind(var, Address{});
    add_buffers();
    add_tiles();
    decode_item(function.body);
    pairs(function.body);
    result_.schedule = fmt::format("tiles {}x{}x{}{}",
                                   rows_,
                                   part_ * c_.group,
                                   c_.vectors * kTileLanes,
                                   c_.terms ? " terms" : "");
    return std::move(result_);
}

// Scratch memory comes last, so the arguments must be known before.
void TileKernel::add_buffers() {
    packed_ = lower_.buffer(c_.packed, false);
    lower_.buffer(tensor_of(pool_[c_.a]), false);
    for (const ExprId value : {stage_.initial, stage_.finish}) {
        pool_.visit_reads(value, [&](ExprId id, const Expr& e) {
            if (id != stage_.total) lower_.buffer(tensor_of(e), false);
        });
    }
    lower_.buffer(stage_.writes[0].tensor, true);
    for (const StageWrite& write : stage_.also) lower_.buffer(write.tensor, true);
    const auto dtype = c_.kind == Kind::I32 ? tensor::DType::I32 : tensor::DType::F32;
    scratch_ = build_.scratch(dtype, kSegments * rows_ * c_.vectors * kTileLanes);
}

void TileKernel::add_tiles() {
    std::vector<TileRegister>& tiles = result_.function.tiles;
    const int rows = static_cast<int>(rows_);
    for (int64_t i = 0; i < kSegments * c_.vectors; ++i) tiles.push_back({rows, kTileBytes});
    const int bytes = static_cast<int>(part_ * kGroupBytes);
    for (int64_t i = 0; i < kSegments; ++i) tiles.push_back({rows, bytes});
    for (int64_t i = 0; i < c_.vectors; ++i) tiles.push_back({static_cast<int>(part_), kTileBytes});
}

// Items are batches, blocks of lanes, outer points, and runs of pairs of segments.
void TileKernel::decode_item(Block& out) {
    const int64_t pairs = ceil_of(segments_, kSegments);
    int64_t others = c_.blocks * points_.outer();
    for (const VarId var : c_.batch) others *= pool_.extent(var);
    constexpr int64_t kItems = 64;
    chunks_ = std::clamp<int64_t>(ceil_of(kItems, others), 1, pairs);
    chunk_pairs_ = ceil_of(pairs, chunks_);
    chunks_ = ceil_of(pairs, chunk_pairs_);
    struct Part {
        VarId kernel, stage;
        int64_t extent;
    };
    std::vector<Part> parts;  // outermost first
    for (const VarId var : c_.batch) parts.push_back({build_.var({}), var, pool_.extent(var)});
    block_ = build_.var({});
    parts.push_back({block_, {}, c_.blocks});
    for (size_t i = 0; i + 2 < points_.vars.size(); ++i) {
        parts.push_back({build_.var({}), points_.vars[i], points_.extents[i]});
    }
    chunk_ = build_.var({});
    parts.push_back({chunk_, {}, chunks_});
    Function& function = result_.function;
    function.items = 1;
    for (const Part& part : parts) {
        function.items *= part.extent;
        if (part.stage.valid()) lower_.bind(part.stage, part.kernel);
    }
    ExprId rest = build_.index(function.item);
    for (size_t i = parts.size(); i-- > 0;) {
        const ExprId extent = number(parts[i].extent);
        const ExprId value = parts[i].extent == 1 ? number(0)
                             : i == 0             ? rest
                                                  : build_.make(Op::Mod, {rest, extent});
        out.push_back({Bind{parts[i].kernel, value}});
        rest = build_.make(Op::Div, {rest, extent});
    }
    const std::vector<int64_t>& strides = places_.at(c_.packed).layout.strides;
    size_t axis = 0;
    for (const VarId var : c_.packed_batch) {
        const auto at = std::ranges::find(parts, var, &Part::stage);
        weight_steps_.emplace_back(at->kernel, strides[axis++]);
    }
    weight_steps_.emplace_back(block_, strides[axis++]);
    for (size_t i = 0; i < c_.reduced.size(); ++i) {
        reduced_vars_.push_back(build_.var({}));
        weight_steps_.emplace_back(reduced_vars_.back(), strides[axis++]);
    }
    if (c_.terms) packed_term_ = strides[axis];
}

// The place of a segment. The last one of a row begins early enough to be whole.
TileKernel::Segment TileKernel::segment(Block& out, ExprId which) {
    const Segment result{build_.var({}), build_.var({}), build_.var({})};
    const ExprId across = number(row_segments_);
    const ExprId wanted =
        build_.make(Op::Mul, {build_.make(Op::Mod, {which, across}), number(rows_)});
    const ExprId column = build_.make(Op::Min, {wanted, number(points_.columns() - rows_)});
    out.push_back({Bind{result.row, build_.make(Op::Div, {which, across})}});
    out.push_back({Bind{result.column, column}});
    out.push_back({Bind{result.skipped, build_.make(Op::Sub, {wanted, column})}});
    return result;
}

// Calls `visit` with the vectors of the block, and whether the last one is not full.
void TileKernel::block_of(Block& out, const std::function<void(Block&, int64_t, bool)>& visit) {
    const int64_t extent = pool_.extent(c_.lane);
    const int64_t last = ceil_of(extent, kTileLanes) - (c_.blocks - 1) * c_.vectors;
    const bool masked = extent % kTileLanes != 0;
    if (last == c_.vectors && !masked) return visit(out, c_.vectors, false);
    const ExprId block = build_.index(block_);
    const ExprId limit = number(c_.blocks - 1);
    if (c_.blocks > 1) {
        If whole{build_.make(Op::Less, {block, limit}), {}};
        visit(whole.body, c_.vectors, false);
        out.push_back({std::move(whole)});
    }
    If rest{build_.make(Op::Equal, {block, limit}), {}};
    visit(rest.body, last, masked);
    out.push_back({std::move(rest)});
}

void TileKernel::pairs(Block& out) {
    const int64_t all = ceil_of(segments_, kSegments);
    const VarId pair = build_.var({});
    const ExprId begin = times(chunk_, chunk_pairs_);
    const ExprId end =
        build_.make(Op::Min, {build_.make(Op::Add, {begin, number(chunk_pairs_)}), number(all)});
    For loop{pair, begin, end, 1, {}};
    const ExprId first = times(pair, kSegments);
    const ExprId second = build_.make(Op::Add, {first, number(1)});
    now_[0] = segment(loop.body, first);
    // Of an odd number, the last segment is computed twice, and stored once.
    now_[1] = segment(loop.body, build_.make(Op::Min, {second, number(segments_ - 1)}));
    block_of(loop.body, [&](Block& body, int64_t vectors, bool masked) {
        for (size_t s = 0; s < kSegments; ++s) {
            for (int64_t j = 0; j < vectors; ++j) {
                body.push_back({TileStmt{.action = TileAction::Zero, .tile = total_tile(s, j)}});
            }
        }
        products(body, vectors, 0);
        const int64_t width = c_.vectors * kTileLanes;
        for (size_t s = 0; s < kSegments; ++s) {
            for (int64_t j = 0; j < vectors; ++j) {
                TileStmt store{.action = TileAction::Store, .tile = total_tile(s, j)};
                store.buffer = scratch_;
                store.address.offset = static_cast<int64_t>(s) * rows_ * width + j * kTileLanes;
                store.stride = width;
                body.push_back({std::move(store)});
            }
        }
        build_.stored();
        epilogue(body, 0, vectors, masked);
        If present{build_.make(Op::Less, {second, number(segments_)}), {}};
        epilogue(present.body, 1, vectors, masked);
        body.push_back({std::move(present)});
    });
    out.push_back({std::move(loop)});
}

void TileKernel::products(Block& out, int64_t vectors, size_t depth) {
    const bool innermost = depth == run_.first;
    const int64_t steps = innermost ? run_.groups / part_ : pool_.extent(c_.reduced[depth]);
    // One variable counts the parts of the whole run.
    const size_t counted = innermost ? c_.reduced.size() - 1 : depth;
    const VarId var = reduced_vars_[counted];
    For loop{var, number(0), number(steps), 1, {}};
    if (innermost) {
        for (size_t i = depth; i + 1 < c_.reduced.size(); ++i) {
            lower_.bind(c_.reduced[i], Address{});
        }
        Address at;
        at.add(var, part_);
        lower_.bind(c_.reduced.back(), std::move(at));
        step(loop.body, vectors);
    } else {
        lower_.bind(c_.reduced[depth], var);
        products(loop.body, vectors, depth + 1);
    }
    out.push_back({std::move(loop)});
}

TileProducts TileKernel::kind_of_products() const {
    if (c_.kind == Kind::F32) return TileProducts::Bf16;
    const bool a = tensor::is_signed(places_.at(tensor_of(pool_[c_.a])).dtype);
    const bool b = tensor::is_signed(places_.at(c_.packed).dtype);
    if (a) return b ? TileProducts::Signed : TileProducts::SignedUnsigned;
    return b ? TileProducts::UnsignedSigned : TileProducts::Unsigned;
}

// Loads a tile of the packed operand, of the first or the second terms.
void TileKernel::load_b(Block& out, int64_t vector, int64_t term) {
    TileStmt load{.action = TileAction::Load, .tile = b_tile(vector)};
    load.buffer = packed_;
    const size_t first = weight_steps_.size() - c_.reduced.size();
    for (size_t i = 0; i < weight_steps_.size(); ++i) {
        const auto& [var, stride] = weight_steps_[i];
        const bool in_run = i >= first + run_.first;
        if (!in_run) load.address.add(var, stride);
    }
    const auto& [var, stride] = weight_steps_.back();
    load.address.add(var, stride * part_);
    load.address.offset = vector * kTileLanes * c_.group + term * packed_term_;
    load.stride = stride;
    out.push_back({std::move(load)});
}

// Loads the points of a segment into a tile.
void TileKernel::load_a(Block& out, int tile, size_t segment, int64_t term) {
    const Expr a = pool_[c_.a];
    const BufferView& from = places_.at(tensor_of(a));
    if (points_.vars.size() > 1) {
        lower_.bind(points_.vars[points_.vars.size() - 2], now_[segment].row);
    }
    lower_.bind(points_.vars.back(), now_[segment].column);
    Lowering::Element at = lower_.element(tensor_of(a), a.args, false);
    TileStmt load{.action = TileAction::Load, .tile = tile};
    load.buffer = at.buffer;
    load.address = std::move(at.address);
    load.address.lane_stride = 1;
    if (c_.terms) load.address.offset += term * from.layout.strides[0];
    load.stride = stride_of(pool_, from, a.args, points_.vars.back());
    out.push_back({std::move(load)});
}

void TileKernel::dot(Block& out, size_t segment, int64_t vector, int a) {
    out.push_back({TileStmt{.action = TileAction::Dot,
                            .tile = total_tile(segment, vector),
                            .a = a,
                            .b = b_tile(vector),
                            .products = kind_of_products()}});
}

void TileKernel::step(Block& out, int64_t vectors) {
    if (c_.terms) return step_of_terms(out, vectors);
    for (int64_t j = 0; j < vectors; ++j) load_b(out, j, 0);
    for (size_t s = 0; s < kSegments; ++s) {
        load_a(out, a_tile(s), s, 0);
        for (int64_t j = 0; j < vectors; ++j) dot(out, s, j, a_tile(s));
    }
}

// Every tile is loaded once. Products of the same total are apart, because each waits for the one
// before.
void TileKernel::step_of_terms(Block& out, int64_t vectors) {
    const int kept = a_tile(0), other = a_tile(1);
    for (int64_t j = 0; j < vectors; ++j) load_b(out, j, 0);
    load_a(out, kept, 0, 0);
    load_a(out, other, 1, 1);
    for (int64_t j = 0; j < vectors; ++j) {
        dot(out, 0, j, kept);
        dot(out, 1, j, other);
    }
    load_a(out, other, 0, 1);
    for (int64_t j = 0; j < vectors; ++j) dot(out, 0, j, other);
    load_a(out, other, 1, 0);
    for (int64_t j = 0; j < vectors; ++j) dot(out, 1, j, other);
    for (int64_t j = 0; j < vectors; ++j) {
        load_b(out, j, 1);
        dot(out, 0, j, kept);
        dot(out, 1, j, other);
    }
}

void TileKernel::bind_lanes(int64_t vector, bool masked) {
    Address at;
    at.offset = vector * kTileLanes;
    at.add(block_, c_.vectors * kTileLanes);
    at.add(lower_.lane_var, 1);
    lower_.bind(c_.lane, std::move(at));
    ExprId mask;
    if (masked) {
        const int64_t rest = pool_.extent(c_.lane) % kTileLanes;
        mask = build_.make(Op::Less, {build_.ramp(kTileLanes), number(rest)});
    }
    lower_.set_lanes(kTileLanes, mask);
}

void TileKernel::epilogue(Block& out, size_t segment, int64_t vectors, bool masked) {
    const VarId row = build_.var({});
    For loop{row, build_.index(now_[segment].skipped), number(rows_), 1, {}};
    point(loop.body, segment, row, vectors, masked);
    out.push_back({std::move(loop)});
}

// The total of a row of a tile, with the initial value.
ExprId TileKernel::total_at(size_t segment, VarId row, int64_t vector) {
    const int64_t width = c_.vectors * kTileLanes;
    Address at;
    at.offset = static_cast<int64_t>(segment) * rows_ * width + vector * kTileLanes;
    at.add(row, width);
    if (c_.kind == Kind::F32) {
        const ExprId total = build_.load(scratch_, std::move(at), kTileLanes);
        const ExprId initial = build_.cast(lower_.value(stage_.initial), Kind::F32);
        const Expr& e = build_[initial];
        if (e.op == Op::Constant && e.real == 0) return total;
        return build_.make(Op::Add, {total, initial});
    }
    const ExprId total = build_.load_bytes(scratch_, std::move(at), kTileLanes);
    if (pool_.build.is_integer(stage_.initial, 0)) return total;
    const ExprId initial = lower_.value(stage_.initial);
    if (!stage_.narrow_total) return build_.make(Op::Add, {total, initial});
    const ExprId one = build_.cast(number(1), Kind::I32);
    const ExprId narrow = build_.spread(build_.cast(initial, Kind::I32), kTileLanes);
    return build_.fma32(total, one, narrow);
}

void TileKernel::point(Block& out, size_t segment, VarId row, int64_t vectors, bool masked) {
    if (points_.vars.size() > 1) {
        lower_.bind(points_.vars[points_.vars.size() - 2], now_[segment].row);
    }
    Address column;
    column.add(now_[segment].column, 1);
    column.add(row, 1);
    lower_.bind(points_.vars.back(), std::move(column));
    for (int64_t j = 0; j < vectors; ++j) {
        bind_lanes(j, masked && j == vectors - 1);
        lower_.store_result(stage_, total_at(segment, row, j), out);
    }
    lower_.set_lanes(1, {});
}

}  // namespace

int64_t tile_part(int64_t groups) {
    int64_t part = std::min<int64_t>(groups, kMostTileRows);
    while (groups % part != 0) --part;
    return part;
}

bool suits_tiles(const Stage& stage,
                 const StagePool& pool,
                 const BufferViews& places,
                 const Target& target,
                 const Contraction& c) {
    const bool has = c.kind == Kind::I32 ? target.byte_tiles : target.bf16_tiles;
    if (!has || target.lanes() != kTileLanes || c.lane_in_a || c.points.empty()) return false;
    const Expr& a = pool[c.a];
    const Points points = merge_points(stage, c.points, pool, places);
    const int64_t step = stride_of(pool, places.at(tensor_of(a)), a.args, points.vars.back());
    return step != INT64_MAX && step > 0 &&
           part_of(points.columns(), kMostTileRows) >= kLeastTileRows;
}

void choose_tiles(const Stage& stage,
                  StagePool& pool,
                  const BufferViews& places,
                  const Target& target,
                  Contraction& c) {
    LEMMA_CHECK(suits_tiles(stage, pool, places, target, c));
    const Expr a = pool[c.a];
    const BufferView& from = places.at(tensor_of(a));
    std::ranges::stable_sort(
        c.reduced, std::greater(), [&](VarId var) { return stride_of(pool, from, a.args, var); });
    // The groups must be innermost, whatever the stride of a variable with one step.
    std::ranges::stable_partition(c.reduced, [&](VarId var) { return var != c.groups; });
    c.tiles = true;
    c.rows = c.columns = 1;
    const int64_t vectors = ceil_of(pool.extent(c.lane), kTileLanes);
    c.vectors = std::min(vectors, kMostTileVectors);
    c.blocks = ceil_of(vectors, c.vectors);
}

ScheduledKernel schedule_tiles(const Stage& stage,
                               const Contraction& contraction,
                               StagePool& pool,
                               const BufferViews& places,
                               const Target&) {
    return TileKernel(stage, contraction, pool, places).make();
}

}  // namespace lemma::loop
