// SPDX-License-Identifier: Apache-2.0
// onnx/import/constant_value.h — tensors whose elements are known at compile time: constants, and
// integer expressions over extents. Arithmetic on shapes uses them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/value.h"
#include "tensor/tensor.h"

namespace lemma::onnx {

using ir::Scalar;
using tensor::DType;
using tensor::Shape;

// Larger tensors are data and decide no shapes.
inline constexpr int64_t kMaxKnownItems = 4096;

struct ConstantValue {
    DType dtype = DType::I64;
    Shape shape;                // always constant
    std::vector<Scalar> items;  // row-major; the kind of each item fits the dtype

    int64_t size() const { return static_cast<int64_t>(items.size()); }
};

ConstantValue constant_ints(std::vector<Scalar> items);  // i64 of rank 1
ConstantValue constant_of(const tensor::Tensor& tensor);

// A constant expression becomes a plain constant.
Scalar to_scalar(ir::SymId id, const ir::SymbolPool& symbols);
ir::SymId to_symbol(const Scalar& scalar, ir::SymbolPool& symbols);

// Elements that are plain constants; empty if one of them is not.
std::optional<int64_t> as_int(const Scalar& scalar);
std::optional<double> as_real(const Scalar& scalar);
std::optional<bool> as_bool(const Scalar& scalar);
std::optional<std::vector<int64_t>> as_ints(const std::vector<Scalar>& items);

// The distances of neighbours along each axis of a row-major array.
std::vector<int64_t> strides_of(const Shape& shape);

}  // namespace lemma::onnx
