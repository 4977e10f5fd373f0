// SPDX-License-Identifier: Apache-2.0
// The parts of a comparison, on small programs in text form. tests/diff has whole models.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "diff/align.h"
#include "diff/report.h"
#include "ir/text/read.h"

namespace lemma::diff {

namespace {

Side side(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("p.ir", text);
    auto program = ir::read_program(sources, file, diag);
    EXPECT_TRUE(program && !diag.has_errors()) << text;
    return {"p.ir", "ir", std::move(*program), {}};
}

std::string chain(const std::string& first, const std::string& second) {
    return "program P\n\ninput %x: f32[4]\n\ngraph P (x = %x) {\n    y %t: f32[4] = f \"t\" (x = "
           "%x) "
           "{\n        %t[i] = " +
           first +
           "(%x[i])  for i < 4\n    }\n    y %y: f32[4] = g \"y\" (x = %t) {\n        %y[i] = " +
           second + "(%t[i])  for i < 4\n    }\n    yield y = %y\n}\n";
}

std::string outcome(const std::string& a, const std::string& b, Level level = Level::Auto) {
    Side left = side(a), right = side(b);
    const auto comparison = compare(left, right, {.level = level});
    return comparison ? summary(*comparison, nullptr, {}) : comparison.error().message;
}

// A loop with two carried values, of which the body returns `yields`.
std::string loop(const std::string& yields) {
    return "program P\n\ninput %x: f32[]\ninput %z: f32[]\n\ngraph P (x = %x, z = %z) {\n"
           "    y0 %p: f32[], y1 %q: f32[] = loop (v0 = %x, v1 = %z) over (carry %c: f32[], carry "
           "%d: "
           "f32[], count 3) {\n        body {\n            yield " +
           yields + "\n        }\n    }\n    yield p = %p, q = %q\n}\n";
}

}  // namespace

TEST(Diff, FindsTheChangedFormula) {
    EXPECT_EQ(outcome(chain("exp", "sin"), chain("exp", "sin")), "equal");
    EXPECT_EQ(outcome(chain("exp", "sin"), chain("exp", "cos")), "1 operation changed");
    EXPECT_EQ(outcome(chain("exp", "sin"), chain("tan", "cos")), "2 operations changed");
    EXPECT_EQ(outcome(chain("exp", "sin"), chain("exp", "cos"), Level::Formula),
              "1 operation changed");
}

TEST(Diff, TellsCarriedValuesApart) {
    const std::string straight = loop("y0 = %c, y1 = %d"), crossed = loop("y0 = %d, y1 = %c");
    for (const Level level : {Level::Compound, Level::Primitive, Level::Formula}) {
        EXPECT_EQ(outcome(straight, straight, level), "equal");
        EXPECT_EQ(outcome(straight, crossed, level), "1 operation changed");
    }
}

TEST(Diff, FindsTheLongestRunThatKeepsItsOrder) {
    using Pairs = std::vector<std::pair<size_t, size_t>>;
    EXPECT_EQ(longest_growing({}), Pairs());
    EXPECT_EQ(longest_growing({{0, 3}, {1, 0}, {2, 1}, {3, 2}}), (Pairs{{1, 0}, {2, 1}, {3, 2}}));
}

TEST(Diff, MeasuresTheChangeOfWeights) {
    tensor::Tensor a = tensor::Tensor::zeros(tensor::DType::F32, {2, 2}).value(), b = a;
    EXPECT_FALSE(compare_values(a, b, 0));
    a.set_real(0, 8);
    b.set_real(0, 8);
    b.set_real(3, 0.5);
    const auto change = compare_values(a, b, 0);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->changed, 1);
    EXPECT_EQ(change->where, "[1, 1]");
    EXPECT_EQ(change->max_abs, 0.5);
    EXPECT_EQ(change->max_rel, 1);
    EXPECT_FALSE(compare_values(a, b, 0.1));  // of 8
    b.set_real(3, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(compare_values(a, b, 0.1));
}

TEST(Diff, ComparesArraysWithinTheTolerance) {
    interpret::Array a = interpret::Array::zeros(tensor::DType::F32, {1, 3}).value();
    interpret::Array b = interpret::Array::zeros(tensor::DType::F32, {3}).value();
    a.reals = {1, 2, std::numeric_limits<double>::infinity()};
    b.reals = {1, 2.0001, std::numeric_limits<double>::infinity()};
    EXPECT_TRUE(compare_arrays(a, b, {.relative = 1e-3}).equal);
    const NumberPair pair = compare_arrays(a, b, {.relative = 1e-6});
    EXPECT_FALSE(pair.equal);
    EXPECT_EQ(pair.differing, 1);
    EXPECT_EQ(pair.where, "[0, 1]");
    b.reals[2] = 0;
    EXPECT_FALSE(compare_arrays(a, b, {.relative = 1e3}).equal);
    b.shape = {4};
    EXPECT_EQ(compare_arrays(a, b, {}).trouble, "shapes [1, 3] and [4]");
}

TEST(Diff, NumbersOperationsAsViewDocumentsDo) {
    Side a = side(chain("exp", "sin")), b = side(chain("exp", "cos"));
    const auto comparison = compare(a, b, {});
    ASSERT_TRUE(comparison);
    const auto json =
        view_diff(*comparison, nullptr, operation_ids(a.program), operation_ids(b.program));
    EXPECT_EQ(json["pairs"].dump(), R"([[0,0,"equal"],[1,1,"changed"]])");
    EXPECT_EQ(json["changes"][0]["a"], 1);
    EXPECT_EQ(json["changes"][0]["what"], "definition");
    EXPECT_TRUE(json["only_a"].empty() && json["only_b"].empty());
}

}  // namespace lemma::diff
