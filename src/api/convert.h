// SPDX-License-Identifier: Apache-2.0
// api/convert.h — converts tensors between the public header and the interpreter.
#pragma once

#include <lemma/lemma.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "interpret/array.h"

namespace lemma::api {

// Whether an arbitrary number is an element type.
bool is_type(int type);
tensor::DType internal_type(int type);
int public_type(tensor::DType dtype);

// An error if a pointer is missing or the numbers contradict each other; it names the tensor.
Result<void> check_tensor(const std::string& name, const lemma_tensor& given);
// A copy of a tensor of the caller, which `check_tensor` accepts.
Result<tensor::Tensor> internal_tensor(const std::string& name, const lemma_tensor& given);
Result<interpret::Array> internal_array(const std::string& name, const lemma_tensor& given);

// A tensor that a session lends to the caller; LEMMA_NO_TYPE without one.
class LentTensor {
public:
    LentTensor() = default;
    explicit LentTensor(tensor::Tensor tensor);
    lemma_tensor view() const;
    const tensor::Tensor& tensor() const { return tensor_; }

private:
    bool there_ = false;
    tensor::Tensor tensor_;
    std::vector<const char*> texts_;  // pointers to strings
};

}  // namespace lemma::api
