// SPDX-License-Identifier: Apache-2.0
// diff/numbers.h — the tensors of two runs on the same inputs, pair by pair.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interpret/array.h"

namespace lemma::diff {

struct Tolerance {
    double relative = 1e-4;
    double absolute = 1e-5;
};

struct NumberPair {
    std::string a, b;  // names of tensors
    bool output = false;
    std::string type;
    bool equal = true;    // within the tolerance
    std::string trouble;  // why the tensors cannot be compared: `shape [2] and [3]`
    double max_abs = 0, max_rel = 0;
    int64_t differing = 0;  // elements beyond the tolerance
    int64_t elements = 0;
    std::string where;  // of the largest difference: `[1, 2]`
    double value_a = 0, value_b = 0;
};

struct Numbers {
    Tolerance tolerance;
    std::string engine_a, engine_b;
    std::vector<NumberPair> pairs;  // in execution order
    std::optional<size_t> first;    // that differs

    bool equal() const { return !first; }
};

// |a - b| <= absolute + relative * |b| for reals. NaN equals NaN. Other values must be equal.
NumberPair compare_arrays(const interpret::Array& a,
                          const interpret::Array& b,
                          const Tolerance& tolerance);

}  // namespace lemma::diff
