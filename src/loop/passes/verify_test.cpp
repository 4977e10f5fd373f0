// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/verify.h"

#include <gtest/gtest.h>

#include "loop/passes/pipeline.h"

namespace lemma::loop {
namespace {

// y[i] = x[i] + x[i], z[i] = y[i] * y[i]
class VerifyRegion : public ::testing::Test {
protected:
    VerifyRegion() {
        for (const char* name : {"x", "y", "z"}) {
            ir::Tensor tensor;
            tensor.name = name;
            tensor.dtype = tensor::DType::F32;
            tensor.role = name[0] == 'x' ? ir::TensorRole::Input : ir::TensorRole::Intermediate;
            const ir::TensorId id = program_.tensors.add(std::move(tensor));
            region_.graph.shapes[id] = {4};
            region_.graph.dtypes[id] = tensor::DType::F32;
        }
        region_.graph.next_tensor = 3;
        region_.graph.results = {z_};
        add("first", x_, y_, Op::Add);
        add("second", y_, z_, Op::Mul);
    }

    void add(const char* label, ir::TensorId from, ir::TensorId to, Op op) {
        StagePool& pool = region_.graph.pool;
        const VarId var = pool.new_var(4);
        const ExprId index = pool.build.index(var);
        const ExprId read = pool.build.read(from.value, Kind::F32, {index});
        Stage stage;
        stage.combine = ir::FormulaOp::Assign;
        stage.loops = {{var, 4}};
        stage.writes.push_back({to, {index}, pool.build.make(op, {read, read})});
        FusionGroup group;
        group.label = label;
        group.stages = {std::move(stage)};
        group.reads = {from};
        group.writes = {to};
        region_.graph.groups.push_back(std::move(group));
    }
    FusionGroup& first() { return region_.graph.groups[0]; }
    FusionGroup& second() { return region_.graph.groups[1]; }

    const ir::TensorId x_ = make_id<ir::TensorId>(0), y_ = make_id<ir::TensorId>(1),
                       z_ = make_id<ir::TensorId>(2);
    ir::Program program_;
    BufferViews places_;
    TensorSet constants_;
    RegionGraph region_{program_, places_, constants_};
};

TEST_F(VerifyRegion, AcceptsAGoodGraph) { EXPECT_EQ(verify(region_), ""); }

TEST_F(VerifyRegion, NoticesADeadGroup) {
    first().dead = true;
    EXPECT_EQ(verify(region_), "group `first` is dead");
}

TEST_F(VerifyRegion, NoticesListsThatAreNotThoseOfTheStages) {
    second().reads = {};
    EXPECT_EQ(verify(region_), "group `second` does not list `y`, which it reads");
    second().reads = {y_, y_};
    EXPECT_EQ(verify(region_), "group `second` lists `y` twice");
    second().reads = {y_};
    second().writes = {y_};
    EXPECT_EQ(verify(region_), "group `second` does not list `z`, which it writes");
}

TEST_F(VerifyRegion, NoticesAGroupWithoutStages) {
    second().stages.clear();
    EXPECT_EQ(verify(region_), "group `second` has no stage");
}

TEST_F(VerifyRegion, NoticesAReadBeforeTheWrite) {
    std::swap(first(), second());
    EXPECT_EQ(verify(region_), "group `second` reads `y`, which is not made before");
}

TEST_F(VerifyRegion, NoticesATensorThatNobodyMakes) {
    region_.graph.groups.erase(region_.graph.groups.begin());
    EXPECT_EQ(verify(region_), "group `second` reads `y`, which nobody makes");
    region_.kind = RegionKind::Loop;  // there it may come from outside
    EXPECT_EQ(verify(region_), "");
}

TEST_F(VerifyRegion, NoticesAMissingShape) {
    region_.graph.shapes.erase(y_);
    EXPECT_EQ(verify(region_), "group `first` uses `y`, without shape");
}

TEST_F(VerifyRegion, NoticesAnIndexTooMany) {
    region_.graph.shapes[z_] = {4, 1};
    EXPECT_EQ(verify(region_), "group `second` has 1 indices for `z`");
}

TEST_F(VerifyRegion, NoticesAVariableThatIsNoLoop) {
    second().stages[0].loops.clear();
    EXPECT_EQ(verify(region_), "group `second` uses v1, which is no loop");
}

TEST_F(VerifyRegion, NoticesALoopOfAnotherExtent) {
    second().stages[0].loops[0].extent = 3;
    EXPECT_EQ(verify(region_), "group `second` has a loop of 3 steps over v1");
}

TEST_F(VerifyRegion, NoticesAContractionOverOtherLoops) {
    second().contraction.emplace();
    second().contraction->lane = first().stages[0].loops[0].var;
    EXPECT_EQ(verify(region_), "group `second` contracts over v0, which is no loop");
}

TEST_F(VerifyRegion, TheFaultHasTheNameOfThePass) {
    second().reads = {y_, y_};
    EXPECT_DEATH(run_passes(PassPhase::Stages, region_, {.verify = true}, nullptr),
                 "pass `zeros`: group `second` lists `y` twice");
}

}  // namespace
}  // namespace lemma::loop
