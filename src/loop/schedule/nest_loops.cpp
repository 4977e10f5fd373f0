// SPDX-License-Identifier: Apache-2.0
// Loops over elements: items, pieces of long loops, and one loop in lanes.
#include <algorithm>

#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kCopies = 4;  // unrolled short steps

}  // namespace

void when(ExprId condition, Builder& build, Block& out, const NestBody& body) {
    if (const Expr& e = build[condition]; e.op == Op::Constant) {
        if (e.integer != 0) body(out);
        return;
    }
    If only{condition, {}};
    body(only.body);
    out.push_back({std::move(only)});
}

void bind_lanes(VarId var, ExprId first, Lowering& lower, Block& out) {
    Address address;
    if (const Expr& e = lower.build[first]; e.op == Op::Constant) {
        address.offset = e.integer;
    } else {
        const VarId bound = lower.build.var({});
        out.push_back({Bind{bound, first}});
        address.add(bound, 1);
    }
    address.add(lower.lane_var, 1);
    lower.bind(var, std::move(address));
}

void NestLoops::as_items(int64_t work, Block& out, const NestBody& body) {
    int64_t items = 1;
    size_t item_loops = 0;
    while (item_loops < loops_.size()) {
        const NestLoop& loop = loops_[item_loops];
        const bool lanes = loop.var == lane_;
        const int64_t steps =
            lanes ? (loop.extent + target_.lanes() - 1) / target_.lanes() : loop.extent;
        if (items >= kEnoughItems || work / items / steps < kLeastWork / 8 || lanes) break;
        items *= steps;
        ++item_loops;
    }
    Function& function = result_.function;
    if (items == 1) items = cut_outermost(work);
    function.items = items;
    bind_items(build_.index(function.item), item_loops, out);
    from(item_loops, out, body);
}

void NestLoops::bind_items(ExprId element, size_t loops, Block& out) {
    ExprId rest = element;
    for (size_t i = loops; i-- > 0;) {
        const NestLoop& loop = loops_[i];
        const VarId var = build_.var({});
        const bool outermost = i == 0;
        const ExprId extent = build_.integer(loop.extent);
        out.push_back({Bind{var, outermost ? rest : build_.make(Op::Mod, {rest, extent})}});
        rest = build_.make(Op::Div, {rest, extent});
        lower_.bind(loop.var, var);
    }
}

void NestLoops::as_threads(int64_t group, Block& out, const NestBody& body) {
    int64_t items = group;
    for (const NestLoop& loop : loops_) items = total_elements(items, loop.extent);
    Function& function = result_.function;
    function.items = items;
    ExprId element = build_.index(function.item);
    if (group > 1) element = build_.make(Op::Div, {element, build_.integer(group)});
    bind_items(element, loops_.size(), out);
    body(out);
}

void NestLoops::as_pieces(ExprId piece, Block& out, const NestBody& body) {
    piece_ = piece;
    all(out, body);
}

// Cuts a long loop of short steps into pieces. Returns their number.
int64_t NestLoops::cut_outermost(int64_t work) {
    if (loops_.empty() || work < 2 * kLeastWork) return 1;
    const NestLoop& loop = loops_[0];
    const int64_t steps = loop.var == lane_ ? loop.extent / target_.lanes() : loop.extent;
    if (steps < 2) return 1;
    const int64_t piece = piece_of(steps, work);
    piece_ = build_.integer(piece);
    return (steps + piece - 1) / piece;
}

// All steps of the loop, or those of the item.
For NestLoops::whole_loop(VarId var, ExprId steps, bool outermost) {
    if (!is_cut(outermost)) return {var, build_.integer(0), steps, 1, {}};
    const ExprId begin = build_.make(Op::Mul, {build_.index(result_.function.item), piece_});
    const ExprId end = build_.make(Op::Min, {build_.make(Op::Add, {begin, piece_}), steps});
    return {var, begin, end, 1, {}};
}

// Whether the item is the last of a loop that is cut; also true for the only item of an empty loop.
ExprId NestLoops::is_last_item(ExprId steps) {
    const ExprId one = build_.integer(1);
    const ExprId up = build_.make(Op::Add, {steps, build_.make(Op::Sub, {piece_, one})});
    const ExprId last = build_.make(Op::Sub, {build_.make(Op::Div, {up, piece_}), one});
    return build_.make(
        Op::Equal,
        {build_.index(result_.function.item), build_.make(Op::Max, {last, build_.integer(0)})});
}

bool NestLoops::can_group(const NestLoop& loop, bool outermost) const {
    if (together == 1 || lane_.valid() || loop.end.valid() || loop.extent % together != 0) {
        return false;
    }
    if (!is_cut(outermost)) return true;
    const Expr& piece = build_[piece_];
    return piece.op == Op::Constant && piece.integer % together == 0;
}

void NestLoops::from(size_t depth, Block& out, const NestBody& body) {
    if (depth == loops_.size()) return body(out);
    const NestLoop& loop = loops_[depth];
    if (loop.var == lane_) {
        in_lanes(loop, depth == 0, out, [&](Block& inner) { from(depth + 1, inner, body); });
        return;
    }
    const VarId var = build_.var({});
    For all = whole_loop(var, steps_of(loop, lower_), depth == 0);
    const bool innermost = depth + 1 == loops_.size();
    const bool copies = copied && innermost && !lane_.valid() && depth > 0 && !loop.end.valid();
    all.step = copies && loop.extent % kCopies == 0 ? kCopies : 1;
    grouped = innermost && can_group(loop, depth == 0);
    if (grouped) all.step = together;
    for (int64_t copy = 0; copy < (grouped ? 1 : all.step); ++copy) {
        Address at;
        at.offset = copy;
        at.add(var, 1);
        lower_.bind(loop.var, std::move(at));
        from(depth + 1, all.body, body);
    }
    out.push_back({std::move(all)});
}

void NestLoops::in_lanes(const NestLoop& loop, bool outermost, Block& out, const NestBody& body) {
    if (parts.empty() || loop.var != lane_ || is_cut(outermost)) {
        return part_in_lanes(loop, {0, loop.extent}, outermost, out, body);
    }
    for (const LanePart& part : parts) {
        on_part(part);
        part_in_lanes(loop, part, false, out, body);
    }
}

void NestLoops::part_in_lanes(
    const NestLoop& loop, const LanePart& part, bool outermost, Block& out, const NestBody& body) {
    const ExprId lanes = build_.integer(target_.lanes());
    const ExprId steps =
        loop.end.valid() ? lower_.value(loop.end) : build_.integer(part.end - part.begin);
    const ExprId whole = build_.make(Op::Div, {steps, lanes});
    const ExprId in_whole = build_.make(Op::Mul, {whole, lanes});
    const ExprId rest = build_.make(Op::Sub, {steps, in_whole});
    if (!build_.is_integer(whole, 0)) {
        const VarId blocks = build_.var({});
        Address address;
        address.offset = part.begin;
        address.add(blocks, target_.lanes());
        address.add(lower_.lane_var, 1);
        lower_.bind(loop.var, address);
        if (part.piece) {
            address.offset = 0;
            lower_.bind(part.piece->var, address);
        }
        lower_.set_lanes(target_.lanes(), {});
        For all = whole_loop(blocks, whole, outermost);
        body(all.body);
        out.push_back({std::move(all)});
    }
    ExprId any_left = build_.make(Op::Less, {build_.integer(0), rest});
    if (is_cut(outermost)) any_left = build_.make(Op::And, {any_left, is_last_item(whole)});
    when(any_left, build_, out, [&](Block& block) {
        const ExprId first = build_.make(Op::Add, {build_.integer(part.begin), in_whole});
        bind_lanes(loop.var, first, lower_, block);
        if (part.piece) bind_lanes(part.piece->var, in_whole, lower_, block);
        const ExprId mask = build_.make(Op::Less, {build_.ramp(target_.lanes()), rest});
        lower_.set_lanes(target_.lanes(), mask);
        body(block);
    });
    lower_.set_lanes(1, {});
}

}  // namespace lemma::loop
