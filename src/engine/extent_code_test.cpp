// SPDX-License-Identifier: Apache-2.0
#include "engine/extent_code.h"

#include <gtest/gtest.h>

#include "loop/ir/run.h"

namespace lemma::engine {
namespace {

using ir::SymId;
using ir::SymOp;

struct Extents : testing::Test {
    ir::SymbolPool symbols;
    SymId n = symbols.symbol("n", ir::ScalarType::Int, {0, INT64_MAX});
    SymId m = symbols.symbol("m", ir::ScalarType::Int, {0, INT64_MAX});
    SymId k = symbols.symbol("k", ir::ScalarType::Int, {0, INT64_MAX});  // known
    SymId d = symbols.symbol("d", ir::ScalarType::Int, {0, 9});          // depends on data
    OpenExtents open{symbols, {{n, 0, 8, "n"}, {m, 1, 100, "m"}}, {{k, 3}}};

    SymId number(int64_t value) { return symbols.integer(value); }
    SymId make(SymOp op, std::vector<SymId> operands) { return *symbols.apply(op, operands); }
};

struct Outcome {
    int64_t value = 0;
    bool failed = false;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome run(const loop::Function& function, std::vector<int64_t> extents) {
    EXPECT_EQ(loop::verify(function), "");
    Outcome result;
    int64_t flag = 0;
    void* const buffers[] = {extents.data(), &result.value, &flag};
    loop::run_function(function, buffers, 0, 1);
    result.failed = flag != 0;
    return result;
}

// The code for one value.
loop::Function code_for(OpenExtents& open, SymId id) {
    ExtentCode code(open);
    const loop::BufferId to = code.build().buffer("to", tensor::DType::I64, true);
    code.store(to, 0, code.value(id));
    EXPECT_EQ(code.why(), "");
    return code.finish();
}

TEST_F(Extents, ComputesAsTheSymbolPool) {
    const std::vector<SymId> expressions = {
        make(SymOp::Add, {make(SymOp::Mul, {n, n, number(2)}), m, k}),
        make(SymOp::Div, {make(SymOp::Sub, {n, number(5)}), number(2)}),
        make(SymOp::Mod, {make(SymOp::Sub, {n, m}), number(7)}),
        make(SymOp::Max, {make(SymOp::Sub, {n, k}), number(0), make(SymOp::Neg, {m})}),
        make(SymOp::Min, {n, m, number(4)}),
        make(SymOp::CeilDiv, {make(SymOp::Mul, {n, m}), k}),
        *symbols.select(make(SymOp::Less, {n, m}), m, make(SymOp::Mul, {n, k})),
        *symbols.select(make(SymOp::And, {make(SymOp::Equal, {n, k}), make(SymOp::Less, {m, n})}),
                        number(1),
                        number(-1)),
    };
    for (const SymId id : expressions) {
        const loop::Function function = code_for(open, id);
        for (const int64_t a : {0, 1, 3, 8}) {
            for (const int64_t b : {1, 2, 100}) {
                const auto want = symbols.as_int(
                    *symbols.substitute(id, {{n, number(a)}, {m, number(b)}, {k, number(3)}}));
                ASSERT_TRUE(want);
                EXPECT_EQ(run(function, {a, b}), (Outcome{*want, false}))
                    << symbols.text(id) << ", n = " << a << ", m = " << b;
            }
        }
    }
}

TEST_F(Extents, FlagsADivisionByZeroThatCounts) {
    const SymId quotient = make(SymOp::Div, {number(12), n});
    EXPECT_EQ(run(code_for(open, quotient), {4, 1}), (Outcome{3, false}));
    EXPECT_TRUE(run(code_for(open, quotient), {0, 1}).failed);
    const SymId guarded = *symbols.select(make(SymOp::Equal, {n, number(0)}), number(7), quotient);
    EXPECT_EQ(run(code_for(open, guarded), {0, 1}), (Outcome{7, false}));
    EXPECT_EQ(run(code_for(open, guarded), {5, 1}), (Outcome{2, false}));
}

TEST_F(Extents, ChecksBoundsAndConditions) {
    ExtentCode code(open);
    const loop::BufferId to = code.build().buffer("to", tensor::DType::I64, true);
    code.check_given(n, 0, 8);
    code.check_given(m, 1, 100);
    code.require(make(SymOp::LessEqual, {n, m}));
    code.require_inside(make(SymOp::Sub, {m, number(2)}), 0, 90);
    code.store(to, 0, code.elements({n, k, m}));
    ASSERT_EQ(code.why(), "");
    const loop::Function function = code.finish();
    EXPECT_EQ(run(function, {2, 5}), (Outcome{30, false}));
    EXPECT_FALSE(run(function, {0, 92}).failed);
    for (const auto& [a, b] : std::vector<std::pair<int64_t, int64_t>>{
             {-1, 5}, {9, 50}, {INT64_MIN, 5}, {2, INT64_MAX}, {3, 2}, {0, 1}, {2, 93}, {2, 101}}) {
        EXPECT_TRUE(run(function, {a, b}).failed) << a << " " << b;
    }
}

TEST_F(Extents, SaysNothingOfConditionsThatDivideByZero) {
    ExtentCode code(open);
    code.build().buffer("to", tensor::DType::I64, true);
    code.require(make(SymOp::Equal, {make(SymOp::Mod, {m, n}), number(0)}));
    const loop::Function function = code.finish();
    EXPECT_FALSE(run(function, {0, 5}).failed);
    EXPECT_FALSE(run(function, {5, 10}).failed);
    EXPECT_TRUE(run(function, {5, 11}).failed);
}

TEST_F(Extents, NamesWhatItCannotCompute) {
    ExtentCode data(open);
    data.value(make(SymOp::Add, {n, d}));
    EXPECT_EQ(data.why(), "the extent `d` depends on data");
    EXPECT_EQ(open.most({n, d}).error().message, "the extent `d` depends on data");
    const SymId large = symbols.symbol("p", ir::ScalarType::Int, {0, INT64_MAX});
    OpenExtents wide(symbols, {{large, 0, INT64_MAX, "p"}}, {});
    ExtentCode code(wide);
    code.value(make(SymOp::Mul, {large, large}));
    EXPECT_EQ(code.why(), "the extent `p**2` has no bounds");
    EXPECT_EQ(wide.most({large}).error().message, "the extent `p` has no upper bound");
    EXPECT_EQ(open.most({n, make(SymOp::Mul, {m, k})}).value(), (tensor::Shape{8, 300}));
}

}  // namespace
}  // namespace lemma::engine
