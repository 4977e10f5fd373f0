// SPDX-License-Identifier: Apache-2.0
// arrays.h — Python's arrays as tensors of the C interface and back. It uses the buffer protocol,
// which does not depend on the version of numpy. What is no contiguous buffer of numbers goes
// through `lemma._arrays`.
#pragma once

#include <lemma/lemma.h>
#include <pybind11/pybind11.h>

#include <vector>

namespace lemma::python {

namespace py = pybind11;

// The declaration of an input or output of a model.
struct TensorPlan {
    py::str name;
    int type = LEMMA_NO_TYPE;
    bool optional = false;
    py::object shape;  // a tuple, or null if an extent is known at run time only
};

// An input of one call; its tensor points into the Python object, which it keeps alive.
class InputArray {
public:
    InputArray() = default;
    InputArray(InputArray&& other) noexcept;
    InputArray& operator=(InputArray&&) = delete;
    ~InputArray();

    // Takes the memory of `value`; converts it if it is no contiguous buffer. Throws UsageError.
    void take(PyObject* value, const TensorPlan& plan);
    // False if it is no contiguous buffer of numbers.
    bool take_buffer(PyObject* value);
    const lemma_tensor& tensor() const { return tensor_; }

private:
    void take_strings(const py::object& array);

    lemma_tensor tensor_ = {};
    Py_buffer view_ = {};
    bool held_ = false;
    py::object converted_;
    std::vector<const char*> strings_;
    std::vector<int64_t> shape_;
};

// An output of one call. Its memory is a new numpy array if the shape is known before the call.
class OutputArray {
public:
    OutputArray() = default;
    OutputArray(OutputArray&& other) noexcept;
    OutputArray& operator=(OutputArray&&) = delete;
    ~OutputArray();

    // Sets `tensor` for the call.
    void prepare(const TensorPlan& plan, lemma_tensor& tensor);
    // The numpy array of the tensor after the call.
    py::object finish(const lemma_tensor& tensor);

private:
    py::object array_;
    Py_buffer view_ = {};
    bool held_ = false;
};

// A copy of a tensor as a numpy array. Strings become objects, bf16 becomes float32.
py::object copy_array(const lemma_tensor& tensor);

// The extents as a tuple; -1 becomes None.
py::tuple shape_tuple(const int64_t* shape, size_t rank);

}  // namespace lemma::python
