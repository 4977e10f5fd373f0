// SPDX-License-Identifier: Apache-2.0
#include "session/quantize.h"

#include <gtest/gtest.h>

#include "ir/text/print.h"
#include "ir/text/read.h"
#include "ir/verify/verify.h"

namespace lemma::session {
namespace {

ir::Program program_of(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    auto program = ir::read_program(sources, sources.add("p.ir", text), diag);
    EXPECT_TRUE(program.has_value());
    return program ? std::move(*program) : ir::Program();
}

// Rounds to whole numbers, in two operations.
model::Quantizers rounding(const std::vector<std::string>& tensors) {
    model::Quantizers result;
    for (const std::string& name : tensors) {
        result.emplace(name, program_of(R"(program q
symbol n: int in [0, 8]
input %x: f32[n]
graph q (x = %x) {
    y %y: f32[n] = outer (x = %x) {
        h %h: f32[n] = half (x = %x) {
            %h[i] = %x[i] + 0.5  for i < n
        }
        y %y = floor (h = %h) {
            %y[i] = floor(%h[i])  for i < n
        }
    }
    yield y = %y
}
)"));
    }
    return result;
}

constexpr const char* kModel = R"(program p
symbol m: int in [0, 8]
input %x: f32[m]
variable %w: f32[m]
graph g (x = %x) {
    y %y: f32[m] = outer (x = %x, w = %w) {
        a %a: f32[m] = add (x = %x, w = %w) {
            %a[i] = %x[i]  for i < m
            %a[i] += %w[i]  for i < m
        }
        y %y = twice (a = %a) {
            %y[i] = %a[i] + %a[i]  for i < m
        }
    }
    yield y = %y
}
update %w = %y
)";

TEST(InsertQuantizers, StandBehindWhatMakesATensor) {
    ir::Program program = program_of(kModel);
    ASSERT_TRUE(insert_quantizers(program, rounding({"x", "w", "a", "y"})).has_value());
    EXPECT_EQ(ir::verify(program), std::vector<std::string>());
    const std::string text = ir::print(program);
    // The sum reads itself and the rounded operands; the next operation reads the rounded sum.
    EXPECT_NE(text.find("[i] += %\"quantize(w).y\"[i]"), std::string::npos) << text;
    EXPECT_NE(text.find("%\"quantize(y)\"[i] = %a[i] + %a[i]"), std::string::npos) << text;
    EXPECT_NE(text.find("update %w = %y"), std::string::npos) << text;
}

TEST(InsertQuantizers, LeaveOtherProgramsAsTheyAre) {
    ir::Program program = program_of(kModel);
    const std::string before = ir::print(program);
    ASSERT_TRUE(insert_quantizers(program, rounding({"nobody"})).has_value());
    EXPECT_EQ(ir::print(program), before);
}

TEST(InsertQuantizers, RefuseAQuantizerOfAnotherRank) {
    ir::Program program =
        program_of("program p\ninput %x: f32[2, 2]\ngraph g (x = %x) {\n    yield y = %x\n}\n");
    const auto done = insert_quantizers(program, rounding({"x"}));
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().message, "the quantiser of `x` does not fit its shape");
}

}  // namespace
}  // namespace lemma::session
