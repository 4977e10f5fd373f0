// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sknd/eval/eval_cases_test.h"

namespace lemma::sknd {
namespace {

// ---- packs, element by element ------------------------------------------------------------------

TEST(Eval, ElementWise) {
    check(Rows{
        {"a * 2 - 1", "[19, 21, 23, 25, 27]"},
        {"1 - a", "[-9, -10, -11, -12, -13]"},
        {"a + a", "[20, 22, 24, 26, 28]"},
        {"[1, 2, 3] < [2, 2, 2]", "[true, false, false]"},
        {"-[1, -2, 3]", "[-1, 2, -3]"},
        {"![true, false]", "[false, true]"},
        {"[7, 6, 9] \\ [2, 2, 2]", "[4, 3, 5]"},
        {"[2, 3] ** [10, 4]", "[1024, 81]"},
        {"[-3, 5, 30] >> 0 << 10", "[0, 5, 10]"},
        {"[true, true, false] && [true, false, true]", "[true, false, false]"},
        {"a >= 11 && a < 13", "[false, true, true, false, false]"},
        {"'y' == ['x', 'y', 'z']", "[false, true, false]"},
        {"['a', 'b'] + 'c'", "['ac', 'bc']"},
        {"'c' + ['a', 'b']", "['ca', 'cb']"},
        {"abs([-3, 0, 5]) + 1", "[4, 1, 6]"},
        {"real([1, 2, 4]) / 4.0", "[0.25, 0.5, 1.0]"},
        {"[] + 1", "[]"},
        {"[] == []", "[]"},
        {"a[:0] + a[5:]", "[]"},
        {"[1 ..(0)] / 0", "[]"},
    });
    const Outcome outcome = run("1 + ([1, 2] + [1, 2, 3])");
    EXPECT_EQ(outcome.kind, "length-mismatch");
    EXPECT_EQ(outcome.message, "packs of 2 items and 3 items in `+`, expected one length");
    EXPECT_EQ(outcome.at, "[1, 2] + [1, 2, 3]");
    EXPECT_EQ(outcome.notes,
              (std::vector<std::string>{"[1, 2]: 2 items here", "[1, 2, 3]: 3 items here"}));
    check(ErrorRows{
        {"a == [1]",
         "length-mismatch",
         "packs of 5 items and 1 item in `==`, expected one length",
         "a == [1]"},
        {"[1] + []",
         "length-mismatch",
         "packs of 1 item and 0 items in `+`, expected one length",
         "[1] + []"},
        {"[4, 2] / [2, 0]", "division-by-zero", "division by zero", "/"},
        {"[1, 9223372036854775807] + 1",
         "int-overflow",
         "`9223372036854775807 + 1` does not fit a 64-bit int",
         "[1, 9223372036854775807] + 1"},
        {"[1.0] + 1",
         "operand-type",
         "`+` takes two operands of one type, found real and int",
         "+"},
    });
}

TEST(Eval, IsAndIn) {
    check(Rows{
        {"1 is 1", "true"},
        {"s is 'hello'", "true"},
        {"[2, 3, 7] + 1 is 3 || [2, 3, 7] is 7", "[true, false, true]"},
        {"[1, 2] is [1, 3]", "[true, false]"},
        {"2 in [1, 2, 3]", "true"},
        {"5 in [1, 2, 3]", "false"},
        {"1 in []", "false"},
        {"[0:3] in [2, 1]", "[false, true, true]"},
        {"'B' in ['A', 'B']", "true"},
        {"2.0 in [1.0, 2.0]", "true"},
        {"(inf - inf) in [inf - inf]", "false"},
        {"true in [false, true]", "true"},
        {"[] in [1, 2]", "[]"},
        {"nil in [1]", "null"},
        {"1 in nil", "null"},
        {"!([0:3] in [1])", "[true, false, true]"},
        {"([0:2000] in [0:2000:2]) == ([0:2000] % 2 == 0) && ..", "true"},
    });
    check(ErrorRows{
        {"1 in 2", "pack-mismatch", "right side of `in` is a single int, expected a pack", "2"},
        {"1 in [1.0]",
         "operand-type",
         "`in` looks for int in a pack of real, expected one type",
         "in"},
        {"[1, 2] is [1]",
         "length-mismatch",
         "packs of 2 items and 1 item in `is`, expected one length",
         "[1, 2] is [1]"},
    });
}

// ---- select, null -------------------------------------------------------------------------------

TEST(Eval, Select) {
    check(Rows{
        {"t ? 1 : 2", "1"},
        {"f ? 1 : 2", "2"},
        {"f ? 0.5 : -inf", "-inf"},
        {"t ? 5", "5"},
        {"f ? 5", "null"},
        {"t ? 1 : 1 / 0", "1"},
        {"f ? missing : 2", "2"},
        {"f ? nil : 2", "2"},
        {"t ? nil : 2", "null"},
        {"nil > 0 ? 1 : 2", "null"},
        {"t ? a[:2] : a", "[10, 11]"},
        {"[-1, 2, -3] < 0 ? 0 : [-1, 2, -3]", "[0, 2, 0]"},
        {"[true, false] ? 1 : 2", "[1, 2]"},
        {"[true, false] ? [1, 2] : [3, 4]", "[1, 4]"},
        {"[true, true] ? [1, 2] : 3 / 0", "[1, 2]"},
        {"[false, false] ? nil : 7", "[7, 7]"},
        {"[true, false] ? nil : 7", "null"},
        {"[true, true] ? [1, 2]", "[1, 2]"},
        {"[true, false] ? [1, 2]", "null"},
        {"[] ? 1 : 2", "[]"},
        {"t ? 1 : a", "[1, 1, 1, 1, 1]"},
        {"f ? a : 7", "[7, 7, 7, 7, 7]"},
        {"f ? a[7] : 7", "7"},
        {"t ? f ? 1 : 2 : 3", "2"},
        {"[1, 2] is 1 ? 9 : [1, 2]", "[9, 2]"},
        {"(f ? 'yes' : 'no') == 'no'", "true"},
    });
    check(ErrorRows{
        {"1 ? 2 : 3", "operand-type", "condition is int, expected bool", "1"},
        {"[1] ? 2 : 3", "operand-type", "condition is int, expected bool", "[1]"},
        {"[true, false] ? [1] : 2",
         "length-mismatch",
         "packs of 2 items and 1 item in `?:`, expected one length",
         "[true, false] ? [1] : 2"},
        {"[true, false] ? 1 : a",
         "length-mismatch",
         "packs of 2 items and 5 items in `?:`, expected one length",
         "[true, false] ? 1 : a"},
        {"[true, false] ? 1 / 0 : 2", "division-by-zero", "division by zero", "/"},
        {"t ? 1 / 0 : 2", "division-by-zero", "division by zero", "/"},
    });
}

TEST(Eval, NullPropagates) {
    check(Rows{
        {"-nil", "null"},        {"!nil", "null"},        {"nil + 1", "null"},
        {"1 + nil", "null"},     {"nil < 3", "null"},     {"nil is 3", "null"},
        {"[1, nil]", "null"},    {"[nil..]", "null"},     {"[nil ..(2)]", "null"},
        {"[1 ..(nil)]", "null"}, {"[0:nil]", "null"},     {"[(a, nil)..]", "null"},
        {"nil[0]", "null"},      {"a[nil]", "null"},      {"a[nil:]", "null"},
        {"a[0] <- nil", "null"}, {"a[nil] <- 1", "null"}, {"nil[0] <- 1", "null"},
        {"nil + ..", "null"},    {"nil + ...", "null"},   {"nil := ..", "null"},
        {"abs(nil)", "null"},    {"int(nil)", "null"},    {"'{nil}'", "null"},
        {"'a' + nil", "null"},
    });
}

TEST(Eval, NullIsHandled) {
    check(Rows{
        {"nil ?? 7", "7"},
        {"k ?? 7", "3"},
        {"k ?? 1 / 0", "3"},
        {"nil ?? nil ?? 3", "3"},
        {"nil + 1 ?? k * 2", "6"},
        {"(f ? 5) ?? 7", "7"},
        {"nil ?? a", "[10, 11, 12, 13, 14]"},
        {"a ?? [1]", "[10, 11, 12, 13, 14]"},
        {"?nil", "false"},
        {"?k", "true"},
        {"?a", "true"},
        {"?nil ? nil : 0", "0"},
        {"?k && k > 2 ? k : 0", "3"},
        {"[?nil, ?k, !?k]", "[false, true, false]"},
        {"?missing", "unknown"},
        {"missing ?? 1", "unknown"},
    });
}

// ---- folds --------------------------------------------------------------------------------------

TEST(Eval, Folds) {
    check(Rows{
        {"a + ..", "60"},
        {"[2, 3, 4] * ..", "24"},
        {"[0.5, 1.5] + ..", "2.0"},
        {"[true, false] && ..", "false"},
        {"[true, true] && ..", "true"},
        {"[true, false] || ..", "true"},
        {"[false, false] || ..", "false"},
        {"[3, -2, 7] << ..", "-2"},
        {"[3, -2, 7] >> ..", "7"},
        {"[3, -2, 7] <? ..", "-2"},
        {"[1, 2, 3] < ..", "true"},
        {"[1, 2, 2] < ..", "false"},
        {"[1, 2, 2] <= ..", "true"},
        {"[5, 2, -1] > ..", "true"},
        {"[5, 5] > ..", "false"},
        {"[5, 5] >= ..", "true"},
        {"[1, 3, 2] < ..", "false"},
        {"[3] < ..", "true"},
        {"[4, 4, 4] == ..", "true"},
        {"[4, 4, 5] == ..", "false"},
        {"[3, 1, 3] != ..", "false"},
        {"[3, 1, 2] != ..", "true"},
        {"['a', 'b', 'a'] != ..", "false"},
        {"['a', 'a'] == ..", "true"},
        {"[inf - inf, inf - inf] != ..", "true"},
        {"[0.0, -(0.0)] != ..", "false"},
        {"a + .. + 40", "100"},
        {"2 * a + ..", "120"},
        {"(a > 11 && ..)", "false"},
        {"(a == 12 || ..)", "true"},
        {"(a + ..) == 60", "true"},
        {"[1, 2, 3] * [4, 5, 6] + ..", "32"},
    });
}

TEST(Eval, FoldsOfEmptyPacks) {
    check(Rows{
        {"[] + ..", "0"},
        {"[] * ..", "1"},
        {"no_reals + ..", "0.0"},
        {"no_reals * ..", "1.0"},
        {"(no_reals + ..) / 2.0", "0.0"},
        {"real([]) + ..", "0.0"},
        {"[0.5, 1.0][:0] * ..", "1.0"},
        {"[2.0 ..(0)] + ..", "0.0"},
        {"(a[:0] + 1) + ..", "0"},
        {"[] && ..", "true"},
        {"[] || ..", "false"},
        {"no_bools && ..", "true"},
        {"[] << ..", "null"},
        {"[] >> ..", "null"},
        {"[] < ..", "true"},
        {"[] <= ..", "true"},
        {"[] > ..", "true"},
        {"[] >= ..", "true"},
        {"[] != ..", "true"},
        {"[] == ..", "false"},
        {"[7 ..(0)] == ..", "true"},
        {"[] := ..", "null"},
        {"a[:0] := ..", "null"},
        {"(([] << ..) ?? 5)", "5"},
    });
}

TEST(Eval, UniformValues) {
    check(Rows{
        {"[4, 4, 4] := ..", "4"},
        {"[4, 4, 5] := ..", "null"},
        {"[6 ..(3)] := ..", "6"},
        {"[6 ..(0)] := ..", "6"},
        {"[6 ..(false)] := ..", "6"},
        {"[6 ..(0)] * 2 := ..", "12"},
        {"-[6 ..(0)] := ..", "-6"},
        {"real([6 ..(0)]) := ..", "6.0"},
        {"[6 ..(0)] / 0 := ..", "null"},
        {"[6 ..(0)] + [1 ..(0)] := ..", "7"},
        {"[6 ..(0)] + [] := ..", "null"},
        {"[6 ..(0)] < 7 := ..", "true"},
        {"[[6 ..(0)].., [6 ..(0)]..] := ..", "6"},
        {"[[6 ..(0)].., [7 ..(0)]..] := ..", "null"},
        {"[[6 ..(0)].., [] ..] := ..", "null"},
        {"[[6 ..(0)].., 7] := ..", "7"},
        {"[6 ..(3)][:0] := ..", "6"},
        {"([6 ..(0)] in [6]) := ..", "true"},
        {"(t ? [6 ..(0)] : 5) := ..", "6"},
        {"([true ..(0)] ? 1 : 2) := ..", "1"},
        {"[4, 4, 5][:2] := ..", "4"},
        {"['a', 'a'] := ..", "a"},
        {"dims[0:1] := ..", "n"},
        {"[n, n + 1 - 1] := ..", "n"},
        {"(a - a) := ..", "0"},
    });
}

TEST(Eval, CumulativeFolds) {
    check(Rows{
        {"[1, 2, 3, 4] * ...", "[1, 2, 6, 24]"},
        {"[0.5, 1.5, -0.25] + ...", "[0.5, 2.0, 1.75]"},
        {"[false, true, false] || ...", "[false, true, true]"},
        {"[true, false, true] && ...", "[true, false, false]"},
        {"[3, 5, 1, 2] << ...", "[3, 3, 1, 1]"},
        {"[3, 5, 1, 7] >> ...", "[3, 5, 5, 7]"},
        {"[] + ...", "[]"},
        {"[9, ([] + ...).., 8]", "[9, 8]"},
        {"[1, x.shape[::-1]..] * ...", "[1, 4, 12, 24]"},
        {"([1, x.shape[::-1]..] * ...)[x.rank-1::-1]", "[12, 4, 1]"},
        {"(no_reals + ...) + ..", "0.0"},
    });
}

TEST(Eval, FoldErrors) {
    check(ErrorRows{
        {"3 + ..", "bad-fold", "fold of a single int, expected a pack", "3"},
        {"[true] + ..", "bad-fold", "`+ ..` folds int or real, found bool", "+"},
        {"['a'] << ..", "bad-fold", "`<< ..` folds int or real, found str", "<<"},
        {"[1] && ..", "bad-fold", "`&& ..` folds bool, found int", "&&"},
        {"[9223372036854775807, 1] + ..",
         "int-overflow",
         "`9223372036854775807 + 1` does not fit a 64-bit int",
         "[9223372036854775807, 1] + .."},
    });
}

}  // namespace
}  // namespace lemma::sknd
