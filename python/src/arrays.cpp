// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include <array>
#include <cstring>
#include <utility>

#include "report.h"

namespace lemma::python {

namespace {

static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes of buffers are shapes of tensors");

// Objects that live as long as the interpreter: `numpy.empty` and the types.
struct Numpy {
    py::object empty;
    std::array<py::object, LEMMA_STR + 1> types;

    Numpy() {
        const py::module_ numpy = py::module_::import("numpy");
        empty = numpy.attr("empty");
        const std::pair<int, const char*> names[] = {
            {LEMMA_F16, "float16"},
            {LEMMA_BF16, "float32"},
            {LEMMA_F32, "float32"},
            {LEMMA_F64, "float64"},
            {LEMMA_I8, "int8"},
            {LEMMA_I16, "int16"},
            {LEMMA_I32, "int32"},
            {LEMMA_I64, "int64"},
            {LEMMA_U8, "uint8"},
            {LEMMA_U16, "uint16"},
            {LEMMA_U32, "uint32"},
            {LEMMA_U64, "uint64"},
            {LEMMA_BOOL, "bool"},
            {LEMMA_STR, "object"},
        };
        for (const auto& [type, name] : names) types[type] = numpy.attr("dtype")(name);
    }
};

const Numpy& numpy() {
    static const Numpy* const instance = new Numpy;  // never freed: the interpreter may be gone
    return *instance;
}

py::object empty_array(const py::object& shape, int type) {
    PyObject* const arguments[] = {shape.ptr(), numpy().types.at(static_cast<size_t>(type)).ptr()};
    PyObject* const made = PyObject_Vectorcall(numpy().empty.ptr(), arguments, 2, nullptr);
    if (!made) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
}

// The type of the elements of a buffer (PEP 3118), or none.
int type_of(const Py_buffer& view) {
    const char* format = view.format;
    if (!format) return LEMMA_U8;
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    if (format[0] == '\0' || format[1] != '\0') return LEMMA_NO_TYPE;
    const auto sized = [&](int first) {
        switch (view.itemsize) {
            case 1:
                return first;
            case 2:
                return first + 1;
            case 4:
                return first + 2;
            case 8:
                return first + 3;
            default:
                return static_cast<int>(LEMMA_NO_TYPE);
        }
    };
    switch (*format) {
        case 'e':
            return LEMMA_F16;
        case 'f':
            return LEMMA_F32;
        case 'd':
            return LEMMA_F64;
        case '?':
            return LEMMA_BOOL;
        case 'b':
        case 'h':
        case 'i':
        case 'l':
        case 'q':
            return sized(LEMMA_I8);
        case 'B':
        case 'H':
        case 'I':
        case 'L':
        case 'Q':
            return sized(LEMMA_U8);
        default:
            return LEMMA_NO_TYPE;
    }
}

// Strings of a tensor as a numpy array of objects.
py::object string_array(const lemma_tensor& tensor) {
    py::list texts;
    const auto* const items = static_cast<const char* const*>(tensor.data);
    for (size_t i = 0; i < tensor.size / sizeof(const char*); ++i) {
        PyObject* const text = PyUnicode_DecodeUTF8(
            items[i], static_cast<Py_ssize_t>(std::strlen(items[i])), "surrogateescape");
        if (!text) throw py::error_already_set();
        texts.append(py::reinterpret_steal<py::object>(text));
    }
    return py::module_::import("lemma._arrays")
        .attr("strings")(texts, shape_tuple(tensor.shape, tensor.rank));
}

void widen_bf16(const lemma_tensor& tensor, void* floats) {
    const auto* const from = static_cast<const uint16_t*>(tensor.data);
    auto* const to = static_cast<uint32_t*>(floats);
    for (size_t i = 0; i < tensor.size / sizeof(uint16_t); ++i) to[i] = uint32_t{from[i]} << 16;
}

}  // namespace

// ---- Inputs ----

InputArray::InputArray(InputArray&& other) noexcept
    : tensor_(other.tensor_),
      view_(other.view_),
      held_(std::exchange(other.held_, false)),
      converted_(std::move(other.converted_)),
      strings_(std::move(other.strings_)),
      shape_(std::move(other.shape_)) {}

InputArray::~InputArray() {
    if (held_) PyBuffer_Release(&view_);
}

bool InputArray::take_buffer(PyObject* value) {
    if (!PyObject_CheckBuffer(value)) return false;
    if (PyObject_GetBuffer(value, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return false;
    }
    held_ = true;
    const int type = type_of(view_);
    if (type == LEMMA_NO_TYPE) {
        PyBuffer_Release(&view_);
        held_ = false;
        return false;
    }
    tensor_.type = type;
    tensor_.rank = static_cast<size_t>(view_.ndim);
    tensor_.shape = reinterpret_cast<const int64_t*>(view_.shape);
    tensor_.data = view_.buf;
    tensor_.size = static_cast<size_t>(view_.len);
    return true;
}

void InputArray::take_strings(const py::object& array) {
    for (const py::handle extent : array.attr("shape")) shape_.push_back(extent.cast<int64_t>());
    // The list keeps the strings alive, and they keep their UTF-8 form.
    converted_ = array.attr("ravel")().attr("tolist")();
    for (const py::handle text : converted_) {
        Py_ssize_t length = 0;
        const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
        if (!bytes) throw py::error_already_set();
        if (std::strlen(bytes) != static_cast<size_t>(length)) {
            throw_usage("a string of an input holds a NUL character, which Lemma cannot pass on");
        }
        strings_.push_back(bytes);
    }
    tensor_.type = LEMMA_STR;
    tensor_.rank = shape_.size();
    tensor_.shape = shape_.data();
    tensor_.data = strings_.data();
    tensor_.size = strings_.size() * sizeof(const char*);
}

void InputArray::take(PyObject* value, const TensorPlan& plan) {
    if (plan.type != LEMMA_STR && take_buffer(value)) return;
    const py::module_ arrays = py::module_::import("lemma._arrays");
    if (plan.type == LEMMA_STR) {
        take_strings(arrays.attr("string_array")(py::handle(value), plan.name));
        return;
    }
    const py::tuple made =
        arrays.attr("as_array")(py::handle(value), lemma_type_name(plan.type), plan.name);
    converted_ = made[0];
    if (!take_buffer(converted_.ptr())) {
        throw_usage("`lemma._arrays.as_array` gave no buffer of numbers");
    }
    if (made[1].cast<bool>()) tensor_.type = LEMMA_BF16;
}

// ---- Outputs ----

OutputArray::OutputArray(OutputArray&& other) noexcept
    : array_(std::move(other.array_)),
      view_(other.view_),
      held_(std::exchange(other.held_, false)) {}

OutputArray::~OutputArray() {
    if (held_) PyBuffer_Release(&view_);
}

void OutputArray::prepare(const TensorPlan& plan, lemma_tensor& tensor) {
    tensor = {};
    if (!plan.shape || plan.type == LEMMA_STR || plan.type == LEMMA_BF16) return;
    array_ = empty_array(plan.shape, plan.type);
    if (PyObject_GetBuffer(array_.ptr(), &view_, PyBUF_WRITABLE) != 0) {
        throw py::error_already_set();
    }
    held_ = true;
    if (view_.len == 0) return;  // nothing to write; the session's memory is as good
    tensor.data = view_.buf;
    tensor.size = static_cast<size_t>(view_.len);
}

py::object OutputArray::finish(const lemma_tensor& tensor) {
    // A model may promise an extent and compute another one only if it is at fault; then the
    // array does not have the tensor's shape.
    const bool written =
        held_ && tensor.data == view_.buf && tensor.size == static_cast<size_t>(view_.len);
    return written ? std::move(array_) : copy_array(tensor);
}

py::object copy_array(const lemma_tensor& tensor) {
    if (tensor.type == LEMMA_STR) return string_array(tensor);
    if (tensor.type <= LEMMA_NO_TYPE || tensor.type > LEMMA_STR) return py::none();
    py::object array = empty_array(shape_tuple(tensor.shape, tensor.rank), tensor.type);
    Py_buffer view = {};
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_WRITABLE) != 0) throw py::error_already_set();
    const size_t factor = tensor.type == LEMMA_BF16 ? 2 : 1;
    const bool fits = static_cast<size_t>(view.len) == factor * tensor.size;
    if (fits && tensor.type == LEMMA_BF16) {
        widen_bf16(tensor, view.buf);
    } else if (fits && tensor.size != 0) {
        std::memcpy(view.buf, tensor.data, tensor.size);
    }
    PyBuffer_Release(&view);
    if (!fits) throw std::runtime_error("the shape and the size of a tensor disagree");
    return array;
}

py::tuple shape_tuple(const int64_t* shape, size_t rank) {
    py::tuple result(rank);
    for (size_t i = 0; i < rank; ++i) {
        result[i] = shape[i] < 0 ? py::object(py::none()) : py::object(py::int_(shape[i]));
    }
    return result;
}

}  // namespace lemma::python
