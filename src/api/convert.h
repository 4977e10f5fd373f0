// api/convert.h — converts tensors between the public headers and the interpreter.
#pragma once

#include <lemma/tensor.hpp>
#include <string>

#include "base/result.h"
#include "interpret/array.h"

namespace lemma::api {

// Whether an arbitrary number is a DataType.
bool is_type(DataType type);
tensor::DType internal_type(DataType type);
DataType public_type(tensor::DType dtype);

// An error if shape and elements contradict each other; it names the tensor.
Result<interpret::Array> internal_array(const std::string& name, const Tensor& tensor);
Result<Tensor> public_tensor(const interpret::Array& array);

}  // namespace lemma::api
