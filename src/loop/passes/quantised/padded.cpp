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

// Fills the borders with the zero point, and copies the elements.
FusionGroup Paddings::copy(ir::TensorId from,
                           ir::TensorId to,
                           ExprId zero,
                           const std::vector<int64_t>& below) {
    FusionGroup made;
    const tensor::Shape inner = graph_.shapes.at(from);
    const tensor::Shape outer = graph_.shapes.at(to);
    for (size_t axis = 0; axis < below.size(); ++axis) {
        const int64_t above = outer[axis] - inner[axis] - below[axis];
        const auto fill = [&](int64_t begin, int64_t width) {
            if (width == 0) return;
            tensor::Shape shape = outer;
            shape[axis] = width;
            Stage stage = assign(to, shape);
            StageWrite& write = stage.writes[0];
            write.index[axis] = build_.make(Op::Add, {write.index[axis], build_.integer(begin)});
            write.value = zero;
            made.stages.push_back(std::move(stage));
        };
        fill(0, below[axis]);
        fill(outer[axis] - above, above);
    }
    Stage inside = assign(to, inner);
    StageWrite& write = inside.writes[0];
    write.value = build_.read(from.value, Kind::Int, write.index);
    for (size_t axis = 0; axis < below.size(); ++axis) {
        write.index[axis] = build_.make(Op::Add, {write.index[axis], build_.integer(below[axis])});
    }
    made.stages.push_back(std::move(inside));
    made.writes = {to};
    find_reads(graph_, made);
    return made;
}

// A stage that assigns the elements of a part of the tensor; its value is missing.
Stage Paddings::assign(ir::TensorId to, const tensor::Shape& part) {
    Stage stage;
    stage.combine = ir::FormulaOp::Assign;
    StageWrite write{to, {}, {}};
    for (const int64_t extent : part) {
        stage.empty |= extent == 0;
        if (extent <= 1) {
            write.index.push_back(build_.integer(0));
            continue;
        }
        const VarId var = pool_.new_var(extent);
        stage.loops.push_back({var, extent});
        write.index.push_back(build_.index(var));
    }
    stage.writes.push_back(std::move(write));
    return stage;
}

}  // namespace lemma::loop
