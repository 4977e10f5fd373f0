// SPDX-License-Identifier: Apache-2.0
#include "ir/program/stored_program.h"

#include <gtest/gtest.h>

#include "diag/render.h"
#include "ir/text/print.h"
#include "ir/text/read.h"

namespace lemma::ir {
namespace {

constexpr const char* kText = R"(program "a b"

symbol n: int in [0, 16]
symbol b: bool

input %x: f32[n, 4]
input %k: i64[n]
variable %w: f32[4] quantize linear {min = -1.0, max = 1.0, bits = 8}
constant %c: i64[3] = [1, -2, 3]
require n > 0, "a \"message\""

graph g (x = %x, k = %k) {
    y %y: f32[n, 4] = nn.f "y.l" <T = f32> {a = ~, b = [1, 2], s = "text", g = n + 1, i = true} (x = %x, q = [%x, %x]) {
        %y[i, j] = 0.0  for i < n, j < 4
        %y[i, j] += %x[i, |2*j - 1|]*%w[j]  for i < n, j < 4  if i != j
    }
    yield y = %y
}
)";

std::optional<Program> program_of(const char* text) {
    diag::SourceMap sources;
    Diagnostics diag;
    auto program = read_program(sources, sources.add("p", text), diag);
    EXPECT_TRUE(program) << diag::render(sources, diag, {.brief = true});
    return program;
}

TEST(StoredProgram, IsTheProgramWithItsPlaces) {
    const auto program = program_of(kText);
    ASSERT_TRUE(program);
    const std::string bytes = encode_program(*program);
    const std::string places = encode_places(*program);
    const auto read = decode_program(bytes, places);
    ASSERT_TRUE(read);
    EXPECT_EQ(print(*read), print(*program));
    EXPECT_EQ(encode_program(*read), bytes);
    EXPECT_EQ(encode_places(*read), places);
}

TEST(StoredProgram, PlacesDoNotBelongToTheProgram) {
    const auto program = program_of(kText);
    const auto moved = program_of((std::string("# a line\n") + kText).c_str());
    ASSERT_TRUE(program && moved);
    EXPECT_EQ(encode_program(*moved), encode_program(*program));
    EXPECT_NE(encode_places(*moved), encode_places(*program));
}

TEST(StoredProgram, IsNotReadFromAPart) {
    const auto program = program_of(kText);
    ASSERT_TRUE(program);
    const std::string bytes = encode_program(*program);
    const std::string places = encode_places(*program);
    for (size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode_program(bytes.substr(0, size), places)) << size;
    }
    EXPECT_FALSE(decode_program(bytes + '\0', places));
    EXPECT_FALSE(decode_program(bytes, places.substr(0, places.size() - 1)));
    EXPECT_FALSE(decode_program(bytes, encode_places({})));
}

}  // namespace
}  // namespace lemma::ir
