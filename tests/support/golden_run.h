// SPDX-License-Identifier: Apache-2.0
// tests/support/golden_run.h — runs the commands of a golden file in this process. Compares their
// output with the file, or updates the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/golden_file.h"

namespace lemma::testing {

// The output of the commands of one file, without folders in file names.
struct GoldenOutput {
    std::string out;
    std::string err;
    std::string combined;               // stdout and stderr of each command in turn
    std::vector<std::string> troubles;  // wrong exit status, unknown command
};

GoldenOutput run_golden(const GoldenFile& file);

// The differences; empty if the output is as expected.
std::string compare_golden(const GoldenFile& file, const GoldenOutput& output);

// The file with CHECK lines (and NAME.out, if it exists) that match the output. A CHECK line is
// placed directly above the line that it mentions, if the order of the output allows it.
GoldenFile updated_golden(const GoldenFile& file, const GoldenOutput& output);

// Missing lines begin with `-`, additional lines with `+`, equal lines with a space.
std::string diff_lines(const std::vector<std::string>& expected,
                       const std::vector<std::string>& actual);

}  // namespace lemma::testing
