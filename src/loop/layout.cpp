#include "loop/layout.h"

#include <algorithm>

namespace lemma::loop {

Layout row_major(const tensor::Shape& shape) {
    Layout layout;
    layout.strides.assign(shape.size(), 1);
    int64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
        layout.strides[axis] = stride;
        stride *= std::max<int64_t>(shape[axis], 1);
    }
    return layout;
}

}  // namespace lemma::loop
