// Squared distances of all pairs, sum((a - b)^2), as sum(a^2) + sum(b^2) - 2 * sum(a * b): a step
// is one instruction instead of two. Near each other's places digits cancel, so it is for fast
// numerics alone.
#include <algorithm>

#include "loop/graph.h"

namespace lemma::loop {

namespace {

constexpr int64_t kLeastPairs = 16;  // that share one sum of squares

class SquareExpander {
public:
    SquareExpander(StageGraph& graph, Unit& unit)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build), unit_(unit) {}

    // Units that sum the squares of each side, to run before.
    std::vector<Unit> run() {
        if (unit_.interpreted || unit_.once || unit_.stages.size() != 1) return {};
        const Stage& stage = unit_.stages[0];
        const bool sum = stage.combine == ir::FormulaOp::Sum && stage.writes.size() == 1 &&
                         stage.guards.empty() && !stage.condition.valid() && !stage.empty &&
                         is_zero(stage.initial);
        if (!sum || !find_difference(stage.writes[0].value)) return {};
        if (!pays(stage)) return {};
        std::vector<Unit> units;
        const ExprId squares =
            build_.make(Op::Add, {sum_of_squares(a_, units), sum_of_squares(b_, units)});
        Stage product = expanded(stage, squares);
        if (!find_contraction(graph_, product)) return {};
        unit_.stages[0] = std::move(product);
        find_reads(graph_, unit_);
        return units;
    }

private:
    bool is_zero(ExprId id) const {
        if (!id.valid()) return false;
        const Expr& e = pool_[id];
        return e.op == Op::Constant && (e.type.real() ? e.real == 0 : e.integer == 0);
    }
    bool find_difference(ExprId value) {
        const Expr& square = pool_[value];
        if (square.op != Op::Mul || square.args[0] != square.args[1]) return false;
        const Expr& difference = pool_[square.args[0]];
        if (difference.op != Op::Sub || difference.type != Type{Kind::F32}) return false;
        a_ = difference.args[0];
        b_ = difference.args[1];
        return pool_[a_].op == Op::Read && pool_[b_].op == Op::Read;
    }
    // Each square of one side is part of many pairs.
    bool pays(const Stage& stage) const {
        int64_t only_a = 1, only_b = 1;
        for (const StageLoop& loop : stage.loops) {
            const bool in_a = pool_.depends(a_, loop.var);
            const bool in_b = pool_.depends(b_, loop.var);
            if (in_a && !in_b) only_a *= loop.extent;
            if (in_b && !in_a) only_b *= loop.extent;
        }
        return only_a >= kLeastPairs && only_b >= kLeastPairs;
    }

    // An element of a tensor with the sums of the squares, over the variables that are not summed.
    ExprId sum_of_squares(ExprId side, std::vector<Unit>& units) {
        const Stage& from = unit_.stages[0];
        const std::vector<VarId> outputs = write_shape(from, from.writes[0], pool_).vars;
        Stage stage;
        stage.combine = ir::FormulaOp::Sum;
        stage.initial = build_.real(0, Kind::F32);
        std::vector<ExprId> index, own_index;
        tensor::Shape shape;
        std::unordered_map<VarId, ExprId, IdHash> with;
        for (const StageLoop& loop : from.loops) {
            if (!pool_.depends(side, loop.var)) continue;
            const VarId own = pool_.new_var(loop.extent);
            stage.loops.push_back({own, loop.extent});
            with[loop.var] = build_.index(own);
            if (std::ranges::find(outputs, loop.var) == outputs.end()) continue;
            index.push_back(build_.index(loop.var));
            own_index.push_back(build_.index(own));
            shape.push_back(loop.extent);
        }
        const ExprId element = pool_.substitute(side, with);
        const ir::TensorId tensor = graph_.new_tensor(tensor::DType::F32, std::move(shape));
        stage.writes.push_back(
            {tensor, std::move(own_index), build_.make(Op::Mul, {element, element})});
        Unit made;
        made.op = unit_.op;
        made.label = unit_.label + " squares";
        made.stages.push_back(std::move(stage));
        made.writes = {tensor};
        find_reads(graph_, made);
        made.once = std::ranges::all_of(
            made.reads, [&](ir::TensorId id) { return graph_.constants.contains(id); });
        if (made.once) graph_.constants.insert(tensor);
        units.push_back(std::move(made));
        return build_.read(tensor.value, Kind::F32, std::move(index));
    }
    // No distance is below zero, whatever was rounded: roots are taken of it.
    Stage expanded(Stage stage, ExprId squares) {
        StageWrite& write = stage.writes[0];
        write.value = build_.make(Op::Mul, {a_, b_});
        const bool finished = stage.finish.valid();
        if (!stage.total.valid()) {
            stage.total = build_.read(write.tensor.value, Kind::F32, write.index);
        }
        const ExprId rest =
            build_.make(Op::Fma, {stage.total, build_.real(-2, Kind::F32), squares});
        const ExprId distance = build_.make(Op::Max, {rest, build_.real(0, Kind::F32)});
        stage.finish = finished ? pool_.replace(stage.finish, stage.total, distance) : distance;
        return stage;
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    Unit& unit_;
    ExprId a_, b_;
};

}  // namespace

void expand_squares(StageGraph& graph) {
    std::vector<Unit> units;
    for (Unit& unit : graph.units) {
        for (Unit& made : SquareExpander(graph, unit).run()) units.push_back(std::move(made));
        units.push_back(std::move(unit));
    }
    graph.units = std::move(units);
}

}  // namespace lemma::loop
