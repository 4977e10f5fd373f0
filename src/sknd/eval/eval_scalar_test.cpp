// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sknd/eval/eval_cases_test.h"

namespace lemma::sknd {
namespace {

// ---- literals, names ----------------------------------------------------------------------------

TEST(Eval, Literals) {
    check(Rows{
        {"123", "123"},
        {"0", "0"},
        {"9223372036854775807", "9223372036854775807"},
        {"1.0", "1.0"},
        {"1.23", "1.23"},
        {"1e-5", "1e-05"},
        {"1e300", "1e+300"},
        {"0.1", "0.1"},
        {"true", "true"},
        {"false", "false"},
        {"inf", "inf"},
        {"-inf", "-inf"},
        {"pi", "3.141592653589793"},
        {"'abc'", "abc"},
        {"\"abc\" 'def'", "abcdef"},
        {"(((7)))", "7"},
    });
}

TEST(Eval, NamesAndMembers) {
    check(Rows{
        {"k", "3"},
        {"a", "[10, 11, 12, 13, 14]"},
        {"x.shape", "[2, 3, 4]"},
        {"x.rank", "3"},
        {"xs.size", "2"},
        {"x.shape[1] * x.rank", "9"},
        {"missing", "unknown"},
        {"missing + 1", "unknown"},
        {"1 + missing", "unknown"},
        {"[1, missing]", "unknown"},
        {"y.shape", "unknown"},
        {"nil", "null"},
    });
}

// ---- int ----------------------------------------------------------------------------------------

TEST(Eval, IntArithmetic) {
    check(Rows{
        {"9 + -4", "5"},
        {"9 - -4", "13"},
        {"9 * -4", "-36"},
        {"-k", "-3"},
        {"+k", "3"},
        {"- -k", "3"},
        {"7 / 2", "3"},
        {"-7 / 2", "-4"},
        {"7 / -2", "-4"},
        {"-7 / -2", "3"},
        {"-9 / 3", "-3"},
        {"7 \\ 2", "4"},
        {"-7 \\ 2", "-3"},
        {"7 \\ -2", "-3"},
        {"-7 \\ -2", "4"},
        {"6 \\ 2", "3"},
        {"7 % 3", "1"},
        {"-7 % 3", "2"},
        {"7 % -3", "-2"},
        {"-7 % -3", "-1"},
        {"6 % 3", "0"},
        {"2 ** 10", "1024"},
        {"(-3) ** 3", "-27"},
        {"5 ** 0", "1"},
        {"0 ** 0", "1"},
        {"2 ** 62", "4611686018427387904"},
        {"(-2) ** 63", "-9223372036854775808"},
        {"1 ** 9223372036854775807", "1"},
        {"3 << -4", "-4"},
        {"3 >> -4", "3"},
        {"3 <? 4", "3"},
        {"3 >? 4", "4"},
        {"23 / 2 / 3", "3"},
        {"23 \\ 2 * 3", "36"},
        {"2 + 7 / 3", "4"},
        {"2 - 7 % 3", "1"},
        {"-2 ** 2", "-4"},
        {"2 ** 3 ** 2", "64"},
        {"9223372036854775807 - 1 + 1", "9223372036854775807"},
        {"-9223372036854775807 - 1", "-9223372036854775808"},
        {"(-9223372036854775807 - 1) % -1", "0"},
    });
}

TEST(Eval, IntErrors) {
    check(ErrorRows{
        {"9223372036854775807 + 1",
         "int-overflow",
         "`9223372036854775807 + 1` does not fit a 64-bit int",
         "9223372036854775807 + 1"},
        {"2 * (-9223372036854775807 - 2)",
         "int-overflow",
         "`-9223372036854775807 - 2` does not fit a 64-bit int",
         "-9223372036854775807 - 2"},
        {"4611686018427387904 * 2",
         "int-overflow",
         "`4611686018427387904 * 2` does not fit a 64-bit int",
         "4611686018427387904 * 2"},
        {"-(-9223372036854775807 - 1)",
         "int-overflow",
         "`-(-9223372036854775808)` does not fit a 64-bit int",
         "-(-9223372036854775807 - 1)"},
        {"(-9223372036854775807 - 1) / -1",
         "int-overflow",
         "`-9223372036854775808 / -1` does not fit a 64-bit int",
         "(-9223372036854775807 - 1) / -1"},
        {"10 ** 19", "int-overflow", "`10 ** 19` does not fit a 64-bit int", "10 ** 19"},
        {"1 + 7 / 0", "division-by-zero", "division by zero", "/"},
        {"7 \\ (k - 3)", "division-by-zero", "division by zero", "\\"},
        {"7 % 0", "division-by-zero", "division by zero", "%"},
        {"2 ** -1",
         "bad-argument",
         "exponent of an int power is -1, expected 0 or more",
         "2 ** -1"},
        {"abs(-9223372036854775807 - 1)",
         "int-overflow",
         "`abs(-9223372036854775808)` does not fit a 64-bit int",
         "abs(-9223372036854775807 - 1)"},
    });
}

// ---- real ---------------------------------------------------------------------------------------

TEST(Eval, RealArithmetic) {
    check(Rows{
        {"2.5 + 1.25", "3.75"},
        {"2.5 - 1.25", "1.25"},
        {"2.5 * 1.25", "3.125"},
        {"2.5 / 1.25", "2.0"},
        {"1.0 / 3.0", "0.3333333333333333"},
        {"7.0 \\ 2.0", "4.0"},
        {"-7.0 \\ 2.0", "-3.0"},
        {"7.5 % 2.0", "1.5"},
        {"-7.5 % 2.0", "0.5"},
        {"7.5 % -2.0", "-0.5"},
        {"2.0 ** 0.5", "1.4142135623730951"},
        {"2.0 ** -1.0", "0.5"},
        {"0.0 ** -1.0", "inf"},
        {"3.0 << 2.5", "2.5"},
        {"3.0 >> 2.5", "3.0"},
        {"-r", "-2.5"},
        {"+r", "2.5"},
        {"-(0.0)", "-0.0"},
        {"inf - inf", "nan"},
        {"inf + 1.0", "inf"},
        {"1e308 * 10.0", "inf"},
        {"0.1 + 0.2", "0.30000000000000004"},
        {"(0.1 + 0.2) + 0.3", "0.6000000000000001"},
        {"0.1 + (0.2 + 0.3)", "0.6"},
    });
    check(ErrorRows{
        {"1.0 / 0.0", "division-by-zero", "division by zero", "/"},
        {"1.0 % 0.0", "division-by-zero", "division by zero", "%"},
        {"w / 0.0", "division-by-zero", "division by zero", "/"},
    });
}

// ---- comparisons, logic -------------------------------------------------------------------------

TEST(Eval, Comparisons) {
    check(Rows{
        {"-4 < 9", "true"},
        {"-4 <= -4", "true"},
        {"-4 > 9", "false"},
        {"9 >= 9", "true"},
        {"9 == 9", "true"},
        {"9 != 9", "false"},
        {"1.5 < 2.0", "true"},
        {"(inf - inf) == (inf - inf)", "false"},
        {"(inf - inf) != (inf - inf)", "true"},
        {"0.0 == -(0.0)", "true"},
        {"true == false", "false"},
        {"false < true", "true"},
        {"true <= false", "false"},
        {"'a' < 'b'", "true"},
        {"'abc' < 'abd'", "true"},
        {"'a' == 'a'", "true"},
        {"'a' != \"a\"", "false"},
        {"'b' >= 'a'", "true"},
        {"'Z' < 'a'", "true"},
        {"s == 'hello'", "true"},
        {"2 + 3 == 4 + 1", "true"},
    });
    check(ErrorRows{
        {"1 == 1.0",
         "operand-type",
         "`==` takes two operands of one type, found int and real",
         "=="},
        {"1 + true", "operand-type", "`+` takes two operands of one type, found int and bool", "+"},
        {"true + true", "operand-type", "`+` takes int, real or str, found bool", "+"},
        {"'a' * 'b'", "operand-type", "`*` takes int or real, found str", "*"},
        {"1 && 2", "operand-type", "`&&` takes bool, found int", "&&"},
        {"!1", "operand-type", "`!` takes bool, found int", "!1"},
        {"-true", "operand-type", "`-` takes int or real, found bool", "-true"},
        {"1 is 'a'",
         "operand-type",
         "`is` takes two operands of one type, found int and str",
         "is"},
    });
}

TEST(Eval, Logic) {
    check(Rows{
        {"true && true", "true"},
        {"true && false", "false"},
        {"false || true", "true"},
        {"false || false", "false"},
        {"true ^ true", "false"},
        {"true ^ false", "true"},
        {"true => false", "false"},
        {"true => true", "true"},
        {"false => false", "true"},
        {"!true", "false"},
        {"!!f", "false"},
        {"t && f => f", "true"},
        {"t => f => t", "true"},
    });
}

TEST(Eval, LogicStopsWhereTheLeftSideDecides) {
    check(Rows{
        {"false && 1 / 0 > 1", "false"},
        {"true || 1 / 0 > 1", "true"},
        {"false => 1 / 0 > 1", "true"},
        {"false && missing", "false"},
        {"true || nil", "true"},
        {"true && nil", "null"},
        {"?nil && nil > 0", "false"},
        {"false && a > 11", "[false, false, false, false, false]"},
        {"true || a > 11", "[true, true, true, true, true]"},
        {"false => a[9] > 0", "true"},
        {"true => a > 11", "[false, false, true, true, true]"},
        {"[false, false] && [1, 2] / 0 > 0", "[false, false]"},
        {"[true, true] || nil", "[true, true]"},
        {"nil > 0 && false", "null"},
        {"nil > 0 || true", "null"},
    });
    check(ErrorRows{
        {"true && 1 / 0 > 1", "division-by-zero", "division by zero", "/"},
        {"[true, false] && [1, 2] / 0 > 0", "division-by-zero", "division by zero", "/"},
        {"1 / 0 > 1 && false", "division-by-zero", "division by zero", "/"},
    });
}

// ---- casts, functions ---------------------------------------------------------------------------

TEST(Eval, Casts) {
    check(Rows{
        {"int(4.0)", "4"},
        {"int(-2.7)", "-2"},
        {"int(2.7)", "2"},
        {"int(true)", "1"},
        {"int(7)", "7"},
        {"real(3)", "3.0"},
        {"real(true)", "1.0"},
        {"real(2.5)", "2.5"},
        {"bool(0)", "false"},
        {"bool(-2)", "true"},
        {"bool(0.0)", "false"},
        {"bool(0.5)", "true"},
        {"bool(inf - inf)", "true"},
        {"int(inf)", "9223372036854775807"},
        {"int(-inf)", "-9223372036854775808"},
        {"int(-9223372036854775808.0)", "-9223372036854775808"},
        {"int()", "0"},
        {"real()", "0.0"},
        {"bool()", "false"},
        {"T()", "0.0"},
        {"T(3)", "3.0"},
        {"I(3.5)", "3"},
        {"I()", "0"},
        {"U(3)", "unknown"},
        {"int([1.5, -1.5])", "[1, -1]"},
        {"real(9223372036854775807)", "9.223372036854776e+18"},
    });
    check(ErrorRows{
        {"int(1e19)", "int-overflow", "`int(1e+19)` does not fit a 64-bit int", "int(1e19)"},
        {"int(9223372036854775808.0)",
         "int-overflow",
         "`int(9.223372036854776e+18)` does not fit a 64-bit int",
         "int(9223372036854775808.0)"},
        {"int(inf - inf)", "bad-argument", "nan has no int value", "int(inf - inf)"},
        {"int('3')", "bad-cast", "cast from str to int", "int('3')"},
        {"str(3)", "bad-cast", "cast from int to str", "str(3)"},
    });
}

TEST(Eval, Functions) {
    check(Rows{
        {"abs(-3)", "3"},
        {"abs(-2.5)", "2.5"},
        {"sign(-3)", "-1"},
        {"sign(0)", "0"},
        {"sign(5)", "1"},
        {"sign(-2.5)", "-1.0"},
        {"sign(0.0)", "0.0"},
        {"sign(-(0.0))", "0.0"},
        {"`sqrt`(2.25)", "1.5"},
        {"exp(0.0)", "1.0"},
        {"log(1.0)", "0.0"},
        {"sin(0.0)", "0.0"},
        {"cos(0.0)", "1.0"},
        {"tan(0.0)", "0.0"},
        {"asin(0.0)", "0.0"},
        {"acos(1.0)", "0.0"},
        {"atan(0.0)", "0.0"},
        {"sinh(0.0)", "0.0"},
        {"cosh(0.0)", "1.0"},
        {"tanh(0.0)", "0.0"},
        {"asinh(0.0)", "0.0"},
        {"acosh(1.0)", "0.0"},
        {"atanh(0.0)", "0.0"},
        {"erf(0.0)", "0.0"},
        {"round(2.5)", "3.0"},
        {"round(-2.5)", "-3.0"},
        {"round(0.49999999999999994)", "0.0"},
        {"floor(-1.25)", "-2.0"},
        {"ceil(-1.75)", "-1.0"},
        {"frac(1.25)", "0.25"},
        {"frac(-1.25)", "-0.25"},
        {"sqrt(-1.0) == sqrt(-1.0)", "false"},
        {"log(0.0)", "-inf"},
        {"atanh(1.0)", "inf"},
        {"int(round(1.75))", "2"},
    });
    check(ErrorRows{
        {"sqrt(4)", "operand-type", "`sqrt` takes real, found int", "sqrt(4)"},
        {"abs(true)", "operand-type", "`abs` takes int or real, found bool", "abs(true)"},
        {"`sqr`(4.0)", "no-function", "no built-in function `sqr`", "`sqr`"},
    });
}

// ---- strings ------------------------------------------------------------------------------------

TEST(Eval, Strings) {
    check(Rows{
        {"s[0]", "h"},
        {"s[-1]", "o"},
        {"s[1:3]", "el"},
        {"s[:2]", "he"},
        {"s[3:]", "lo"},
        {"s[:-1]", "hell"},
        {"s[0:5]", "hello"},
        {"s[:0] == ''", "true"},
        {"s[::-1]", "olleh"},
        {"s[::2]", "hlo"},
        {"s[[0, 4, 0]]", "hoh"},
        {"s[[true, false, true, false, false]]", "hl"},
        {"'abc'[1]", "b"},
        {"g[2]", "ü"},
        {"g[-1]", "文"},
        {"g[5:]", "中文"},
        {"s + ' ' + 'world'", "hello world"},
        {"'' + ''", ""},
        {"str()", ""},
    });
    check(ErrorRows{
        {"s[5]", "index-range", "index 5 is out of range for a string of 5 characters", "5"},
        {"'a'[1]", "index-range", "index 1 is out of range for a string of 1 character", "1"},
        {"s[0:6]", "index-range", "range end 6 is out of range for a string of 5 characters", "6"},
        {"s[[true]]",
         "length-mismatch",
         "mask of 1 item for a string of 5 characters, expected one length",
         "[true]"},
    });
}

TEST(Eval, Formatting) {
    check(Rows{
        {"'a = {k + 2}'", "a = 5"},
        {"'{k}{k}'", "33"},
        {"'{r} {1e-5} {inf} {2.0}'", "2.5 1e-05 inf 2.0"},
        {"'{t}, {f}'", "true, false"},
        {"'{s}!'", "hello!"},
        {"'{a}'", "[10, 11, 12, 13, 14]"},
        {"\"{['a', 'it']}\"", "['a', 'it']"},
        {"'{[]}'", "[]"},
        {"'\\{{k}\\}'", "{3}"},
        {"'{n + 1} {dims}'", "n + 1 [n, 3, m]"},
        {"'{missing}'", "unknown"},
    });
    check(ErrorRows{
        {"'x {1 / 0}'", "division-by-zero", "division by zero", "/"},
    });
}

}  // namespace
}  // namespace lemma::sknd
