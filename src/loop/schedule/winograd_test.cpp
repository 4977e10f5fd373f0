// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/winograd.h"

#include <gtest/gtest.h>

namespace lemma::loop {
namespace {

double number(int64_t i) { return static_cast<double>((i * 37 + 11) % 19) - 9; }

double value(const Builder& build, ExprId id) {
    const Expr& e = build[id];
    const auto arg = [&](size_t i) { return value(build, e.args[i]); };
    switch (e.op) {
        case Op::Constant:
            return e.real;
        case Op::Neg:
            return -arg(0);
        case Op::Add:
            return arg(0) + arg(1);
        case Op::Sub:
            return arg(0) - arg(1);
        case Op::Mul:
            return arg(0) * arg(1);
        case Op::Fma:
            return arg(0) * arg(1) + arg(2);
        default:
            ADD_FAILURE() << op_text(e.op);
            return 0;
    }
}

std::vector<ExprId> numbers(Builder& build, int64_t count, int64_t first) {
    std::vector<ExprId> result;
    for (int64_t i = 0; i < count; ++i) result.push_back(build.real(number(first + i), Kind::F64));
    return result;
}

TEST(Winograd, GivesTheSumsOverAWindow) {
    for (const int64_t outputs : {2, 4}) {
        const Filtering& by = filtering(outputs);
        Function function;
        Builder build(function);
        for (int64_t seed = 0; seed < 20; ++seed) {
            const auto x = transform(build, by.input, numbers(build, by.size(), seed));
            const auto w = transform(build, by.weights, numbers(build, kTaps, seed * 5));
            std::vector<ExprId> products;
            for (size_t i = 0; i < x.size(); ++i) {
                products.push_back(build.make(Op::Mul, {x[i], w[i]}));
            }
            const auto sums = transform_back(build, by.back, products);
            ASSERT_EQ(std::ssize(sums), outputs);
            for (int64_t i = 0; i < outputs; ++i) {
                double want = 0;
                for (int64_t tap = 0; tap < kTaps; ++tap) {
                    want += number(seed + i + tap) * number(seed * 5 + tap);
                }
                EXPECT_NEAR(value(build, sums[static_cast<size_t>(i)]), want, 1e-10);
            }
        }
    }
}

TEST(Winograd, TransformsTilesAlongBothAxes) {
    Function function;
    Builder build(function);
    const std::vector<ExprId> tile = numbers(build, 6, 3);  // two rows of three
    const auto turned = along_axes(tile, 1, 3, 3, [](std::vector<ExprId> line) { return line; });
    EXPECT_EQ(turned[1], tile[3]);  // the last axis became the first
    const Matrix sums = {{1, 1, 1}};
    const std::vector<ExprId> square = numbers(build, 9, 0);
    const auto total =
        along_axes(square, 2, 3, 1, [&](const auto& line) { return transform(build, sums, line); });
    ASSERT_EQ(total.size(), 1U);
    double want = 0;
    for (int64_t i = 0; i < 9; ++i) want += number(i);
    EXPECT_EQ(value(build, total[0]), want);
}

}  // namespace
}  // namespace lemma::loop
