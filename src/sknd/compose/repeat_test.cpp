// SPDX-License-Identifier: Apache-2.0
// A call that equals an earlier one reuses its results; the difference must not be visible.
#include <gtest/gtest.h>

#include "diag/render.h"
#include "ir/text/print.h"
#include "sknd/compose/compose.h"

namespace lemma::sknd {
namespace {

std::optional<ir::Program> composed(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const auto file = sources.add("main.sknd", text);
    const auto package = load_package(sources, file, "main", no_reader(), {}, diag);
    check_types(package, {}, diag);
    auto program = diag.has_errors() ? std::nullopt : compose(package, {}, diag);
    EXPECT_TRUE(program.has_value()) << diag::render(sources, diag, {.brief = true});
    return program;
}

// The first extent of each operation's result.
std::vector<std::optional<int64_t>> extents(const ir::Program& program) {
    std::vector<std::optional<int64_t>> found;
    for (const ir::Operation& op : program.operations) {
        const ir::TensorId output = op.outputs[0].operand.items[0];
        found.push_back(program.symbols.as_int(program.tensors[output].shape[0]));
    }
    return found;
}

using Extents = std::vector<std::optional<int64_t>>;

constexpr const char* kRepeat = R"(
operator repeat {
    @attrib { k: int = 2; }
    @input { x: real[n]; y: optional real[m]; }
    @using { size = k * n + (m ?? 0); }
    @output { z: real[size]; }
    @lower { z[i,] = x[i % n,], i < size; }
}
)";

TEST(RepeatedCalls, DependOnAttributesAndShapes) {
    const auto program = composed(std::string(kRepeat) + R"(
graph G {
    @input { a: real[3]; b: real[3]; c: real[4]; }
    @output { y: real[6]; }
    @compose {
        y = repeat(a);
        z1 = repeat(b);
        z2 = repeat(c);
        z3 = repeat{k=3}(a);
        z4 = repeat(a, b);
        z5 = repeat(a, c);
        z6 = repeat(b, a);
        z7 = repeat(a);
    }
}
)");
    ASSERT_TRUE(program);
    EXPECT_EQ(extents(*program), (Extents{6, 6, 8, 9, 9, 10, 9, 6}));
}

TEST(RepeatedCalls, DependOnWhichTensorsAreTheSame) {
    const auto program = composed(R"(
operator pick {
    @input { x: real[n]; y: real[n]; }
    @using { size = x is y ? 1 : n; }
    @output { z: real[size]; }
    @lower { z[i,] = x[i,] + y[i,], i < size; }
}
graph G {
    @input { a: real[3]; b: real[3]; }
    @output { y: real[3]; }
    @compose { y = pick(a, b); z = pick(a, a); w = pick(b, a); v = pick(b, b); }
}
)");
    ASSERT_TRUE(program);
    EXPECT_EQ(extents(*program), (Extents{3, 1, 3, 1}));
}

TEST(RepeatedCalls, EachHaveTheirConditions) {
    const auto program = composed(R"(
operator add {
    @input { x: real[n]; y: real[n]; }
    @assert { n > 1: "n is {n}"; }
    @output { z: real[n]; }
    @lower { z[i,] = x[i,] + y[i,], i < n; }
}
graph G {
    @input { a: real[p|9]; b: real[q|9]; }
    @output { y: real[p]; }
    @compose { y = add(a, b); z = add(a, b); w = add(b, a); }
}
)");
    ASSERT_TRUE(program);
    std::vector<std::vector<std::string>> messages;
    for (const ir::Operation& op : program->operations) {
        messages.emplace_back();
        for (const ir::Assertion& assertion : op.assertions)
            messages.back().push_back(assertion.message);
    }
    ASSERT_EQ(messages.size(), 3u);
    EXPECT_EQ(messages[0].size(), 2u);
    EXPECT_EQ(messages[1], messages[0]);
    EXPECT_NE(messages[2], messages[0]);
}

// The text of an operation, with the names of another one's tensors.
TEST(RepeatedCalls, HaveTheSameFormulas) {
    const auto text_of = [](const std::string& body) {
        const auto program = composed("import nn;\ngraph G { @input { x: real[1,4,9,9]; } " + body);
        return program ? ir::print(*program) : std::string();
    };
    const std::string call = "nn.conv{padding=1}(x, w);";
    const std::string rest =
        "@variable { w: real[4,4,3,3]; v: real[4,4,3,3]; } @output { z: real[1,4,9,9]; } @compose ";
    const std::string other = "nn.conv{padding=[1,1,1,1]}(x, v);";
    // After an equal call, and after a different one.
    const std::string repeated = text_of(rest + "{ a = " + call + " z = " + call + " } }");
    const std::string alone = text_of(rest + "{ a = " + other + " z = " + call + " } }");
    const auto last = [](const std::string& text) { return text.substr(text.rfind("nn.conv")); };
    EXPECT_FALSE(repeated.empty());
    EXPECT_EQ(last(repeated), last(alone));
}

// Elements of the same tensor are read once; those of different tensors are not the same.
TEST(RepeatedCalls, HaveFormulasOverTheirOwnTensors) {
    const auto program = composed(R"(
operator add {
    @input { x: real[n]; y: real[n]; }
    @output { z: real[n]; }
    @lower { z[i,] = x[i,] + y[i,], i < n; }
}
graph G {
    @input { a: real[3]; b: real[3]; }
    @output { y: real[3]; }
    @compose { y = add(a, b); z = add(a, a); w = add(b, a); v = add(b, b); u = add(w, v); }
}
)");
    ASSERT_TRUE(program);
    std::vector<std::vector<std::string>> read;
    for (const ir::Operation& op : program->operations) {
        ASSERT_EQ(op.formulas.size(), 1u);
        EXPECT_EQ(op.formulas[0].writes[0].tensor, op.outputs[0].operand.items[0]);
        read.emplace_back();
        for (const ir::Access& access : op.formulas[0].accesses)
            read.back().push_back(program->tensors[access.tensor].name);
    }
    const std::vector<std::vector<std::string>> want = {
        {"a", "b"}, {"a"}, {"b", "a"}, {"b"}, {"w", "v"}};
    EXPECT_EQ(read, want);
}

TEST(RepeatedCalls, HaveTheirOwnVariablesAndConstants) {
    const auto program = composed(R"(
operator scale {
    @input { x: real[n]; }
    @variable { w: real[n]; }
    @constant { c: real[] = 2.0; }
    @output { z: real[n]; }
    @lower { z[i,] = x[i,] * w[i,] + c[], i < n; }
}
graph G {
    @input { a: real[3]; }
    @output { y: real[3]; }
    @compose { z = scale(a); y = scale(z); }
}
)");
    ASSERT_TRUE(program);
    std::vector<std::string> read;
    for (const ir::Operation& op : program->operations) {
        for (const ir::Access& access : op.formulas[0].accesses)
            read.push_back(program->tensors[access.tensor].name);
    }
    EXPECT_EQ(read, (std::vector<std::string>{"a", "z.w", "z.c", "z", "y.w", "y.c"}));
}

// Each call of this operator has a new extent.
TEST(RepeatedCalls, HaveTheirOwnUnknownExtents) {
    const auto program = composed(R"(
operator positive {
    @input { x: real[n]; }
    @output { z: real[m|n]; }
    @lower { z[m,] = x[i,], i < n | x[i,] > 0.0; }
}
graph G {
    @input { a: real[3]; b: real[3]; }
    @output { y: real[~|3]; }
    @compose { y = positive(a); w = positive(b); }
}
)");
    ASSERT_TRUE(program);
    std::vector<ir::SymId> counters;
    for (const ir::Operation& op : program->operations) {
        counters.push_back(op.formulas[0].counter);
        const ir::Tensor& output = program->tensors[op.outputs[0].operand.items[0]];
        EXPECT_EQ(op.formulas[0].counter, output.shape[0]);
    }
    ASSERT_EQ(counters.size(), 2u);
    EXPECT_NE(counters[0], counters[1]);
}

}  // namespace
}  // namespace lemma::sknd
