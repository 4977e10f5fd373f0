// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sknd/eval/eval_cases_test.h"

namespace lemma::sknd {
namespace {

// ---- lists --------------------------------------------------------------------------------------

TEST(Eval, Lists) {
    check(Rows{
        {"[]", "[]"},
        {"[1]", "[1]"},
        {"[1, k, 3]", "[1, 3, 3]"},
        {"['a', s]", "['a', 'hello']"},
        {"[0, a.., 1]", "[0, 10, 11, 12, 13, 14, 1]"},
        {"[a[:1].., a[3:]..]", "[10, 13, 14]"},
        {"[a * 2 ..]", "[20, 22, 24, 26, 28]"},
        {"[7 ..(5)]", "[7, 7, 7, 7, 7]"},
        {"[k..(2)]", "[3, 3]"},
        {"[1, 7 ..(0), 2]", "[1, 2]"},
        {"[1, 7 ..(t), 2]", "[1, 7, 2]"},
        {"[1, 7 ..(f), 2]", "[1, 2]"},
        {"[7 ..(k > 2), 8 ..(k <= 2)]", "[7]"},
        {"[0, [1, 2].., 1:4, 9:0:-3, 7 ..(2), 8 ..(t), ([1, 2], [3, 4]).., -1]",
         "[0, 1, 2, 1, 2, 3, 9, 6, 3, 7, 7, 8, 1, 3, 2, 4, -1]"},
    });
    check(ErrorRows{
        {"[1, 2.0]", "mixed-list", "list item is real, expected int", "2.0"},
        {"[1, ['a'] ..]", "mixed-list", "list item is str, expected int", "['a'] .."},
        {"[1, no_reals..]", "mixed-list", "list item is real, expected int", "no_reals.."},
        {"[1, a]", "nested-list", "pack inside a list, expected a single value", "a"},
        {"[k..]", "pack-mismatch", "expansion of a single value, expected a pack", "k.."},
        {"[a..(2)]",
         "pack-mismatch",
         "repetition of a pack of 5 items, expected a single value",
         "2"},
        {"[1 ..(-3)]", "bad-argument", "repetition count is -3, expected 0 or more", "-3"},
        {"[1 ..(1.0)]", "operand-type", "repetition count is real, expected int or bool", "1.0"},
        {"[1 ..(a)]", "pack-mismatch", "repetition count is a pack, expected a single value", "a"},
    });
}

TEST(Eval, Ranges) {
    check(Rows{
        {"[2:6]", "[2, 3, 4, 5]"},
        {"[4:1]", "[]"},
        {"[4:4]", "[]"},
        {"[-2:2]", "[-2, -1, 0, 1]"},
        {"[0:9:3]", "[0, 3, 6]"},
        {"[0:10:3]", "[0, 3, 6, 9]"},
        {"[9:0:-3]", "[9, 6, 3]"},
        {"[3:-1:-1]", "[3, 2, 1, 0]"},
        {"[0:5:-1]", "[]"},
        {"[5:0:1]", "[]"},
        {"[k-1:-1:-1]", "[2, 1, 0]"},
        {"[9, 4:4, 9]", "[9, 9]"},
        {"[9223372036854775805:9223372036854775807]", "[9223372036854775805, 9223372036854775806]"},
        {"[0:9223372036854775807:9223372036854775806]", "[0, 9223372036854775806]"},
        {"[-9223372036854775807:9223372036854775807:9223372036854775807]",
         "[-9223372036854775807, 0]"},
    });
    check(ErrorRows{
        {"[0:5:0]", "bad-argument", "step of a range is 0", "0"},
        {"[0:1.0]", "operand-type", "end of a range is real, expected a single int", "1.0"},
        {"[a:3]", "pack-mismatch", "begin of a range is a pack, expected a single int", "a"},
    });
}

TEST(Eval, Zips) {
    check(Rows{
        {"[([1, 2], [3, 4])..]", "[1, 3, 2, 4]"},
        {"[([1, 2], [3, 4], [5, 6])..]", "[1, 3, 5, 2, 4, 6]"},
        {"[(a + 1, a * 2)..][:4]", "[11, 20, 12, 22]"},
        {"[([], [])..]", "[]"},
    });
    check(ErrorRows{
        {"[([1, 2], [3])..]",
         "length-mismatch",
         "packs of 2 items and 1 item in a zip, expected one length",
         "([1, 2], [3]).."},
        {"[([1, 2], 3)..]", "pack-mismatch", "single value in a zip, expected a pack", "3"},
        {"[([1], ['a'])..]", "mixed-list", "list item is str, expected int", "([1], ['a']).."},
    });
}

// ---- indexing -----------------------------------------------------------------------------------

TEST(Eval, Indexing) {
    check(Rows{
        {"a[0]", "10"},
        {"a[k + 1]", "14"},
        {"a[-1]", "14"},
        {"a[-5]", "10"},
        {"a[[4, 0, 2, 0]]", "[14, 10, 12, 10]"},
        {"a[[1, 3, -1]]", "[11, 13, 14]"},
        {"a[[]]", "[]"},
        {"a[[2]]", "[12]"},
        {"a[a in [11, 13]]", "[11, 13]"},
        {"a[a > 20]", "[]"},
        {"[][no_bools]", "[]"},
        {"a[1:4][1]", "12"},
        {"a[::-1][0]", "14"},
        {"(a)[1]", "11"},
        {"(a + 1)[1]", "12"},
        {"[5, 6, 7][1]", "6"},
        {"real(a)[0]", "10.0"},
        {"abs(-a)[0]", "10"},
        {"x.shape[-1]", "4"},
        {"a[two]", "12"},
    });
}

TEST(Eval, IndexRanges) {
    check(Rows{
        {"a[1:3]", "[11, 12]"},
        {"a[:2]", "[10, 11]"},
        {"a[3:]", "[13, 14]"},
        {"a[:]", "[10, 11, 12, 13, 14]"},
        {"a[::]", "[10, 11, 12, 13, 14]"},
        {"a[2:2]", "[]"},
        {"a[3:1]", "[]"},
        {"a[5:]", "[]"},
        {"a[0:5]", "[10, 11, 12, 13, 14]"},
        {"a[1:-1]", "[11, 12, 13]"},
        {"a[-2:]", "[13, 14]"},
        {"a[:-3]", "[10, 11]"},
        {"a[::2]", "[10, 12, 14]"},
        {"a[1::2]", "[11, 13]"},
        {"a[0:4:3]", "[10, 13]"},
        {"a[::9223372036854775807]", "[10]"},
        {"a[::-1]", "[14, 13, 12, 11, 10]"},
        {"a[2::-1]", "[12, 11, 10]"},
        {"a[:2:-1]", "[14, 13]"},
        {"a[3:0:-2]", "[13, 11]"},
        {"a[4:-1:-1]", "[]"},
        {"a[3:-5:-1]", "[13, 12, 11]"},
        {"a[-1::-1]", "[14, 13, 12, 11, 10]"},
        {"a[0:3:-1]", "[]"},
        {"a[::-9223372036854775807]", "[14]"},
        {"[][:]", "[]"},
        {"[][::-1]", "[]"},
        {"[5][0::-1]", "[5]"},
    });
}

TEST(Eval, IndexErrors) {
    check(ErrorRows{
        {"[1, 2, 3][5]", "index-range", "index 5 is out of range for a pack of 3 items", "5"},
        {"[1, 2, 3][3]", "index-range", "index 3 is out of range for a pack of 3 items", "3"},
        {"[1, 2, 3][-4]", "index-range", "index -4 is out of range for a pack of 3 items", "-4"},
        {"[][0]", "index-range", "index 0 is out of range for a pack of 0 items", "0"},
        {"[7][[0, 1]]", "index-range", "index 1 is out of range for a pack of 1 item", "[0, 1]"},
        {"[1, 2, 3][0:9]", "index-range", "range end 9 is out of range for a pack of 3 items", "9"},
        {"[1, 2, 3][2:4:5]",
         "index-range",
         "range end 4 is out of range for a pack of 3 items",
         "4"},
        {"[1, 2, 3][-5:2]", "index-range", "index -5 is out of range for a pack of 3 items", "-5"},
        {"[1, 2, 3][3::-1]", "index-range", "index 3 is out of range for a pack of 3 items", "3"},
        {"[1, 2, 3][::0]", "bad-argument", "step of a range is 0", "0"},
        {"a[1.0]", "bad-index", "index is real, expected int", "1.0"},
        {"a[true]", "bad-index", "index is bool, expected int", "true"},
        {"a['x']", "bad-index", "index is str, expected int", "'x'"},
        {"a[0:2.0]", "bad-index", "part of a range is real, expected a single int", "2.0"},
        {"k[0]", "bad-index", "index of a single int, expected a pack or str", "k"},
        {"a[[true, false]]",
         "length-mismatch",
         "mask of 2 items for a pack of 5 items, expected one length",
         "[true, false]"},
        {"a[no_bools]",
         "length-mismatch",
         "mask of 0 items for a pack of 5 items, expected one length",
         "no_bools"},
    });
}

TEST(Eval, Substitution) {
    check(Rows{
        {"a[1] <- 0", "[10, 0, 12, 13, 14]"},
        {"a[-1] <- 0", "[10, 11, 12, 13, 0]"},
        {"a[[3, 0]] <- [1, 2]", "[2, 11, 12, 1, 14]"},
        {"a[[3, 0]] <- 7", "[7, 11, 12, 7, 14]"},
        {"a[[0, 0]] <- [1, 2]", "[2, 11, 12, 13, 14]"},
        {"a[1:3] <- [1, 2]", "[10, 1, 2, 13, 14]"},
        {"a[::-1] <- [0:5]", "[4, 3, 2, 1, 0]"},
        {"x.shape[[1, 2]] <- x.shape[[1, 2]] * [2, 3]", "[2, 6, 12]"},
        {"[0.5, 1.0][[1]] <- [2.5]", "[0.5, 2.5]"},
        {"['a', 'b'][0] <- 'c'", "['c', 'b']"},
        {"[0 ..(3)][[0, 2]] <- [5, 6]", "[5, 0, 6]"},
        {"a[[]] <- []", "[10, 11, 12, 13, 14]"},
        {"([1 ..(2)][0] <- 1) := ..", "1"},
        {"([1 ..(2)][0] <- 2) := ..", "null"},
    });
    check(ErrorRows{
        {"a[5] <- 1", "index-range", "index 5 is out of range for a pack of 5 items", "5"},
        {"a[[0, 1]] <- [1]",
         "length-mismatch",
         "packs of 2 items and 1 item in a substitution, expected one length",
         "a[[0, 1]] <- [1]"},
        {"a[0] <- [1]", "pack-mismatch", "pack for a single index, expected a single value", "[1]"},
        {"a[0] <- 1.0", "type-mismatch", "substituted value is real, expected int", "1.0"},
        {"a[a > 11] <- [1, 2, 3]",
         "bad-index",
         "index of a substitution is a pack of bool, expected int",
         "a > 11"},
        {"k[0] <- 1", "bad-index", "substitution in a single int, expected a pack", "k"},
    });
}

}  // namespace
}  // namespace lemma::sknd
