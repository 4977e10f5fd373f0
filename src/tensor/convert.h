// SPDX-License-Identifier: Apache-2.0
// tensor/convert.h — converts tensors between dtypes, with checks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace lemma::tensor {

// Whether values may change between reals, integers and bools.
enum class KindChange : uint8_t {
    Refuse,
    Exact,  // if the new dtype has exactly the same number; bools are 0 and 1
};

// Reals are rounded to nearest and become infinite beyond the largest. An integer that does not
// fit, or a forbidden change of kind, is an error that names the element: "element [1, 2] is 300,
// which u8 cannot hold". Strings stay strings.
Result<Tensor> convert(const Tensor& tensor, DType dtype, KindChange change = KindChange::Refuse);

// The integer or bool at an address; 0 for other dtypes.
int64_t integer_at(DType dtype, const void* at);

// "element [1, 2]", for messages; `element` counts in row-major order.
std::string element_text(const Shape& shape, int64_t element);
// The error "element [1, 2] is 300, which u8 cannot hold".
std::unexpected<Error> does_not_fit(const Tensor& tensor, int64_t element, std::string_view what);

// The range of an integer dtype, limited to int64; the range of int64 for other dtypes.
struct IntegerRange {
    int64_t low;
    int64_t high;
};
IntegerRange integer_range(DType dtype);

}  // namespace lemma::tensor
