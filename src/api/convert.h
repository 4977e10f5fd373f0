// api/convert.h — tensors between the public headers and the interpreter.
#pragma once

#include <lemma/tensor.hpp>
#include <string>

#include "base/result.h"
#include "interpret/array.h"

namespace lemma::api {

// Of a number that may come from anywhere.
bool is_type(DataType type);
tensor::DType internal_type(DataType type);
DataType public_type(tensor::DType dtype);

// An error when shape and elements contradict one another; it speaks of the tensor by the name.
Result<interpret::Array> internal_array(const std::string& name, const Tensor& tensor);
Result<Tensor> public_tensor(const interpret::Array& array);

}  // namespace lemma::api
