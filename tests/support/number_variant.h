// tests/support/number_variant.h — cases of number files with other values and other shapes: what
// they expect is gone then, and one way to run them is compared with another.
#pragma once

#include <cstdint>
#include <optional>

#include "support/number_file.h"

namespace lemma::testing {

// Which extents of the inputs grow.
enum class Growth : uint8_t {
    None,
    All,
    Axis,    // those at one position, from the front or from the back
    Extent,  // those that are one and the same number
};

// The case with these extents multiplied by the factor, at most; nothing if there are none, or if
// the inputs became too large. Values are repeated.
std::optional<NumberCase> grown(const NumberCase& test,
                                Growth growth,
                                int64_t factor,
                                uint64_t seed);

// The case with variables in place of the reals behind its first input, as models have weights;
// nothing if there are none.
std::optional<NumberCase> with_weights(const NumberCase& test);

// Values are repeated along all axes, up to the shape.
interpret::Array repeated(const interpret::Array& array, const tensor::Shape& shape);

// Others in the range of those that are there: reals, whose sums of a few are exact in f32, and
// bools. Integers stay as they are, for they may be indices.
interpret::Array random_like(const interpret::Array& array, uint64_t seed);

}  // namespace lemma::testing
