// SPDX-License-Identifier: Apache-2.0
// tensor/dtype.h — the element types of tensors in memory (design D11).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lemma::tensor {

enum class DType : uint8_t { F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool, Str };

// "f32", "i64", "bool"
std::string_view dtype_name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
// Bytes of an element in memory; a string has the size of a pointer.
int64_t dtype_size(DType dtype);
bool is_real(DType dtype);
bool is_integer(DType dtype);
bool is_signed(DType dtype);  // for integers only

}  // namespace lemma::tensor
