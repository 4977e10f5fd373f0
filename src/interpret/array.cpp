// SPDX-License-Identifier: Apache-2.0
#include "interpret/array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "tensor/room.h"

namespace lemma::interpret {

namespace {

int64_t wrap(tensor::DType dtype, int64_t value) {
    switch (dtype) {
        case tensor::DType::I8:
            return static_cast<int8_t>(value);
        case tensor::DType::I16:
            return static_cast<int16_t>(value);
        case tensor::DType::I32:
            return static_cast<int32_t>(value);
        case tensor::DType::U8:
            return static_cast<uint8_t>(value);
        case tensor::DType::U16:
            return static_cast<uint16_t>(value);
        case tensor::DType::U32:
            return static_cast<uint32_t>(value);
        case tensor::DType::Bool:
            return value != 0;
        default:
            return value;
    }
}

std::unexpected<Error> no_memory(const tensor::Shape& shape) {
    return std::unexpected(Error{
        fmt::format("there is no memory for a tensor of shape {}", tensor::shape_text(shape))});
}

// An array without its elements.
Result<Array> described(tensor::DType dtype, tensor::Shape shape) {
    const auto count = tensor::bounded_volume(shape);
    if (!count) {
        return std::unexpected(
            Error{fmt::format("a tensor of shape {} is too large", tensor::shape_text(shape))});
    }
    Array array;
    array.dtype = dtype;
    array.shape = std::move(shape);
    array.size = *count;
    return array;
}

// Widens elements in one pass over memory, because weights are large. Elements of a mapped file may
// be unaligned.
template <class T, class Wide>
void widen(const tensor::Tensor& tensor, std::vector<Wide>& to) {
    const std::byte* from = tensor.bytes().data();
    to.resize(static_cast<size_t>(tensor.size()));
    for (Wide& wide : to) {
        T value;
        std::memcpy(&value, from, sizeof(T));
        wide = static_cast<Wide>(value);
        from += sizeof(T);
    }
}

}  // namespace

Result<Array> Array::zeros(tensor::DType dtype, tensor::Shape shape) {
    LEMMA_TRY(Array array, described(dtype, std::move(shape)));
    const auto size = static_cast<size_t>(array.size);
    try {
        if (dtype == tensor::DType::Str) {
            array.strings.resize(size);
        } else if (tensor::is_real(dtype)) {
            array.reals.resize(size);
        } else {
            array.integers.resize(size);
        }
    } catch (const std::bad_alloc&) {
        return no_memory(array.shape);
    }
    return array;
}

void Array::round() {
    if (dtype == tensor::DType::F32) {
        for (double& value : reals) value = static_cast<double>(static_cast<float>(value));
    } else if (dtype != tensor::DType::F64) {
        for (double& value : reals) value = tensor::round_to(dtype, value);
    }
    if (dtype != tensor::DType::I64) {
        for (int64_t& value : integers) value = wrap(dtype, value);
    }
}

Array cut(const Array& array, const tensor::Shape& shape) {
    auto result = Array::zeros(array.dtype, shape);
    if (!result) return array;
    tensor::Shape index(shape.size(), 0);
    for (int64_t to = 0; to < result->size; ++to) {
        int64_t from = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            from = from * array.shape[axis] + index[axis];
        }
        const auto t = static_cast<size_t>(to);
        const auto f = static_cast<size_t>(from);
        if (!array.reals.empty()) result->reals[t] = array.reals[f];
        if (!array.integers.empty()) result->integers[t] = array.integers[f];
        if (!array.strings.empty()) result->strings[t] = array.strings[f];
        for (size_t axis = shape.size(); axis-- > 0;) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
    return std::move(*result);
}

namespace {

Result<Array> widened(const tensor::Tensor& tensor) {
    LEMMA_TRY(Array array, described(tensor.dtype(), tensor.shape()));
    switch (tensor.dtype()) {
        case tensor::DType::F32:
            widen<float>(tensor, array.reals);
            return array;
        case tensor::DType::F64:
            widen<double>(tensor, array.reals);
            return array;
        case tensor::DType::I8:
            widen<int8_t>(tensor, array.integers);
            return array;
        case tensor::DType::U8:
            widen<uint8_t>(tensor, array.integers);
            return array;
        case tensor::DType::I32:
            widen<int32_t>(tensor, array.integers);
            return array;
        case tensor::DType::I64:
            widen<int64_t>(tensor, array.integers);
            return array;
        case tensor::DType::Str:
            array.strings = tensor.strings();
            return array;
        default:
            break;
    }
    const auto size = static_cast<size_t>(array.size);
    if (tensor::is_real(tensor.dtype())) {
        array.reals.resize(size);
        for (size_t i = 0; i < size; ++i) array.reals[i] = tensor.real(static_cast<int64_t>(i));
    } else {
        array.integers.resize(size);
        for (size_t i = 0; i < size; ++i)
            array.integers[i] = tensor.integer(static_cast<int64_t>(i));
    }
    return array;
}

}  // namespace

Result<Array> to_array(const tensor::Tensor& tensor) {
    try {
        return widened(tensor);
    } catch (const std::bad_alloc&) {
        return no_memory(tensor.shape());
    }
}

Result<tensor::Tensor> to_tensor(const Array& array) {
    LEMMA_TRY(tensor::Tensor tensor, tensor::Tensor::zeros(array.dtype, array.shape));
    if (array.dtype == tensor::DType::Str) {
        tensor.strings() = array.strings;
    } else if (tensor::is_real(array.dtype)) {
        for (int64_t i = 0; i < array.size; ++i)
            tensor.set_real(i, array.reals[static_cast<size_t>(i)]);
    } else {
        for (int64_t i = 0; i < array.size; ++i) {
            tensor.set_integer(i, array.integers[static_cast<size_t>(i)]);
        }
    }
    return tensor;
}

}  // namespace lemma::interpret
