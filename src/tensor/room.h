// tensor/room.h — how many elements a computed tensor may have, and what memory it needs.
#pragma once

#include "tensor/shape.h"

namespace lemma::tensor {

// The most elements that a computed tensor may have: its bytes, and sums of many such, fit.
inline constexpr int64_t kMaxElements = int64_t{1} << 33;

// The number of elements; empty when an extent is negative, or there are more than kMaxElements.
std::optional<int64_t> bounded_volume(const Shape& shape);
// How many elements row-major memory must have room for, so that every index that is inside of its
// own axis has a place, even where another axis has no elements: that one counts as 1. Empty when
// that is more than kMaxElements, or an extent is negative.
std::optional<int64_t> room(const Shape& shape);

}  // namespace lemma::tensor
