// tests/support/number_files.h — goes through the files of numbers in tests/stdlib, each in a
// process of its own, so that a crash is one failure and the rest is tested all the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/number_file.h"

namespace lemma::testing {

// Of all files together.
struct NumberCounts {
    size_t passed = 0;
    size_t failed = 0;
    size_t varied = 0;   // of those: with other shapes than the file has
    size_t refused = 0;  // other shapes that the operator does not take
    size_t kernels = 0, tiled = 0, interpreted = 0, direct = 0;  // of all plans
};

// What is done with the cases of a file; counts what comes of it.
using NumberFileTest = std::function<void(
    const std::string& name, const std::vector<NumberCase>& cases, NumberCounts& counts)>;

// Files whose path has one of the filters in it, all if there are none. No file is a failure.
NumberCounts test_number_files(const std::vector<std::string>& filters, const NumberFileTest& test);

// To the standard output, at once.
void say(const std::string& text);

}  // namespace lemma::testing
