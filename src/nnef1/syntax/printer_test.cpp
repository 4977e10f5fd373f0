// SPDX-License-Identifier: Apache-2.0
#include "nnef1/syntax/printer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nnef1/syntax/parser_testing.h"

namespace lemma::nnef1 {
namespace {

using testing::parse;
using testing::parse_body;
using testing::Parsed;

// The formatted text. It must read back as the same document and print unchanged.
std::string formatted(const std::string& text, const ParseOptions& options = {}) {
    const Parsed parsed = parse(text, options);
    EXPECT_FALSE(parsed.diag.has_errors()) << parsed.findings();
    std::string printed = parsed.printed(options.dialect);
    const Parsed again = parse(printed, options);
    EXPECT_FALSE(again.diag.has_errors()) << again.findings() << "\n" << printed;
    EXPECT_EQ(dump_tree(again.document), dump_tree(parsed.document));
    EXPECT_EQ(again.printed(options.dialect), printed);
    return printed;
}

TEST(Nnef1Printer, LaysOutADocument) {
    EXPECT_EQ(formatted("version 1.0;extension KHR_enable_fragment_definitions "
                        "KHR_enable_operator_expressions;fragment f<?=scalar>(x:tensor<?>,"
                        "s:(integer,integer)[]=[(1,2)])->(y:tensor<?>){y=x*2.0;}"
                        "graph g(x)->(y){x=external(shape=[1,2]);y=f(x,s=[(- 1,2)]);}"),
              "version 1.0;\n"
              "\n"
              "extension KHR_enable_fragment_definitions;\n"
              "extension KHR_enable_operator_expressions;\n"
              "\n"
              "fragment f<? = scalar>( x: tensor<?>, s: (integer,integer)[] = [(1, 2)] ) -> ( y: "
              "tensor<?> )\n"
              "{\n"
              "    y = x * 2.0;\n"
              "}\n"
              "\n"
              "graph g( x ) -> ( y )\n"
              "{\n"
              "    x = external(shape = [1, 2]);\n"
              "    y = f(x, s = [(-1, 2)]);\n"
              "}\n");
}

TEST(Nnef1Printer, KeepsCommentsAndBlankLines) {
    EXPECT_EQ(
        formatted("# a\n\n\n# b\nversion 1.0; # c\ngraph g( # d\nx ) -> ( y ) # e\n{ # f\n\n"
                  "  # g\n  x = h(# i\n 1.0 );  # j\n\n\n  y=x(1.0) # k\n;#l\n#m\n\n}# n\n#o"),
        "# a\n"
        "\n"
        "# b\n"
        "version 1.0;  # c\n"
        "\n"
        "graph g(\n"
        "    # d\n"
        "    x\n"
        ") -> (\n"
        "    y  # e\n"
        ")\n"
        "{  # f\n"
        "    # g\n"
        "    # i\n"
        "    x = h(1.0);  # j\n"
        "\n"
        "    # k\n"
        "    y = x(1.0);  #l\n"
        "    #m\n"
        "}  # n\n"
        "#o\n");
}

TEST(Nnef1Printer, KeepsCommentsOnTheirSideOfTheArrow) {
    const std::string text =
        "version 1.0;\n\ngraph g(\n    x\n    # a\n) -> (\n    # b\n    y\n)\n{\n    y = "
        "f(x);\n}\n";
    EXPECT_EQ(formatted(text), text);
    formatted(
        "version 1.0; graph g( x # a\n ) # b\n -> # c\n ( # d\n y # e\n ) # f\n { y = f(x); }");
}

TEST(Nnef1Printer, KeepsNumbersAndStringsAsWritten) {
    const std::string text = formatted(std::string(testing::kHead) +
                                       "y = f(1.50, 5., 1E5, - # 7\n2.0e-3, 'it\\'s', \"a\");}");
    EXPECT_NE(text.find("y = f(1.50, 5., 1E5, -2.0e-3, 'it\\'s', \"a\");"), std::string::npos)
        << text;
}

TEST(Nnef1Printer, BreaksLongLines) {
    std::string items = "1";
    for (int i = 2; i < 60; ++i) items += fmt::format(",{}", i);
    std::string sum = "first_operand";
    for (int i = 0; i < 12; ++i) sum += fmt::format("+operand_{}*2", i);
    const std::string text = formatted(
        fmt::format("{}a=f([{}],long_name_of_an_attribute='value');b={};c={} if p else {};"
                    "d=[for i in [{}] if i>1 yield {}];e=(({}))[f({})];}}",
                    testing::kHead,
                    items,
                    sum,
                    sum,
                    sum,
                    items,
                    sum,
                    sum,
                    sum));
    size_t begin = 0;
    while (begin < text.size()) {
        const size_t end = text.find('\n', begin);
        EXPECT_LE(end - begin, 103u) << text.substr(begin, end - begin);
        begin = end + 1;
    }
}

TEST(Nnef1Printer, PrintsTractsNames) {
    const std::string text =
        "version 1.0;\n\ngraph g( i\"a b\" ) -> ( y )\n{\n    i\"\\\"\\\\\" = f();\n"
        "    i\"inf\" = f(-inf);\n    i\"for\" = f(i\"inf\");\n}\n";
    EXPECT_EQ(formatted(text, {.dialect = Dialect::Tract}), text);
}

// A tree that a program made, without places.
class MadeTree {
public:
    ExprId add(decltype(Expr::node) node) { return nodes_.exprs.add({.span = {}, .node = node}); }
    ExprId name(std::string_view text) { return add(Identifier{text}); }
    ExprId binary(BinaryOp op, ExprId lhs, ExprId rhs) {
        return add(Binary{.op = op, .lhs = lhs, .rhs = rhs});
    }
    std::string text(ExprId id) const { return print(nodes_, id, {}); }

private:
    Nodes nodes_;
};

TEST(Nnef1Printer, WritesTheParenthesesThatAMadeTreeNeeds) {
    MadeTree tree;
    const ExprId a = tree.name("a"), b = tree.name("b");
    const ExprId sum = tree.binary(BinaryOp::Add, a, b);
    const ExprId two = tree.add(IntegerLiteral{2}), minus = tree.add(IntegerLiteral{-2});
    const ExprId neg = tree.add(Unary{UnaryOp::Minus, a});
    EXPECT_EQ(tree.text(tree.binary(BinaryOp::Mul, sum, sum)), "(a + b) * (a + b)");
    EXPECT_EQ(tree.text(tree.binary(BinaryOp::Sub, sum, sum)), "a + b - (a + b)");
    EXPECT_EQ(tree.text(tree.binary(BinaryOp::Pow, minus, two)), "(-2) ^ 2");
    EXPECT_EQ(tree.text(tree.binary(BinaryOp::Pow, two, minus)), "2 ^ -2");
    const ExprId power = tree.binary(BinaryOp::Pow, a, neg);
    EXPECT_EQ(tree.text(power), "a ^ -a");
    EXPECT_EQ(tree.text(tree.binary(BinaryOp::Pow, power, b)), "(a ^ -a) ^ b");
    EXPECT_EQ(tree.text(tree.binary(BinaryOp::Pow, neg, b)), "(-a) ^ b");
    EXPECT_EQ(tree.text(tree.add(Unary{UnaryOp::Minus, sum})), "-(a + b)");
    EXPECT_EQ(tree.text(tree.add(Unary{UnaryOp::Minus, two})), "-(2)");
    EXPECT_EQ(tree.text(tree.add(Unary{UnaryOp::Minus, minus})), "--2");
    EXPECT_EQ(tree.text(tree.add(Subscript{sum, two})), "(a + b)[2]");
    EXPECT_EQ(tree.text(tree.add(Subscript{minus, two})), "(-2)[2]");
    const ExprId choice = tree.add(IfElse{a, b, a});
    EXPECT_EQ(tree.text(choice), "a if b else a");
    EXPECT_EQ(tree.text(tree.add(IfElse{choice, choice, choice})),
              "(a if b else a) if a if b else a else a if b else a");
    EXPECT_EQ(tree.text(tree.binary(BinaryOp::Add, choice, b)), "(a if b else a) + b");
}

TEST(Nnef1Printer, WritesLiteralsOfAMadeTree) {
    MadeTree tree;
    EXPECT_EQ(tree.text(tree.add(ScalarLiteral{1})), "1.0");
    EXPECT_EQ(tree.text(tree.add(ScalarLiteral{-0.1})), "-0.1");
    EXPECT_EQ(tree.text(tree.add(ScalarLiteral{1e30})), "1e+30");
    EXPECT_EQ(tree.text(tree.add(LogicalLiteral{true})), "true");
    EXPECT_EQ(tree.text(tree.add(StringLiteral{"it's \\"})), "'it\\'s \\\\'");
}

}  // namespace
}  // namespace lemma::nnef1
