// tests/support/golden_run.h — runs the commands of a golden file inside this process and compares
// what they print; or rewrites the file so that it expects what they print.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/golden_file.h"

namespace lemma::testing {

// What the commands of one file printed, with the folders taken out of file names.
struct GoldenOutput {
    std::string out;
    std::string err;
    std::string combined;               // stdout and stderr of each command in turn
    std::vector<std::string> troubles;  // wrong exit status, unknown command
};

GoldenOutput run_golden(const GoldenFile& file);

// Empty when the output is as expected, else what differs.
std::string compare_golden(const GoldenFile& file, const GoldenOutput& output);

// The file with CHECK lines (and NAME.out, if there is one) that match the output. A CHECK line
// goes directly above the line it speaks of where the order of the output allows it.
GoldenFile updated_golden(const GoldenFile& file, const GoldenOutput& output);

// Lines that are missing begin with `-`, lines too many with `+`, equal ones with a blank.
std::string diff_lines(const std::vector<std::string>& expected,
                       const std::vector<std::string>& actual);

}  // namespace lemma::testing
