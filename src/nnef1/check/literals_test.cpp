// SPDX-License-Identifier: Apache-2.0
#include "nnef1/check/literals.h"

#include <gtest/gtest.h>

#include <limits>

namespace lemma::nnef1 {

namespace {

const ValueType kIntegers = ValueType::array(ValueType::primitive(TypeName::Integer));
const ValueType kPairs = ValueType::array(ValueType::tuple(
    {ValueType::primitive(TypeName::Integer), ValueType::primitive(TypeName::Integer)}));

ir::Value pack(std::vector<ir::Scalar> items) { return ir::Pack{.items = std::move(items)}; }

TEST(Literals, ScalarsHaveAPointOrAnExponent) {
    const ir::SymbolPool symbols;
    EXPECT_EQ(scalar_text(symbols, 2.0, TypeName::Scalar), "2.0");
    EXPECT_EQ(scalar_text(symbols, int64_t{2}, TypeName::Scalar), "2.0");
    EXPECT_EQ(scalar_text(symbols, 1e-7, TypeName::Scalar), "1e-07");
    EXPECT_EQ(scalar_text(symbols, 0.1, TypeName::Scalar), "0.1");
}

TEST(Literals, ThereIsNoneForInfinity) {
    const ir::SymbolPool symbols;
    EXPECT_FALSE(scalar_text(symbols, std::numeric_limits<double>::infinity(), TypeName::Scalar));
    EXPECT_FALSE(scalar_text(symbols, std::numeric_limits<double>::quiet_NaN(), TypeName::Generic));
}

TEST(Literals, TypesAreNotMixed) {
    const ir::SymbolPool symbols;
    EXPECT_FALSE(scalar_text(symbols, 2.0, TypeName::Integer));
    EXPECT_FALSE(scalar_text(symbols, true, TypeName::Integer));
    EXPECT_FALSE(scalar_text(symbols, std::string("a"), TypeName::Logical));
    EXPECT_EQ(scalar_text(symbols, true, TypeName::Generic), "true");
}

TEST(Literals, StringsEscapeQuotesAndBackslashes) {
    const ir::SymbolPool symbols;
    EXPECT_EQ(scalar_text(symbols, std::string("it's a\\b"), TypeName::String), R"('it\'s a\\b')");
    EXPECT_FALSE(scalar_text(symbols, std::string("two\nlines"), TypeName::String));
}

TEST(Literals, PairsComeOutOfOnePack) {
    const ir::SymbolPool symbols;
    const auto value = pack({int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}});
    EXPECT_EQ(value_text(symbols, value, kPairs), "[(1, 2), (3, 4)]");
    EXPECT_EQ(value_text(symbols, value, kIntegers), "[1, 2, 3, 4]");
    EXPECT_EQ(value_text(symbols, pack({}), kPairs), "[]");
    EXPECT_FALSE(value_text(symbols, pack({int64_t{1}}), kPairs));
}

TEST(Literals, WhatMayBeMissingIsAnArray) {
    const ir::SymbolPool symbols;
    EXPECT_EQ(value_text(symbols, ir::Null{}, kIntegers), "[]");
    EXPECT_EQ(value_text(symbols, ir::Scalar(int64_t{7}), kIntegers), "[7]");
    EXPECT_FALSE(value_text(symbols, ir::Null{}, ValueType::primitive(TypeName::Integer)));
}

TEST(Identifiers, ReadLikeTheNameAndAreUsedOnce) {
    Identifiers identifiers;
    EXPECT_EQ(identifiers.make("first.w#2"), "first_w_2");
    EXPECT_EQ(identifiers.make("first/w/2"), "first_w_2_2");
    EXPECT_EQ(identifiers.make("1x"), "t1x");
    EXPECT_EQ(identifiers.make("for"), "for_");
    EXPECT_EQ(identifiers.make(""), "t");
}

TEST(Labels, AreKeptWhereTheyAreGood) {
    Labels labels;
    EXPECT_EQ(labels.make("layers/one.w-1"), "layers/one.w-1");
    EXPECT_EQ(labels.make("a b:0"), "a_b_0");
}

TEST(Labels, DifferInMoreThanCase) {
    Labels labels;
    EXPECT_EQ(labels.make("W"), "W");
    EXPECT_EQ(labels.make("w"), "w_2");
}

TEST(Labels, NeverLeadOutOfTheModel) {
    Labels labels;
    EXPECT_EQ(labels.make("../x"), "_./x");
    EXPECT_EQ(labels.make("/etc//x/"), "etc/x");
    EXPECT_EQ(labels.make("a/./b"), "a/_/b");
    EXPECT_EQ(labels.make(""), "data");
}

}  // namespace

}  // namespace lemma::nnef1
