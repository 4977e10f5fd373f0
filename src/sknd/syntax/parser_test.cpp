// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sknd/syntax/parser_testing.h"

namespace lemma::sknd::testing {
namespace {

// ---- Declarations -----------------------------------------------------------------------------

TEST(Parser, ReadsTypes) {
    const Parsed parsed = parse_in(
        "@input",
        "a: optional real^(r)[m, ..n, s..(2 * d), ~|10 ..(3), ~ ..(3)|10, static c]..(k|5);\n"
        "b: dynamic int..(dynamic n);\n"
        "c: T = 1.0;");
    ASSERT_EQ(parsed.findings(), "");
    const TypeSpec& type = parsed.def().inputs.at(0).type;
    EXPECT_TRUE(type.optional);
    EXPECT_EQ(parsed.show(type.rank), "r");
    const std::vector<ExtentSpec>& shape = type.shape.value();
    ASSERT_EQ(shape.size(), 6u);
    EXPECT_TRUE(shape[1].spread);
    EXPECT_EQ(parsed.show(shape[2].pack->length), "(2 * d)");
    for (const size_t i : {3, 4}) {
        EXPECT_EQ(parsed.show(shape[i].bound), "10");
        EXPECT_EQ(parsed.show(shape[i].pack->length), "3");
    }
    EXPECT_EQ(shape[5].qualifier, Qualifier::Static);
    EXPECT_EQ(parsed.show(type.pack->bound), "5");
    const TypeSpec& dynamic = parsed.def().inputs.at(1).type;
    EXPECT_EQ(dynamic.qualifier, Qualifier::Dynamic);
    EXPECT_EQ(dynamic.pack->qualifier, Qualifier::Dynamic);
    EXPECT_FALSE(dynamic.shape.has_value());
}

TEST(Parser, ReadsConstantsOverIndices) {
    const Parsed parsed = parse_in("@constant", "I: real[n,n] = i == j ? 1.0 : 0.0, i < n, j < n;");
    ASSERT_EQ(parsed.findings(), "");
    EXPECT_EQ(parsed.def().constants.at(0).bounds.size(), 2u);
}

TEST(Parser, ReadsLeftSides) {
    const Parsed parsed =
        parse_in("@compose", "~, [a, b..(k)], [(c,d)..], Xs: real[s,1]..(b) = f(x);");
    ASSERT_EQ(parsed.findings(), "");
    const std::vector<LValue>& results = parsed.def().composes.at(0).results;
    ASSERT_EQ(results.size(), 4u);
    EXPECT_TRUE(results[0].items[0].omitted);
    EXPECT_TRUE(results[1].list);
    EXPECT_EQ(parsed.show(results[1].items[1].pack->length), "k");
    EXPECT_TRUE(results[2].items[0].zip);
    EXPECT_EQ(results[2].items[0].targets.size(), 2u);
    EXPECT_TRUE(results[3].items[0].targets[0].type->pack.has_value());
    EXPECT_FALSE(results[3].items[0].pack.has_value());
}

TEST(Parser, WantsSomethingInBracketsOfLeftSidesAndCalls) {
    EXPECT_EQ(parse_in("@using", "[] = p;").findings(), "4:2 unexpected-token");
    EXPECT_EQ(parse_in("@using", "[()..] = p;").findings(), "4:3 unexpected-token");
    EXPECT_EQ(region("f{}(x)"), "4:7 unexpected-token");
    EXPECT_EQ(region("f(x,)"), "4:9 unexpected-token");
}

TEST(Parser, ReadsAssertions) {
    const Parsed parsed =
        parse_in("@assert", "n > 0;\na > 0: \"got {a}\" ' b', 'the size': s, n: n + 1, a;");
    ASSERT_EQ(parsed.findings(), "");
    const AssertStmt& stmt = parsed.def().asserts.at(1);
    EXPECT_TRUE(std::holds_alternative<StringLiteral>(parsed.module.exprs[stmt.message].node));
    ASSERT_EQ(stmt.printed.size(), 3u);
    EXPECT_EQ(stmt.printed[0].label, "the size");
    EXPECT_EQ(stmt.printed[1].label, "n");
    EXPECT_EQ(stmt.printed[2].label, std::nullopt);
}

TEST(Parser, ReadsImportsWithAndWithoutSemicolon) {
    const Parsed parsed = parse("import nn\nimport a, b.c;\nimport layout\noperator f {}\n");
    ASSERT_EQ(parsed.findings(), "");
    ASSERT_EQ(parsed.module.imports.size(), 3u);
    EXPECT_EQ(parsed.module.imports[1].modules.at(1).text(), "b.c");
    EXPECT_EQ(parse("import nn layout;\noperator f {}").findings(), "1:11 unexpected-token");
    EXPECT_EQ(parse("operator f {}\nimport nn;").findings(), "2:1 late-import");
}

TEST(Parser, ReadsDefinitions) {
    const Parsed parsed =
        parse("public operator f { @input { x: real[]; } }\ngraph G { @output {} @input {} }");
    ASSERT_EQ(parsed.findings(), "");
    ASSERT_EQ(parsed.module.definitions.size(), 2u);
    EXPECT_TRUE(parsed.def().is_public);
    EXPECT_FALSE(parsed.def().graph);
    const Definition& graph = parsed.module.definitions[1];
    EXPECT_TRUE(graph.graph);
    EXPECT_EQ(graph.blocks.at(0).kind, BlockKind::Output);
    EXPECT_EQ(graph.block(BlockKind::Lower), nullptr);
    EXPECT_EQ(parsed.sources.text(graph.block(BlockKind::Input)->span), "@input {}");
}

// ---- @lower -----------------------------------------------------------------------------------

TEST(Parser, ReadsFormulasWithLocalsInBothForms) {
    for (const char* text : {"z = x[i,], w = z * z, y[i,] += w, i < n | z > 0.0;",
                             "with z = x[i,], w = z * z: y[i,] += w, i < n | z > 0.0;"}) {
        const Parsed parsed = parse_in("@lower", text);
        ASSERT_EQ(parsed.findings(), "");
        const LowerStmt& stmt = parsed.def().lowers.at(0);
        EXPECT_EQ(stmt.locals.size(), 2u);
        EXPECT_EQ(parsed.show(stmt.target), "y[i]");
        EXPECT_EQ(stmt.op, LowerOp::Sum);
        EXPECT_EQ(stmt.bounds.size(), 1u);
        EXPECT_EQ(parsed.show(stmt.condition), "(z > 0.0)");
    }
}

TEST(Parser, ReadsEveryAssignmentOfFormulas) {
    const Parsed parsed = parse_in("@lower",
                                   "y[] = 1; y[] := 1; y[] += 1; y[] *= 1; y[] &= 1; y[] |= 1;\n"
                                   "y[] <= 1; y[] >= 1; y[] <?= 1; y[] >?= 1;");
    ASSERT_EQ(parsed.findings(), "");
    const std::vector expected = {LowerOp::Assign,
                                  LowerOp::Update,
                                  LowerOp::Sum,
                                  LowerOp::Product,
                                  LowerOp::All,
                                  LowerOp::Any,
                                  LowerOp::Min,
                                  LowerOp::Max,
                                  LowerOp::Min,
                                  LowerOp::Max};
    for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(parsed.def().lowers.at(i).op, expected[i]);
    }
}

TEST(Parser, ReadsUnrolledFormulas) {
    const Parsed parsed = parse_in("@lower", "unroll..(k -> n) y[k][i..] = x[k][i..], i < s;");
    ASSERT_EQ(parsed.findings(), "");
    const IterCount& unroll = parsed.def().lowers.at(0).unroll.value();
    EXPECT_EQ(unroll.index->text, "k");
    EXPECT_EQ(parsed.show(unroll.count), "n");
}

TEST(Parser, WantsAnElementOnTheLeftOfAFormula) {
    EXPECT_EQ(parse_in("@lower", "y = x[i,], i < n;").findings(), "4:1 bad-lowering-target");
    EXPECT_EQ(parse_in("@lower", "t = 1,\ny = t;").findings(), "5:1 bad-lowering-target");
    EXPECT_EQ(parse_in("@lower", "y += x[i,], i < n;").findings(), "4:1 bad-lowering-target");
    EXPECT_EQ(parse_in("@lower", "y[i] = x[i,], i < n;").findings(), "");
    EXPECT_EQ(parse_in("@lower", "y[i,] = 1, i <= n;").findings(), "4:14 unexpected-token");
    EXPECT_EQ(parse_in("@lower", "t = 1\ny[i,] = t, i < n;").findings(), "4:5 unexpected-token");
}

// ---- @compose ---------------------------------------------------------------------------------

TEST(Parser, TellsCallsFromValues) {
    EXPECT_EQ(region("relu(x)"), "relu<0>{0}(1)");
    EXPECT_EQ(region("abs(x)"), "abs<0>{0}(1)");
    EXPECT_EQ(region("abs(k) + 1"), "(call abs(k) + 1)");
    EXPECT_EQ(region("T(x)"), "cast T(x)");
    EXPECT_EQ(region("real(k)"), "cast real(k)");
    EXPECT_EQ(region("layout.cast<int, T>(x)"), "layout.cast<2>{0}(1)");
    EXPECT_EQ(region("a < b"), "(a < b)");
    EXPECT_EQ(region("m.n.op{a=1, b=[2],}(x, ~, y)"), "m.n.op<0>{2}(3)");
    EXPECT_EQ(region("?x ? x : y"), "((?x) ? x : y)");
    EXPECT_EQ(region("f(x) + 1"), "4:5 nested-call");
}

TEST(Parser, ReadsLabelsBeforeAnyRegion) {
    EXPECT_EQ(region("a: op(x)"), "a: op<0>{0}(1)");
    EXPECT_EQ(region("a: { yield x; }"), "a: block 0 yields 1");
    EXPECT_EQ(region("a: if c then b: f(x) else d: g(x)"),
              "a: if c then b: f<0>{0}(1) else d: g<0>{0}(1)");
    EXPECT_EQ(region("a: for x : xs do b: f(x)"), "a: do 0 1 body b: f<0>{0}(1)");
}

TEST(Parser, ReadsBranches) {
    EXPECT_EQ(region("if c then x elif f(x) then y else { z = g(x); yield z; }"),
              "if c then x if f<0>{0}(1) then y else block 1 yields 1");
    EXPECT_EQ(region("if c then x"), "4:16 unexpected-token");
}

TEST(Parser, ReadsLoops) {
    const Parsed parsed = parse_in("@compose",
                                   "z, ~ = with x: real[n] = 0.0, c = true for y : ys while c "
                                   "do..(i -> k) f(x, y) while g(x);\n"
                                   "w = for y : ys unroll..(i ->) f(y, i);\n"
                                   "v = with x = a do..(3) f(x);");
    ASSERT_EQ(parsed.findings(), "");
    const auto loop = [&](size_t i) {
        return std::get<Loop>(parsed.module.regions[parsed.def().composes.at(i).body].node);
    };
    EXPECT_EQ(loop(0).carried.size(), 2u);
    EXPECT_TRUE(loop(0).carried[0].type.has_value());
    EXPECT_TRUE(loop(0).pre_condition.valid());
    EXPECT_TRUE(loop(0).post_condition.valid());
    EXPECT_EQ(loop(0).count->index->text, "i");
    EXPECT_TRUE(loop(1).unroll);
    EXPECT_FALSE(loop(1).count->count.valid());
    EXPECT_FALSE(loop(2).count->index.has_value());
}

TEST(Parser, WantsOneYieldAtTheEndOfABlock) {
    EXPECT_EQ(region("{ a = f(x); }"), "4:17 misplaced-yield");
    EXPECT_EQ(region("{ yield x; a = f(x); yield a; }"), "4:7 misplaced-yield");
    EXPECT_EQ(parse_in("@compose", "yield x;").findings(), "4:1 misplaced-yield");
}

TEST(Parser, TellsComparisonsFromTypeArguments) {
    EXPECT_EQ(parse_in("@using", "u = [x < y, z > (w + 1)];").findings(), "");
    EXPECT_EQ(parse_in("@using", "u = x < y && z > (w);").findings(), "");
}

TEST(Parser, ReadsABuiltInBeforeIsAndIn) {
    EXPECT_EQ(region("abs(x) is k"), "(call abs(x) is k)");
    EXPECT_EQ(region("abs(x) in ks"), "(call abs(x) in ks)");
}

TEST(Parser, ReadsQuantizations) {
    const Parsed parsed = parse_in("@quantize", "a.b: quant.q<real>{bits=8};\nc: q;");
    ASSERT_EQ(parsed.findings(), "");
    EXPECT_EQ(parsed.def().quantizes.at(0).tensor.text(), "a.b");
    EXPECT_EQ(parsed.def().quantizes.at(0).attributes.size(), 1u);
}

}  // namespace
}  // namespace lemma::sknd::testing
