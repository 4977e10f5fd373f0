// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "base/check.h"
#include "base/checked.h"
#include "tensor/convert.h"

namespace lemma::tensor {

namespace {

template <class T>
T load(const void* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

template <class T>
void store(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof(T));
}

}  // namespace

Result<Tensor> Tensor::zeros(DType dtype, Shape shape, int64_t max_bytes) {
    const auto count = volume(shape);
    const auto bytes = count ? checked_mul(*count, dtype_size(dtype)) : std::nullopt;
    if (!bytes || *bytes > max_bytes) {
        return std::unexpected(
            Error{fmt::format("a tensor of {} and shape {} is larger than {} bytes",
                              dtype_name(dtype),
                              shape_text(shape),
                              max_bytes)});
    }
    Tensor tensor;
    tensor.dtype_ = dtype;
    tensor.shape_ = std::move(shape);
    tensor.size_ = *count;
    try {
        if (dtype == DType::Str) {
            tensor.bytes_.clear();
            tensor.strings_.resize(static_cast<size_t>(*count));
        } else {
            tensor.bytes_.assign(static_cast<size_t>(*bytes), std::byte{0});
        }
    } catch (const std::bad_alloc&) {
        return std::unexpected(
            Error{fmt::format("there is no memory for a tensor of {} and shape {}",
                              dtype_name(dtype),
                              shape_text(tensor.shape_))});
    }
    return tensor;
}

Tensor Tensor::shared(DType dtype, Shape shape, SharedBytes bytes) {
    Tensor tensor;
    tensor.dtype_ = dtype;
    tensor.size_ = volume(shape).value_or(0);
    tensor.shape_ = std::move(shape);
    LEMMA_CHECK(static_cast<int64_t>(bytes->size()) == tensor.size_ * dtype_size(dtype));
    tensor.bytes_.clear();
    tensor.shared_ = std::move(bytes);
    return tensor;
}

std::span<std::byte> Tensor::bytes() {
    if (shared_) {
        const auto theirs = std::as_const(*this).bytes();
        bytes_.assign(theirs.begin(), theirs.end());
        shared_.reset();
    }
    return bytes_;
}

int64_t integer_at(DType dtype, const void* at) {
    switch (dtype) {
        case DType::I8:
            return load<int8_t>(at);
        case DType::I16:
            return load<int16_t>(at);
        case DType::I32:
            return load<int32_t>(at);
        case DType::I64:
            return load<int64_t>(at);
        case DType::U8:
            return load<uint8_t>(at);
        case DType::U16:
            return load<uint16_t>(at);
        case DType::U32:
            return load<uint32_t>(at);
        case DType::U64:
            return static_cast<int64_t>(load<uint64_t>(at));
        case DType::Bool:
            return load<uint8_t>(at) != 0;
        default:
            return 0;
    }
}

double Tensor::real(int64_t index) const {
    LEMMA_CHECK(index >= 0 && index < size_);
    const std::byte* at = bytes().data() + index * dtype_size(dtype_);
    switch (dtype_) {
        case DType::F16:
            return from_f16(load<uint16_t>(at));
        case DType::BF16:
            return from_bf16(load<uint16_t>(at));
        case DType::F32:
            return load<float>(at);
        case DType::F64:
            return load<double>(at);
        case DType::U64:
            return static_cast<double>(load<uint64_t>(at));
        default:
            return static_cast<double>(integer(index));
    }
}

int64_t Tensor::integer(int64_t index) const {
    LEMMA_CHECK(index >= 0 && index < size_);
    if (is_real(dtype_)) return static_cast<int64_t>(real(index));
    if (dtype_ == DType::Str) return 0;
    return integer_at(dtype_, bytes().data() + index * dtype_size(dtype_));
}

void Tensor::set_real(int64_t index, double value) {
    LEMMA_CHECK(index >= 0 && index < size_);
    std::byte* at = bytes().data() + index * dtype_size(dtype_);
    switch (dtype_) {
        case DType::F16:
            store(at, to_f16(value));
            break;
        case DType::BF16:
            store(at, to_bf16(value));
            break;
        case DType::F32:
            store(at, static_cast<float>(value));
            break;
        case DType::F64:
            store(at, value);
            break;
        default:
            set_integer(index, static_cast<int64_t>(value));
    }
}

void Tensor::set_integer(int64_t index, int64_t value) {
    LEMMA_CHECK(index >= 0 && index < size_);
    std::byte* at = bytes().data() + index * dtype_size(dtype_);
    switch (dtype_) {
        case DType::I8:
        case DType::U8:
            store(at, static_cast<uint8_t>(value));
            break;
        case DType::I16:
        case DType::U16:
            store(at, static_cast<uint16_t>(value));
            break;
        case DType::I32:
        case DType::U32:
            store(at, static_cast<uint32_t>(value));
            break;
        case DType::I64:
        case DType::U64:
            store(at, value);
            break;
        case DType::Bool:
            store(at, static_cast<uint8_t>(value != 0));
            break;
        case DType::F16:
        case DType::BF16:
        case DType::F32:
        case DType::F64:
            set_real(index, static_cast<double>(value));
            break;
        case DType::Str:
            break;
    }
}

double round_to(DType dtype, double value) {
    switch (dtype) {
        case DType::F16:
            return from_f16(to_f16(value));
        case DType::BF16:
            return from_bf16(to_bf16(value));
        case DType::F32:
            return static_cast<float>(value);
        default:
            return value;
    }
}

}  // namespace lemma::tensor
