// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sknd/syntax/parser_testing.h"

namespace lemma::sknd::testing {
namespace {

// ---- Operators --------------------------------------------------------------------------------

TEST(Parser, BindsOperatorsByTheTable) {
    EXPECT_EQ(expr("1 + 2 * 3 - 4"), "((1 + (2 * 3)) - 4)");
    EXPECT_EQ(expr("2 ** 3 ** 2"), "((2 ** 3) ** 2)");
    EXPECT_EQ(expr("-2 ** 2"), "(-(2 ** 2))");
    EXPECT_EQ(expr("2 ** -1 * 3"), "((2 ** (-1)) * 3)");
    EXPECT_EQ(expr("a << b + 1 < c"), "((a << (b + 1)) < c)");
    EXPECT_EQ(expr("a <? b"), "(a <? b)");
    EXPECT_EQ(expr("a => b => c && d"), "((a => b) => (c && d))");
    EXPECT_EQ(expr("!a && --b == +c"), "((!a) && ((-(-b)) == (+c)))");
    EXPECT_EQ(expr("a \\ b % c / d"), "(((a \\ b) % c) / d)");
}

TEST(Parser, TakesSelectAndCoalesceFromTheRight) {
    EXPECT_EQ(expr("a ? b : c ? d : e"), "(a ? b : (c ? d : e))");
    EXPECT_EQ(expr("c ? a"), "(c ? a : )");
    EXPECT_EQ(expr("a ?? b ?? 3"), "(a ?? (b ?? 3))");
    EXPECT_EQ(expr("1 + e ?? 10"), "((1 + e) ?? 10)");
    EXPECT_EQ(expr("e ?? n > 3 ? 1 : 2"), "(e ?? ((n > 3) ? 1 : 2))");
    EXPECT_EQ(expr("?x && c ? x : 0"), "(((?x) && c) ? x : 0)");
}

TEST(Parser, FoldsEverythingToTheLeft) {
    EXPECT_EQ(expr("2 * p + .."), "((2 * p) + ..)");
    EXPECT_EQ(expr("p + p + .."), "((p + p) + ..)");
    EXPECT_EQ(expr("p + .. + 42"), "((p + ..) + 42)");
    EXPECT_EQ(expr("p + .. == 6"), "((p + ..) == 6)");
    EXPECT_EQ(expr("6 == p + .."), "(6 == (p + ..))");
    EXPECT_EQ(expr("[1, p..] * ..."), "([1, p..] * ...)");
    EXPECT_EQ(expr("p := .."), "(p := ..)");
    EXPECT_EQ(expr("m == ms || .. ? 1 : 2"), "(((m == ms) || ..) ? 1 : 2)");
    EXPECT_EQ(expr("p >? ..."), "(p >? ...)");
    EXPECT_EQ(expr("p + .. * 2"), "4:12 unexpected-token");
    EXPECT_EQ(expr("p - .."), "4:7 bad-fold");
    EXPECT_EQ(expr("p < ..."), "4:7 bad-fold");
}

TEST(Parser, TakesIsAndInAsOperatorsOnlyBehindAnOperand) {
    EXPECT_EQ(expr("is + in"), "(is + in)");
    EXPECT_EQ(expr("is is in in in"), "((is is in) in in)");
    EXPECT_EQ(expr("[0:d] in v"), "([0:d:] in v)");
    EXPECT_EQ(expr("s is 1 ? 0 : si"), "((s is 1) ? 0 : si)");
    EXPECT_EQ(parse_in("@attrib", "in: int;").findings(), "4:1 reserved-name");
}

TEST(Parser, WarnsOnceOfMixedLogicalOperators) {
    EXPECT_EQ(expr("a && b || c && d"), "4:12 mixed-logical");
    EXPECT_EQ(expr("(a && b) || c"), "((a && b) || c)");
    EXPECT_EQ(expr("a || b => c && d"), "((a || b) => (c && d))");
    EXPECT_EQ(parse_in("@using", "a = b ^ c && d;").diag.error_count(), 0u);
}

TEST(Parser, ExplainsAnArrowThatWasMeantAsAComparison) {
    EXPECT_EQ(expr("b<-1"), "4:6 unexpected-token");
    EXPECT_EQ(expr("p[0] <- 1 + 2"), "subst(p, 0, (1 + 2))");
    EXPECT_EQ(expr("[0 ..(d)][axes] <- q[:k]"), "subst([0..d], axes, index(q, :k:))");
}

// ---- Operands ---------------------------------------------------------------------------------

TEST(Parser, TellsItemsOfPacksFromElementsOfTensors) {
    EXPECT_EQ(lowered("x[i]"), "index(x, i)");
    EXPECT_EQ(lowered("x[i,]"), "x[i]");
    EXPECT_EQ(lowered("x[]"), "x[]");
    EXPECT_EQ(lowered("x[i..]"), "x[i..]");
    EXPECT_EQ(lowered("x[i,j]"), "x[i, j]");
    EXPECT_EQ(lowered("x[|i|]"), "x[|i|]");
    EXPECT_EQ(lowered("x[c ? |i| : j]"), "x[(c ? |i| : j)]");
    EXPECT_EQ(lowered("x[k][i,j]"), "index(x, k)[i, j]");
    EXPECT_EQ(lowered("x[:,k]"), "x[::, k]");
    EXPECT_EQ(lowered("x[y[i,],0 ..(c ? 1 : 0)]"), "x[y[i], 0..(c ? 1 : 0)]");
    EXPECT_EQ(lowered("x[i,j,]"), "4:13 unexpected-token");
}

TEST(Parser, TakesGuardsAsWholeIndices) {
    EXPECT_EQ(lowered("x[|i - n <> 0 : s - 1|,]"), "x[|(i - n)<>0:(s - 1)|]");
    EXPECT_EQ(lowered("x[i[a] <- |i + j|..]"), "x[subst(i, a, |(i + j)|)..]");
    EXPECT_EQ(lowered("f == 'N' ? [b,|i|..] : [|i|..,b]"),
              "((f == 'N') ? [b, |i|..] : [|i|.., b])");
    EXPECT_EQ(lowered("x[1 + |i|,]"), "4:13 misplaced-item");
    EXPECT_EQ(expr("x[|i|,]"), "4:7 misplaced-item");
}

TEST(Parser, ReadsListsRangesAndZips) {
    EXPECT_EQ(expr("[]"), "[]");
    EXPECT_EQ(expr("[0, 2:n, b.., 3:2*d:-1]"), "[0, 2:n:, b.., 3:(2 * d):(-1)]");
    EXPECT_EQ(expr("[(a, b)..]"), "[zip(a, b)..]");
    EXPECT_EQ(expr("[(z / c)..(c), (a)..]"), "[(z / c)..c, a..]");
    EXPECT_EQ(expr("c[::-1][0::2]"), "index(index(c, ::(-1)), 0::2)");
    EXPECT_EQ(expr("[0:]"), "4:8 unexpected-token");
    EXPECT_EQ(expr("[1, ]"), "4:9 unexpected-token");
    EXPECT_EQ(expr("[(a, b)]"), "4:6 misplaced-item");
    EXPECT_EQ(expr("(a, b)"), "4:7 misplaced-item");
    EXPECT_EQ(expr("0:n"), "4:6 misplaced-item");
    EXPECT_EQ(expr("b.."), "4:6 misplaced-item");
}

TEST(Parser, ChainsIndicesAndMembersBehindAnyPrimary) {
    EXPECT_EQ(expr("abs(p)[0]"), "index(call abs(p), 0)");
    EXPECT_EQ(expr("'abc'[1:]"), "index('abc', 1::)");
    EXPECT_EQ(expr("xs[0].shape[1]"), "index(xs[0].shape, 1)");
    EXPECT_EQ(expr("x.length"), "4:7 no-member");
}

TEST(Parser, TellsCastsBuiltinsAndNestedCalls) {
    EXPECT_EQ(expr("real(x) + int()"), "(cast real(x) + cast int())");
    EXPECT_EQ(expr("T(x)"), "cast T(x)");
    EXPECT_EQ(expr("`sin`(x) + cos(x)"), "(call sin(x) + call cos(x))");
    EXPECT_EQ(expr("`nope`(x)"), "call nope(x)");
    EXPECT_EQ(expr("sin + 1"), "(sin + 1)");
    EXPECT_EQ(expr("1 + nn.relu{a=1}(f(g(x)))"), "4:9 nested-call");
    EXPECT_EQ(expr("cast<real>(x)"), "4:5 nested-call");
    EXPECT_EQ(expr("`sqrt`()"), "4:12 unexpected-token");
}

TEST(Parser, FindsGenericTypesWhereverTheirBlockStands) {
    const Parsed parsed = parse(
        "operator f { @using { a = T(1); } @dtype { T: num; S: type; } }\n"
        "operator g { @using { a = T(1); } }");
    EXPECT_EQ(parsed.findings(), "2:27 nested-call");
}

// ---- Strings ----------------------------------------------------------------------------------

std::string string_parts(std::string_view text) {
    const Parsed parsed = parse_in("@using", fmt::format("a = {};", text));
    if (!parsed.diag.items().empty()) return parsed.findings();
    const ExprId id = parsed.def().usings.at(0).rhs;
    std::string result;
    for (const StringLiteral::Part& part :
         std::get<StringLiteral>(parsed.module.exprs[id].node).parts) {
        result +=
            part.expr ? fmt::format("<{}>", parsed.show(part.expr)) : fmt::format("{}|", part.text);
    }
    return result;
}

TEST(Parser, JoinsStringsAndResolvesEscapes) {
    EXPECT_EQ(string_parts(R"('a' "b" 'c')"), "abc|");
    EXPECT_EQ(string_parts(R"("\"\'\\\{\}\n\t")"), "\"'\\{}\n\t|");
    EXPECT_EQ(string_parts("\"two\r\nlines\""), "two\nlines|");
    EXPECT_EQ(string_parts(R"("a\qb")"), "4:7 bad-escape");
    EXPECT_EQ(string_parts("''"), "");
}

TEST(Parser, ParsesFormattedExpressionsInPlace) {
    EXPECT_EQ(string_parts(R"("got {a + 1}{b} of {c}")"), "got |<(a + 1)><b> of |<c>");
    EXPECT_EQ(string_parts(R"("{c ? 'x\}' : m[0]}")"), R"(<(c ? 'x\}' : index(m, 0))>)");
    EXPECT_EQ(string_parts(R"("{}")"), "4:6 bad-format");
    EXPECT_EQ(string_parts(R"("{k +}")"), "4:10 bad-format");
    EXPECT_EQ(string_parts(R"("{k m}")"), "4:9 bad-format");
    EXPECT_EQ(string_parts(R"("{k")"), "4:6 bad-format");
    EXPECT_EQ(string_parts(R"("k}")"), "4:7 bad-format");
    EXPECT_EQ(string_parts("\"one\n{two +}\""), "5:7 bad-format");
}

}  // namespace
}  // namespace lemma::sknd::testing
