// SPDX-License-Identifier: Apache-2.0
#include "tensor/room.h"

namespace lemma::tensor {

std::optional<int64_t> bounded_volume(const Shape& shape) {
    const auto count = volume(shape);
    return count && *count <= kMaxElements ? count : std::nullopt;
}

std::optional<int64_t> room(const Shape& shape) {
    Shape filled = shape;
    for (int64_t& extent : filled) {
        if (extent == 0) extent = 1;
    }
    return bounded_volume(filled);
}

}  // namespace lemma::tensor
