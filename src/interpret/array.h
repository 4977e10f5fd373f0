// SPDX-License-Identifier: Apache-2.0
// interpret/array.h — a tensor of the interpreter: reals in double, integers and bools in int64,
// rounded to the dtype after each operation (design D7).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace lemma::interpret {

struct Array {
    tensor::DType dtype = tensor::DType::F32;
    tensor::Shape shape;
    int64_t size = 1;
    std::vector<double> reals;         // elements of a real dtype
    std::vector<int64_t> integers;     // elements of an int or bool dtype
    std::vector<std::string> strings;  // elements of str

    // Row-major; elements are zero, false or empty.
    static Result<Array> zeros(tensor::DType dtype, tensor::Shape shape);
    // Rounds reals and wraps integers to values of the dtype.
    void round();
};

// Tensors by the name of an input, output or variable; several for a pack.
using NamedArrays = std::map<std::string, std::vector<Array>>;

// The leading part of an array, axis by axis.
Array cut(const Array& array, const tensor::Shape& shape);
using ArrayRef = std::shared_ptr<const Array>;

Result<Array> to_array(const tensor::Tensor& tensor);
// Converts numbers between dtypes of the same kind (f32 to f64, i32 to i64).
Result<tensor::Tensor> to_tensor(const Array& array);

}  // namespace lemma::interpret
