// SPDX-License-Identifier: Apache-2.0
#include "engine/data.h"

#include <cstring>

#include "base/check.h"
#include "tensor/tensor.h"

namespace lemma::engine {

namespace {

using tensor::DType;

// Calls visit(element, address) for each element in row-major order.
template <class Visit>
void walk(const loop::BufferView& place, int64_t size, const Visit& visit) {
    if (place.layout == loop::row_major(place.shape)) {
        for (int64_t i = 0; i < size; ++i) visit(i, i);
        return;
    }
    LEMMA_CHECK(place.layout.split < 0);
    tensor::Shape index(place.shape.size(), 0);
    for (int64_t i = 0; i < size; ++i) {
        int64_t at = place.layout.offset;
        for (size_t axis = 0; axis < index.size(); ++axis) {
            at += index[axis] * place.layout.strides[axis];
        }
        visit(i, at);
        for (size_t axis = index.size(); axis-- > 0;) {
            if (++index[axis] < place.shape[axis]) break;
            index[axis] = 0;
        }
    }
}

// Calls `f` with a value of the tensor's element type in memory.
template <class F>
void with_type(DType dtype, const F& f) {
    switch (dtype) {
        case DType::F32:
            return f(float());
        case DType::F64:
            return f(double());
        case DType::I8:
            return f(int8_t());
        case DType::I16:
            return f(int16_t());
        case DType::I32:
            return f(int32_t());
        case DType::I64:
            return f(int64_t());
        case DType::U8:
            return f(uint8_t());
        case DType::U16:
            return f(uint16_t());
        case DType::U32:
            return f(uint32_t());
        case DType::U64:
            return f(uint64_t());
        case DType::Bool:
            return f(uint8_t());
        case DType::F16:
        case DType::BF16:
        case DType::Str:
            return;
    }
}

bool is_half(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

}  // namespace

void to_memory(const interpret::Array& array, const loop::BufferView& place, void* memory) {
    if (is_half(place.dtype)) {
        auto* const to = static_cast<uint16_t*>(memory);
        const bool f16 = place.dtype == DType::F16;
        walk(place, array.size, [&](int64_t i, int64_t at) {
            const double value = array.reals[static_cast<size_t>(i)];
            to[at] = f16 ? tensor::to_f16(value) : tensor::to_bf16(value);
        });
        return;
    }
    with_type(place.dtype, [&]<class T>(T) {
        auto* const to = static_cast<T*>(memory);
        if (array.reals.empty()) {
            walk(place, array.size, [&](int64_t i, int64_t at) {
                to[at] = static_cast<T>(array.integers[static_cast<size_t>(i)]);
            });
        } else {
            walk(place, array.size, [&](int64_t i, int64_t at) {
                to[at] = static_cast<T>(array.reals[static_cast<size_t>(i)]);
            });
        }
    });
}

Result<interpret::Array> from_memory(const loop::BufferView& place, const void* memory) {
    LEMMA_TRY(interpret::Array array, interpret::Array::zeros(place.dtype, place.shape));
    if (is_half(place.dtype)) {
        const auto* const from = static_cast<const uint16_t*>(memory);
        const bool f16 = place.dtype == DType::F16;
        walk(place, array.size, [&](int64_t i, int64_t at) {
            array.reals[static_cast<size_t>(i)] =
                f16 ? tensor::from_f16(from[at]) : tensor::from_bf16(from[at]);
        });
        return array;
    }
    with_type(place.dtype, [&]<class T>(T) {
        const auto* const from = static_cast<const T*>(memory);
        if (array.reals.empty()) {
            walk(place, array.size, [&](int64_t i, int64_t at) {
                array.integers[static_cast<size_t>(i)] = static_cast<int64_t>(from[at]);
            });
        } else {
            walk(place, array.size, [&](int64_t i, int64_t at) {
                array.reals[static_cast<size_t>(i)] = static_cast<double>(from[at]);
            });
        }
    });
    return array;
}

}  // namespace lemma::engine
