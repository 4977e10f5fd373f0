// SPDX-License-Identifier: Apache-2.0
// device_tensor.h — tensors in the memory of a model's device: those of other libraries by DLPack,
// and outputs that stay there.
#pragma once

#include <lemma/lemma.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "arrays.h"

namespace lemma::python {

namespace py = pybind11;

// An array of another library on a GPU, for the lifetime of the object. Its stream of work is the
// default one (1 in DLPack) when the object is made.
class DlpackInput {
public:
    // False if the value is no tensor of a GPU. Throws UsageError if it is one, but not for a model
    // on this device.
    bool take(PyObject* value, const TensorPlan& plan, int device);
    bool taken() const { return static_cast<bool>(capsule_); }
    const lemma_tensor& tensor() const { return tensor_; }

private:
    py::object capsule_;  // frees the tensor of the other library with itself
    lemma_tensor tensor_ = {};
};

// `lemma.DeviceTensor`: an output that stays on the device. It has no Python objects, so that other
// libraries may free it without the interpreter.
class DeviceTensor {
public:
    // Memory for the output of that shape and type.
    DeviceTensor(lemma_model* model, int type, std::vector<int64_t> shape);
    DeviceTensor(const DeviceTensor&) = delete;
    DeviceTensor& operator=(const DeviceTensor&) = delete;
    ~DeviceTensor() { lemma_device_memory_free(memory_); }

    int type() const { return type_; }
    const std::vector<int64_t>& shape() const { return shape_; }
    size_t size() const { return size_; }
    int device() const { return device_; }
    void* data() const { return lemma_device_memory_data(memory_); }
    // A copy in main memory.
    py::object numpy() const;

private:
    int type_;
    int device_;
    std::vector<int64_t> shape_;
    size_t size_;
    lemma_device_memory* memory_ = nullptr;
};

// Null if the extents are known at run time only, or for a type that no device has.
std::shared_ptr<DeviceTensor> make_device_output(lemma_model* model, const TensorPlan& plan);

void define_device_tensors(py::module_& module);

}  // namespace lemma::python
