// SPDX-License-Identifier: Apache-2.0
#include "session/widen.h"

#include <gtest/gtest.h>

#include "ir/text/print.h"
#include "ir/text/read.h"
#include "ir/verify/verify.h"

namespace lemma::session {
namespace {

// `h` is used inside only; `n` is the result of a cast; `y` and `z` are used outside.
constexpr const char* kModel = R"(program p
input %x: f32[4]
input %k: i64[4]
graph g (x = %x, k = %k) {
    y %y: f32[4] = outer (x = %x, k = %k) {
        h %h: f32[4] = third (x = %x) {
            %h[i] = %x[i] / 3.0  for i < 4
        }
        n %n: f32[4] = cast (k = %k) {
            %n[i] = real(%k[i])  for i < 4
        }
        y %y = add (h = %h, n = %n) {
            %y[i] = %h[i] + %n[i]  for i < 4
        }
    }
    z %z: f32[4] = third (y = %y) {
        %z[i] = %y[i] / 3.0  for i < 4
    }
    yield z = %z
}
)";

TEST(WidenInnerTensors, AreThoseThatOnlyPartsOfOneCallSee) {
    diag::SourceMap sources;
    Diagnostics diag;
    auto program = ir::read_program(sources, sources.add("p.ir", kModel), diag);
    ASSERT_TRUE(program.has_value());
    widen_inner_tensors(*program);
    EXPECT_EQ(ir::verify(*program), std::vector<std::string>());
    std::string wide;
    for (const ir::Tensor& tensor : program->tensors) {
        if (tensor.dtype == ir::DType::F64) wide += tensor.name;
    }
    EXPECT_EQ(wide, "h");
}

// A rounded quotient stays f32, so that a half in f32 rounds as a half.
TEST(WidenInnerTensors, LeaveWhatIsRoundedToWholeNumbers) {
    constexpr const char* kRounding = R"(program p
input %x: f32[4]
graph g (x = %x) {
    y %y: f32[4] = outer (x = %x) {
        h %h: f32[4] = third (x = %x) {
            %h[i] = %x[i] / 3.0  for i < 4
        }
        y %y = round (h = %h) {
            %y[i] = 3.0 * floor(%h[i] + 0.5)  for i < 4
        }
    }
    yield y = %y
}
)";
    diag::SourceMap sources;
    Diagnostics diag;
    auto program = ir::read_program(sources, sources.add("p.ir", kRounding), diag);
    ASSERT_TRUE(program.has_value());
    widen_inner_tensors(*program);
    for (const ir::Tensor& tensor : program->tensors) EXPECT_EQ(tensor.dtype, ir::DType::F32);
}

}  // namespace
}  // namespace lemma::session
