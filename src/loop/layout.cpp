#include "loop/layout.h"

namespace lemma::loop {

Layout row_major(const tensor::Shape& shape) {
    Layout layout;
    layout.strides.assign(shape.size(), 1);
    int64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
        layout.strides[axis] = stride;
    }
    return layout;
}

}  // namespace lemma::loop
