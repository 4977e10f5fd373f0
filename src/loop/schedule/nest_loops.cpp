// Loops over what is written: items, pieces of long loops, and one loop in lanes.
#include <algorithm>

#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kEnoughItems = 64;  // to share among threads
constexpr int64_t kCopies = 4;        // of short steps in a loop
constexpr int64_t kLeastWork = 4096;  // steps of an item

}  // namespace

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
    ExprId rest = build_.index(function.item);
    for (size_t i = item_loops; i-- > 0;) {
        const NestLoop& loop = loops_[i];
        const VarId var = build_.var({});
        const bool outermost = i == 0;
        const ExprId extent = build_.integer(loop.extent);
        out.push_back({Bind{var, outermost ? rest : build_.make(Op::Mod, {rest, extent})}});
        rest = build_.make(Op::Div, {rest, extent});
        lower_.bind(loop.var, var);
    }
    from(item_loops, out, body);
}

// A long loop of short steps is cut in pieces. Returns how many.
int64_t NestLoops::cut_outermost(int64_t work) {
    if (loops_.empty() || work < 2 * kLeastWork) return 1;
    const NestLoop& loop = loops_[0];
    const int64_t steps = loop.var == lane_ ? loop.extent / target_.lanes() : loop.extent;
    if (steps < 2) return 1;
    const int64_t least = std::max<int64_t>(1, kLeastWork / std::max<int64_t>(1, work / steps));
    const int64_t wanted = std::clamp<int64_t>(steps / least, 1, kEnoughItems);
    piece_ = (steps + wanted - 1) / wanted;
    return (steps + piece_ - 1) / piece_;
}

// All steps of the loop, or those of the item.
For NestLoops::whole_loop(VarId var, int64_t steps, bool outermost) {
    if (!outermost || piece_ == 0) {
        return {var, build_.integer(0), build_.integer(steps), 1, {}};
    }
    const ExprId begin =
        build_.make(Op::Mul, {build_.index(result_.function.item), build_.integer(piece_)});
    const ExprId end = build_.make(
        Op::Min, {build_.make(Op::Add, {begin, build_.integer(piece_)}), build_.integer(steps)});
    return {var, begin, end, 1, {}};
}

void NestLoops::from(size_t depth, Block& out, const NestBody& body) {
    if (depth == loops_.size()) return body(out);
    const NestLoop& loop = loops_[depth];
    if (loop.var == lane_) {
        in_lanes(loop, depth == 0, out, [&](Block& inner) { from(depth + 1, inner, body); });
        return;
    }
    const VarId var = build_.var({});
    For all = whole_loop(var, loop.extent, depth == 0);
    const bool innermost = depth + 1 == loops_.size();
    const bool copies = copied && innermost && !lane_.valid() && depth > 0;
    all.step = copies && loop.extent % kCopies == 0 ? kCopies : 1;
    for (int64_t copy = 0; copy < all.step; ++copy) {
        Address at;
        at.offset = copy;
        at.add(var, 1);
        lower_.bind(loop.var, std::move(at));
        from(depth + 1, all.body, body);
    }
    out.push_back({std::move(all)});
}

void NestLoops::in_lanes(const NestLoop& loop, bool outermost, Block& out, const NestBody& body) {
    if (parts.empty() || loop.var != lane_ || (outermost && piece_ > 0)) {
        return part_in_lanes(loop.var, {0, loop.extent}, outermost, out, body);
    }
    for (const LanePart& part : parts) {
        on_part(part);
        part_in_lanes(loop.var, part, false, out, body);
    }
}

void NestLoops::part_in_lanes(
    VarId var, const LanePart& part, bool outermost, Block& out, const NestBody& body) {
    const int64_t lanes = target_.lanes();
    const int64_t whole = (part.end - part.begin) / lanes;
    const int64_t rest = (part.end - part.begin) % lanes;
    if (whole > 0) {
        const VarId blocks = build_.var({});
        Address address;
        address.offset = part.begin;
        address.add(blocks, lanes);
        address.add(lower_.lane_var, 1);
        lower_.bind(var, address);
        lower_.set_lanes(target_.lanes(), {});
        For all = whole_loop(blocks, whole, outermost);
        body(all.body);
        out.push_back({std::move(all)});
    }
    if (rest > 0) {
        Address last;
        last.offset = part.begin + whole * lanes;
        last.add(lower_.lane_var, 1);
        lower_.bind(var, last);
        const ExprId mask =
            build_.make(Op::Less, {build_.ramp(target_.lanes()), build_.integer(rest)});
        lower_.set_lanes(target_.lanes(), mask);
        if (outermost && piece_ > 0) {
            const ExprId last_item = build_.integer((whole + piece_ - 1) / piece_ - 1);
            If in_last{build_.make(Op::Equal, {build_.index(result_.function.item), last_item}),
                       {}};
            body(in_last.body);
            out.push_back({std::move(in_last)});
        } else {
            body(out);
        }
    }
    lower_.set_lanes(1, {});
}

}  // namespace lemma::loop
