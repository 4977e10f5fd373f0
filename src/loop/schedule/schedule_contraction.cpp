// SPDX-License-Identifier: Apache-2.0
// Sums of products: items, panels and tiles (contraction_kernel.h). contraction_sum.cpp has the
// sums of a tile.
#include <fmt/format.h>

#include <algorithm>

#include "loop/schedule/contraction_kernel.h"
#include "loop/schedule/tiles.h"
#include "loop/schedule/unpack.h"

namespace lemma::loop {

ScheduledKernel ContractionKernel::make() {
    Function& function = result_.function;
    function.name = "contraction";
    function.item = build_.var("item");
    for (const VarId var : points_.merged) lower_.bind(var, Address{});
    for (const VarId var : lanes_.merged) lower_.bind(var, Address{});
    if (!c_.in_place) packed_ = lower_.buffer(c_.packed, false);
    if (c_.copies) packed_ = lower_.buffer(c_.panel, true);
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
    if (c_.in_place) result_.schedule += c_.copies ? " in place, copied" : " in place";
    result_.schedule += narrow_text(c_.narrow);
    if (cut_steps_ > 0) result_.schedule += " cut";
    return std::move(result_);
}

// All tiles of an item.
void ContractionKernel::panel(Block& out) {
    if (c_.copies) {
        each_block(out, [&](Block& block, int64_t vectors, bool masked) {
            copy_panel(block, vectors, masked);
        });
        build_.stored();
    }
    if (has_panels()) return rows_of(out, c_.vectors, false);
    const int64_t lanes = target_.lanes();
    const int64_t extent = lanes_.extent;
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
        if (var == c_.stacked || is_merged(var)) continue;
        batch.push_back({&made[next++], var, pool_.extent(var)});
    }
    const Part blocks = has_panels() ? Part{&panel_, {}, panels()} : Part{&block_, {}, c_.blocks};
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
    if (c_.copies) {
        int64_t step = c_.vectors * target_.lanes();
        for (size_t i = c_.reduced.size(); i-- > 0;) {
            weight_steps_.insert(weight_steps_.begin(), {reduced_vars_[i], step});
            step *= pool_.extent(c_.reduced[i]);
        }
        block_step_ = step;
    }
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
    constexpr int64_t kLeastPoints = 96;  // that use a copied panel
    int64_t others = std::max<int64_t>(row_tiles_ * points_.outer(), 1) * panels();
    for (const VarId var : c_.batch) {
        if (!is_merged(var)) others *= std::max<int64_t>(pool_.extent(var), 1);
    }
    int64_t tile = c_.vectors * c_.rows * c_.columns;
    for (const VarId var : c_.reduced) tile *= std::max<int64_t>(pool_.extent(var), 1);
    int64_t least = ceil_of(kLeastItem, tile);
    if (c_.copies) least = std::max(least, ceil_of(kLeastPoints, c_.columns));
    const int64_t most = std::max<int64_t>(column_tiles_ / least, 1);
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

// Copies the panel of B: a vector behind the other, a step behind the other.
void ContractionKernel::copy_panel(Block& out, int64_t vectors, bool masked) {
    const Tile all{vectors, 1, 1, {}, {}, masked, {}};
    const Expr b = pool_[c_.b];
    for (size_t i = 0; i < c_.reduced.size(); ++i) lower_.bind(c_.reduced[i], reduced_vars_[i]);
    Block body;
    for (int64_t j = 0; j < vectors; ++j) {
        bind_lanes(j, is_masked(all, j));
        const ExprId vector = build_.cast(lower_.load(tensor_of(b), b.args), c_.kind);
        body.push_back({StoreStmt{packed_, weights(j, 0), vector, {}}});
    }
    for (size_t i = c_.reduced.size(); i-- > 0;) {
        For loop{reduced_vars_[i],
                 build_.integer(0),
                 build_.integer(pool_.extent(c_.reduced[i])),
                 1,
                 std::move(body)};
        body = {};
        body.push_back({std::move(loop)});
    }
    for (Stmt& stmt : body) out.push_back(std::move(stmt));
}

template <class Visit>
void ContractionKernel::each_block(Block& out, Visit&& visit) {
    const int64_t lanes = target_.lanes();
    const int64_t whole = lanes_.extent / (c_.vectors * lanes);  // blocks of full vectors
    const ExprId count = build_.integer(c_.panel_blocks);
    const ExprId first = build_.make(Op::Mul, {build_.index(panel_), count});
    const ExprId end =
        build_.make(Op::Min, {build_.make(Op::Add, {first, count}), build_.integer(whole)});
    block_ = build_.var({});
    For blocks{block_, first, end, 1, {}};
    if (whole > 0) {
        visit(blocks.body, c_.vectors, false);
        out.push_back({std::move(blocks)});
    }
    if (whole == c_.blocks) return;
    If last{build_.make(Op::Equal, {build_.index(panel_), build_.integer(panels() - 1)}), {}};
    block_ = build_.var({});
    last.body.push_back({Bind{block_, build_.integer(whole)}});
    const int64_t rest = lanes_.extent - whole * c_.vectors * lanes;
    visit(last.body, ceil_of(rest, lanes), rest % lanes != 0);
    out.push_back({std::move(last)});
}

// The same points for all blocks of the item.
void ContractionKernel::blocks_of(Block& out, const Tile& all) {
    if (!has_panels()) return tile(out, all);
    each_block(out, [&](Block& block, int64_t vectors, bool masked) {
        Tile one = all;
        one.vectors = vectors;
        one.masked = masked;
        tile(block, one);
    });
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
        blocks_of(loop.body, all);
        out.push_back({std::move(loop)});
    }
    if (rest == 0) return;
    all.columns = rest;
    all.first_column = {};
    all.first_column.offset = whole * c_.columns;
    all.number = first_number();
    all.number.offset = whole;
    if (chunks_ == 1) return blocks_of(out, all);
    If last{build_.make(Op::Equal, {build_.index(chunk_), build_.integer(chunks_ - 1)}), {}};
    blocks_of(last.body, all);
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
        const int64_t rest = lanes_.extent % lanes;
        mask = build_.make(Op::Less, {build_.ramp(target_.lanes()), build_.integer(rest)});
    }
    lower_.set_lanes(target_.lanes(), mask);
}

Address ContractionKernel::weights(int64_t vector, int64_t ahead) const {
    Address at;
    for (const auto& [var, stride] : weight_steps_) at.add(var, stride);
    if (c_.copies) {
        at.add(block_, block_step_);
        at.add(panel_, -c_.panel_blocks * block_step_);
    }
    at.offset = vector * target_.lanes() * c_.group;
    if (!reduced_vars_.empty()) at.offset += ahead * weight_steps_.back().second;
    return at;
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

// A total of bytes fits 32 bits. With the initial value it may not.
bool ContractionKernel::starts_with_initial() const {
    return c_.kind == Kind::F32 || stage_.narrow_total || pool_.build.is_integer(stage_.initial, 0);
}

ExprId ContractionKernel::total_of(LocalId total) {
    const ExprId value = build_.get(total);
    if (starts_with_initial()) return value;
    return build_.make(Op::Add, {value, lower_.value(stage_.initial)});
}

void ContractionKernel::finish(Block& out, const Tile& tile) {
    each_total(tile, [&](LocalId total) { lower_.store_result(stage_, total_of(total), out); });
}

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
