// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/layout.h"

#include <algorithm>

#include "base/check.h"
#include "base/checked.h"
#include "tensor/room.h"

namespace lemma::loop {

Layout row_major(const tensor::Shape& shape) {
    const auto elements = tensor::bounded_volume(shape);
    LEMMA_CHECK(elements);
    Layout layout;
    layout.strides.assign(shape.size(), 0);
    int64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0 && *elements > 0;) {
        layout.strides[axis] = stride;
        stride *= shape[axis];
    }
    return layout;
}

int64_t total_elements(int64_t elements, int64_t times) {
    return std::min(checked_mul(elements, times).value_or(kAbsurdElements), kAbsurdElements);
}

}  // namespace lemma::loop
