// SPDX-License-Identifier: Apache-2.0
// Trees made by a program: without parentheses, spans and texts of literals.
#include <gtest/gtest.h>

#include "sknd/print/printer.h"

namespace lemma::sknd {
namespace {

class PrinterOfTrees : public ::testing::Test {
protected:
    ExprId add(decltype(Expr::node) node) {
        return module_.exprs.add({.span = {}, .node = std::move(node)});
    }
    ExprId name(std::string_view text) { return add(Identifier{text}); }
    ExprId binary(BinaryOp op, ExprId lhs, ExprId rhs) { return add(Binary{op, lhs, rhs, {}}); }
    std::string text(ExprId id, Spelling spelling = Spelling::Spec) {
        return print(module_, id, spelling);
    }

    Module module_;
    ExprId a_ = name("a"), b_ = name("b"), c_ = name("c");
};

TEST_F(PrinterOfTrees, GetParenthesesWhereOperatorsNeedThem) {
    const ExprId sum = binary(BinaryOp::Add, a_, b_);
    EXPECT_EQ(text(binary(BinaryOp::Mul, sum, c_)), "(a + b) * c");
    EXPECT_EQ(text(binary(BinaryOp::Sub, c_, sum)), "c - (a + b)");
    EXPECT_EQ(text(binary(BinaryOp::Sub, sum, c_)), "a + b - c");
    EXPECT_EQ(text(add(Index{sum, c_})), "(a + b)[c]");
    EXPECT_EQ(text(add(Unary{UnaryOp::Minus, sum})), "-(a + b)");
}

TEST_F(PrinterOfTrees, GetParenthesesAroundPowersWithSigns) {
    const ExprId minus = add(Unary{UnaryOp::Minus, a_});
    const ExprId power = binary(BinaryOp::Pow, b_, minus);
    EXPECT_EQ(text(power), "b ** -a");
    EXPECT_EQ(text(binary(BinaryOp::Pow, power, c_)), "b ** (-a) ** c");
    EXPECT_EQ(text(binary(BinaryOp::Pow, minus, c_)), "(-a) ** c");
    EXPECT_EQ(text(add(Unary{UnaryOp::Minus, power})), "-b ** -a");
}

TEST_F(PrinterOfTrees, KeepOpenSelectionsFromTakingAColon) {
    const ExprId open = add(Select{a_, b_, {}});
    EXPECT_EQ(text(add(Select{c_, open, a_})), "c ? (a ? b) : a");
    EXPECT_EQ(text(add(Select{c_, a_, open})), "c ? a : a ? b");
    EXPECT_EQ(text(add(Guard{a_, open, c_})), "|a <> (a ? b) : c|");
    EXPECT_EQ(text(add(List{{add(Range{open, c_, {}})}})), "[(a ? b):c]");
}

TEST_F(PrinterOfTrees, GetParenthesesAroundFoldsForTheReference) {
    const ExprId fold = add(Fold{FoldOp::Sum, a_, false, {}});
    const ExprId test = binary(BinaryOp::Equal, fold, b_);
    EXPECT_EQ(text(test), "a + .. == b");
    EXPECT_EQ(text(test, Spelling::Khronos), "(a + ..) == b");
    EXPECT_EQ(text(binary(BinaryOp::Add, fold, b_), Spelling::Khronos), "a + .. + b");
    EXPECT_EQ(text(binary(BinaryOp::Sub, fold, b_), Spelling::Khronos), "(a + ..) - b");
}

TEST_F(PrinterOfTrees, WriteRealsThatReadBack) {
    EXPECT_EQ(text(add(RealLiteral{1.0, ""})), "1.0");
    EXPECT_EQ(text(add(RealLiteral{0.1, ""})), "0.1");
    EXPECT_EQ(text(add(RealLiteral{1e300, ""})), "1e+300");
    EXPECT_EQ(text(add(RealLiteral{1.0, "1."})), "1.");
    EXPECT_EQ(text(binary(BinaryOp::Pow, add(RealLiteral{-2.0, ""}), a_)), "(-2.0) ** a");
}

TEST_F(PrinterOfTrees, WriteStringsFromTheirParts) {
    EXPECT_EQ(text(add(StringLiteral{{{"a \"b\" {\n", {}}, {"", c_}}, {}})),
              "\"a \\\"b\\\" \\{\\n{c}\"");
    const ExprId inner = add(StringLiteral{{{"x", {}}}, {}});
    EXPECT_EQ(text(add(StringLiteral{{{"", inner}}, {}})), "'{\"x\"}'");
}

TEST_F(PrinterOfTrees, SurviveWhatCouldNotBeParsed) {
    EXPECT_EQ(text(binary(BinaryOp::Add, add(BadExpr{}), a_)), "~bad~ + a");
    Definition definition;
    definition.name = {"f", {}};
    definition.composes = {{{}, module_.regions.add({}), {}}};
    module_.definitions = {definition};
    EXPECT_EQ(print(module_, diag::SourceMap()),
              "operator f {\n    @compose {\n         = ~bad~;\n    }\n}\n");
}

}  // namespace
}  // namespace lemma::sknd
