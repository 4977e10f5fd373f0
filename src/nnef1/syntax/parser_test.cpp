// SPDX-License-Identifier: Apache-2.0
#include "nnef1/syntax/parser.h"

#include <gtest/gtest.h>

#include "nnef1/syntax/parser_testing.h"

namespace lemma::nnef1 {
namespace {

using testing::parse;
using testing::parse_body;
using testing::Parsed;
using testing::repeated;
using testing::tree;

TEST(Nnef1Parser, ReadsAFlatDocument) {
    const Parsed parsed = parse(
        "version 1.0;\n"
        "graph barfoo( input, other ) -> ( output )\n"
        "{\n"
        "    input = external<integer>(shape = [1, 10]);\n"
        "    intermediate, [extra] = bar(input, alpha = -2);\n"
        "    output = foo(intermediate, padding = [(0,0), (-1,1)], border = 'constant');\n"
        "}\n");
    EXPECT_EQ(parsed.findings(), "");
    EXPECT_EQ(dump_tree(parsed.document),
              "version 1.0\n"
              "graph barfoo\n"
              "  param input\n"
              "  param other\n"
              "  result output\n"
              "  body\n"
              "    input = (call external<integer> shape:[1 10])\n"
              "    (tuple intermediate [extra]) = (call bar input alpha:-2)\n"
              "    output = (call foo intermediate padding:[(tuple 0 0) (tuple -1 1)] "
              "border:'constant')\n");
}

TEST(Nnef1Parser, ReadsFragments) {
    const Parsed parsed = parse(
        "fragment a<? = scalar>( x: tensor<?>, s: (integer, scalar[])[] = [(1, [2.0])] )"
        " -> ( y: tensor<>[] );"
        "fragment b( l: logical=true, t: string = \"a\\\\b\" ) -> ( y: tensor<scalar> )"
        "{ y = l; }",
        {.kind = DocumentKind::Library});
    EXPECT_EQ(parsed.findings(), "");
    EXPECT_EQ(dump_tree(parsed.document),
              "version 0.0\n"
              "fragment a<?scalar>\n"
              "  param x: tensor<?>\n"
              "  param s: (integer,scalar[])[] = [(tuple 1 [2.0])]\n"
              "  result y: tensor<>[]\n"
              "fragment b\n"
              "  param l: logical = true\n"
              "  param t: string = 'a\\b'\n"
              "  result y: tensor<scalar>\n"
              "  body\n"
              "    y = l\n");
}

// The parser reads a long text through a window.
TEST(Nnef1Parser, ReadsLongTextsInPieces) {
    constexpr int kCount = 3000;
    const Parsed parsed = parse_body(repeated("y = foo(x, [1, 2], 'a');\n", kCount) + "z = bar(y)");
    EXPECT_EQ(parsed.findings(), fmt::format("{}:10 missing-semicolon", 5 + kCount));
    ASSERT_EQ(parsed.document.graph->body.assignments.size(), size_t{kCount} + 1);
    EXPECT_EQ(parsed.text(parsed.document.graph->body.assignments[kCount - 1].span),
              "y = foo(x, [1, 2], 'a');");
}

TEST(Nnef1Parser, ReadsLongStatementsInPieces) {
    const std::string items = repeated("1, ", 20'000);
    const Parsed parsed = parse_body("y = [" + items + "2];\nz = [" + items + ";\nw = x");
    const size_t column = 6 + items.size();
    EXPECT_EQ(parsed.findings(),
              fmt::format("6:{} unexpected-token, 7:5 missing-semicolon", column));
    EXPECT_EQ(
        dump_tree(parsed.document, parsed.document.graph->body.assignments.at(0).value).size(),
        2u * 20'000 + 3);
}

TEST(Nnef1Parser, RecoversBehindThePieceAtHand) {
    const std::string junk = repeated("a b ( ", 5000);
    const Parsed parsed = parse_body("y = x { " + junk + ";\nz = = x;\nw = x;");
    EXPECT_EQ(parsed.findings(), "5:7 unexpected-token, 6:5 unexpected-token");
    ASSERT_TRUE(parsed.document.graph);
    EXPECT_EQ(parsed.text(parsed.document.graph->body.assignments.back().span), "w = x;");
}

TEST(Nnef1Parser, GivesEveryNodeItsPlace) {
    const Parsed parsed = parse_body("y = conv( a , stride = [ 1 ] ) + b [ 0 ];");
    const Document& document = parsed.document;
    const Assignment& assignment = document.graph->body.assignments.at(0);
    EXPECT_EQ(parsed.text(assignment.span), "y = conv( a , stride = [ 1 ] ) + b [ 0 ];");
    const Expr& sum = document.exprs[assignment.value];
    const Binary& binary = std::get<Binary>(sum.node);
    EXPECT_EQ(parsed.text(sum.span), "conv( a , stride = [ 1 ] ) + b [ 0 ]");
    EXPECT_EQ(parsed.text({document.file, binary.op_begin, binary.op_begin + 1}), "+");
    const Expr& call = document.exprs[binary.lhs];
    const Invocation& conv = *parsed.document.invocation(call);
    EXPECT_EQ(parsed.text(call.span), "conv( a , stride = [ 1 ] )");
    EXPECT_EQ(parsed.text(name_span(call, conv)), "conv");
    const Argument& stride = document.items(conv.args)[1];
    EXPECT_EQ(parsed.text(stride.name_span), "stride");
    EXPECT_EQ(parsed.text(document.exprs[stride.value].span), "[ 1 ]");
    EXPECT_EQ(parsed.text(document.exprs[binary.rhs].span), "b [ 0 ]");
    EXPECT_EQ(parsed.text(document.version.span), "version 1.0;");
    EXPECT_EQ(parsed.text(document.graph->params.at(0).span), "x");
}

TEST(Nnef1Parser, FollowsThePrecedenceOfTheSpecification) {
    EXPECT_EQ(tree("a in b && c < d + e * f ^ g"), "(in a (&& b (< c (+ d (* e (^ f g))))))");
    EXPECT_EQ(tree("a ^ b * c + d < e && f in g"), "(in (&& (< (+ (* (^ a b) c) d) e) f) g)");
    EXPECT_EQ(tree("a - b - c"), "(- (- a b) c)");
    EXPECT_EQ(tree("a ^ b ^ c"), "(^ (^ a b) c)");
    EXPECT_EQ(tree("a || b && c"), "(&& (|| a b) c)");
    EXPECT_EQ(tree("a == b != c"), "(!= (== a b) c)");
    EXPECT_EQ(tree("(a + b) * c"), "(* (paren (+ a b)) c)");
}

TEST(Nnef1Parser, BindsSignsTighterThanAllButPowers) {
    EXPECT_EQ(tree("-a + b"), "(+ (- a) b)");
    EXPECT_EQ(tree("-a * b"), "(* (- a) b)");
    EXPECT_EQ(tree("-a ^ b"), "(- (^ a b))");
    EXPECT_EQ(tree("a ^ -b"), "(^ a (- b))");
    EXPECT_EQ(tree("!a && b"), "(&& (! a) b)");
    EXPECT_EQ(tree("-a[0]"), "(- (at a 0))");
    EXPECT_EQ(tree("+a"), "(+ a)");
    EXPECT_EQ(tree("- - a"), "(- (- a))");
}

TEST(Nnef1Parser, TakesTheSignOfANumberIntoTheLiteral) {
    EXPECT_EQ(tree("-2"), "-2");
    EXPECT_EQ(tree("- 2.5"), "-2.5");
    EXPECT_EQ(tree("-2 + 3"), "(+ -2 3)");
    EXPECT_EQ(tree("5 - -2 + 3"), "(+ (- 5 -2) 3)");
    EXPECT_EQ(tree("-2 ^ 2"), "(- (^ 2 2))");
    EXPECT_EQ(tree("a-2"), "(- a 2)");
    EXPECT_EQ(tree("-9223372036854775808"), "-9223372036854775808");
}

TEST(Nnef1Parser, ReadsConditionsFromTheRight) {
    EXPECT_EQ(tree("a if p else b if q else c"), "(if p a (if q b c))");
    EXPECT_EQ(tree("a if p if q else r else b"), "(if (if q p r) a b)");
    EXPECT_EQ(tree("a + 1 if p && q else b + 1"), "(if (&& p q) (+ a 1) (+ b 1))");
}

TEST(Nnef1Parser, ReadsComprehensions) {
    EXPECT_EQ(tree("[for i in a yield i]"), "(for i:a (yield _ i))");
    EXPECT_EQ(tree("[for i in a, j in b + c if i < j yield i * j if p else q]"),
              "(for i:a j:(+ b c) (yield (< i j) (if p (* i j) q)))");
}

TEST(Nnef1Parser, ReadsSubscriptsOfAnything) {
    EXPECT_EQ(tree("a[0][1:][:2][:]"), "(range (range (range (at a 0) 1 _) _ 2) _ _)");
    EXPECT_EQ(tree("'abc'[1:2]"), "(range 'abc' 1 2)");
    EXPECT_EQ(tree("[1, 2][0]"), "(at [1 2] 0)");
    EXPECT_EQ(tree("f(x)[0]"), "(at (call f x) 0)");
}

TEST(Nnef1Parser, ReadsBuiltinsAndInvocations) {
    EXPECT_EQ(tree("shape_of(x) + length_of(x) + range_of(x)"),
              "(+ (+ (shape_of x) (length_of x)) (range_of x))");
    EXPECT_EQ(tree("string(integer(scalar(logical(x))))"),
              "(string (integer (scalar (logical x))))");
    EXPECT_EQ(tree("f<integer>(g(x), a = h<?>(1))"),
              "(call f<integer> (call g x) a:(call h<?> 1))");
    EXPECT_EQ(tree("a < b"), "(< a b)");
    EXPECT_EQ(tree("a < integer(b)"), "(< a (integer b))");
    EXPECT_EQ(tree("a<integer>(b)"), "(call a<integer> b)");
}

TEST(Nnef1Parser, ReportsEachErrorOfADocument) {
    const Parsed parsed = parse(
        "version 1.0;\n"
        "extension KHR_enable_fragment_definitions;\n"
        "fragment f( x: tensor, y: scalar = ) -> ( z: tensor<scalar> )\n"
        "{\n"
        "    a = relu(x;\n"
        "    b = relu(,);\n"
        "}\n"
        "graph g( x ) -> ( y )\n"
        "{\n"
        "    x = external(shape = [1, ]);\n"
        "    y = relu(x)\n"
        "}\n");
    EXPECT_EQ(parsed.findings(),
              "3:22 unexpected-token, 3:36 unexpected-token, 5:13 unclosed-bracket, "
              "6:14 unexpected-token, 10:30 unexpected-token, 11:15 missing-semicolon");
}

TEST(Nnef1Parser, ReportsMissingExtensionsOnceWithAFix) {
    const Parsed parsed =
        parse("version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = a + b;\n    y = -x;\n}\n");
    ASSERT_EQ(parsed.findings(), "4:11 missing-extension");
    const diag::FixIt& fix = parsed.diag.items()[0].fixes.at(0);
    EXPECT_EQ(fix.span.begin, 12u);
    EXPECT_EQ(fix.replacement, "\nextension KHR_enable_operator_expressions;");
}

TEST(Nnef1Parser, NeedsNoExtensionsInALibraryOrOfTract) {
    EXPECT_EQ(parse("fragment f( x: scalar ) -> ( y: scalar ) { y = x + 1.0; }",
                    {.kind = DocumentKind::Library})
                  .findings(),
              "");
    EXPECT_EQ(
        parse("version 1.0; graph g( x ) -> ( y ) { y = x + 1.0; }", {.dialect = Dialect::Tract})
            .findings(),
        "");
    const Parsed khronos =
        parse("version 1.0; graph g( x ) -> ( y ) { y = x + 1.0; }", {.dialect = Dialect::Khronos});
    EXPECT_EQ(khronos.findings(), "1:44 missing-extension");
    EXPECT_FALSE(khronos.diag.has_errors());
}

TEST(Nnef1Parser, ChecksTheVersion) {
    const auto findings = [](std::string_view version) {
        return parse(fmt::format("version {};graph g( x ) -> ( y ){{y = f(x);}}", version))
            .findings();
    };
    for (const char* good : {"1.0", "0.9", "1.00"}) EXPECT_EQ(findings(good), "") << good;
    for (const char* bad : {"1", "1.1", "2.0", "1.", "1.0e0", "1.0.4", "99999999999999999999.0"}) {
        EXPECT_EQ(findings(bad), "1:9 bad-version") << bad;
    }
    EXPECT_EQ(findings("'1.0'"), "1:9 unexpected-token");
}

TEST(Nnef1Parser, SurvivesTruncationAnywhere) {
    const std::string text = std::string(testing::kHead) +
                             "x = f<integer>([for i in [1, -2.0] if !a[0:1] yield (i, 'b')], "
                             "c = 1 if true else shape_of(x));\n}\n";
    for (size_t size = 0; size < text.size() - 2; ++size) {
        const Parsed parsed = parse(text.substr(0, size));
        EXPECT_TRUE(parsed.diag.has_errors()) << text.substr(0, size);
    }
    EXPECT_EQ(parse(text).findings(), "");
}

TEST(Nnef1Parser, LimitsNesting) {
    const auto first = [](const std::string& expr) { return tree(expr); };
    for (const char* open :
         {"(", "[", "-", "!", "f(", "a if b else ", "a if ", "[for i in ", "x["}) {
        EXPECT_NE(first(repeated(open, 100'000)).find("too-deep"), std::string::npos) << open;
    }
    EXPECT_EQ(first("x" + repeated(" + x", 50'000)), "5:5 too-deep");
    EXPECT_EQ(first("x" + repeated("[0]", 50'000)), "5:5 too-deep");
    const Parsed types = parse("fragment f( x: " + repeated("(", 10'000) +
                                   ") -> ( y: scalar );"
                                   "fragment g( x: integer" +
                                   repeated("[]", 10'000) + " ) -> ( y: scalar );",
                               {.kind = DocumentKind::Library});
    EXPECT_NE(types.findings().find("too-deep"), std::string::npos);
    EXPECT_EQ(parse_body(repeated("(", 10'000)).findings(), "5:257 too-deep");
}

TEST(Nnef1Parser, ReadsWhatTractAdds) {
    const Parsed parsed = parse(
        "version 1.0;\n"
        "extension tract_registry tract_core;\n"
        "extension tract_assert S >= 0;\n"
        "fragment p() -> ( q: (string, tensor<scalar>)[] ) { q = [('a', 'b')]; }\n"
        "graph g( i\"a b\" ) -> ( y ) { i\"a b\" = f(); y = max(x, -inf); i\"graph\" = f(inf); }\n",
        {.dialect = Dialect::Tract});
    EXPECT_EQ(parsed.findings(), "");
    EXPECT_EQ(dump_tree(parsed.document),
              "version 1.0\n"
              "extension tract_registry | tract_core\n"
              "extension tract_assert | S >= 0\n"
              "fragment p\n"
              "  result q: (string,tensor<scalar>)[]\n"
              "  body\n"
              "    q = [(tuple 'a' 'b')]\n"
              "graph g\n"
              "  param a b\n"
              "  result y\n"
              "  body\n"
              "    a b = (call f)\n"
              "    y = (call max x -inf)\n"
              "    graph = (call f inf)\n");
}

}  // namespace
}  // namespace lemma::nnef1
