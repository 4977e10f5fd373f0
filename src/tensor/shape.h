// tensor/shape.h — extents of an array on the host, with checked arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lemma::tensor {

using Shape = std::vector<int64_t>;

// The number of elements; empty when an extent is negative or the product does not fit.
std::optional<int64_t> volume(const Shape& shape);
// "[2, 3]"
std::string shape_text(const Shape& shape);

}  // namespace lemma::tensor
