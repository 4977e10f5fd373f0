// SPDX-License-Identifier: Apache-2.0
// A model that grows without limit gets a diagnostic that names the flag to raise the limit, soon
// and within bounded memory; never a crash or a hang. The tests generate the texts, because they
// are large. They check the findings; a hang shows as a test that does not end.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "diag/render.h"
#include "sknd/compose/compose.h"

namespace lemma::sknd {
namespace {

constexpr const char* kAdd = R"(
operator add {
    @input { x: real[s..]; y: real[s..]; }
    @output { z: real[s..]; }
    @lower { z[i..] = x[i..] + y[i..], i < s; }
}
)";

// Limits that are reached soon, even in slow builds.
ComposeOptions small() {
    ComposeOptions options;
    options.max_operations = 2'000;
    options.max_unroll = 1'000;
    options.limits.max_work = 4'000'000;
    return options;
}

// The diagnostics of the model, one per line; empty if it can be composed.
std::string outcome(const std::string& text, const ComposeOptions& options = small()) {
    diag::SourceMap sources;
    Diagnostics diag;
    const auto file = sources.add("main.sknd", text);
    const auto package = load_package(sources, file, "main", no_reader(), {}, diag);
    check_types(package, {.limits = options.limits}, diag);
    if (!diag.has_errors()) {
        const auto program = compose(package, options, diag);
        EXPECT_EQ(program.has_value(), !diag.has_errors());
    }
    diag.sort_by_place();
    return diag::render(sources, diag, {.brief = true});
}

::testing::AssertionResult has(const std::string& found, const std::string& text) {
    if (found.find(text) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "no `" << text << "` in\n" << found.substr(0, 1000);
}

// A graph with an input x: real[2] and an output y of the same kind.
std::string graph(const std::string& compose) {
    return fmt::format(
        "graph G {{ @input {{ x: real[2]; }} @output {{ y: real[2]; }} "
        "@compose {{ {} }} }}\n",
        compose);
}

std::string unary_operator(const std::string& name, const std::string& compose) {
    return fmt::format(
        "operator {} {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} "
        "@compose {{ {} }} }}\n",
        name,
        compose);
}

// ---- Calls --------------------------------------------------------------------------------------

TEST(Hostile, Recursion) {
    EXPECT_TRUE(has(outcome(unary_operator("a", "y = a(x);") + graph("y = a(x);")),
                    "[recursive-operator]"));
    EXPECT_TRUE(has(outcome(unary_operator("a", "y = b(x);") + unary_operator("b", "y = a(x);") +
                            graph("y = a(x);")),
                    "[recursive-operator]"));
}

std::string chain(int length, const std::string& compose) {
    std::string text = kAdd;
    for (int i = 0; i < length; ++i) {
        text += unary_operator(fmt::format("d{}", i), fmt::format(fmt::runtime(compose), i + 1));
    }
    return text + unary_operator(fmt::format("d{}", length), "y = add(x, x);") +
           graph("y = d0(x);");
}

TEST(Hostile, DeepCalls) {
    EXPECT_EQ(outcome(chain(150, "y = d{}(x);")), "");
    EXPECT_TRUE(has(outcome(chain(5'000, "y = d{}(x);")), "--max-call-depth"));
    ComposeOptions options = small();
    options.max_call_depth = 300;
    EXPECT_EQ(outcome(chain(280, "y = d{}(x);"), options), "");
}

// Twice as many calls on each level, even if they make nothing.
TEST(Hostile, CallsThatDouble) {
    EXPECT_TRUE(
        has(outcome(chain(40, "a = d{0}(x); b = d{0}(x); y = add(a, b);")), "--max-operations"));
    EXPECT_TRUE(has(outcome(chain(40, "a = d{0}(x); b = d{0}(x); y = x;")), "--max-operations"));
    EXPECT_TRUE(has(outcome(chain(1'000, "a = d{0}(x); b = d{0}(x); y = x;")), "--max-call-depth"));
    const std::string failing =
        "operator bad { @input { x: real[n]; } @output { y: real[n]; } @assert { n < 0; } }\n" +
        chain(40, "a = d{0}(x); b = bad(x); c = d{0}(x); y = x;");
    EXPECT_TRUE(has(outcome(failing), "[assert-failed]"));
}

TEST(Hostile, LongLabels) {
    const std::string name(20'000, 'a');
    EXPECT_TRUE(has(outcome(chain(100, name + " = d{0}(x); b = d{0}(x); y = b;")), "--max-work"));
}

// ---- Loops --------------------------------------------------------------------------------------

TEST(Hostile, LongLoops) {
    const std::string unroll = "y = with s = x unroll..(2000000000) add(s, x);";
    EXPECT_TRUE(has(outcome(kAdd + graph(unroll)), "2000000000 iterations (--max-unroll"));
    EXPECT_EQ(outcome(kAdd + graph("y = with s = x do..(2000000000) add(s, x);")), "");
    const std::string scan =
        "graph G { @attrib { n: int = 2000000000; } @input { x: real[2]; } @output { y: real[2]; "
        "ys: "
        "real[2]..(n); } @compose { y, ys = with s = x do..(n) { yield s, s; }; } }";
    EXPECT_TRUE(has(outcome(scan), "--max-pack-length"));
}

TEST(Hostile, NestedLoops) {
    const std::string empty =
        "y = with s = x unroll..(999) { t = with u = s unroll..(999) { v = with w = u "
        "unroll..(999) "
        "{ yield w; }; yield v; }; yield t; };";
    EXPECT_TRUE(has(outcome(graph(empty)), "--max-work"));
    const std::string full =
        "y = with s = x unroll..(999) { t = with u = s unroll..(999) add(u, x); yield t; };";
    EXPECT_TRUE(has(outcome(kAdd + graph(full)), "--max-operations"));
}

// ---- Packs --------------------------------------------------------------------------------------

constexpr const char* kPack = R"(
operator f {{
    @attrib {{ p: int..(k); }}
    @input {{ x: real[n]; }}
    @using {{ {} }}
    @output {{ y: real[n]; }}
    @assert {{ p > 0: "p is {{p}}"; }}
    @lower {{ y[i,] = x[i,], i < n; }}
}}
)";

TEST(Hostile, LongPacks) {
    const std::string call = graph("y = f{p=[1 ..(1000000)]}(x);");
    const ComposeOptions usual;
    EXPECT_EQ(outcome(fmt::format(kPack, "q = p * 2 + 1; s = q + ..;") + call, usual), "");
    std::string much = "q0 = p;";
    for (int i = 0; i < 300; ++i) much += fmt::format("q{} = q{} + p;", i + 1, i);
    EXPECT_TRUE(has(outcome(fmt::format(kPack, much) + call), "--max-work"));
    std::string longer = "s = (p + ..)";
    for (int i = 0; i < 300; ++i) longer += " + (p + ..)";
    EXPECT_TRUE(has(outcome(fmt::format(kPack, longer + ";") + call), "--max-work"));
    EXPECT_TRUE(has(outcome(fmt::format(kPack, "a = [1 ..(2000000)];") + call, usual),
                    "--max-pack-length"));
    // The message is cut.
    const std::string failed =
        outcome(fmt::format(kPack, "a = 1;") + graph("y = f{p=[0 ..(100000)]}(x);"), usual);
    EXPECT_TRUE(has(failed, "[assert-failed]"));
    EXPECT_LT(failed.size(), 10'000u);
}

TEST(Hostile, PacksOfTensors) {
    const std::string many =
        "operator f { @input { x: real[2]; } @output { ys: real[2]..(100000); } }";
    std::string calls;
    for (int i = 0; i < 1'000; ++i) calls += fmt::format("a{}..(100000) = f(x);", i);
    EXPECT_TRUE(has(outcome(many + graph(calls + "y = x;")), "--max-work"));
    const std::string pairs =
        "operator f { @input { xs: real[2]..(k); } @output { ys: real[2]..(k); } @lower { "
        "ys[i][l,] = xs[j][l,], i < k, j < k, l < 2; } }\n"
        "graph G { @input { xs: real[2]..(900); } @output { ys: real[2]..(900); } @compose { ys = "
        "f(xs); } }";
    EXPECT_TRUE(has(outcome(pairs), "--max-work"));
    const std::string concat =
        "import layout;\n" + graph("z = layout.concat{axis=0}([x ..(2000)]); y = x;");
    EXPECT_TRUE(has(outcome(concat), "--max-unroll"));
}

// ---- Shapes and formulas ------------------------------------------------------------------------

TEST(Hostile, LargeExtents) {
    const std::string power =
        "operator f { @input { x: real[n]; } @output { y: real[n * n * n * n]; } }\n"
        "graph G { @input { x: real[4000000000]; } @output { y: real[~|10]; } @compose { y = f(x); "
        "} "
        "}";
    EXPECT_TRUE(has(outcome(power), "[int-overflow]"));
    const std::string constant =
        "graph G { @output { y: real[1000000,1000000,1000000]; z: real[1000000,1000000,1000000]; } "
        "@constant { c: real[1000000,1000000,1000000] = 0.0; d: real[1000000,1000000,1000000] = "
        "real(i), i < 1000000, j < 1000000, k < 1000000; } @compose { y = c; z = d; } }";
    EXPECT_EQ(outcome(constant), "");
    const std::string rank =
        "operator f { @attrib { d: int; } @input { x: real[]; } @output { y: real[2 ..(d)]; } }\n"
        "graph G { @input { x: real[]; } @output { y: real[~|5]; } @compose { y = f{d=1000000}(x); "
        "} "
        "}";
    EXPECT_TRUE(has(outcome(rank), "--max-rank"));
    const std::string doubling =
        "operator f { @input { x: real[s..]; } @output { y: real[s.., s..]; } }\n";
    std::string calls = "a0 = f(x);";
    for (int i = 0; i < 40; ++i) calls += fmt::format("a{} = f(a{});", i + 1, i);
    EXPECT_TRUE(has(outcome(doubling + graph(calls + "y = x;")), "--max-rank"));
}

std::string formula(const std::string& value) {
    return "operator f { @attrib { d: int = 2000000000; } @input { x: real[n]; } @output { y: "
           "real[n]; } @lower { y[i,] = " +
           value + ", i < n; } }\n" + graph("y = f(x);");
}

TEST(Hostile, LongFormulas) {
    std::string sum = "0.0";
    for (int i = 0; i < 50; ++i) {
        sum += " + (0.0";
        for (int j = 0; j < 100; ++j) sum += fmt::format(" + x[|i + {}|,]", 100 * i + j);
        sum += ")";
    }
    EXPECT_EQ(outcome(formula(sum)), "");
    EXPECT_TRUE(has(outcome(formula("x[|i + [0:20000]|,] + ..")), "[too-deep]"));
    EXPECT_TRUE(has(outcome(formula("(x[|i + [0:200000]|,] >> ..) ?? 0.0")), "--max-work"));
    EXPECT_TRUE(has(outcome(formula("x[0 ..(d)]")), "--max-pack-length"));
    EXPECT_TRUE(has(outcome(formula("x[0:d:1,] + ..")), "--max-pack-length"));
    EXPECT_TRUE(has(outcome("operator f { @input { x: real[n]; } @output { y: real[n]; } @lower { "
                            "unroll..(2000000000) y[i,] = x[i,], i < n; } }\n" +
                            graph("y = f(x);")),
                    "--max-unroll"));
}

// ---- Definitions --------------------------------------------------------------------------------

// Many of everything, each depending on the others.
TEST(Hostile, LongDefinitions) {
    constexpr int kMany = 2'000;
    std::string attributes = "last: int = n;", usings = "u0 = a0;", asserts, given = "given0=1";
    for (int i = 0; i < kMany; ++i) {
        attributes += fmt::format("a{}: int = {} + 1; given{}: int;",
                                  i,
                                  i + 1 < kMany ? fmt::format("a{}", i + 1) : "last",
                                  i);
        usings += fmt::format("u{} = u{} + given{};", i + 1, i, i);
        asserts += fmt::format("u{} > {};", kMany, i);
        if (i > 0) given += fmt::format(", given{}={}", i, i);
    }
    const std::string definition = fmt::format(
        "operator f {{ @attrib {{ {} }} @input {{ x: real[n]; }} @using {{ {} }} @output {{ y: "
        "real[n]; }} @assert {{ {} }} @lower {{ y[i,] = x[i,], i < n; }} }}\n",
        attributes,
        usings,
        asserts);
    EXPECT_EQ(outcome(definition + graph(fmt::format("y = f{{{}}}(x);", given))), "");
}

// All of the above, in one process.
TEST(Hostile, MemoryIsBounded) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, 2'000'000);  // KiB
}

}  // namespace
}  // namespace lemma::sknd
