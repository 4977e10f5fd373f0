// SPDX-License-Identifier: Apache-2.0
// driver/certify/ranges.h — the ranges of inputs: `x=-1:1`, a JSON file, or recorded data with a
// margin.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "certify/certify.h"
#include "ir/program/program.h"

namespace lemma::driver {

using Ranges = std::map<std::string, certify::InputRange>;

struct RangeOptions {
    std::vector<std::string> ranges;  // NAME=LOW:HIGH
    std::string file;                 // JSON
    std::vector<std::string> data;    // [NAME=]FILE or a folder
    std::string margin;               // part of the width, added on both sides
};

// `x=-1:1` for all elements, `x=-1:1~1e-6` with an error of the given values.
Result<void> add_range(const std::string& argument, Ranges& ranges);
// `{"x": [-1, 1], "y": {"low": [0, 0], "high": [1, 2], "error": 1e-6}}`
Result<void> add_range_file(const std::string& path, Ranges& ranges);
// Later sources win: data, then the file, then the arguments.
Result<Ranges> read_ranges(const ir::Program& program, const RangeOptions& options);

}  // namespace lemma::driver
