// SPDX-License-Identifier: Apache-2.0
#include "ir/text/read.h"

#include <gtest/gtest.h>

#include <random>

#include "diag/render.h"
#include "ir/text/print.h"
#include "ir/verify/verify.h"

namespace lemma::ir {
namespace {

struct Reading {
    std::optional<Program> program;
    std::string errors;
};

Reading read(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    Reading result;
    result.program = read_program(sources, sources.add("p", text), diag);
    result.errors = diag::render(sources, diag, {.brief = true});
    EXPECT_EQ(result.program.has_value(), result.errors.empty());
    return result;
}

std::string error_of(const std::string& text) { return read(text).errors; }

// A program with one operation and this body.
std::string with_body(const std::string& body) {
    return "program p\nsymbol n: int in [0, 9]\ninput %x: f32[n]\ninput %k: i64[n]\n"
           "graph g (x = %x, k = %k) {\ny %y: f32[n] = f (x = %x, k = %k) {\n" +
           body + "\n}\nyield y = %y\n}\n";
}

// As the printer writes it, with every construct.
const char* const kEverything = R"(program "a b"

symbol n: int in [0, 16]
symbol n1 "n": int in [-inf, 4]
symbol b: bool
symbol r: real

input %x: f32[n, 4]
input %s: str[]
variable %w: f32[4] quantize linear {min = -1.0, max = 1.0, bits = 8}
constant %c: i64[3] = [1, -2, 3]
constant %e: f32[0] = []
tensor %later: f32[]
require n > 0 && n1 <= 3, "a \"message\""

graph "g h" (x = %x, s = %s) {
    y %y: f32[n, 4], mask ~, "odd name" [%p.0: f32[], %p.1: f32[]; n] = nn.f "y.l" <T = f32, U = i64> {a = ~, b = [1, 2], c = [], d = real[], e = [2.0 ..(0)], f = "s", g = n + 1, h = sym(3), i = true, j = [n, 1]} (x = %x, z = ~, q = [%x, %w]) {
        require b ? r < 1.5 : n == n1, ""
        %y[i, j] = 0.0  for i < n, j < 4
        %y[i, j] += %x[i, |2*j - 1|]  for i < n, j < 4  if i != j
        let t0 = %x[i, 0]
        let t1 = %w[j]
        %y[i, j], %p.0[] := t1, min(t0, 1.0)  for i < n, j < 4 in [0, 2]
        %p.1[] = %later[]  append n
    }
    c %y2: f32[] = outer () {
        c %y2 = inner () intrinsic
    }
    0 %r: f32[] = if "l" () {
        condition {
            c %t: bool[] = test () intrinsic
            yield 0 = %t
        }
        then "other" {
            yield 0 = %y2
        }
        else {
            c %u: f32[] = g () intrinsic
            yield 0 = %u
        }
    }
    0 %v: f32[], 1 [%q.0: f32[], %q.1: f32[]; n] = loop (count = %c, a = %y2, x = [%p.0, %p.1]) over (carry [%a: f32[]], scan [%i: f32[]], index %k: i64[], count n + 1, times %c) {
        while {
            c %t2: bool[] = test () intrinsic
            yield 0 = %t2
        }
        body {
            yield 0 = %a, 1 = %i
        }
        while "until" {
            yield 0 = %t2
        }
    }
    "yield" () intrinsic
    yield y = %y, r = ~
}

update %w = %y
)";

TEST(Read, GivesBackWhatWasPrinted) {
    const Reading reading = read(kEverything);
    ASSERT_EQ(reading.errors, "");
    EXPECT_EQ(print(*reading.program), kEverything);
    EXPECT_EQ(print(*read(print(*reading.program)).program), kEverything);
}

TEST(Read, BuildsThePartsOfAProgram) {
    const Reading reading = read(kEverything);
    const Program& p = *reading.program;
    EXPECT_EQ(p.name, "a b");
    EXPECT_EQ(p.tensors.size(), 20u);
    EXPECT_EQ(p.operations.size(), 9u);
    EXPECT_EQ(p.graphs.size(), 7u);
    const Operation& op = p.operations[p.graphs[p.main].operations[0]];
    EXPECT_EQ(op.op, "nn.f");
    EXPECT_EQ(op.label, "y.l");
    EXPECT_EQ(op.dtypes[1], std::pair(std::string("U"), DType::I64));
    EXPECT_EQ(op.attributes[1].value, Value((Pack{{int64_t{1}, int64_t{2}}, {}, ScalarType::Int})));
    EXPECT_EQ(op.attributes[4].value, Value((Pack{{}, 2.0, ScalarType::Real})));
    EXPECT_TRUE(op.outputs[1].operand.null());
    EXPECT_TRUE(op.outputs[2].operand.packed);
    EXPECT_TRUE(op.outputs[2].operand.length.valid());
    ASSERT_EQ(op.formulas.size(), 4u);
    EXPECT_EQ(op.formulas[1].accesses[0].indices[1].guard, Guard::Skip);
    EXPECT_EQ(op.formulas[2].writes.size(), 2u);
    EXPECT_TRUE(op.formulas[3].counter.valid());
    EXPECT_EQ(p.tensors[p.updates[0].variable].quantizer->attributes.size(), 3u);
}

TEST(Read, TellsTheKindsOfOperations) {
    const std::string text = R"(program p

input %x: f32[]

graph g (x = %x) {
    y %x = hands_on (x = %x) compound
    y %x = checked (x = %x) compound {
        require true, "fine"
    }
    y %a: f32[] = sorts (x = %x) intrinsic
    y %b: f32[] = sets_nothing (x = %x) primitive
    y %c: f32[] = copies (x = %x) {
        %c[] = %x[]
    }
    y %d: f32[] = outer (x = %x) {
        y %d = sorts (x = %x) intrinsic
    }
}
)";
    const Reading reading = read(text);
    ASSERT_EQ(reading.errors, "");
    const Program& p = *reading.program;
    std::vector<OperationKind> kinds;
    for (const OpId op : p.graphs[p.main].operations) kinds.push_back(p.operations[op].kind);
    using enum OperationKind;
    EXPECT_EQ(kinds, (std::vector{Compound, Compound, Intrinsic, Primitive, Primitive, Compound}));
    EXPECT_EQ(print(p), text);
    EXPECT_TRUE(verify(p).empty());
    // Without a keyword it is an intrinsic.
    const Reading plain = read("program p\ngraph g {\n  a %a: f32[] = f ()\n}\n");
    EXPECT_EQ(plain.program->operations.begin()->kind, Intrinsic);
}

// People need not write what the printer would write.
TEST(Read, TakesFreeForms) {
    const Reading reading =
        read(with_body("  # a comment\n %y[i]=%x[ i ] *2.0+ (%x[i])"
                       " for i<n if (i > 2 || true)\n\n"));
    ASSERT_EQ(reading.errors, "");
    EXPECT_NE(print(*reading.program).find("%y[i] = 2.0 * %x[i] + %x[i]  for i < n  if true\n"),
              std::string::npos)
        << print(*reading.program);
}

TEST(Read, TellsThePlaceOfErrors) {
    EXPECT_EQ(error_of(""),
              "p:1:1: error: the end of the text, expected `program` [unexpected-token]\n");
    EXPECT_EQ(error_of("program p\n"), "p:2:1: error: a program without a graph [no-graph]\n");
    EXPECT_EQ(error_of("program p\nsymbol for: int"),
              "p:2:8: error: a name for a symbol is wanted here [unexpected-token]\n");
    EXPECT_EQ(error_of("program p\nsymbol n: int\nsymbol n: int"),
              "p:3:8: error: `n` has a meaning already [duplicate-name]\n");
    EXPECT_EQ(error_of("program p\nsymbol n: int in [3, 2]"),
              "p:2:18: error: an empty range [bad-argument]\n");
    EXPECT_EQ(error_of("program p\ninput %x: f33[]"), "p:2:11: error: no dtype `f33` [no-type]\n");
    EXPECT_EQ(error_of("program p\ninput %x: f32[1.5]"),
              "p:2:15: error: an extent is real, expected int [type-mismatch]\n");
    EXPECT_EQ(error_of("program p\ninput %x: f32[1]\ninput %x: f32[1]"),
              "p:3:7: error: `%x` is declared already [duplicate-name]\n");
    EXPECT_EQ(error_of("program p\ngraph g {\nyield a = %x\n}"),
              "p:3:11: error: no tensor `%x` [undeclared-name]\n");
    EXPECT_EQ(error_of("program p\ngraph g {\n}\ngraph h {\n}"),
              "p:4:1: error: a second graph [duplicate-name]\n");
    EXPECT_EQ(error_of("program \"p"),
              "p:1:9: error: this string is not closed [unclosed-string]\n");
    EXPECT_EQ(error_of("program \"\\q\""),
              "p:1:10: error: an unknown escape in a string [bad-escape]\n");
    EXPECT_EQ(error_of("program $"),
              "p:1:9: error: a character that begins no token [bad-character]\n");
    EXPECT_EQ(error_of("program p\nlet a = 99999999999999999999"),
              "p:2:9: error: an integer that does not fit 64 bits [int-range]\n");
    EXPECT_EQ(error_of("program p\nlet a = 1e999"),
              "p:2:9: error: a real that no double can hold [bad-number]\n");
}

TEST(Read, TellsThePlaceOfErrorsInFormulas) {
    const auto error = [](const std::string& body) {
        const std::string text = error_of(with_body(body));
        return text.substr(text.find("error: ") + 7);
    };
    EXPECT_EQ(error("%y[i] = %x[i]"), "no symbol `i` [undeclared-name]\n");
    EXPECT_EQ(error("%y[i] = %x[i] for n < 3"), "`n` has a meaning already [duplicate-name]\n");
    EXPECT_EQ(error("%y[i] = %x[i] + 1 for i < 3"),
              "operands of types that the operation does not take [operand-type]\n");
    EXPECT_EQ(error("%y[i] = 1/0 for i < 3"), "a division by zero [division-by-zero]\n");
    EXPECT_EQ(error("%y[i] = 1.0, 2.0 for i < 3"), "more values than targets [length-mismatch]\n");
    EXPECT_EQ(error("%y[i], %y[i] = 1.0 for i < 3"),
              "more targets than values [length-mismatch]\n");
    EXPECT_EQ(error("%y[i] = foo(1.0) for i < 3"),
              "no function `foo` of 1 operands [no-function]\n");
    EXPECT_EQ(error("%y[i] ? 1.0 for i < 3"),
              "`?`, expected the operator of a formula [unexpected-token]\n");
    EXPECT_EQ(error("%y[i] = 1.0 for i < 3 if i"),
              "the condition is int, expected bool [type-mismatch]\n");
    EXPECT_EQ(error("%y[|i] = 1.0 for i < 3"), "`]`, expected `|` [unexpected-token]\n");
    EXPECT_EQ(error("let t = 1.0"), "`}`, expected the operator of a formula [unexpected-token]\n");
    EXPECT_EQ(error("require (%x[0] > 0.0), \"\""),
              "elements of tensors can be read in formulas only [unexpected-token]\n");
}

TEST(Read, KeepsControlFlowInOrder) {
    const auto error = [](const std::string& body) { return error_of(with_body(body)); };
    EXPECT_NE(error("then {\n}").find("`then` is out of place"), std::string::npos);
    EXPECT_NE(error("condition {\n}\nelse {\n}").find("`else` is out of place"), std::string::npos);
    EXPECT_NE(error("body {\n}\nelse {\n}").find("`else` is out of place"), std::string::npos);
    EXPECT_NE(error("body {\n}\nbody {\n}").find("`body` is out of place"), std::string::npos);
    EXPECT_NE(error("while {\n}").find("a loop without a body"), std::string::npos);
    EXPECT_NE(error("condition {\n}\nthen {\n}").find("a branch without `else`"),
              std::string::npos);
}

std::string repeated(const std::string& text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
}

TEST(Read, LimitsNesting) {
    const std::string head = "program p\nlet a = ";
    for (const char* opening : {"(", "-", "!", "1**", "abs(", "true ? 1 : "})
        EXPECT_NE(error_of(head + repeated(opening, 10000) + "1").find("[too-deep]"),
                  std::string::npos)
            << opening;
    const std::string nested = repeated("a () {\n", 10000);
    EXPECT_NE(error_of("program p\ngraph g {\n" + nested).find("[too-deep]"), std::string::npos);
    EXPECT_NE(error_of(with_body("%y[" + repeated("%k[", 10000))).find("error"), std::string::npos);
}

TEST(Read, TakesLongFlatTexts) {
    const std::string sum = repeated("n + ", 20000) + "1";
    EXPECT_EQ(error_of(with_body("%y[" + sum + "] = 1.0")), "");
    std::string symbols, total;
    for (int i = 0; i < 2000; ++i) {
        symbols += "symbol s" + std::to_string(i) + ": int\n";
        total += "s" + std::to_string(i) + " + ";
    }
    EXPECT_EQ(error_of("program p\n" + symbols + "let a = " + total + "1\ngraph g {\n}\n"), "");
}

// Reading a damaged text succeeds or gives an error. The result can be verified and, if its ids are
// valid, printed.
TEST(Read, SurvivesDamagedTexts) {
    const std::string good = kEverything;
    const std::string signs = "()[]{}|<>=+-*/%~;:,.\"#& \nn0%xlet for if";
    for (unsigned seed = 0; seed < 1000; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](size_t end) { return static_cast<size_t>(random() % end); };
        std::string text = good;
        for (size_t edits = 1 + below(4); edits > 0; --edits) {
            const size_t at = below(text.size()), length = below(12);
            if (below(3) == 0)
                text.erase(at, length);
            else if (below(2) == 0)
                text.insert(at, text.substr(below(text.size()), length));
            else
                text[at] = signs[below(signs.size())];
        }
        diag::SourceMap sources;
        Diagnostics diag;
        const auto program = read_program(sources, sources.add("p", text), diag);
        ASSERT_NE(program.has_value(), diag.has_errors()) << "seed " << seed;
        if (!program) continue;
        verify(*program);
        const std::string once = print(*program);
        diag::SourceMap again;
        const auto second = read_program(again, again.add("p", once), diag);
        ASSERT_TRUE(second) << "seed " << seed << "\n" << diag::render(again, diag, {}) << once;
        EXPECT_EQ(print(*second), once) << "seed " << seed;
    }
}

}  // namespace
}  // namespace lemma::ir
