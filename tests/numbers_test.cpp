// SPDX-License-Identifier: Apache-2.0
// numbers_test [FILTER…]: runs the operators of the standard library and compares the results with
// tests/stdlib/*/*.numbers. With filters, it runs only files whose path contains one of them.
#include <fmt/format.h>

#include "support/number_files.h"
#include "support/number_run.h"

namespace lemma::testing {

namespace {

void test_cases(const std::string& name,
                const std::vector<NumberCase>& cases,
                NumberCounts& counts) {
    for (const NumberCase& test : cases) {
        const std::string report = run_numbers(test);
        ++(report.empty() ? counts.passed : counts.failed);
        if (report.empty()) continue;
        say(fmt::format("FAILED {}:{}: {}\n{}\n", name, test.line, test.name, report));
    }
}

int run(const std::vector<std::string>& filters) {
    const NumberCounts counts = test_number_files(filters, test_cases);
    say(fmt::format("{} passed, {} failed\n", counts.passed, counts.failed));
    return counts.failed == 0 ? 0 : 1;
}

}  // namespace

}  // namespace lemma::testing

int main(int argc, char** argv) { return lemma::testing::run({argv + 1, argv + argc}); }
