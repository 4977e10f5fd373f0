// SPDX-License-Identifier: Apache-2.0
// tensor/tensor.h — an array on the host: dtype, shape, elements in row-major order.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace lemma::tensor {

// Default upper bound of the bytes in one array.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 36;

// Bytes with shared ownership; see mapped_file.h.
using SharedBytes = std::shared_ptr<const std::string_view>;

class Tensor {
public:
    Tensor() = default;
    // Elements are zero, false or empty. An error if the shape is too large.
    static Result<Tensor> zeros(DType dtype, Shape shape, int64_t max_bytes = kMaxTensorBytes);

    // Borrows bytes until the first write, which copies them. Their number matches the shape. Not
    // for strings and bools.
    static Tensor shared(DType dtype, Shape shape, SharedBytes bytes);

    DType dtype() const { return dtype_; }
    const Shape& shape() const { return shape_; }
    int64_t size() const { return size_; }

    // The elements as bytes; empty for strings.
    std::span<std::byte> bytes();
    std::span<const std::byte> bytes() const {
        return shared_ ? std::as_bytes(std::span(shared_->data(), shared_->size()))
                       : std::span<const std::byte>(bytes_);
    }
    // Empty if the tensor owns its bytes.
    const SharedBytes& shared_bytes() const { return shared_; }
    std::vector<std::string>& strings() { return strings_; }
    const std::vector<std::string>& strings() const { return strings_; }

    // Elements as numbers, for every dtype; bools are 0 and 1.
    double real(int64_t index) const;
    int64_t integer(int64_t index) const;
    // Stores with rounding to the dtype; integers wrap to its width.
    void set_real(int64_t index, double value);
    void set_integer(int64_t index, int64_t value);

private:
    DType dtype_ = DType::F32;
    Shape shape_;
    int64_t size_ = 1;
    std::vector<std::byte> bytes_ = std::vector<std::byte>(4);
    std::vector<std::string> strings_;
    SharedBytes shared_;
};

// A tensor from a file with names.
struct NamedTensor {
    std::string name;
    Tensor tensor;
};

// The nearest value of a real dtype; integers are unchanged.
double round_to(DType dtype, double value);
// Half-precision formats, as bits.
double from_f16(uint16_t bits);
uint16_t to_f16(double value);
double from_bf16(uint16_t bits);
uint16_t to_bf16(double value);

}  // namespace lemma::tensor
