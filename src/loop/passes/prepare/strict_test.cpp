#include "loop/passes/prepare/strict.h"

#include <gtest/gtest.h>

namespace lemma::loop {
namespace {

class RoundsBetween : public ::testing::Test {
protected:
    RoundsBetween() {
        for (uint32_t i = 0; i < 3; ++i) graph_.new_tensor(tensor::DType::F32, {4});
        add(y_, read(x_));
        var_ = graph_.pool.new_var(4);
        add(z_, read(x_));
    }

    ExprId read(ir::TensorId id) {
        return graph_.pool.build.read(id.value, Kind::F32, {graph_.pool.build.index(var_)});
    }
    void add(ir::TensorId to, ExprId value) {
        Stage stage;
        stage.combine = ir::FormulaOp::Assign;
        stage.loops = {{var_, 4}};
        stage.writes.push_back({to, {graph_.pool.build.index(var_)}, value});
        group_.stages.push_back(std::move(stage));
        group_.writes.push_back(to);
    }
    Stage& last() { return group_.stages.back(); }

    const ir::TensorId x_ = make_id<ir::TensorId>(0), y_ = make_id<ir::TensorId>(1),
                       z_ = make_id<ir::TensorId>(2);
    StageGraph graph_;
    VarId var_ = graph_.pool.new_var(4);
    FusionGroup group_;
};

TEST_F(RoundsBetween, NotWhereStagesReadInputsAlone) {
    EXPECT_FALSE(rounds_between(graph_, group_));
}

TEST_F(RoundsBetween, WhereAValueReadsAnEarlierResult) {
    last().writes[0].value = read(y_);
    EXPECT_TRUE(rounds_between(graph_, group_));
}

TEST_F(RoundsBetween, WhereAnIndexReadsAnEarlierResult) {
    last().writes[0].index[0] = graph_.pool.build.cast(read(y_), Kind::Int);
    EXPECT_TRUE(rounds_between(graph_, group_));
}

TEST_F(RoundsBetween, WhereAGuardReadsAnEarlierResult) {
    last().guards.push_back({graph_.pool.build.cast(read(y_), Kind::Int), 4});
    EXPECT_TRUE(rounds_between(graph_, group_));
}

}  // namespace
}  // namespace lemma::loop
