// SPDX-License-Identifier: Apache-2.0
#include "device_tensor.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "report.h"

namespace lemma::python {

namespace {

// The structures of DLPack, as its specification has them.
struct DlDevice {
    int32_t type, id;
};
struct DlType {
    uint8_t code, bits;
    uint16_t lanes;
};
struct DlTensor {
    void* data;
    DlDevice device;
    int32_t rank;
    DlType type;
    int64_t* shape;
    int64_t* strides;  // in elements; may be missing
    uint64_t byte_offset;
};
struct DlManaged {
    DlTensor tensor;
    void* context;
    void (*deleter)(DlManaged*);
};
constexpr int kCuda = 2;
constexpr long kDefaultStream = 1;
constexpr const char* kCapsule = "dltensor";

struct KnownType {
    int type;
    DlType dlpack;
};
constexpr KnownType kTypes[] = {
    {LEMMA_F16, {2, 16, 1}},
    {LEMMA_BF16, {4, 16, 1}},
    {LEMMA_F32, {2, 32, 1}},
    {LEMMA_F64, {2, 64, 1}},
    {LEMMA_I8, {0, 8, 1}},
    {LEMMA_I16, {0, 16, 1}},
    {LEMMA_I32, {0, 32, 1}},
    {LEMMA_I64, {0, 64, 1}},
    {LEMMA_U8, {1, 8, 1}},
    {LEMMA_U16, {1, 16, 1}},
    {LEMMA_U32, {1, 32, 1}},
    {LEMMA_U64, {1, 64, 1}},
    {LEMMA_BOOL, {6, 8, 1}},
};

int type_of(const DlType& type) {
    for (const KnownType& known : kTypes) {
        const DlType& other = known.dlpack;
        if (type.code == other.code && type.bits == other.bits && type.lanes == 1) {
            return known.type;
        }
    }
    return LEMMA_NO_TYPE;
}

bool is_contiguous(const DlTensor& tensor) {
    int64_t stride = 1;
    for (int32_t axis = tensor.rank; tensor.strides && axis-- > 0;) {
        if (tensor.shape[axis] == 0) return true;
        if (tensor.shape[axis] != 1 && tensor.strides[axis] != stride) return false;
        stride *= tensor.shape[axis];
    }
    return true;
}

// Empty if the bytes of the shape have no size.
std::optional<size_t> bytes_of(int type, const int64_t* shape, size_t rank) {
    size_t bytes = lemma_type_size(type);
    for (size_t axis = 0; axis < rank; ++axis) {
        if (shape[axis] < 0 || __builtin_mul_overflow(bytes, shape[axis], &bytes)) {
            return std::nullopt;
        }
    }
    return bytes;
}

}  // namespace

// ---- Inputs ----

bool DlpackInput::take(PyObject* value, const TensorPlan& plan, int device) {
    const py::handle given(value);
    if (device < 0 || !py::hasattr(given, "__dlpack_device__")) return false;
    const auto place = given.attr("__dlpack_device__")().cast<std::pair<int, int>>();
    if (place.first != kCuda) return false;
    const std::string name = "the input `" + plan.name.cast<std::string>() + "`";
    if (place.second != device) {
        throw_usage(name + " is on the GPU " + std::to_string(place.second) +
                    ", and the model runs on " + std::to_string(device));
    }
    capsule_ = given.attr("__dlpack__")(py::arg("stream") = kDefaultStream);
    const auto* const managed =
        static_cast<const DlManaged*>(PyCapsule_GetPointer(capsule_.ptr(), kCapsule));
    if (!managed) throw py::error_already_set();
    const DlTensor& tensor = managed->tensor;
    const int type = type_of(tensor.type);
    const auto rank = static_cast<size_t>(tensor.rank);
    const auto bytes = bytes_of(type, tensor.shape, rank);
    if (type == LEMMA_NO_TYPE || !bytes) throw_usage(name + " has elements of an unknown type");
    if (!is_contiguous(tensor)) throw_usage(name + " is not contiguous");
    auto* const data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
    tensor_ = {type, rank, tensor.shape, data, *bytes};
    return true;
}

// ---- Outputs ----

DeviceTensor::DeviceTensor(lemma_model* model, int type, std::vector<int64_t> shape)
    : type_(type),
      device_(lemma_model_device_number(model)),
      shape_(std::move(shape)),
      size_(bytes_of(type, shape_.data(), shape_.size()).value_or(SIZE_MAX)) {
    Report report;
    const int status = lemma_device_memory_create(model, size_, &memory_, report.place());
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), true);
}

py::object DeviceTensor::numpy() const {
    std::vector<std::byte> bytes(size_);
    Report report;
    int status = LEMMA_GOOD;
    {
        const py::gil_scoped_release release;
        status = lemma_device_memory_read(memory_, bytes.data(), size_, report.place());
    }
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), true);
    return copy_array({type_, shape_.size(), shape_.data(), bytes.data(), bytes.size()});
}

std::shared_ptr<DeviceTensor> make_device_output(lemma_model* model, const TensorPlan& plan) {
    if (!plan.shape || plan.type == LEMMA_STR) return nullptr;
    return std::make_shared<DeviceTensor>(
        model, plan.type, plan.shape.cast<std::vector<int64_t>>());
}

namespace {

using Shared = std::shared_ptr<DeviceTensor>;

// What another library gets: the tensor, and a reference to its memory.
struct Exported {
    explicit Exported(Shared of) : owner(std::move(of)), shape(owner->shape()) {}

    Shared owner;
    std::vector<int64_t> shape;
    DlManaged managed = {};
};

py::object dlpack(const Shared& self, const py::object& place, const py::object& copy) {
    const bool here =
        place.is_none() || place.cast<std::pair<int, int>>() == std::pair(kCuda, self->device());
    if (!here || (!copy.is_none() && copy.cast<bool>())) {
        PyErr_SetString(PyExc_BufferError, "the tensor stays where it is; numpy() makes a copy");
        throw py::error_already_set();
    }
    auto* const made = new Exported(self);
    DlTensor& tensor = made->managed.tensor;
    tensor.data = self->data();
    tensor.device = {kCuda, self->device()};
    tensor.rank = static_cast<int32_t>(made->shape.size());
    for (const KnownType& known : kTypes) {
        if (known.type == self->type()) tensor.type = known.dlpack;
    }
    tensor.shape = made->shape.data();
    made->managed.context = made;
    made->managed.deleter = [](DlManaged* managed) {
        delete static_cast<Exported*>(managed->context);
    };
    // Whoever takes the tensor renames the capsule, and calls the deleter.
    PyObject* const capsule = PyCapsule_New(&made->managed, kCapsule, [](PyObject* object) {
        if (!PyCapsule_IsValid(object, kCapsule)) return;
        auto* const managed = static_cast<DlManaged*>(PyCapsule_GetPointer(object, kCapsule));
        managed->deleter(managed);
    });
    if (!capsule) {
        delete made;
        throw py::error_already_set();
    }
    return py::reinterpret_steal<py::object>(capsule);
}

}  // namespace

void define_device_tensors(py::module_& module) {
    py::class_<DeviceTensor, Shared>(
        module,
        "DeviceTensor",
        "An output that stays on the device of its model. Other libraries take it by DLPack, such "
        "as `torch.from_dlpack(tensor)`, without a copy.")
        .def_property_readonly(
            "shape",
            [](const DeviceTensor& self) {
                return shape_tuple(self.shape().data(), self.shape().size());
            },
            "Its extents.")
        .def_property_readonly(
            "type",
            [](const DeviceTensor& self) { return lemma_type_name(self.type()); },
            "The type of its elements, such as f32.")
        .def("numpy", &DeviceTensor::numpy, "A copy in main memory.")
        .def(
            "__dlpack__",
            [](const Shared& self,
               const py::object&,
               const py::object&,
               const py::object& place,
               const py::object& copy) { return dlpack(self, place, copy); },
            py::kw_only(),
            py::arg("stream") = py::none(),  // the run is over: no stream has to wait
            py::arg("max_version") = py::none(),
            py::arg("dl_device") = py::none(),
            py::arg("copy") = py::none())
        .def("__dlpack_device__",
             [](const DeviceTensor& self) { return py::make_tuple(kCuda, self.device()); });
}

}  // namespace lemma::python
