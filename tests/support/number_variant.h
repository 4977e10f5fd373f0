// SPDX-License-Identifier: Apache-2.0
// tests/support/number_variant.h — cases of number files with other values and shapes. They have no
// expected values; tests compare two ways to run them.
#pragma once

#include <cstdint>
#include <optional>

#include "support/number_file.h"

namespace lemma::testing {

// The extents of the inputs that grow.
enum class Growth : uint8_t {
    None,
    All,
    Axis,    // those at one position, from the front or from the back
    Extent,  // those with the same number
};

// The case with these extents multiplied by at most the factor; nothing if there are none, or if
// the inputs would be too large. Values are repeated.
std::optional<NumberCase> grown(const NumberCase& test,
                                Growth growth,
                                int64_t factor,
                                uint64_t seed);

// The case with variables instead of the reals after its first input, like the weights of a model;
// nothing if there are none.
std::optional<NumberCase> with_weights(const NumberCase& test);

// Repeats values along all axes, up to the shape.
interpret::Array repeated(const interpret::Array& array, const tensor::Shape& shape);

// Random reals and bools in the range of the given ones; short sums of the reals are exact in f32.
// Integers are unchanged, because they may be indices.
interpret::Array random_like(const interpret::Array& array, uint64_t seed);

}  // namespace lemma::testing
