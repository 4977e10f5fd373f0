// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/exact.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loop/ir/run.h"
#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"
#include "loop/schedule/schedule.h"

namespace lemma::loop {
namespace {

// Rounding to even, as formulas have it.
ExprId rounded(Builder& b, ExprId x) {
    const auto real = [&](double value) { return b.real(value, Kind::F64); };
    const ExprId below = b.make(Op::Floor, {x});
    const ExprId rest = b.make(Op::Sub, {x, below});
    const ExprId half = b.make(Op::Floor, {b.make(Op::Div, {below, real(2)})});
    const ExprId odd = b.make(Op::Sub, {below, b.make(Op::Mul, {half, real(2)})});
    return b.select(
        b.make(Op::Equal, {rest, real(0.5)}),
        b.make(Op::Add, {below, odd}),
        b.select(b.make(Op::Less, {real(0.5), rest}), b.make(Op::Add, {below, real(1)}), below));
}

ExprId clamped(Builder& b, ExprId x, double low, double high) {
    return b.make(Op::Min, {b.make(Op::Max, {x, b.real(low, Kind::F64)}), b.real(high, Kind::F64)});
}

struct Quantisation : TestRegion {
    ir::TensorId x = input("x", {64}), y = tensor("y", {64}), zero = input("zero", {64});
    bool doubles = false;  // the stage has some

    // y = int(clamp(round(x) + zero))
    void make(tensor::DType result, tensor::DType of_zero, double low, double high) {
        graph.dtypes[y] = result;
        graph.dtypes[zero] = of_zero;
        map("y", y, [&](const auto& i) {
            const ExprId wide = build.cast(read(x, i), Kind::F64);
            const ExprId offset = build.cast(build.read(zero.value, Kind::Int, i), Kind::F64);
            const ExprId moved = build.make(Op::Add, {rounded(build, wide), offset});
            return build.cast(clamped(build, moved, low, high), Kind::Int);
        });
        graph.results = {y};
    }
    // The results for these elements.
    std::vector<int8_t> run(const std::vector<float>& elements, int8_t at_zero) {
        BufferViews views;
        const auto place = [&](ir::TensorId id, uint32_t storage) {
            views[id] = {make_id<StorageId>(storage), graph.dtypes[id], {64}, row_major({64})};
        };
        place(x, 0), place(zero, 1), place(y, 2);
        const ScheduledKernel kernel = schedule_nest(graph.groups[0].stages[0], pool, views, {});
        for (const Expr& e : kernel.function.exprs) doubles |= e.type.kind == Kind::F64;
        std::vector<float> in = elements;
        std::vector<int8_t> zeros(64, at_zero), out(64);
        std::vector<void*> buffers;
        for (const StorageId id : kernel.arguments) {
            void* const all[] = {in.data(), zeros.data(), out.data()};
            buffers.push_back(all[id.value]);
        }
        run_function(kernel.function, buffers.data(), 0, kernel.function.items);
        return out;
    }
};

std::vector<float> awkward() {
    std::vector<float> values;
    for (int i = 0; i < 40; ++i) values.push_back(static_cast<float>(i - 20) / 2);
    for (const float large : {1e6F, 1.6777215e7F, 1.6777216e7F, 8388607.5F, 3e38F, INFINITY}) {
        values.push_back(large);
        values.push_back(-large);
    }
    for (const float small : {1e-30F, 0.49999997F, 0.50000006F, 126.5F, 127.5F, -0.0F}) {
        values.push_back(small);
        values.push_back(-small);
    }
    values.resize(64, NAN);
    return values;
}

TEST(ComputeExactly, QuantisationInFloatWithTheSameResults) {
    for (const int8_t zero : {0, 3, -128, 127}) {
        Quantisation plain, exact;
        plain.make(tensor::DType::I8, tensor::DType::I8, -128, 127);
        exact.make(tensor::DType::I8, tensor::DType::I8, -128, 127);
        EXPECT_EQ(compute_exactly(exact.graph), 1);
        EXPECT_EQ(verify(exact.region), "");
        EXPECT_EQ(exact.run(awkward(), zero), plain.run(awkward(), zero));
        EXPECT_TRUE(plain.doubles);
        EXPECT_FALSE(exact.doubles);
    }
}

TEST(ComputeExactly, LargeRangesStayDoubles) {
    Quantisation t;
    t.make(tensor::DType::I32, tensor::DType::I32, -2147483648.0, 2147483647.0);
    compute_exactly(t.graph);
    const Expr& e = t.pool[t.graph.groups[0].stages[0].writes[0].value];
    EXPECT_EQ(t.pool[e.args[0]].type.kind, Kind::F64);
}

TEST(ComputeExactly, OtherRoundingsStayAsTheyAre) {
    TestRegion t;
    const ir::TensorId x = t.input("x", {4}), y = t.tensor("y", {4});
    t.map("y", y, [&](const auto& i) {
        return t.build.cast(rounded(t.build, t.build.cast(t.read(x, i), Kind::F64)), Kind::F32);
    });
    compute_exactly(t.graph);
    // A zero keeps its sign: this is not the operation that rounds to even.
    std::vector<ExprId> work = {t.graph.groups[0].stages[0].writes[0].value};
    for (size_t k = 0; k < work.size(); ++k) {
        const Expr& e = t.pool[work[k]];
        EXPECT_NE(e.op, Op::Rint);
        work.insert(work.end(), e.args.begin(), e.args.end());
    }
}

}  // namespace
}  // namespace lemma::loop
