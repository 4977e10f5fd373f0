// SPDX-License-Identifier: Apache-2.0
// Sums over windows on transformed tiles. An item transforms a block of tiles into scratch memory,
// multiplies each position of the tiles with its weights, and transforms the totals back.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "loop/schedule/lowering.h"
#include "loop/schedule/points.h"
#include "loop/schedule/window.h"
#include "loop/schedule/winograd.h"

namespace lemma::loop {

namespace {

constexpr int64_t kUnroll = 8;
// Longer sums are summed in sections of so many steps (contraction_sum.cpp).
constexpr int64_t kLongSum = 384, kSection = 256;
constexpr int64_t kLine = 16;                       // elements of a cache line
constexpr int64_t kSmallPanel = int64_t{16} << 10;  // bytes that need no prefetching

class WindowKernel {
public:
    WindowKernel(const Stage& stage,
                 const Contraction& contraction,
                 StagePool& pool,
                 const BufferViews& places,
                 const Target& target)
        : stage_(stage),
          c_(contraction),
          window_(*contraction.window),
          pool_(pool),
          target_(target),
          sizes_(window_sizes(pool, target, contraction)),
          items_(window_items(pool, target, contraction)),
          room_(window_scratch(items_, window_.tiles)),
          by_(filtering(window_.outputs)),
          lower_(pool, places, result_),
          build_(lower_.build) {}

    ScheduledKernel make();

private:
    void size_items(Block& out);
    void take_numbers();
    void decode_item(Block& out);
    void decode_tile(Block& out, VarId tile);
    ExprId tiles_here();
    // A loop over the tiles of the block.
    template <class Body>
    void each_tile(Block& out, Body&& body);
    void to_scratch(Block& out);
    void channels(Block& out, VarId tile, VarId vector, ExprId mask);
    void multiply(Block& out);
    void products(Block& out, VarId position);
    Address whole_tiles(Block& out);
    void section(Block& out,
                 VarId position,
                 const Address& first_tile,
                 int64_t points,
                 const VarId* number,
                 std::pair<int64_t, int64_t> steps);
    void step(Block& out,
              VarId position,
              const Address& first_tile,
              const std::vector<LocalId>& totals,
              const Address& channel);
    void prefetch(Block& out, VarId position, VarId number, VarId channel);
    void from_scratch(Block& out);
    void results(Block& out, VarId tile, VarId vector);
    Address weights(VarId position, const Address& channel, int64_t vector) const;
    Address scaled(const Address& from, int64_t factor) const;
    ExprId times(VarId var, ExprId factor) {
        return build_.make(Op::Mul, {build_.index(var), factor});
    }
    // The first tile of the block.
    ExprId first_tile() { return times(tile_block_, tiles_); }
    bool any_threads() const { return target_.threads == kAnyThreads; }
    ExprId less(ExprId a, ExprId b) { return build_.make(Op::Less, {a, b}); }

    const Stage& stage_;
    const Contraction& c_;
    const Window& window_;
    StagePool& pool_;
    const Target& target_;
    const WindowSizes sizes_;
    const WindowItems items_;
    const WindowScratch room_;
    const Filtering& by_;
    ScheduledKernel result_;
    Lowering lower_;
    Builder& build_;
    BufferId packed_, scratch_;
    std::vector<std::pair<VarId, int64_t>> weight_steps_;            // of batches
    int64_t block_step_ = 0, position_step_ = 0, channel_step_ = 0;  // of the packed weights
    ExprId tiles_, tile_blocks_, in_group_, groups_;  // of WindowCut: constants, or numbers
    std::vector<ExprId> numbers_;                     // their loads
    VarId tile_block_, group_, block_;
    std::vector<VarId> tile_at_;  // position of the tile along each axis of the window
};

ScheduledKernel WindowKernel::make() {
    Function& function = result_.function;
    function.name = "window";
    function.item = build_.var("item");
    for (const StageLoop& loop : stage_.loops) lower_.bind(loop.var, Address{});
    packed_ = lower_.buffer(c_.packed, false);
    scratch_ = lower_.buffer(window_.scratch, true);
    size_items(function.body);
    decode_item(function.body);
    to_scratch(function.body);
    build_.stored();
    block_ = build_.var({});
    const ExprId first = times(group_, in_group_);
    const ExprId last =
        build_.make(Op::Min, {build_.make(Op::Add, {first, in_group_}), build_.integer(c_.blocks)});
    For blocks{block_, first, last, 1, {}};
    multiply(blocks.body);
    build_.stored();
    from_scratch(blocks.body);
    build_.stored();
    function.body.push_back({std::move(blocks)});
    if (any_threads()) take_numbers();
    result_.schedule = fmt::format("F({}, 3) of {} tiles, {}x{}x{}",
                                   window_.outputs,
                                   window_.tiles,
                                   c_.vectors,
                                   c_.columns,
                                   target_.lanes());
    return std::move(result_);
}

// For any number of threads, calls pass the sizes.
void WindowKernel::size_items(Block& out) {
    WindowCut cut;
    cut.tiles = window_.tiles;
    cut.tile_blocks = ceil_of(sizes_.tiles, window_.tiles);
    cut.in_group = ceil_of(c_.blocks, window_.groups);
    cut.groups = window_.groups;
    ExprId* const sizes[] = {&tiles_, &tile_blocks_, &in_group_, &groups_};
    Function& function = result_.function;
    function.items = sizes_.batches * cut.groups * cut.tile_blocks;
    const std::vector<int64_t> numbers = cut.numbers();
    for (size_t i = 0; i < numbers.size(); ++i) {
        *sizes[i] = build_.integer(numbers[i]);
        if (!any_threads()) continue;
        Expr load{.op = Op::Load, .type = {}};
        load.address.offset = static_cast<int64_t>(i);
        function.exprs.push_back(std::move(load));
        *sizes[i] = make_id<ExprId>(function.exprs.size() - 1);
        numbers_.push_back(*sizes[i]);
        out.push_back({Let{*sizes[i]}});
    }
}

// Their buffer is the last one.
void WindowKernel::take_numbers() {
    Function& function = result_.function;
    const BufferId buffer = build_.buffer("numbers", tensor::DType::I64, false);
    for (const ExprId load : numbers_) function.exprs[load.value].buffer = buffer;
    result_.windows = items_;
}

// Items are batches, groups of blocks of lanes, and blocks of tiles. With small weights, a thread
// gets all groups of its tiles, whose operand is in its cache from the kernel before.
void WindowKernel::decode_item(Block& out) {
    struct Part {
        VarId var;
        ExprId extent;
    };
    std::vector<Part> parts;  // outermost first
    for (const VarId var : c_.batch) {
        parts.push_back({build_.var({}), build_.integer(pool_.extent(var))});
        lower_.bind(var, parts.back().var);
    }
    tile_block_ = build_.var({});
    group_ = build_.var({});
    parts.push_back({group_, groups_});
    parts.push_back({tile_block_, tile_blocks_});
    if (all_weights(items_) <= target_.l2_bytes / 4) std::swap(parts.back(), *(parts.end() - 2));
    ExprId rest = build_.index(result_.function.item);
    for (size_t i = parts.size(); i-- > 0;) {
        const ExprId value = build_.is_integer(parts[i].extent, 1) ? build_.integer(0)
                             : i == 0                              ? rest
                                      : build_.make(Op::Mod, {rest, parts[i].extent});
        out.push_back({Bind{parts[i].var, value}});
        rest = build_.make(Op::Div, {rest, parts[i].extent});
    }
    int64_t stride = c_.vectors * target_.lanes();
    channel_step_ = stride;
    position_step_ = stride *= sizes_.channels;
    block_step_ = stride *= sizes_.positions;
    stride *= c_.blocks;
    for (size_t i = c_.packed_batch.size(); i-- > 0;) {
        const auto at = std::ranges::find(c_.batch, c_.packed_batch[i]) - c_.batch.begin();
        weight_steps_.emplace_back(parts[static_cast<size_t>(at)].var, stride);
        stride *= pool_.extent(c_.packed_batch[i]);
    }
}

Address WindowKernel::scaled(const Address& from, int64_t factor) const {
    Address result;
    result.offset = from.offset * factor;
    for (const AddressTerm& term : from.terms) result.add(term.var, term.factor * factor);
    return result;
}

// ---- Tiles --------------------------------------------------------------------------------------

// The tiles of this block.
ExprId WindowKernel::tiles_here() {
    if (!any_threads() && sizes_.tiles % window_.tiles == 0) return tiles_;
    const ExprId left = build_.make(Op::Sub, {build_.integer(sizes_.tiles), first_tile()});
    return build_.make(Op::Min, {tiles_, left});
}

template <class Body>
void WindowKernel::each_tile(Block& out, Body&& body) {
    const VarId tile = build_.var({});
    For loop{tile, build_.integer(0), tiles_here(), 1, {}};
    decode_tile(loop.body, tile);
    body(loop.body, tile);
    out.push_back({std::move(loop)});
}

// Binds the points of the tile: those outside the window, and its place along each axis.
void WindowKernel::decode_tile(Block& out, VarId tile) {
    ExprId rest = build_.make(Op::Add, {first_tile(), build_.index(tile)});
    const auto take = [&](int64_t extent, bool last) {
        const VarId var = build_.var({});
        const ExprId count = build_.integer(extent);
        out.push_back({Bind{var, last ? rest : build_.make(Op::Mod, {rest, count})}});
        rest = build_.make(Op::Div, {rest, count});
        return var;
    };
    tile_at_.assign(window_.axes.size(), {});
    for (size_t i = window_.axes.size(); i-- > 0;) {
        tile_at_[i] = take(sizes_.counts[i], i == 0 && sizes_.others.empty());
    }
    for (size_t i = sizes_.others.size(); i-- > 0;) {
        lower_.bind(sizes_.others[i], take(pool_.extent(sizes_.others[i]), i == 0));
    }
}

void WindowKernel::to_scratch(Block& out) {
    const int64_t lanes = target_.lanes();
    const int64_t whole = sizes_.channels / lanes;
    const int64_t rest = sizes_.channels % lanes;
    each_tile(out, [&](Block& body, VarId tile) {
        const VarId vector = build_.var({});
        For loop{vector, build_.integer(0), build_.integer(whole), 1, {}};
        channels(loop.body, tile, vector, {});
        if (whole > 0) body.push_back({std::move(loop)});
        if (rest == 0) return;
        const VarId last = build_.var({});
        body.push_back({Bind{last, build_.integer(whole)}});
        const ExprId mask = less(build_.ramp(target_.lanes()), build_.integer(rest));
        channels(body, tile, last, mask);
    });
}

// Transforms a vector of channels of one tile.
void WindowKernel::channels(Block& out, VarId tile, VarId vector, ExprId mask) {
    const int64_t lanes = target_.lanes();
    lower_.set_lanes(target_.lanes(), mask);
    Address at;
    at.add(vector, lanes);
    at.add(lower_.lane_var, 1);
    lower_.bind(window_.channel, std::move(at));
    for (size_t i = 0; i < window_.axes.size(); ++i) {
        Address point;
        point.add(tile_at_[i], sizes_.outputs);
        lower_.bind(window_.axes[i].point, std::move(point));
    }
    const Expr a = pool_[c_.a];
    std::vector<ExprId> values;
    for (int64_t position = 0; position < sizes_.positions; ++position) {
        int64_t rest = position;
        for (size_t i = window_.axes.size(); i-- > 0;) {
            Address tap;
            tap.offset = rest % sizes_.size;
            rest /= sizes_.size;
            lower_.bind(window_.axes[i].tap, std::move(tap));
        }
        values.push_back(lower_.load(tensor_of(a), a.args));
        out.push_back({Let{values.back()}});
    }
    values = along_axes(
        std::move(values),
        window_.axes.size(),
        sizes_.size,
        sizes_.size,
        [&](const std::vector<ExprId>& line) { return transform(build_, by_.input, line); });
    for (int64_t position = 0; position < sizes_.positions; ++position) {
        Address to;
        to.offset = position * room_.position_step;
        to.add(tile, room_.tile_step);
        to.add(vector, lanes);
        const ExprId value = values[static_cast<size_t>(position)];
        out.push_back({StoreStmt{scratch_, std::move(to), value, {}}});
    }
}

// ---- Products -----------------------------------------------------------------------------------

// For each position of a tile, the product of all tiles with a panel of weights.
void WindowKernel::multiply(Block& out) {
    const VarId position = build_.var({});
    For loop{position, build_.integer(0), build_.integer(sizes_.positions), 1, {}};
    products(loop.body, position);
    out.push_back({std::move(loop)});
}

void WindowKernel::products(Block& out, VarId position) {
    std::vector<std::pair<int64_t, int64_t>> sections;  // first channel and behind the last
    const int64_t length = sizes_.channels >= kLongSum ? kSection : sizes_.channels;
    for (int64_t first = 0; first < sizes_.channels; first += length) {
        sections.emplace_back(first, std::min(first + length, sizes_.channels));
    }
    const VarId number = build_.var({});
    const ExprId whole = build_.make(Op::Div, {tiles_here(), build_.integer(c_.columns)});
    for (const auto& steps : sections) {
        For loop{number, build_.integer(0), whole, 1, {}};
        Address first;
        first.add(number, c_.columns);
        section(loop.body, position, first, c_.columns, &number, steps);
        out.push_back({std::move(loop)});
        // All blocks but the last have whole tiles of registers, unless there is one block only.
        const int64_t rest = sizes_.tiles % c_.columns;
        LEMMA_CHECK(window_.tiles == sizes_.tiles || window_.tiles % c_.columns == 0);
        if (rest == 0) continue;
        const ExprId here = build_.index(tile_block_);
        const ExprId end = build_.make(Op::Sub, {tile_blocks_, build_.integer(1)});
        If at_end{build_.make(Op::Equal, {here, end}), {}};
        section(at_end.body, position, whole_tiles(at_end.body), rest, nullptr, steps);
        out.push_back({std::move(at_end)});
    }
}

// The tiles of the last block that fill tiles of registers.
Address WindowKernel::whole_tiles(Block& out) {
    const int64_t count = sizes_.tiles / c_.columns * c_.columns;
    Address result;
    if (!any_threads()) {
        result.offset = count - (sizes_.tiles - 1) / window_.tiles * window_.tiles;
        return result;
    }
    const VarId var = build_.var({});
    out.push_back({Bind{var, build_.make(Op::Sub, {build_.integer(count), first_tile()})}});
    result.add(var, 1);
    return result;
}

// Adds the products of some channels to the totals of `points` tiles.
void WindowKernel::section(Block& out,
                           VarId position,
                           const Address& first_tile,
                           int64_t points,
                           const VarId* number,
                           std::pair<int64_t, int64_t> steps) {
    const uint16_t lanes = target_.lanes();
    std::vector<LocalId> totals;
    for (int64_t i = 0; i < points * c_.vectors; ++i) {
        totals.push_back(build_.local({Kind::F32, lanes}));
        out.push_back({Set{totals.back(), build_.spread(build_.real(0, Kind::F32), lanes)}});
    }
    const auto [first, behind] = steps;
    const int64_t unrolled = first + (behind - first) / kUnroll * kUnroll;
    const VarId channel = build_.var({});
    For loop{channel, build_.integer(first), build_.integer(unrolled), kUnroll, {}};
    if (number) prefetch(loop.body, position, *number, channel);
    for (int64_t ahead = 0; ahead < kUnroll; ++ahead) {
        Address at;
        at.add(channel, 1);
        at.offset = ahead;
        step(loop.body, position, first_tile, totals, at);
    }
    out.push_back({std::move(loop)});
    for (int64_t rest = unrolled; rest < behind; ++rest) {
        Address at;
        at.offset = rest;
        step(out, position, first_tile, totals, at);
    }
    size_t next = 0;
    for (int64_t point = 0; point < points; ++point) {
        for (int64_t j = 0; j < c_.vectors; ++j) {
            Address to = scaled(first_tile, room_.total_tile_step);
            to.offset += room_.totals + point * room_.total_tile_step + j * lanes;
            to.add(position, room_.total_position_step);
            ExprId total = build_.get(totals[next++]);
            if (first > 0) {
                total = build_.make(Op::Add, {build_.load(scratch_, to, lanes), total});
            }
            build_.stored();
            out.push_back({StoreStmt{scratch_, std::move(to), total, {}}});
        }
    }
}

void WindowKernel::step(Block& out,
                        VarId position,
                        const Address& first_tile,
                        const std::vector<LocalId>& totals,
                        const Address& channel) {
    const uint16_t lanes = target_.lanes();
    std::vector<ExprId> w;
    for (int64_t j = 0; j < c_.vectors; ++j) {
        w.push_back(build_.load(packed_, weights(position, channel, j), lanes));
        out.push_back({Let{w.back()}});
    }
    for (size_t i = 0; i < totals.size(); ++i) {
        const auto point = static_cast<int64_t>(i) / c_.vectors;
        Address from = scaled(first_tile, room_.tile_step);
        from.offset += point * room_.tile_step + channel.offset;
        for (const AddressTerm& term : channel.terms) from.add(term.var, term.factor);
        from.add(position, room_.position_step);
        const ExprId element = build_.spread(build_.load(scratch_, std::move(from)), lanes);
        const ExprId weight = w[i % static_cast<size_t>(c_.vectors)];
        const ExprId sum = build_.make(Op::Fma, {element, weight, build_.get(totals[i])});
        out.push_back({Set{totals[i], sum}});
    }
}

Address WindowKernel::weights(VarId position, const Address& channel, int64_t vector) const {
    Address at = scaled(channel, channel_step_);
    for (const auto& [var, stride] : weight_steps_) at.add(var, stride);
    at.add(block_, block_step_);
    at.add(position, position_step_);
    at.offset += vector * target_.lanes();
    return at;
}

// While a panel of weights is in use, the next one is prefetched. Each tile of registers fetches
// the part with its number.
void WindowKernel::prefetch(Block& out, VarId position, VarId number, VarId channel) {
    const int64_t tiles = window_.tiles / c_.columns;
    if (position_step_ * 4 < kSmallPanel || tiles < 2) return;
    const int64_t round = kUnroll * channel_step_ / kLine;  // lines of the weights in a round
    const int64_t lines = ceil_of(round, tiles);
    const int64_t step = lines * kLine;  // of a round; kUnroll divides it
    Address at = weights(position, Address{}, 0);
    at.offset += position_step_;
    at.add(channel, step / kUnroll);
    at.add(number, sizes_.channels / kUnroll * step);
    for (int64_t k = 0; k < lines; ++k) {
        Address here = at;
        here.offset += k * kLine;
        out.push_back({Prefetch{packed_, std::move(here)}});
    }
}

// ---- Results ------------------------------------------------------------------------------------

void WindowKernel::from_scratch(Block& out) {
    const ExprId left = build_.make(
        Op::Sub, {build_.integer(sizes_.vectors), times(block_, build_.integer(c_.vectors))});
    const ExprId count = sizes_.vectors % c_.vectors == 0
                             ? build_.integer(c_.vectors)
                             : build_.make(Op::Min, {build_.integer(c_.vectors), left});
    each_tile(out, [&](Block& body, VarId tile) {
        const VarId vector = build_.var({});
        For loop{vector, build_.integer(0), count, 1, {}};
        results(loop.body, tile, vector);
        body.push_back({std::move(loop)});
    });
}

// Transforms a vector of totals of one tile back, and stores the results.
void WindowKernel::results(Block& out, VarId tile, VarId vector) {
    const uint16_t lanes = target_.lanes();
    const int64_t extent = pool_.extent(c_.lane);
    Address lane;
    lane.add(block_, c_.vectors * lanes);
    lane.add(vector, lanes);
    ExprId mask;
    if (extent % lanes != 0) {
        const ExprId first = build_.sum(lane);
        mask = less(build_.make(Op::Add, {build_.ramp(lanes), first}), build_.integer(extent));
    }
    lower_.set_lanes(lanes, mask);
    lane.add(lower_.lane_var, 1);
    lower_.bind(c_.lane, std::move(lane));
    for (const VarId var : c_.reduced) lower_.bind(var, Address{});
    std::vector<ExprId> values;
    for (int64_t position = 0; position < sizes_.positions; ++position) {
        Address from;
        from.offset = room_.totals + position * room_.total_position_step;
        from.add(tile, room_.total_tile_step);
        from.add(vector, lanes);
        values.push_back(build_.load(scratch_, std::move(from), lanes));
        out.push_back({Let{values.back()}});
    }
    values = along_axes(
        std::move(values),
        window_.axes.size(),
        sizes_.size,
        sizes_.outputs,
        [&](const std::vector<ExprId>& line) { return transform_back(build_, by_.back, line); });
    for (const ExprId value : values) out.push_back({Let{value}});
    for (size_t number = 0; number < values.size(); ++number) {
        auto rest = static_cast<int64_t>(number);
        ExprId inside;  // of the result; tiles at the end reach over it
        for (size_t i = window_.axes.size(); i-- > 0;) {
            const int64_t points = pool_.extent(window_.axes[i].point);
            Address at;
            at.offset = rest % sizes_.outputs;
            rest /= sizes_.outputs;
            at.add(tile_at_[i], sizes_.outputs);
            if ((sizes_.counts[i] - 1) * sizes_.outputs + at.offset >= points) {
                const ExprId here = less(build_.sum(at), build_.integer(points));
                inside = inside.valid() ? build_.make(Op::And, {inside, here}) : here;
            }
            lower_.bind(window_.axes[i].point, std::move(at));
        }
        Block store;
        const ExprId first = build_.cast(lower_.value(stage_.initial), Kind::F32);
        const ExprId total = build_.make(Op::Add, {values[number], build_.spread(first, lanes)});
        lower_.store_result(stage_, total, store);
        if (inside.valid()) {
            out.push_back({If{inside, std::move(store)}});
        } else {
            std::ranges::move(store, std::back_inserter(out));
        }
    }
}

}  // namespace

ScheduledKernel schedule_window(const Stage& stage,
                                const Contraction& contraction,
                                StagePool& pool,
                                const BufferViews& places,
                                const Target& target) {
    return WindowKernel(stage, contraction, pool, places, target).make();
}

}  // namespace lemma::loop
