// SPDX-License-Identifier: Apache-2.0
#include "onnx/import/fold.h"

#include <gtest/gtest.h>

namespace lemma::onnx {
namespace {

class Fold : public testing::Test {
protected:
    ConstantValue ints(const std::vector<int64_t>& values) {
        return constant_ints({values.begin(), values.end()});
    }
    ConstantValue number(int64_t value) { return {DType::I64, {}, {value}}; }
    ConstantValue extents(std::vector<Scalar> items) { return constant_ints(std::move(items)); }

    // The only result; the test fails if there is none.
    ConstantValue run(const std::string& op,
                      const std::vector<ConstantValue>& inputs,
                      const Attributes& attributes = {},
                      std::optional<DType> type = {}) {
        const Folded folded = try_run(op, inputs, attributes, type);
        EXPECT_TRUE(folded) << op;
        return folded ? folded->at(0) : ConstantValue();
    }
    Folded try_run(const std::string& op,
                   const std::vector<ConstantValue>& inputs,
                   const Attributes& attributes = {},
                   std::optional<DType> type = {}) {
        std::vector<const ConstantValue*> pointers;
        for (const ConstantValue& input : inputs) pointers.push_back(&input);
        return fold({op, attributes, pointers, 1, type, symbols_});
    }
    std::string text(const ConstantValue& known) {
        std::string result;
        for (const Scalar& item : known.items) {
            if (!result.empty()) result += ", ";
            result += symbols_.text(to_symbol(item, symbols_));
        }
        return result;
    }

    ir::SymbolPool symbols_;
    ir::SymId n_ = symbols_.symbol("n", ir::ScalarType::Int, {0, 1000});
};

TEST_F(Fold, CombinesExtents) {
    Attributes axis;
    axis.set_int("axis", 0);
    const ConstantValue shape = extents({n_, int64_t{3}, int64_t{8}, int64_t{8}});
    const ConstantValue batch = run("Gather", {shape, number(0)}, axis);
    EXPECT_TRUE(batch.shape.empty());
    Attributes axes;
    axes.set_ints("axes", {0});
    const ConstantValue listed = run("Unsqueeze", {batch}, axes);
    const ConstantValue joined = run("Concat", {listed, ints({-1})}, axis);
    EXPECT_EQ(text(joined), "n, -1");
    EXPECT_EQ(text(run("Mul", {shape, number(2)})), "2*n, 6, 16, 16");
    EXPECT_EQ(text(run("ReduceProd", {shape})), "192*n");
}

TEST_F(Fold, DividesTowardsZero) {
    EXPECT_EQ(text(run("Div", {ints({-7, 7}), number(2)})), "-3, 3");
    EXPECT_FALSE(try_run("Div", {ints({1}), number(0)}));
}

TEST_F(Fold, SlicesLikeNumpy) {
    const ConstantValue x = ints({0, 1, 2, 3, 4});
    EXPECT_EQ(text(run("Slice", {x, ints({1}), ints({INT64_MAX})})), "1, 2, 3, 4");
    EXPECT_EQ(text(run("Slice", {x, ints({-1}), ints({INT64_MIN}), ints({0}), ints({-2})})),
              "4, 2, 0");
    EXPECT_EQ(text(run("Slice", {x, ints({4}), ints({2})})), "");
}

TEST_F(Fold, DecidesComparisonsOfExtents) {
    EXPECT_EQ(text(run("Equal", {extents({n_}), ints({-1})})), "false");
    const ConstantValue open = run("Equal", {extents({n_}), ints({3})});
    EXPECT_FALSE(as_bool(open.items[0]));
    const ConstantValue chosen =
        run("Where", {run("Equal", {extents({n_}), ints({-1})}), ints({1}), extents({n_})});
    EXPECT_EQ(text(chosen), "n");
}

TEST_F(Fold, RoundsToTheType) {
    const ConstantValue x{DType::F32, {1}, {0.1}};
    const ConstantValue y{DType::F32, {1}, {static_cast<double>(0.1F)}};
    EXPECT_EQ(std::get<double>(run("Add", {y, y}).items[0]), static_cast<double>(0.1F + 0.1F));
    EXPECT_EQ(text(run("Cast", {{DType::I64, {1}, {int64_t{300}}}}, {}, DType::U8)), "44");
    EXPECT_EQ(text(run("Cast", {{DType::F32, {1}, {-2.7}}}, {}, DType::I32)), "-2");
}

TEST_F(Fold, LeavesLargeResultsToTheRun) {
    EXPECT_FALSE(try_run("Expand", {number(1), ints({100, 100})}));
    EXPECT_FALSE(try_run("Range", {number(0), number(1'000'000), number(1)}));
    EXPECT_EQ(text(run("Range", {number(5), number(0), number(-2)})), "5, 3, 1");
}

TEST_F(Fold, RefusesShapesThatDoNotFit) {
    EXPECT_FALSE(try_run("Add", {ints({1, 2}), ints({1, 2, 3})}));
    EXPECT_FALSE(try_run("Reshape", {ints({1, 2, 3}), ints({2, -1})}));
    EXPECT_FALSE(try_run("Gather", {ints({1, 2}), ints({2})}));
    EXPECT_EQ(run("Reshape", {ints({1, 2, 3, 4}), ints({2, -1})}).shape, (Shape{2, 2}));
}

// Without elements, the other extents may be huge: nothing is counted or multiplied.
TEST_F(Fold, NoElementsBesideHugeExtents) {
    constexpr int64_t kMany = int64_t{1} << 62;
    const ConstantValue none{DType::I64, {kMany, 4, 0}, {}};
    Attributes axis;
    axis.set_int("axis", 2);
    EXPECT_EQ(run("Concat", {none, none}, axis).shape, (Shape{kMany, 4, 0}));
    axis.set_int("axis", 0);
    EXPECT_FALSE(try_run("Concat", {none, none}, axis));  // 2^63 rows
    EXPECT_EQ(run("Gather", {none, ints({1})}, axis).shape, (Shape{1, 4, 0}));
    axis.set_int("axis", 2);
    EXPECT_FALSE(try_run("Flatten", {none}, axis));
    const ConstantValue behind{DType::I64, {0, kMany, 4}, {}};
    axis.set_int("axis", 0);
    EXPECT_FALSE(try_run("Gather", {behind, ints({0})}, axis));
    Attributes parts;
    parts.set_int("axis", 0);
    parts.set_ints("split", {INT64_MAX, INT64_MAX});
    EXPECT_FALSE(fold({"Split", parts, {&none}, 2, {}, symbols_}));
}

TEST_F(Fold, FindsElementsThatAreNotZero) {
    const ConstantValue x{DType::Bool, {2, 2}, {true, false, true, true}};
    const ConstantValue found = run("NonZero", {x});
    EXPECT_EQ(found.shape, (Shape{2, 3}));
    EXPECT_EQ(text(found), "0, 1, 1, 0, 0, 1");
}

}  // namespace
}  // namespace lemma::onnx
