// SPDX-License-Identifier: Apache-2.0
// Hostile input gets a diagnostic, soon and within little memory; never a crash or a hang. The
// tests generate the texts, because they are large. They check the findings, not the time; a hang
// shows as a test that does not end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sknd/types/checking_test.h"

namespace lemma::sknd::testing {

namespace {

std::string repeat(std::string_view text, size_t count) {
    std::string result;
    result.reserve(text.size() * count);
    for (size_t i = 0; i < count; ++i) result += text;
    return result;
}

// A definition with the statements in its @using block.
std::string using_block(const std::string& statements) {
    return fmt::format("operator f {{ @attrib {{ n: int; p: int..; }} @using {{ {} }} }}",
                       statements);
}

std::string using_value(const std::string& value) { return using_block("a = " + value + ";"); }

std::string operator_text(const std::string& name, const std::string& compose) {
    return fmt::format(
        "operator {} {{ @input {{ x: real[s..]; }} @output {{ y: real[s..]; }} "
        "@compose {{ {} }} }}\n",
        name,
        compose);
}

Kinds kinds_of(const std::string& text) { return Checked(text).kinds(); }

// ---- Depth --------------------------------------------------------------------------------------

TEST(Hostile, NestedBrackets) {
    const size_t depth = 5'000;
    for (const auto& [open, close] : {std::pair{"(", ")"}, {"[", "]"}, {"real(", ")"}, {"p[", "]"}})
        EXPECT_EQ(kinds_of(using_value(repeat(open, depth) + "1" + repeat(close, depth))),
                  Kinds{"too-deep"})
            << open;
}

TEST(Hostile, OpenBracketsAlone) {
    for (const std::string_view open : {"(", "[", "{", "p[", "<", "|", "f("})
        EXPECT_FALSE(kinds_of(using_value(repeat(open, 50'000))).empty()) << open;
}

TEST(Hostile, UnaryOperators) {
    for (const std::string_view op : {"-", "+", "!", "?"})
        EXPECT_FALSE(kinds_of(using_value(repeat(op, 200'000) + "n")).empty()) << op;
}

TEST(Hostile, LongChains) {
    for (const std::string_view op : {"+", "*", "-", "<<", "&&", "<", "==", "**", "is", "??"}) {
        const std::string text = repeat(fmt::format("1 {} ", op), 200'000) + "1";
        EXPECT_FALSE(kinds_of(using_value(text)).empty()) << op;
    }
}

// The longest chain that the parser accepts must not be too long for the check and for evaluation.
TEST(Hostile, ChainsOfTheLongestLength) {
    const std::vector<std::string_view> items = {
        "1 + ", "n * ", "p - ", "true && ", "true => ", "n << ", "\"a\" + ", "1.0 ** ", "p + n + "};
    for (const std::string_view item : items) {
        for (const size_t count : {200, 250, 400, 500, 900, 990, 998}) {
            const std::string last(item.substr(0, item.find(' ')));
            const Kinds found = kinds_of(using_value(repeat(item, count) + last));
            EXPECT_FALSE(found.contains("type-mismatch")) << item << count;
        }
    }
}

TEST(Hostile, NestingOfTheDeepestLevel) {
    for (const size_t depth : {200, 250, 254, 255, 256}) {
        const Checked checked(
            using_block(fmt::format("a = {}n{}; b = {}n{}; c = {}1; d = {}n; e = p{}; g = {}1{};",
                                    repeat("(", depth),
                                    repeat(")", depth),
                                    repeat("[p.., ", depth),
                                    repeat("][0]", depth),
                                    repeat("n > 0 ? n : ", depth),
                                    repeat("-", depth),
                                    repeat("[0:2]", depth),
                                    repeat("int(", depth),
                                    repeat(")", depth))));
        EXPECT_FALSE(checked.kinds().contains("undeclared-name")) << depth;
    }
}

TEST(Hostile, NestedBlocksAndBranches) {
    for (const size_t depth : {100, 200, 5'000, 50'000}) {
        const auto nested = [&](std::string_view open, std::string_view close) {
            return operator_text(
                "f", fmt::format("y = {}x{};", repeat(open, depth), repeat(close, depth)));
        };
        for (const std::string& text : {
                 nested("{ t = ", "; yield t; }"),
                 nested("if true then x else ", ""),
                 nested("if true then { t = ", "; yield t; } else x"),
                 nested("with s = x do..(2) { t = ", "; yield t; }"),
                 nested("if { c = ", "; yield true; } then x else x"),
             }) {
            const Kinds found = kinds_of(text);
            if (depth != 200) {  // some forms add more levels than others
                EXPECT_EQ(found, depth < 200 ? Kinds{} : Kinds{"too-deep"}) << text.substr(0, 120);
            }
        }
    }
}

TEST(Hostile, DeepTypesAndShapes) {
    const std::string deep = repeat("(", 200) + "n" + repeat(")", 200);
    const std::string chain = repeat("n + ", 900) + "n";
    const Checked checked(
        fmt::format("operator f {{ @input {{ x: real[n, {0}, s..({0})]..({0}); }} "
                    "@output {{ y: real[{1}, ~|{1}]; }} @assert {{ {1} > 0: \"{{{0}}}\"; }} "
                    "@lower {{ y[i, j] = x[0][{0}, {1}, s..] + real({1}), i < {0}, j < {1}; }} }}",
                    deep,
                    chain));
    EXPECT_FALSE(checked.kinds().contains("undeclared-name")) << checked.brief();
}

// ---- Bytes --------------------------------------------------------------------------------------

TEST(Hostile, ALineOfAHundredMegabytes) {
    const size_t size = 100'000'000;
    EXPECT_EQ(kinds_of(std::string(size, ' ')), Kinds{});
    EXPECT_EQ(kinds_of(std::string(size, 'a')), Kinds{"unexpected-token"});
}

TEST(Hostile, LongLinesInsideADefinition) {
    const size_t size = 2'000'000;
    EXPECT_EQ(kinds_of(using_value(std::string(size, 'a'))), Kinds{"undeclared-name"});
    EXPECT_EQ(kinds_of(using_value('"' + std::string(size, 'a') + '"')), Kinds{});
    EXPECT_EQ(kinds_of(using_value(std::string(size, '1'))), Kinds{"int-range"});
    EXPECT_FALSE(kinds_of(using_value(repeat("@#$%&", size / 5))).empty());
    EXPECT_FALSE(kinds_of(using_value(repeat("a ", size / 2))).empty());
}

TEST(Hostile, NulAndBytesThatAreNoText) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    for (const std::string& text : {all,
                                    repeat(all, 1'000),
                                    std::string(100'000, '\0'),
                                    std::string(100'000, '\xff'),
                                    repeat("\xc3", 100'000),
                                    using_value("\"" + std::string("\0\x80\xfe", 3) + "\""),
                                    using_value(std::string("a\0b", 3)),
                                    using_block("\xf0\x9f\x98\x80 = 1;")}) {
        EXPECT_FALSE(kinds_of(text).empty());
    }
}

TEST(Hostile, UnterminatedEverything) {
    const std::string whole =
        "public operator f { @dtype { T: num = real; } @attrib { a: optional int..(k) "
        "= "
        "[0 ..(k)]; } @input { x: T^(r)[m, ..s|3]..(n); } @using { [b, c..] = \"{a} text\"; } "
        "@constant { d: real[n] = `sin`(real(i)), i < n; } @output { y: real[~|k]; } @assert { a > "
        "0: 'text', \"l\": a; } @lower { z = x[|i <> 0 : 1|, j..], y[i,] += z, i < n | z > 0; } "
        "@compose { y, ~ = l: if ?a then { t = f<real>{a=[1:2:3]}(x, ~); yield t; } elif c then x "
        "else with s: real[] = 0.0 for t : x while g(s) do..(i -> 3) h(s) while s; } @update { w = "
        "x; } @quantize { a.b: q{c=1}; } }\n";
    for (size_t size = 0; size < whole.size(); ++size) {
        const Checked checked(whole.substr(0, size));
        if (size > 40) {
            EXPECT_TRUE(checked.diag.has_errors()) << size;
        }
    }
}

TEST(Hostile, DamagedEverywhere) {
    const std::string whole =
        "operator f { @attrib { a: int = 1; } @input { x: real[n, s..]; } @using { b = [a, "
        "n][0:1]; } @output { y: real[n]; } @lower { y[i,] += x[i, j..] * 2.0, i < n, j < s; } }\n"
        "operator g { @input { x: real[n]; } @output { y: real[n]; } @compose { t = f{a=2}(x); y "
        "= if true then t else { yield x; }; } }\n";
    for (size_t at = 0; at < whole.size(); ++at) {
        for (const std::string_view damage : {"", ";", "}", "(", "\"", "..", "\xff", "~", "0"}) {
            std::string text = whole;
            text.replace(at, 1, damage);
            const Checked checked(text);
            EXPECT_LE(checked.diag.items().size(), 20u) << text;
        }
    }
}

// ---- Names and calls ----------------------------------------------------------------------------

TEST(Hostile, RecursiveOperators) {
    EXPECT_EQ(kinds_of(operator_text("f", "y = f(x);")), Kinds{"recursive-operator"});
    EXPECT_EQ(kinds_of(operator_text("f", "y = g(x);") + operator_text("g", "y = f(x);")),
              Kinds{"recursive-operator"});
}

TEST(Hostile, LongChainOfCalls) {
    const size_t count = 10'000;
    std::string text;
    for (size_t i = 0; i < count; ++i)
        text += operator_text(fmt::format("f{}", i), fmt::format("y = f{}(x);", i + 1));
    EXPECT_EQ(kinds_of(text + operator_text(fmt::format("f{}", count), "y = x;")), Kinds{});
    const Checked circle(text + operator_text(fmt::format("f{}", count), "y = f0(x);"));
    EXPECT_EQ(circle.kinds(), Kinds{"recursive-operator"});
    EXPECT_EQ(circle.diag.items().size(), 1u);
    EXPECT_LT(circle.diag.items()[0].notes.size(), 20u);
}

TEST(Hostile, EveryOperatorCallsEveryOther) {
    std::string text;
    const int count = 100;
    for (int i = 0; i < count; ++i) {
        std::string calls;
        for (int j = 0; j < count; ++j) calls += fmt::format("t{0} = f{0}(x); ", j);
        text += operator_text(fmt::format("f{}", i), calls + "y = x;");
    }
    EXPECT_EQ(kinds_of(text), Kinds{"recursive-operator"});
}

TEST(Hostile, CyclicImports) {
    EXPECT_EQ(
        Checked(Texts{.main = "import a;", .modules = {{"a", "import b;"}, {"b", "import a;"}}})
            .kinds(),
        Kinds{"import-cycle"});
    EXPECT_EQ(Checked(Texts{.main = "import main;", .modules = {}}).kinds(), Kinds{"import-cycle"});
    Texts ring{.main = "import m0;", .modules = {}};
    const int count = 1'000;
    for (int i = 0; i < count; ++i)
        ring.modules[fmt::format("m{}", i)] = fmt::format("import m{};", (i + 1) % count);
    EXPECT_EQ(Checked(ring).kinds(), Kinds{"import-cycle"});
}

TEST(Hostile, ManyGraphs) {
    std::string text;
    for (int i = 0; i < 5'000; ++i)
        text += fmt::format(
            "graph G{0} {{ @input {{ x: real[3]; }} @output {{ y: real; }} "
            "@compose {{ y = if true then G{1}(x) else x; }} }}\n",
            i,
            i + 1);
    EXPECT_EQ(kinds_of(text), Kinds{"no-operator"});
}

TEST(Hostile, ManyDefaultsInARow) {
    const int count = 20'000;
    std::string text = "operator f { @attrib {";
    for (int i = 0; i < count; ++i) text += fmt::format("a{}: int = a{};", i, i + 1);
    EXPECT_EQ(kinds_of(text + fmt::format("a{}: int = 1; }} }}", count)), Kinds{});
    EXPECT_EQ(kinds_of(text + fmt::format("a{}: int = a0; }} }}", count)), Kinds{"cyclic-default"});
}

TEST(Hostile, ManyInputsThatWaitForEachOther) {
    const int count = 1'000;
    std::string text = "operator f { @input {";
    for (int i = 0; i < count; ++i)
        text += fmt::format("x{0}: real[s{0}..(d{0}), t{0}..(d{1})];", i, i + 1);
    EXPECT_EQ(kinds_of(text + fmt::format("z: real[u..(d{})]; }} }}", count)), Kinds{});
    EXPECT_EQ(kinds_of(text + "} }"), Kinds{"ambiguous-binding"});
}

TEST(Hostile, ThousandsOfErrors) {
    std::string names, types, statements;
    for (int i = 0; i < 20'000; ++i) {
        names += fmt::format("a{0} = some_name_{0} + 1;", i);
        types += fmt::format("a{}: nothing;", i);
        statements += fmt::format("y{0}[i,] = q{0}[i,], i < n{0};", i);
    }
    for (const std::string& text : {using_block(names),
                                    "operator f { @attrib { " + types + "} }",
                                    "operator f { @lower { " + statements + "} }",
                                    using_block(names + " b = ;")}) {
        const Checked checked(text);
        EXPECT_GE(checked.diag.items().size(), 1u);
        EXPECT_LE(checked.diag.items().size(), Diagnostics::kDefaultMaxErrors);
    }
    EXPECT_GT(Checked(using_block(names)).diag.dropped_errors(), 19'000u);
}

TEST(Hostile, ThousandsOfUnknownOperators) {
    std::string text;
    for (int i = 0; i < 3'000; ++i)
        text += operator_text(fmt::format("operator_{}", i), fmt::format("y = operatr_{}(x);", i));
    const Checked checked(text);
    EXPECT_EQ(checked.kinds(), Kinds{"no-operator"});
    EXPECT_EQ(checked.diag.dropped_errors(), 2'900u);
}

TEST(Hostile, ACallWithThousandsOfAttributes) {
    std::string declared, given;
    for (int i = 0; i < 3'000; ++i) {
        declared += fmt::format("a{}: int;", i);
        given += fmt::format("{}a{} = {}", i == 0 ? "" : ", ", i, i);
    }
    EXPECT_EQ(kinds_of("operator g { @attrib { " + declared + "} @output { y: real[]; } }" +
                       operator_text("f", "t = g{" + given + "}(); y = x;")),
              Kinds{});
}

// ---- Values -------------------------------------------------------------------------------------

TEST(Hostile, HugeRangesAndRepetitions) {
    for (const std::string_view value : {"[0:2000000000]",
                                         "[1 ..(2000000000)]",
                                         "[0:9223372036854775807]",
                                         "[0:-9223372036854775807:-1]",
                                         "[0 ..(9223372036854775807)]",
                                         "[[0:1000000].., 0:1000000]",
                                         "[([0:1000000], [0:1000000])..]",
                                         "[0:1048577]"})
        EXPECT_EQ(kinds_of(using_value(std::string(value))), Kinds{"too-large"}) << value;
}

TEST(Hostile, RangesThatNeverAdvance) {
    for (const std::string_view value :
         {"[0:3:0]", "[1, 2, 3][0:3:0]", "\"text\"[::0]", "[0:3:1 - 1]"})
        EXPECT_EQ(kinds_of(using_value(std::string(value))), Kinds{"bad-argument"}) << value;
}

TEST(Hostile, DivisionByHiddenZero) {
    for (const std::string_view value : {"1 / (n - n)", "n % (n - n)", "n \\ (0 * n)", "1 / 0"})
        EXPECT_EQ(kinds_of(using_value(std::string(value))), Kinds{"division-by-zero"}) << value;
    EXPECT_EQ(
        kinds_of("operator f { @input { x: real[n, m]; } @output { y: real[m / (n - n)]; } }"),
        Kinds{"division-by-zero"});
}

TEST(Hostile, FormatsOfAnotherLanguage) {
    const Checked checked(
        "operator f { @attrib { n: int; } @assert { n > 0: \"%s%n%99999999d{n}%n\", \"%s%n\": n; "
        "n: \"%s%n{m}\"; } }");
    EXPECT_EQ(checked.kinds(), (Kinds{"type-mismatch", "undeclared-name"}));
}

TEST(Hostile, ALongList) {
    EXPECT_EQ(kinds_of(using_value("[" + repeat("1, ", 100'000) + "1]")), Kinds{});
    EXPECT_EQ(kinds_of(using_value("[" + repeat("n, ", 100'000) + "1.0]")), Kinds{"mixed-list"});
    EXPECT_EQ(kinds_of(using_value("[" + repeat("p, ", 100'000) + "1]")), Kinds{"nested-list"});
}

TEST(Hostile, ATensorOfRankTwoHundred) {
    std::string extents, indices, bounds;
    for (int i = 0; i < 200; ++i) {
        extents += fmt::format("{}e{}", i == 0 ? "" : ", ", i);
        indices += fmt::format("{}i{}", i == 0 ? "" : ", ", i);
        bounds += fmt::format(", i{0} < e{0}", i);
    }
    EXPECT_EQ(kinds_of(fmt::format("operator f {{ @input {{ x: real[{0}]; }} @output {{ y: "
                                   "real[{0}]; }} @lower {{ y[{1}] = x[{1}]{2}; }} }}",
                                   extents,
                                   indices,
                                   bounds)),
              Kinds{});
}

// Each helper has twice the degree of the previous one.
TEST(Hostile, PolynomialsThatGrow) {
    std::string squares = "a0 = n * n + 1;", mixed = "b0 = n; c0 = p + n;", quotients = "q0 = n;";
    for (int i = 1; i < 60; ++i) {
        squares += fmt::format("a{0} = a{1} * a{1} + n;", i, i - 1);
        mixed += fmt::format("b{0} = (b{1} + 1) * (b{1} - n) << b{1};", i, i - 1);
        quotients += fmt::format("q{0} = (q{1} + {0}) / (n + {0}) * q{1} % (q{1} + n);", i, i - 1);
    }
    for (const std::string& text : {squares, mixed, quotients}) {
        const Kinds found = kinds_of(using_block(text));
        EXPECT_FALSE(found.contains("type-mismatch"));
    }
}

TEST(Hostile, StringsThatGrow) {
    std::string doubled = "a0 = \"0123456789\";", nested = "b0 = \"{n}\";";
    for (int i = 1; i < 60; ++i) {
        doubled += fmt::format("a{0} = a{1} + a{1};", i, i - 1);
        nested += fmt::format("b{0} = \"{{b{1}}}{{b{1}}}\";", i, i - 1);
    }
    EXPECT_EQ(kinds_of(using_block(doubled)), Kinds{"too-large"});
    EXPECT_EQ(kinds_of(using_block(nested)), Kinds{"too-large"});
    EXPECT_EQ(kinds_of(using_value("[\"" + std::string(1'000, 'x') + "\" ..(1000000)]")),
              Kinds{"too-large"});
}

// The values of helpers are kept during the check of a definition; their total size is bounded.
TEST(Hostile, ManyLongPacks) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += fmt::format("a{} = [0:500000];", i);
    EXPECT_EQ(kinds_of(using_block(text + "b = a11[500000] + a11[n];")), Kinds{});
}

TEST(Hostile, ManyTestsForNull) {
    EXPECT_EQ(kinds_of("operator f { @attrib { o: optional int; } @using { p = ?o ? [0:100000]; a "
                       "= " +
                       repeat("?p && ", 900) + "?p ? p[0] : 0; } }"),
              Kinds{});
}

TEST(Hostile, UnrolledForever) {
    EXPECT_EQ(kinds_of(operator_text("f", "y = with s = x unroll..(2000000000) { yield s; };")),
              Kinds{});
}

}  // namespace

}  // namespace lemma::sknd::testing
