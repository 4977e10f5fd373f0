// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"

namespace lemma::tensor {

std::optional<int64_t> volume(const Shape& shape) {
    if (std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; })) {
        return std::nullopt;
    }
    // An empty tensor is small, whatever its other extents.
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
    int64_t count = 1;
    for (const int64_t extent : shape) {
        const auto product = checked_mul(count, extent);
        if (!product) return std::nullopt;
        count = *product;
    }
    return count;
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace lemma::tensor
