// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/fuse_dynamic.h"

#include <gtest/gtest.h>

namespace lemma::loop {
namespace {

// y[i] = x[i] + x[i], z[i] = y[i] * y[i], for a run-time extent of i.
class FuseDynamic : public ::testing::Test {
protected:
    FuseDynamic() {
        graph_.next_tensor = 3;
        for (const ir::TensorId id : {x_, y_, z_}) graph_.dtypes[id] = tensor::DType::F32;
        graph_.results = {z_};
        add(0, x_, y_, Op::Add);
        add(1, y_, z_, Op::Mul);
    }

    void add(size_t op, ir::TensorId from, ir::TensorId to, Op what) {
        StagePool& pool = graph_.pool;
        DynamicShape shape;
        shape.told = graph_.new_tensor(tensor::DType::I64, {2});
        const VarId number = pool.new_var(101);
        shape.numbers = {{.symbol = make_id<ir::SymId>(7), .var = number, .most = 100}};
        const ExprId end = pool.build.index(number);
        shape.extents[from] = {end};
        shape.extents[to] = {end};
        const VarId var = pool.new_var(100, end);
        const ExprId index = pool.build.index(var);
        const ExprId read = pool.build.read(from.value, Kind::F32, {index});
        Stage stage;
        stage.combine = ir::FormulaOp::Assign;
        stage.loops = {{var, 100}};
        stage.writes.push_back({to, {index}, pool.build.make(what, {read, read})});
        shape.stages = {std::move(stage)};
        FusionGroup group;
        group.op = make_id<ir::OpId>(op);
        group.kind = DynamicGroup{std::move(shape), {}};
        group.reads = {from};
        group.writes = {to};
        graph_.groups.push_back(std::move(group));
    }

    StageGraph graph_;
    ir::TensorId x_ = make_id<ir::TensorId>(0);
    ir::TensorId y_ = make_id<ir::TensorId>(1);
    ir::TensorId z_ = make_id<ir::TensorId>(2);
};

TEST_F(FuseDynamic, AMapMovesIntoItsReader) {
    EXPECT_EQ(fuse_dynamic(graph_), 1);
    ASSERT_EQ(graph_.groups.size(), 1U);
    const FusionGroup& group = graph_.groups[0];
    EXPECT_EQ(group.reads, std::vector{x_});
    EXPECT_EQ(group.writes, std::vector{z_});
    const auto& [shape, within] = std::get<DynamicGroup>(group.kind);
    EXPECT_EQ(shape.numbers.size(), 1U);  // both had the same one
    EXPECT_EQ(shape.inlined, std::vector{y_});
    EXPECT_EQ(within, std::vector{make_id<ir::OpId>(0)});
    EXPECT_EQ(tensors_of(shape.stages, graph_.pool), (std::vector{z_, x_}));
    // The index is still known to be inside.
    graph_.pool.visit_reads(shape.stages[0].writes[0].value, [&](ExprId, const Expr& e) {
        EXPECT_TRUE(graph_.pool.is_inside(e.args[0], shape.extents.at(x_)[0]));
    });
}

TEST_F(FuseDynamic, AResultKeepsItsKernel) {
    graph_.results.insert(y_);
    EXPECT_EQ(fuse_dynamic(graph_), 0);
    EXPECT_EQ(graph_.groups.size(), 2U);
}

TEST_F(FuseDynamic, WhatTheInterpreterReadsKeepsItsKernel) {
    FusionGroup other;
    other.kind = InterpretedGroup{"it has no formula", {}};
    other.reads = {y_};
    graph_.groups.push_back(std::move(other));
    EXPECT_EQ(fuse_dynamic(graph_), 0);
}

TEST_F(FuseDynamic, AnIndexThatMayBeOutsideIsNoReader) {
    Stage& reader = std::get<DynamicGroup>(graph_.groups[1].kind).shape.stages[0];
    Builder& build = graph_.pool.build;
    const ExprId next = build.make(Op::Add, {reader.writes[0].index[0], build.integer(1)});
    reader.writes[0].value = build.read(y_.value, Kind::F32, {next});
    EXPECT_EQ(fuse_dynamic(graph_), 0);
}

}  // namespace
}  // namespace lemma::loop
