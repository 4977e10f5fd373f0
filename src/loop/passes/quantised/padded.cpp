// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/quantised/padded.h"

#include <algorithm>

#include "tensor/room.h"

namespace lemma::loop {

std::optional<Paddings::Padded> Paddings::find(const Stage& stage, const QuantisedFactor& factor) {
    const Expr a = pool_[factor.read];
    const ir::TensorId from = tensor_of(a);
    const tensor::Shape& extents = graph_.shapes.at(from);
    std::vector<int64_t> below(a.args.size()), above(a.args.size());
    std::vector<ExprId> index = a.args;
    size_t found = 0;
    int64_t elements = 1;
    tensor::Shape shape = extents;
    for (size_t axis = 0; axis < a.args.size(); ++axis) {
        const Expr e = pool_[a.args[axis]];
        const bool guarded =
            e.op == Op::Assume && std::ranges::any_of(stage.guards, [&](const StageGuard& guard) {
                return guard.index == e.args[0] && guard.extent == extents[axis] &&
                       e.integer == guard.extent && !guard.end.valid();
            });
        if (guarded) {
            ++found;
            const StagePool::Range range = pool_.range(e.args[0]);
            constexpr int64_t kMost = int64_t{1} << 20;
            if (range.low < -kMost || range.high > extents[axis] + kMost) return std::nullopt;
            below[axis] = std::max<int64_t>(0, -range.low);
            above[axis] = std::max<int64_t>(0, range.high + 1 - extents[axis]);
            index[axis] = build_.make(Op::Add, {e.args[0], build_.integer(below[axis])});
        }
        shape[axis] = extents[axis] + below[axis] + above[axis];
        elements = total_elements(elements, shape[axis]);
    }
    // A copy of many times the size does not pay.
    if (found != stage.guards.size() || elements > tensor::kMaxElements ||
        elements / 4 > *tensor::volume(extents)) {
        return std::nullopt;
    }
    const Key key{from.value, factor.zero.value, below, above};
    const auto known = known_.find(key);
    Padded result;
    ir::TensorId to;
    if (known == known_.end()) {
        to = graph_.new_tensor(graph_.dtypes.at(from), shape);
        known_[key] = to;
        result.group = copy(from, to, factor.zero, below);
    } else {
        to = known->second;
    }
    result.read = build_.read(to.value, Kind::Int, std::move(index));
    return result;
}

void Paddings::forget(ir::TensorId copy) {
    std::erase_if(known_, [&](const auto& item) { return item.second == copy; });
}

// Fills the copy with the zero point, then copies the elements.
FusionGroup Paddings::copy(ir::TensorId from,
                           ir::TensorId to,
                           ExprId zero,
                           const std::vector<int64_t>& below) {
    Stage fill = assign_all(graph_, to);
    fill.writes[0].value = zero;
    Stage inside = assign_all(graph_, from);
    StageWrite& write = inside.writes[0];
    write.value = build_.read(from.value, Kind::Int, write.index);
    write.tensor = to;
    for (size_t axis = 0; axis < below.size(); ++axis) {
        write.index[axis] = build_.make(Op::Add, {write.index[axis], build_.integer(below[axis])});
    }
    FusionGroup made;
    made.stages = {std::move(fill), std::move(inside)};
    made.writes = {to};
    find_reads(graph_, made);
    return made;
}

}  // namespace lemma::loop
