// SPDX-License-Identifier: Apache-2.0
// tests/support/number_files.h — runs the number files in tests/stdlib, each in a separate process,
// so that a crash is one failure and the other files are still tested.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/number_file.h"

namespace lemma::testing {

// Sums over all files.
struct NumberCounts {
    size_t passed = 0;
    size_t failed = 0;
    size_t varied = 0;   // of those: with other shapes than in the file
    size_t refused = 0;  // other shapes that the operator refuses
    // Sums over all plans.
    size_t kernels = 0, tiled = 0, interpreted = 0, direct = 0, on_device = 0;
};

// Tests the cases of a file and counts the results.
using NumberFileTest = std::function<void(
    const std::string& name, const std::vector<NumberCase>& cases, NumberCounts& counts)>;

// Files whose paths contain one of the filters; all files without filters. No file is a failure.
NumberCounts test_number_files(const std::vector<std::string>& filters, const NumberFileTest& test);

// Prints to standard output at once.
void say(const std::string& text);

}  // namespace lemma::testing
