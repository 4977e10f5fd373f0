// SPDX-License-Identifier: Apache-2.0
// Squared distances of all pairs, sum((a - b)^2), as sum(a^2) + sum(b^2) - 2 * sum(a * b): a step
// is one instruction instead of two. Digits cancel where two rows nearly agree. The kernel checks
// its totals and sums the differences instead where they are small.
#include "loop/passes/contraction/squares.h"

#include <algorithm>

namespace lemma::loop {

namespace {

constexpr int64_t kLeastPairs = 16;  // that share one sum of squares
constexpr int64_t kLeastSteps = 16;  // of a sum: the check costs a few

class SquareFinder {
public:
    SquareFinder(StageGraph& graph, FusionGroup& group)
        : graph_(graph),
          pool_(graph.pool),
          build_(graph.pool.build),
          group_(group),
          contraction_(*group.contraction) {}

    // The groups that sum the squares of each side; they run before this one.
    std::vector<FusionGroup> run() {
        const Stage& stage = group_.stages[0];
        if (stage.combine != ir::FormulaOp::Sum) return {};
        if (!is_zero(stage.initial) || !is_difference(stage.writes[0].value) || !pays()) return {};
        std::vector<FusionGroup> groups;
        const ExprId a = sum_of_squares(contraction_.a, groups);
        const ExprId b = sum_of_squares(contraction_.b, groups);
        contraction_.squares = build_.make(Op::Add, {a, b});
        for (const FusionGroup& group : groups) group_.reads.push_back(group.writes[0]);
        return groups;
    }

private:
    bool is_zero(ExprId id) const {
        const Expr& e = pool_[id];
        return e.op == Op::Constant && (e.type.real() ? e.real == 0 : e.integer == 0);
    }
    // Whether the value is the square of the operands' difference.
    bool is_difference(ExprId value) const {
        const Expr& square = pool_[value];
        if (square.op != Op::Mul || square.args[0] != square.args[1]) return false;
        const Expr& difference = pool_[square.args[0]];
        if (difference.op != Op::Sub || difference.type != Type{Kind::F32}) return false;
        const ExprId a = contraction_.a, b = contraction_.b;
        return (difference.args[0] == a && difference.args[1] == b) ||
               (difference.args[0] == b && difference.args[1] == a);
    }
    // Whether each square of one side belongs to many pairs.
    bool pays() const {
        const auto extent = [&](const std::vector<VarId>& vars) {
            int64_t product = 1;
            for (const VarId var : vars) product *= pool_.extent(var);
            return product;
        };
        return !contraction_.lane_in_a && pool_.extent(contraction_.lane) >= kLeastPairs &&
               extent(contraction_.points) >= kLeastPairs &&
               extent(contraction_.reduced) >= kLeastSteps;
    }

    // Reads the sums of squares of one side, a tensor over the variables that are not summed.
    ExprId sum_of_squares(ExprId side, std::vector<FusionGroup>& groups) {
        Stage stage;
        stage.combine = ir::FormulaOp::Sum;
        stage.initial = build_.real(0, Kind::F32);
        std::vector<ExprId> index, own_index;
        tensor::Shape shape;
        std::unordered_map<VarId, ExprId, IdHash> with;
        for (const StageLoop& loop : group_.stages[0].loops) {
            if (!pool_.depends(side, loop.var)) continue;
            const VarId own = pool_.new_var(loop.extent);
            stage.loops.push_back({own, loop.extent});
            with[loop.var] = build_.index(own);
            const auto& reduced = contraction_.reduced;
            if (std::ranges::find(reduced, loop.var) != reduced.end()) continue;
            index.push_back(build_.index(loop.var));
            own_index.push_back(build_.index(own));
            shape.push_back(loop.extent);
        }
        const ExprId element = pool_.substitute(side, with);
        const ir::TensorId tensor = graph_.new_tensor(tensor::DType::F32, std::move(shape));
        stage.writes.push_back(
            {tensor, std::move(own_index), build_.make(Op::Mul, {element, element})});
        FusionGroup made;
        made.op = group_.op;
        made.label = group_.label + " squares";
        made.stages.push_back(std::move(stage));
        made.writes = {tensor};
        find_reads(graph_, made);
        made.once = std::ranges::all_of(
            made.reads, [&](ir::TensorId id) { return graph_.constants.contains(id); });
        if (made.once) graph_.constants.insert(tensor);
        groups.push_back(std::move(made));
        return build_.read(tensor.value, Kind::F32, std::move(index));
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    FusionGroup& group_;
    Contraction& contraction_;
};

}  // namespace

int find_squares(StageGraph& graph, Numerics numerics) {
    int count = 0;
    std::vector<FusionGroup> groups;
    for (FusionGroup& group : graph.groups) {
        if (group.contraction && !group.contraction->product) {
            for (FusionGroup& made : SquareFinder(graph, group).run())
                groups.push_back(std::move(made));
            if (group.contraction->squares.valid()) ++count;
            group.contraction->trusts_squares = numerics == Numerics::Fast;
        }
        groups.push_back(std::move(group));
    }
    graph.groups = std::move(groups);
    return count;
}

}  // namespace lemma::loop
