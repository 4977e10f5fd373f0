// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sknd/eval/eval_cases_test.h"

namespace lemma::sknd {
namespace {

// ---- symbols ------------------------------------------------------------------------------------

TEST(Eval, SymbolicScalars) {
    check(Rows{
        {"n + 1", "n + 1"},
        {"2 * n + n", "3*n"},
        {"n - n", "0"},
        {"n * m / m", "n"},
        {"n \\ 4", "(n + 3)/4"},
        {"(n - 1) / 2 + 1", "(n + 1)/2"},
        {"n % 4", "n % 4"},
        {"n << 5", "min(n, 5)"},
        {"n ** 2", "n**2"},
        {"-n", "-n"},
        {"n >= 0", "true"},
        {"n < 0", "false"},
        {"n > 3", "n >= 4"},
        {"n == 3", "n == 3"},
        {"n != n", "false"},
        {"m > 0 && n >= 0", "true"},
        {"c && t", "c"},
        {"c && f", "false"},
        {"c || !c", "true"},
        {"c => c", "true"},
        {"c ^ t", "!c"},
        {"n > 5 => n > 7", "n >= 8 || n <= 5"},
        {"!c", "!c"},
        {"real(n)", "real(n)"},
        {"int(w)", "int(w)"},
        {"bool(n)", "n != 0"},
        {"abs(n)", "n"},
        {"abs(z)", "abs(z)"},
        {"sqrt(w)", "sqrt(w)"},
        {"w + 1.0", "w + 1.0"},
        {"u + 'a'", "u + 'a'"},
        {"two + 1", "3"},
        {"two is 2", "true"},
        {"n is n", "true"},
        {"n + 1 is 1 + n", "true"},
        {"n is 3", "false"},
        {"n is m", "false"},
        {"n in [1, n]", "true"},
        {"n in [1, m]", "n == m || n == 1"},
        {"n in [-1]", "false"},
    });
    check(ErrorRows{
        {"n / (m - m)", "division-by-zero", "division by zero", "/"},
        {"n ** -1", "bad-argument", "negative exponent of an int power", "n ** -1"},
        {"(n + 9223372036854775807) + 1",
         "int-overflow",
         "result of `+` does not fit a 64-bit int",
         "(n + 9223372036854775807) + 1"},
    });
}

TEST(Eval, SymbolicSelect) {
    check(Rows{
        {"c ? 1 : 2", "c ? 1 : 2"},
        {"c ? n : n", "n"},
        {"n >= 0 ? 1 : 2", "1"},
        {"c ? [1, 2] : 0", "[c ? 1 : 0, c ? 2 : 0]"},
        {"c ? [1, 2] : [3, 4]", "[c ? 1 : 3, c ? 2 : 4]"},
        {"c ? [1, 2] : [3]", "unknown"},
        {"c ? 1", "unknown"},
        {"c ? nil : 1", "null"},
        {"[c, true] ? 1 : 2", "[c ? 1 : 2, 1]"},
        {"[c, false] ? 1", "null"},
        {"[c, true] ? 1", "unknown"},
        {"dims is 3 ? 0 : dims", "[n, 0, m]"},
        {"dims == 3", "[n == 3, true, m == 3]"},
    });
    check(ErrorRows{
        {"c ? 1 : 2.0",
         "type-mismatch",
         "branches of `?:` are int and real, expected one type",
         "c ? 1 : 2.0"},
    });
}

TEST(Eval, SymbolicPacks) {
    check(Rows{
        {"dims", "[n, 3, m]"},
        {"dims * 2", "[2*n, 6, 2*m]"},
        {"dims + ..", "n + m + 3"},
        {"dims * ..", "3*n*m"},
        {"dims << ..", "min(n, m, 3)"},
        {"dims + ...", "[n, n + 3, n + m + 3]"},
        {"dims[0]", "n"},
        {"dims[::-1]", "[m, 3, n]"},
        {"(dims >= 0) && ..", "true"},
        {"(dims > 0) && ..", "n >= 1"},
        {"(dims == 3) || ..", "true"},
        {"dims < ..", "n <= 2 && m >= 4"},
        {"dims == ..", "n == 3 && m == 3"},
        {"dims != ..", "n != m && n != 3 && m != 3"},
        {"[n, n] != ..", "false"},
        {"[n, n + 1] != ..", "true"},
        {"[n, n + 1] < ..", "true"},
        {"dims := ..", "null"},
        {"[n ..(2)]", "[n, n]"},
        {"[n:n + 3]", "[n, n + 1, n + 2]"},
        {"[n + 4:n:-2]", "[n + 4, n + 2]"},
        {"[n:n]", "[]"},
        {"[n:0]", "[]"},
        {"[0:n]", "unknown"},
        {"[0:4:n]", "unknown"},
        {"[1 ..(n)]", "unknown"},
        {"[1 ..(c)]", "unknown"},
        {"a[n]", "unknown"},
        {"a[n:]", "unknown"},
        {"a[[n, 0]]", "unknown"},
        {"a[[c, true, true, true, true]]", "unknown"},
        {"a[0] <- n", "[n, 11, 12, 13, 14]"},
        {"u[0]", "unknown"},
        {"s[n]", "unknown"},
    });
}

// ---- tensors ------------------------------------------------------------------------------------

TEST(Eval, TensorsAreUnknown) {
    check(Rows{
        {"x[1, 2]", "unknown"},
        {"x[1,] + 1", "unknown"},
    });
}

}  // namespace
}  // namespace lemma::sknd
