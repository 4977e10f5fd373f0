// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/widen.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

// y = x; z = x, in one operation of strict numerics.
class WidenResults : public ::testing::Test {
protected:
    WidenResults() {
        t_.pool.strict = true;
        t_.map("two", y_, [&](const auto& i) { return element(x_, i[0]); });
        add(z_, [&](ExprId i) { return element(x_, i); });
    }

    ExprId element(ir::TensorId id, ExprId i) { return t_.build.cast(t_.read(id, {i}), Kind::F64); }
    void add(ir::TensorId to, const std::function<ExprId(ExprId)>& value) {
        group().stages.push_back(t_.stage_of(to, {}, [&](const auto& i) { return value(i[0]); }));
        if (std::ranges::find(group().writes, to) == group().writes.end()) {
            group().writes.push_back(to);
        }
    }
    FusionGroup& group() { return t_.graph.groups[0]; }
    Stage& last() { return group().stages.back(); }
    ExprId index() { return last().writes[0].index[0]; }
    int widen() {
        find_reads(t_.graph, group());
        const int count = widen_results(t_.graph, group());
        EXPECT_EQ(verify(t_.region), "");
        return count;
    }
    // The wide tensor has the type, all stages use it, and the last one copies it to `y`.
    void expect_wide(tensor::DType dtype) {
        const ir::TensorId wide = group().writes.back();
        EXPECT_EQ(t_.graph.dtypes.at(wide), dtype);
        EXPECT_EQ(t_.graph.shapes.at(wide), tensor::Shape{4});
        EXPECT_EQ(group().stages[0].writes[0].tensor, wide);
        for (size_t i = 0; i + 1 < group().stages.size(); ++i) {
            for_each_value(group().stages[i], [&](ExprId value) {
                t_.pool.visit_reads(value, [&](ExprId, const Expr& e) {
                    EXPECT_NE(tensor_of(e), y_);
                    EXPECT_TRUE(tensor_of(e) != wide || e.type.kind == kind_of(dtype));
                });
            });
        }
        EXPECT_EQ(last().writes[0].tensor, y_);
        EXPECT_EQ(last().writes[0].value, t_.build.read(wide.value, kind_of(dtype), {index()}));
    }

    TestRegion t_;
    const ir::TensorId x_ = t_.input("x", {4}), y_ = t_.tensor("y", {4}), z_ = t_.tensor("z", {4});
};

TEST_F(WidenResults, NotWhereStagesReadInputsAlone) { EXPECT_EQ(widen(), 0); }

TEST_F(WidenResults, WhereAValueReadsAnEarlierResult) {
    last().writes[0].value = element(y_, index());
    EXPECT_EQ(widen(), 1);
    expect_wide(tensor::DType::F64);
    EXPECT_EQ(t_.pool[group().stages[1].writes[0].value].op, Op::Read);  // without a cast
}

TEST_F(WidenResults, WhereAnIndexReadsAnEarlierResult) {
    last().writes[0].index[0] = t_.build.cast(element(y_, index()), Kind::Int);
    EXPECT_EQ(widen(), 1);
    expect_wide(tensor::DType::F64);
}

TEST_F(WidenResults, WhereAGuardReadsAnEarlierResult) {
    last().guards.push_back({t_.build.cast(element(y_, index()), Kind::Int), 4});
    EXPECT_EQ(widen(), 1);
    expect_wide(tensor::DType::F64);
}

TEST_F(WidenResults, WhereAnElementNamesAnother) {
    const ExprId inner = t_.build.cast(element(y_, index()), Kind::Int);
    last().writes[0].value = element(y_, inner);
    EXPECT_EQ(widen(), 1);
    expect_wide(tensor::DType::F64);
}

TEST_F(WidenResults, WhereAStageReadsItself) {
    group().stages.pop_back();
    group().writes.pop_back();
    const ExprId before = t_.make(Op::Sub, index(), t_.build.integer(1));
    last().guards.push_back({before, 4});
    last().writes[0].value = t_.make(Op::Add, last().writes[0].value, element(y_, before));
    EXPECT_EQ(widen(), 1);
    expect_wide(tensor::DType::F64);
}

TEST_F(WidenResults, WhereASumIsAddedToAResult) {
    add(y_, [&](ExprId i) { return element(x_, i); });
    last().combine = ir::FormulaOp::Sum;
    EXPECT_EQ(widen(), 1);
    expect_wide(tensor::DType::F64);
}

TEST_F(WidenResults, NotWhereAResultIsAssignedAgain) {
    add(y_, [&](ExprId i) { return element(x_, i); });
    EXPECT_EQ(widen(), 0);
}

TEST_F(WidenResults, WhereStepsOfASumWriteOneElementInTurn) {
    group().stages.resize(1);
    group().writes.resize(1);
    last().combine = ir::FormulaOp::Sum;
    EXPECT_EQ(widen(), 0);  // one step for each element
    last().writes[0].index[0] = t_.make(Op::Div, index(), t_.build.integer(2));
    EXPECT_EQ(widen(), 1);
    EXPECT_EQ(t_.graph.dtypes.at(group().writes.back()), tensor::DType::F64);
}

TEST_F(WidenResults, FloatsHoldFloats) {
    last().writes[0].value = t_.read(y_, {index()});
    t_.pool.accumulate = ir::Accumulate::F32;
    EXPECT_EQ(widen(), 0);
    t_.pool.accumulate = ir::Accumulate::F64;
    t_.pool.strict = false;
    EXPECT_EQ(widen(), 0);
}

TEST_F(WidenResults, HalvesBecomeFloats) {
    last().writes[0].value = t_.read(y_, {index()});
    t_.graph.dtypes[y_] = tensor::DType::F16;
    t_.pool.strict = false;
    EXPECT_EQ(widen(), 1);
    expect_wide(tensor::DType::F32);
}

TEST_F(WidenResults, StrictIntegersHave64Bits) {
    const auto whole = [&](ir::TensorId id) {
        return t_.build.read(id.value, Kind::Int, {index()});
    };
    t_.graph.dtypes[y_] = t_.graph.dtypes[z_] = tensor::DType::I8;
    last().writes[0].value = whole(y_);
    t_.pool.strict = false;
    EXPECT_EQ(widen(), 0);
    t_.pool.strict = true;
    EXPECT_EQ(widen(), 1);
    expect_wide(tensor::DType::I64);
}

}  // namespace
}  // namespace lemma::loop
