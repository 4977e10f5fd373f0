// SPDX-License-Identifier: Apache-2.0
// engine/carried.h — the value of an output that becomes an input of the next run. It has room for
// more along its growing axis, so that the next run extends it in place.
#pragma once

#include "base/result.h"
#include "loop/stage/dynamic.h"
#include "runtime/memory.h"
#include "tensor/tensor.h"

namespace lemma::engine {

class CarriedValue {
public:
    CarriedValue(loop::CarriedPair pair, bool grows, tensor::DType dtype)
        : pair_(pair), grows_(grows), dtype_(dtype) {}

    const loop::CarriedPair& pair() const { return pair_; }
    bool grows() const { return grows_; }
    tensor::DType dtype() const { return dtype_; }
    bool has_value() const { return has_value_ && !tried_; }
    const tensor::Shape& shape() const { return shape_; }
    int64_t room() const { return room_; }  // extent of the growing axis in memory
    void* data() const { return memory_.data(); }

    // Makes room for an extent of `length` along the axis; the value stays.
    Result<void> reserve(int64_t length);
    // The value counts only when a run has continued it.
    void set_tried() { tried_ = true; }
    // The value is now one of this shape; its elements are in place.
    void set_shape(tensor::Shape shape);
    // Sets elements to zero: those from the present extent up to `length`.
    void clear_to(int64_t length);
    // Takes a copy of elements in row-major order.
    Result<void> assign(tensor::Shape shape, const void* elements);
    // A copy in row-major order.
    Result<tensor::Tensor> value() const;
    void drop();

private:
    // Rows of `row` elements, `count` of which lie along the axis; there are `outer` of these.
    struct Rows {
        int64_t outer = 1, count = 1, row = 1;
    };
    Rows rows_of(const tensor::Shape& shape) const;
    Result<void> make_memory(const tensor::Shape& shape, int64_t room);

    loop::CarriedPair pair_;
    bool grows_;
    tensor::DType dtype_;
    bool has_value_ = false;
    bool tried_ = false;  // the value is the caller's, and no run has succeeded with it
    tensor::Shape shape_;
    int64_t room_ = 0;
    runtime::Memory memory_;
};

}  // namespace lemma::engine
