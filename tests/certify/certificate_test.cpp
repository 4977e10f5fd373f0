// SPDX-License-Identifier: Apache-2.0
// Certificates of small models: their bounds hold on random inputs against 128-bit arithmetic, and
// their verdicts are those that one can derive by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "certify/soundness.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using certify::Certificate;
using certify::Hazard;
using certify::Verdict;
using testing_support::Soundness;

struct Certified {
    std::unique_ptr<interpret::State> state;
    certify::CertifyOptions options;
    certify::VariableReader variables;
    Result<Certificate> certificate;
};

Certified certified(const std::string& text,
                    std::map<std::string, certify::InputRange> ranges,
                    ir::Accumulate accumulate = ir::Accumulate::F32) {
    Certified made{.state = testing_support::load_text(text, testing_support::small_weight),
                   .options = {.accumulate = accumulate},
                   .variables = {},
                   .certificate = std::unexpected(Error{"no model"})};
    if (!made.state) return made;
    made.options.ranges = std::move(ranges);
    made.variables = [state = made.state.get()](const ir::Tensor& tensor) {
        return std::shared_ptr<const interpret::Array>(std::shared_ptr<void>(),
                                                       state->variable(tensor.name));
    };
    made.certificate = certify::certify(made.state->program(), made.variables, made.options);
    return made;
}

certify::InputRange between(double low, double high) { return {.ranges = {{low, high}}}; }

// The bounds hold, and are at most `loose` times the largest error seen.
void expect_sound(const std::string& text,
                  const std::map<std::string, certify::InputRange>& ranges,
                  double loose,
                  bool fast = false) {
    constexpr size_t kTried = 200;
    for (const ir::Accumulate accumulate : {ir::Accumulate::F32, ir::Accumulate::F64}) {
        SCOPED_TRACE(accumulate == ir::Accumulate::F32 ? "f32" : "f64");
        const Certified made = certified(text, ranges, accumulate);
        ASSERT_TRUE(made.certificate) << made.certificate.error().message;
        interpret::Interpreter interpreter(*made.state, {.accumulate = accumulate});
        const auto result = testing_support::check_soundness(
            made.state->program(),
            made.variables,
            [&](const interpret::NamedArrays& inputs) { return interpreter.run(inputs); },
            ranges,
            *made.certificate,
            {.samples = kTried, .fast = fast});
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(result->violations, 0u) << result->first;
        EXPECT_GE(result->samples, kTried);
        for (const Soundness::Output& output : result->outputs) {
            EXPECT_LE(output.bound, loose * output.observed + 1e-30) << output.name;
        }
    }
}

// `body` computes y from x: real[4].
std::string map_model(const std::string& body) {
    return "import nn; import math; graph main { @input { x: real[4]; } @output { y: real[4]; }\n"
           "@compose { y = " +
           body + "; } }";
}

TEST(Certificate, BoundsOfMapsHold) {
    expect_sound(map_model("nn.sigmoid(x)"), {{"x", between(-6, 6)}}, 20);
    expect_sound(map_model("math.tanh(x)"), {{"x", between(-3, 3)}}, 20);
    expect_sound(map_model("math.exp(x)"), {{"x", between(-4, 4)}}, 20);
    expect_sound(map_model("math.sqrt(x)"), {{"x", between(0.5, 9)}}, 20);
    expect_sound(map_model("math.log(x)"), {{"x", between(0.25, 8)}}, 20);
    expect_sound(map_model("math.mul(x, x)"), {{"x", between(-2, 2)}}, 20);
    expect_sound(map_model("math.div(1.0, x)"), {{"x", between(0.5, 2)}}, 20);
    expect_sound(map_model("nn.elu(x)"), {{"x", between(-3, 3)}}, 40);
    expect_sound(map_model("nn.gelu(x)"), {{"x", between(-3, 3)}}, 100);
    expect_sound(map_model("math.sin(x)"), {{"x", between(-7, 7)}}, 20);
}

TEST(Certificate, ExactOperationsHaveNoError) {
    for (const char* body : {"nn.relu(x)", "math.abs(x)", "math.neg(x)", "math.max(x, 0.5)"}) {
        const Certified made = certified(map_model(body), {{"x", between(-2, 3)}});
        ASSERT_TRUE(made.certificate) << made.certificate.error().message;
        EXPECT_EQ(made.certificate->outputs[0].error, 0) << body;
        EXPECT_TRUE(made.certificate->established());
    }
    expect_sound(map_model("nn.relu(x)"), {{"x", between(-2, 3)}}, 1);
}

constexpr const char* kNetwork = R"(
import nn; import layout;
graph main {
    @input { x: real[1, 2, 6, 6]; }
    @variable { w: real[3, 2, 3, 3]; b: real[3]; v: real[5, 12]; c: real[5]; }
    @output { y: real[1, 5]; }
    @compose {
        conv = nn.conv{padding=[1, 1, 1, 1]}(x, w, b);
        active = nn.relu(conv);
        pooled = nn.max_pool{axes=[2, 3], size=[2, 2], stride=[3, 3]}(active);
        flat = layout.flatten{axis=1, rank=3}(pooled);
        logits = nn.linear(flat, v, c);
        y = nn.softmax{axes=[1]}(logits);
    }
}
)";

TEST(Certificate, BoundsOfANetworkHold) {
    expect_sound(kNetwork, {{"x", between(-1, 1)}}, 1e3);
    expect_sound(kNetwork, {{"x", between(-1, 1)}}, 1e3, true);
}

// The tests above would not pass without the bounds.
TEST(Certificate, ViolationsAreNoticed) {
    Certified made = certified(kNetwork, {{"x", between(-1, 1)}});
    ASSERT_TRUE(made.certificate) << made.certificate.error().message;
    for (certify::ElementBound& element : made.certificate->outputs[0].elements)
        element.error /= 1e6;
    interpret::Interpreter interpreter(*made.state, {.accumulate = ir::Accumulate::F32});
    const auto result = testing_support::check_soundness(
        made.state->program(),
        made.variables,
        [&](const interpret::NamedArrays& inputs) { return interpreter.run(inputs); },
        made.options.ranges,
        *made.certificate,
        {.samples = 16});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_GT(result->violations, 0u);
    EXPECT_NE(result->first, "");
}

TEST(Certificate, BoundsOfALoopHold) {
    expect_sound(R"(
import nn; import math;
graph main {
    @input { h: real[1, 4]; }
    @variable { w: real[4, 4]; b: real[4]; }
    @output { y: real[1, 4]; }
    @compose {
        y = with s = h do..(3) {
            t = nn.linear(s, w, b);
            u = math.tanh(t);
            yield u;
        };
    }
}
)",
                 {{"h", between(-1, 1)}},
                 1e3);
}

// The maximum of a row is one of its elements: a softmax needs no bound on its inputs for this.
TEST(Certificate, SoftmaxStaysBetweenZeroAndOne) {
    const std::string text =
        "import nn; graph main { @input { x: real[2, 6]; } @output { y: real[2, 6]; }\n"
        "@compose { y = nn.softmax{axes=[1]}(x); } }";
    const Certified made = certified(text, {{"x", between(-500, 500)}});
    ASSERT_TRUE(made.certificate) << made.certificate.error().message;
    EXPECT_TRUE(made.certificate->established());
    EXPECT_GE(made.certificate->outputs[0].computed.low, 0);
    EXPECT_LE(made.certificate->outputs[0].computed.high, 1);
    EXPECT_LT(made.certificate->outputs[0].error, 1e-3);
    expect_sound(text, {{"x", between(-3, 3)}}, 50);
}

Verdict verdict(const Certified& made, Hazard hazard) {
    return made.certificate->nodes.back()[hazard].verdict;
}

TEST(Certificate, TellsOverflowFromNone) {
    const std::string text = map_model("math.exp(x)");
    EXPECT_EQ(verdict(certified(text, {{"x", between(-80, 80)}}), Hazard::Overflow),
              Verdict::Proved);
    const Certified large = certified(text, {{"x", between(-80, 90)}});
    EXPECT_EQ(verdict(large, Hazard::Overflow), Verdict::NotEstablished);
    EXPECT_FALSE(large.certificate->established());
    EXPECT_TRUE(std::isinf(large.certificate->outputs[0].error));
}

TEST(Certificate, TellsDivisionByZeroFromNone) {
    const std::string text = map_model("math.div(1.0, x)");
    EXPECT_EQ(verdict(certified(text, {{"x", between(0.5, 2)}}), Hazard::DivisionByZero),
              Verdict::Proved);
    const Certified zero = certified(text, {{"x", between(-1, 2)}});
    EXPECT_EQ(verdict(zero, Hazard::DivisionByZero), Verdict::NotEstablished);
    EXPECT_EQ((*zero.certificate).nodes.back()[Hazard::DivisionByZero].witness->low, -1);
}

TEST(Certificate, TellsDomainErrorsFromNone) {
    const std::string text = map_model("math.sqrt(x)");
    EXPECT_EQ(verdict(certified(text, {{"x", between(0, 2)}}), Hazard::Domain), Verdict::Proved);
    EXPECT_EQ(verdict(certified(text, {{"x", between(-0.1, 2)}}), Hazard::Domain),
              Verdict::NotEstablished);
}

// In a branch, the bounds are those that its condition implies.
TEST(Certificate, KnowsTheConditionOfABranch) {
    const std::string text = R"(
operator guarded {
    @input { x: real[4]; } @output { y: real[4]; }
    @lower { y[i,] = x[i,] > 0.5 ? 1.0 / x[i,] : x[i,], i < 4; }
}
graph main { @input { x: real[4]; } @output { y: real[4]; } @compose { y = guarded(x); } }
)";
    const Certified made = certified(text, {{"x", between(-1, 2)}});
    ASSERT_TRUE(made.certificate) << made.certificate.error().message;
    EXPECT_EQ(verdict(made, Hazard::DivisionByZero), Verdict::Proved);
    EXPECT_LE(made.certificate->outputs[0].computed.high, 2.001);
}

TEST(Certificate, AddsErrorsOfInputs) {
    certify::InputRange range = between(-1, 1);
    range.error = 0.25;
    const Certified made = certified(map_model("math.mul(x, 4.0)"), {{"x", range}});
    ASSERT_TRUE(made.certificate) << made.certificate.error().message;
    EXPECT_GE(made.certificate->outputs[0].error, 1.0);
    EXPECT_LE(made.certificate->outputs[0].error, 1.0001);
}

TEST(Certificate, WantsARangeForEveryInput) {
    const Certified made = certified(map_model("nn.relu(x)"), {});
    ASSERT_FALSE(made.certificate);
    EXPECT_NE(made.certificate.error().message.find("no range for the input `x`"),
              std::string::npos);
    const Certified other =
        certified(map_model("nn.relu(x)"), {{"x", between(0, 1)}, {"z", between(0, 1)}});
    EXPECT_FALSE(other.certificate);
}

TEST(Certificate, StopsAtItsLimit) {
    Certified made = certified(map_model("nn.relu(x)"), {{"x", between(0, 1)}});
    made.options.max_steps = 3;
    const auto limited = certify::certify(made.state->program(), made.variables, made.options);
    ASSERT_FALSE(limited);
    EXPECT_NE(limited.error().message.find("--max-steps"), std::string::npos);
}

}  // namespace
}  // namespace lemma
