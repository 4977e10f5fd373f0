// SPDX-License-Identifier: Apache-2.0
// tensor/room.h — the upper bound of elements in a computed tensor, and the memory that it needs.
#pragma once

#include "tensor/shape.h"

namespace lemma::tensor {

// Upper bound of elements in a computed tensor. Its bytes, and sums of many such, do not overflow.
inline constexpr int64_t kMaxElements = int64_t{1} << 33;

// The number of elements; empty if an extent is negative or the number exceeds kMaxElements.
std::optional<int64_t> bounded_volume(const Shape& shape);
// The elements that row-major memory needs so that every valid index of each axis has an address.
// An axis with extent 0 counts as 1. Empty if the number exceeds kMaxElements, or an extent is
// negative.
std::optional<int64_t> room(const Shape& shape);

}  // namespace lemma::tensor
