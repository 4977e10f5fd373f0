// SPDX-License-Identifier: Apache-2.0
// tensor/shape.h — extents of an array on the host, with checked arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lemma::tensor {

using Shape = std::vector<int64_t>;

// Upper bound of the rank in files; it is NumPy's limit.
inline constexpr size_t kMaxRank = 64;

// The number of elements; empty if an extent is negative or on overflow.
std::optional<int64_t> volume(const Shape& shape);
// "[2, 3]"
std::string shape_text(const Shape& shape);

}  // namespace lemma::tensor
