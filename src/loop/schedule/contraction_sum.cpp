// SPDX-License-Identifier: Apache-2.0
// The sum of a tile: loops over the reduced variables, sections of long sums, prefetching, and the
// operands of a step.
#include <algorithm>
#include <cmath>

#include "loop/schedule/contraction_kernel.h"
#include "loop/schedule/unpack.h"

namespace lemma::loop {

namespace {

constexpr int64_t kUnroll = 8;
// A sum of at least kLongSum steps is summed in sections of at most kSection steps.
constexpr int64_t kLongSum = 384, kSection = 256;
constexpr int64_t kManySteps = 24;  // of inner loops, which are a section by themselves
constexpr int64_t kLine = 64;       // bytes of a cache line

}  // namespace

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

int64_t ContractionKernel::reduced_steps() const {
    int64_t steps = 1;
    for (const VarId var : c_.reduced) steps = total_elements(steps, pool_.extent(var));
    return steps;
}

void ContractionKernel::plan_prefetch() {
    const bool small = c_.weights_inside || c_.batch_inside;
    const bool narrow = c_.kind == Kind::I32 && c_.group == 1;
    if (small || narrow || c_.lane_in_a || c_.in_place || c_.reduced.empty()) return;
    const int64_t depth = reduced_steps();
    const int64_t vector_lines = std::max<int64_t>(1, target_.vector_bytes / kLine);
    const int64_t round = unroll_of(c_.reduced.back()) * c_.vectors * vector_lines;
    const int64_t tiles = cut_steps_ > 0 ? run_tiles_ * chunk_tiles_ : row_tiles_ * column_tiles_;
    constexpr int64_t kSmallPanel = int64_t{16} << 10;
    // Bytes; measured. Without it, unpacking keeps the processor from reading far enough ahead.
    constexpr int64_t kAhead = 4096;
    if (tiles < 2) {
        if (c_.narrow) ahead_bytes_ = kAhead;
        return;
    }
    if (depth * c_.vectors * target_.vector_bytes < kSmallPanel) return;
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

// Whether a section has one scale of narrow weights: its totals are multiplied, not each weight.
bool ContractionKernel::scales_totals() const {
    constexpr int64_t kLeastSteps = 8;
    if (!c_.narrow || !c_.narrow->scales.valid()) return false;
    int64_t steps = 1;
    for (size_t i = behind_group(); i < c_.reduced.size(); ++i)
        steps *= pool_.extent(c_.reduced[i]);
    return steps >= kLeastSteps;
}

// The first loop inside of that along which scales change.
size_t ContractionKernel::behind_group() const {
    if (!c_.narrow->group.valid()) return 0;
    const auto group = std::ranges::find(c_.reduced, c_.narrow->group);
    return static_cast<size_t>(group - c_.reduced.begin()) + 1;
}

bool ContractionKernel::is_long() const {
    return c_.kind == Kind::F32 && reduced_steps() >= kLongSum &&
           stage_.combine == ir::FormulaOp::Sum && !c_.squares.valid();
}

// The longest section of at most kSection steps, or one step of the loop around a longer one. A
// section of few steps would keep moving totals between registers and the stack.
ContractionKernel::Section ContractionKernel::section_of() const {
    size_t first = cut_steps_ > 0 ? c_.cut : 0;  // outer loops are around the tile
    if (scales_totals()) first = std::max(first, behind_group());
    if (!is_long()) return {first, 0};
    int64_t inside = 1;
    size_t depth = c_.reduced.size();
    while (depth > first && inside * pool_.extent(c_.reduced[depth - 1]) <= kSection) {
        inside *= pool_.extent(c_.reduced[--depth]);
    }
    if (depth == first) return {first, 0};
    const size_t around = depth - 1;
    const int64_t extent = steps_of(around);
    if (extent * inside <= kSection) return {around, 0};
    if (depth == c_.reduced.size()) {
        const int64_t unroll = unroll_of(c_.reduced[around]);
        return {around, kSection / unroll * unroll};
    }
    if (inside >= kManySteps) return {depth, 0};
    const int64_t sections = ceil_of(extent, kSection / inside);
    const int64_t steps = ceil_of(extent, sections);
    return steps == 1 ? Section{depth, 0} : Section{around, steps};
}

// The rounding error of a sum grows with its steps, so each section has separate totals.
template <class Steps>
void ContractionKernel::section(Block& out, const Tile& tile, Steps&& steps) {
    const Type type{Kind::F32, target_.lanes()};
    std::vector<LocalId> totals = totals_;
    for (LocalId& total : totals_) {
        total = build_.local(type);
        const ExprId zero = build_.spread(build_.real(0, Kind::F32), target_.lanes());
        out.push_back({Set{total, zero}});
    }
    steps();
    std::swap(totals, totals_);
    const bool scaled = scales_totals();
    for (size_t i = 0; i < totals_.size(); ++i) {
        const ExprId before = build_.get(totals_[i]), own = build_.get(totals[i]);
        const auto vector = static_cast<int64_t>(i) % tile.vectors;
        const ExprId sum =
            scaled ? build_.make(Op::Fma, {own, per_group(c_.narrow->scales, vector), before})
                   : build_.make(Op::Add, {before, own});
        out.push_back({Set{totals_[i], sum}});
    }
}

void ContractionKernel::reduction(size_t depth, Block& out, const Tile& tile) {
    const Section whole{depth, 0};
    if (!has_sections() || section_of() != whole) return loops(depth, out, tile);
    section(out, tile, [&] { loops(depth, out, tile); });
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
    const Section parts = has_sections() ? section_of() : Section{};
    const bool in_sections = parts.depth == depth && parts.steps > 0;
    if (in_sections) {
        const int64_t steps = parts.steps;
        const int64_t sections = ceil_of(cut ? cut_steps_ : whole, steps);
        const VarId part = build_.var({});
        For all{part, build_.integer(0), build_.integer(sections), 1, {}};
        const ExprId first = build_.make(
            Op::Add, {begin, build_.make(Op::Mul, {build_.index(part), build_.integer(steps)})});
        const ExprId last =
            build_.make(Op::Min, {build_.make(Op::Add, {first, build_.integer(steps)}), end});
        section(all.body, tile, [&] { loop_over(depth, all.body, tile, first, last); });
        out.push_back({std::move(all)});
    } else {
        loop_over(depth, out, tile, begin, end);
    }
    if (whole == extent) return;
    For rest{here, build_.integer(whole), build_.integer(extent), 1, {}};
    lower_.bind(var, here);
    const auto add_rest = [&](Block& to) {
        step(rest.body, tile, 0);
        to.push_back({std::move(rest)});
    };
    Block steps;
    if (in_sections && scales_totals()) {
        section(steps, tile, [&] { add_rest(steps); });
    } else {
        add_rest(steps);
    }
    if (cut) {
        const ExprId last = build_.integer(ceil_of(extent, cut_steps_) - 1);
        If at_end{build_.make(Op::Equal, {build_.index(part_), last}), std::move(steps)};
        steps = {};
        steps.push_back({std::move(at_end)});
    }
    for (Stmt& stmt : steps) out.push_back(std::move(stmt));
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
        const ir::TensorId zeros = c_.narrow->zeros, scales = c_.narrow->scales;
        if (zeros.valid()) vector = build_.make(Op::Sub, {vector, per_group(zeros, j)});
        if (scales.valid() && !scales_totals()) {
            vector = build_.make(Op::Mul, {vector, per_group(scales, j)});
        }
    }
    return w;
}

void ContractionKernel::step(Block& out, const Tile& tile, int64_t ahead) {
    const uint16_t lanes = target_.lanes();
    const bool direct = c_.in_place && !c_.copies;
    std::vector<ExprId> w = direct ? std::vector<ExprId>() : loaded(tile, ahead);
    const Expr b = pool_[c_.b];
    for (int64_t j = 0; direct && j < tile.vectors; ++j) {
        bind_lanes(j, is_masked(tile, j));
        w.push_back(lower_.load(tensor_of(b), b.args));
    }
    if (ahead_bytes_ > 0) prefetch_ahead(out, ahead);
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

// The lines that follow those of a step by a distance.
void ContractionKernel::prefetch_ahead(Block& out, int64_t ahead) {
    const int64_t size = tensor::dtype_size(places_.at(c_.packed).dtype);
    const int64_t line = kLine / size;
    Address at = weights(0, ahead);
    const int64_t first = at.offset;
    const int64_t step = weight_steps_.back().second;
    // Steps that begin inside a line leave it to the one before.
    for (int64_t i = ceil_of(first, line) * line; i < first + step; i += line) {
        at.offset = i + ahead_bytes_ / size;
        out.push_back({Prefetch{packed_, at}});
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

// The total after one more step.
ExprId ContractionKernel::added(LocalId total, ExprId a, ExprId b) {
    const ExprId before = build_.get(total);
    if (c_.group > 1 && c_.kind == Kind::F32) return build_.dot_bf16(before, a, b);
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

}  // namespace lemma::loop
