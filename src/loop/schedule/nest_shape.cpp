// SPDX-License-Identifier: Apache-2.0
// Finds the loops of a stage, and chooses the one along the lanes.
#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "base/checked.h"
#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kFewApart = 4;  // elements that are picked from whole vectors

// Whether two writes of a tensor never meet, because an index is a different constant.
bool are_apart(const StagePool& pool, const StageWrite& a, const StageWrite& b) {
    for (size_t axis = 0; axis < a.index.size(); ++axis) {
        const Expr& one = pool[a.index[axis]];
        const Expr& other = pool[b.index[axis]];
        const bool constant = one.op == Op::Constant && other.op == Op::Constant;
        if (constant && one.integer != other.integer) return true;
    }
    return false;
}

// The operations of a step, without those of indices. Each is counted once.
int64_t arithmetic_of(const NestContext& context) {
    constexpr int64_t kRounding = 6;  // to 16 bits
    const StagePool& pool = context.pool;
    int64_t count = 0;
    std::unordered_set<uint32_t> seen;
    for (const StageWrite& write : context.stage.writes) {
        const tensor::DType dtype = context.places.at(write.tensor).dtype;
        if (dtype == tensor::DType::BF16 || dtype == tensor::DType::F16) count += kRounding;
        std::vector<ExprId> work = {write.value};
        while (!work.empty()) {
            const ExprId at = work.back();
            work.pop_back();
            const Expr& e = pool[at];
            if (e.op == Op::Read || e.args.empty() || !seen.insert(at.value).second) continue;
            ++count;
            work.insert(work.end(), e.args.begin(), e.args.end());
        }
    }
    return count;
}

}  // namespace

bool any_order(const Stage& stage, const StagePool& pool) {
    for (size_t i = 0; i < stage.writes.size(); ++i) {
        const StageWrite& write = stage.writes[i];
        const WriteShape shape = write_shape(stage, write, pool);
        if (!shape.injective) return false;
        for (size_t k = 0; k < i; ++k) {
            const StageWrite& other = stage.writes[k];
            if (other.tensor == write.tensor && !are_apart(pool, other, write)) return false;
        }
        const bool last_counts = !accumulates(stage) && shape.vars.size() != stage.loops.size();
        if (last_counts) return false;
        if (stage.writes.size() > 1 && shape.vars.size() != stage.loops.size()) return false;
        bool reads_itself = false;
        const auto visit = [&](ExprId, const Expr& e) {
            reads_itself |= e.integer == write.tensor.value;
        };
        for (const StageWrite& other : stage.writes) {
            pool.visit_reads(other.value, visit);
            for (const ExprId index : other.index) pool.visit_reads(index, visit);
        }
        pool.visit_reads(stage.condition, visit);
        for (const StageGuard& guard : stage.guards) pool.visit_reads(guard.index, visit);
        if (reads_itself) return false;
    }
    return true;
}

NestShape find_loops(const NestContext& context, const std::vector<VarId>& given) {
    const Stage& stage = context.stage;
    const StageWrite& write = stage.writes[0];
    const auto contains = [](const std::vector<VarId>& vars, VarId var) {
        return std::ranges::find(vars, var) != vars.end();
    };
    NestShape result;
    const WriteShape shape = write_shape(stage, write, context.pool);
    for (const StageLoop& loop : stage.loops) {
        if (contains(given, loop.var)) continue;
        const bool reduction = !contains(shape.vars, loop.var);
        (reduction ? result.reductions : result.outputs)
            .push_back({loop.var, loop.extent, reduction, context.pool.end(loop.var)});
    }
    // In the memory order of the result, so that threads write far from each other. Run-time
    // strides belong to the first axes.
    std::ranges::stable_sort(result.outputs, std::greater(), [&](const NestLoop& loop) {
        const auto axis = std::ranges::find_if(
            write.index, [&](ExprId index) { return context.pool.depends(index, loop.var); });
        return std::pair(std::abs(context.stride(write.tensor, write.index, loop.var)),
                         write.index.end() - axis);
    });
    return result;
}

void order_as_memory(const NestContext& context, NestShape& shape) {
    const StageWrite& write = context.stage.writes[0];
    std::ranges::stable_sort(shape.outputs, std::greater(), [&](const NestLoop& loop) {
        return context.stride(write.tensor, write.index, loop.var);
    });
}

void collapse(const NestContext& context, NestShape& shape, Lowering& lower) {
    for (auto* loops : {&shape.outputs, &shape.reductions}) {
        for (size_t i = loops->size(); i-- > 1;) {
            NestLoop& inner = (*loops)[i];
            const NestLoop& outer = (*loops)[i - 1];
            constexpr int64_t kMostSteps = int64_t{1} << 59;
            const auto steps = checked_mul(inner.extent, outer.extent);
            if (inner.end.valid() || !steps || *steps > kMostSteps ||
                !can_collapse(context.stage,
                              context.pool,
                              context.places,
                              outer.var,
                              inner.var,
                              inner.extent)) {
                continue;
            }
            lower.bind(outer.var, Address{});
            if (outer.end.valid()) {
                Builder& build = context.pool.build;
                inner.end = build.make(Op::Mul, {outer.end, build.integer(inner.extent)});
            }
            inner.extent = *steps;
            loops->erase(loops->begin() + static_cast<ptrdiff_t>(i) - 1);
        }
    }
}

double lane_cost(const NestContext& context, const NestShape& shape, const NestLoop& loop) {
    const auto lanes = static_cast<double>(context.target.lanes());
    const auto cost = [&](int64_t stride) {
        if (stride >= 2 && stride <= kFewApart) return 1.0 + static_cast<double>(stride);
        return stride == 0 ? 0.5 : stride == 1 ? 1.0 : 1.5 * lanes;
    };
    const auto write_cost = [&](int64_t stride) {
        return stride == 0 || stride == 1 ? 1.0 : 2.5 * lanes;
    };
    const auto pieces = pieces_of(context.stage, context.pool, loop.var);
    const LoopPiece* const piece = longest(pieces);
    const Stage& stage = piece ? piece->stage : context.stage;
    const VarId var = piece ? piece->var : loop.var;
    double reads = 0.5;
    const auto visit = [&](ExprId, const Expr& e) {
        reads += cost(context.stride(tensor_of(e), e.args, var));
    };
    double writes = 0;
    for (const StageWrite& write : stage.writes) {
        context.pool.visit_reads(write.value, visit);
        if (!loop.reduction) writes += write_cost(context.stride(write.tensor, write.index, var));
    }
    if (const auto& kept = stage.kept) {
        reads += write_cost(context.stride(kept->tensor, kept->index, var));
    }
    const double blocks = std::ceil(static_cast<double>(loop.extent) / lanes);
    const double filling =
        loop.end.valid() ? 1.0 : static_cast<double>(loop.extent) / (blocks * lanes);
    const bool reduces = !shape.reductions.empty();
    return (reads + (reduces ? writes / 8 : writes)) / lanes / filling;
}

double choose_lanes(const NestContext& context, NestShape& shape) {
    const Stage& stage = context.stage;
    // Of scalar code. Lanes share the arithmetic, also where they store one by one.
    constexpr double kOperation = 0.15;
    double best = 0.5 + kOperation * static_cast<double>(arithmetic_of(context));
    for (const StageWrite& write : stage.writes) {
        context.pool.visit_reads(write.value, [&](ExprId, const Expr&) { best += 1; });
    }
    best += shape.reductions.empty() ? static_cast<double>(stage.writes.size()) : 0.1;
    const auto consider = [&](const NestLoop& loop) {
        constexpr int64_t kFewLanes = 4;
        if (loop.extent < kFewLanes) return;
        const double cost = lane_cost(context, shape, loop);
        if (cost >= best) return;
        best = cost;
        shape.lane = loop.var;
        shape.lane_reduces = loop.reduction;
    };
    // The innermost of equal ones.
    for (size_t i = shape.outputs.size(); i-- > 0;) consider(shape.outputs[i]);
    const bool any_sums = stage.writes.size() == 1 && !context.pool.strict;
    for (size_t i = shape.reductions.size(); i-- > 0 && any_sums;) consider(shape.reductions[i]);
    if (!shape.lane.valid()) return best;
    auto& loops = shape.lane_reduces ? shape.reductions : shape.outputs;
    const auto at = std::ranges::find(loops, shape.lane, &NestLoop::var);
    std::rotate(at, at + 1, loops.end());  // innermost
    return best;
}

namespace {

// The values of the variable that keep the index inside, whatever the other variables are.
std::optional<LanePart> inside_of(const StagePool& pool,
                                  const StageGuard& guard,
                                  const NestLoop& loop) {
    const auto index = pool.affine(guard.index);
    if (!index || guard.end.valid()) return std::nullopt;
    int64_t factor = 0, low = index->offset, high = index->offset;
    for (const AddressTerm& term : index->terms) {
        const int64_t reach = term.factor * (pool.extent(term.var) - 1);
        if (term.var == loop.var) {
            factor = term.factor;
        } else {
            (reach < 0 ? low : high) += reach;
        }
    }
    if (factor < 1) return std::nullopt;
    const int64_t begin = low >= 0 ? 0 : (-low + factor - 1) / factor;
    const int64_t room = guard.extent - 1 - high;
    const int64_t end = room < 0 ? 0 : room / factor + 1;
    return LanePart{begin, std::min(end, loop.extent), true};
}

}  // namespace

std::vector<LanePart> split_lanes(const NestContext& context, const NestShape& shape) {
    if (!shape.lane.valid() || shape.lane_reduces) return {};
    const NestLoop& loop = shape.outputs.back();
    if (loop.end.valid()) return {};
    LanePart inside{0, loop.extent, true};
    bool guarded = false;
    for (const StageGuard& guard : context.stage.guards) {
        if (!context.pool.depends(guard.index, loop.var)) continue;
        const auto here = inside_of(context.pool, guard, loop);
        if (!here) return {};
        inside.begin = std::max(inside.begin, here->begin);
        inside.end = std::min(inside.end, here->end);
        guarded = true;
    }
    if (!guarded || inside.end - inside.begin < context.target.lanes()) return {};
    std::vector<LanePart> parts;
    if (inside.begin > 0) parts.push_back({0, inside.begin});
    parts.push_back(inside);
    if (inside.end < loop.extent) parts.push_back({inside.end, loop.extent});
    return parts;
}

std::vector<LanePart> parts_of(const std::vector<LoopPiece>& pieces) {
    std::vector<LanePart> parts;
    for (const LoopPiece& piece : pieces) parts.push_back({piece.begin, piece.end, false, &piece});
    return parts;
}

}  // namespace lemma::loop
