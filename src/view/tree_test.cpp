// SPDX-License-Identifier: Apache-2.0
#include "view/tree.h"

#include <gtest/gtest.h>

namespace lemma::view {
namespace {

// A tree as text with parentheses, which is easier to compare.
std::string text_of(const Json& tree) {
    if (tree.is_null()) return "-";
    const std::string kind = tree["k"];
    const auto list = [](const Json& items, const std::string& between) {
        std::string text;
        for (const Json& item : items) text += (text.empty() ? "" : between) + text_of(item);
        return text;
    };
    if (kind == "num" || kind == "name") return tree["v"];
    if (kind == "index") return text_of(tree["of"]) + "[" + list(tree["at"], ",") + "]";
    if (kind == "op")
        return "(" + list(tree["args"], " " + tree["v"].get<std::string>() + " ") + ")";
    if (kind == "call") return tree["v"].get<std::string>() + "(" + list(tree["args"], ",") + ")";
    if (kind == "neg") return "-" + text_of(tree["of"]);
    if (kind == "cases") {
        std::string text = "{";
        for (const Json& arm : tree["arms"])
            text += text_of(arm[0]) + ": " + text_of(arm[1]) + "; ";
        return text + "}";
    }
    return kind + "_" + tree["over"].dump() + " " + text_of(tree["of"]);
}

std::string expression(const std::string& text) {
    const auto tree = expression_tree(text);
    return tree ? text_of(*tree) : "nothing";
}

std::string statement(const std::vector<std::string>& lines, bool initialised = false) {
    const ExtentOf extent = [](std::string_view, size_t axis) { return axis == 0 ? "8" : "n"; };
    const auto tree = formula_tree(lines, initialised, extent);
    if (!tree) return "nothing";
    std::string text = text_of(tree->statement);
    for (const Json& condition : tree->conditions) text += " if " + text_of(condition);
    for (const Json& let : tree->lets) text += " let " + let[0].get<std::string>();
    return text;
}

TEST(Tree, KeepsThePrecedenceOfOperators) {
    EXPECT_EQ(expression("a + b * c - d"), "((a + (b * c)) - d)");
    EXPECT_EQ(expression("(a + b) * c"), "((a + b) * c)");
    EXPECT_EQ(expression("-a ** 2"), "-(a ^ 2)");
    EXPECT_EQ(expression("a <= b && !c"), "((a <= b) and not(c))");
    EXPECT_EQ(expression("a + b + c + 1.5"), "(a + b + c + 1.5)");
    EXPECT_EQ(expression("a - b + c"), "((a - b) + c)");
}

TEST(Tree, TellsIntegerDivisionFromReal) {
    EXPECT_EQ(expression("n/2"), "floor((n / 2))");
    EXPECT_EQ(expression("x / y"), "(x / y)");
    EXPECT_EQ(expression("n \\ 2"), "ceil((n / 2))");
    EXPECT_EQ(expression("n % 2"), "(n mod 2)");
}

TEST(Tree, HasCallsAndConversions) {
    EXPECT_EQ(expression("max(exp(x), 0.0)"), "max(exp(x),0.0)");
    EXPECT_EQ(expression("real(n) / 2.0"), "(n / 2.0)");
    EXPECT_EQ(expression("int(x)"), "int(x)");
}

TEST(Tree, JoinsCasesOfNestedSelections) {
    EXPECT_EQ(expression("a < 0 ? x : b ? y : z"), "{(a < 0): x; b: y; -: z; }");
}

TEST(Tree, ReadsElementsOfTensors) {
    EXPECT_EQ(expression("%x[i, 2*j + 1]"), "x[i,((2 * j) + 1)]");
    EXPECT_EQ(expression("%\"</script>\"[i]"), "</script>[i]");
    EXPECT_EQ(expression("%s[]"), "s");
}

TEST(Tree, SumsOverIndicesThatTheTargetDoesNotHave) {
    EXPECT_EQ(statement({"%y[i] += %x[i, k] * %w[k]  for i < 4, k < n"}),
              "(y[i] = sum_[\"k\"] (x[i,k] * w[k]))");
    EXPECT_EQ(statement({"%y[i] += %x[i, k]  for i < 4, k < n"}, true),
              "(y[i] += sum_[\"k\"] x[i,k])");
    EXPECT_EQ(statement({"%y[i] max= %x[i, k]  for i < 4, k < 3 in [0, 2]"}),
              "(y[i] = max_[\"k\"] x[i,k])");
    EXPECT_EQ(statement({"%y[%t[i]] += %x[i]  for i < 4"}, true), "(y[t[i]] += x[i])");
}

TEST(Tree, TurnsGuardsIntoConditions) {
    EXPECT_EQ(
        statement({"%y[i] += %x[|i + k - 1|]  for i < 4, k < 3  if k > 0"}),
        "(y[i] = sum_[\"k\"] x[((i + k) - 1)]) if (0 <= ((i + k) - 1)) if (((i + k) - 1) < 8) "
        "if (k > 0)");
    EXPECT_EQ(statement({"%y[i] = %x[|i - 1 <> 0 : 7|]  for i < 4"}),
              "(y[i] = x[{((i - 1) < 0): 0; ((i - 1) >= 8): 7; -: (i - 1); }])");
}

TEST(Tree, ReplacesLetsByTheirValues) {
    EXPECT_EQ(statement({"let t0 = %x[i] + 1.0", "%y[i] = t0 * t0  for i < 4"}),
              "(y[i] = ((x[i] + 1.0) * (x[i] + 1.0)))");
}

TEST(Tree, KeepsLetsThatWouldMakeItTooLong) {
    std::vector<std::string> lines = {"let t0 = %x[i]"};
    for (int i = 1; i < 40; ++i) {
        const std::string last = "t" + std::to_string(i - 1);
        lines.push_back("let t" + std::to_string(i) + " = " + last + " * exp(" + last + ")");
    }
    lines.emplace_back("%y[i] = t39  for i < 4");
    EXPECT_NE(statement(lines).find(" let "), std::string::npos);
}

TEST(Tree, HasSeveralTargets) {
    EXPECT_EQ(statement({"%y[i], %z[i] = %x[i], %i[i]  for i < 4"}),
              "((y[i] = x[i]) , (z[i] = i[i]))");
}

TEST(Tree, RefusesWhatIsNoExpression) {
    for (const char* const text : {"", "a +", "(a", "%x[", "a b", "\"open", "1x", "f(", "|a|"})
        EXPECT_FALSE(expression_tree(text)) << text;
    EXPECT_FALSE(expression_tree(std::string(100'000, '(')));
    EXPECT_FALSE(expression_tree(std::string(100'000, '-') + "a"));
    std::string sum = "a";
    for (int i = 0; i < 10'000; ++i) sum += " - a";
    EXPECT_FALSE(expression_tree(sum));
}

}  // namespace
}  // namespace lemma::view
