// SPDX-License-Identifier: Apache-2.0
#include "model.h"
#include "report.h"

namespace lemma::python {

namespace {

std::string quoted_names(const std::vector<TensorPlan>& plans) {
    std::string names;
    for (const TensorPlan& plan : plans) {
        names += (names.empty() ? "`" : ", `") + plan.name.cast<std::string>() + "`";
    }
    return names.empty() ? "no inputs" : names;
}

class Binder {
public:
    explicit Binder(const Loaded& loaded) : loaded_(loaded), slots_(loaded.inputs.size()) {}

    void positional(size_t index, py::handle value) {
        if (index >= slots_.size()) {
            throw_usage("too many inputs; the model has " + std::to_string(slots_.size()) + ": " +
                        quoted_names(loaded_.inputs));
        }
        slots_[index] = py::reinterpret_borrow<py::object>(value);
    }

    void named(py::handle name, py::handle value) {
        PyObject* const index = PyDict_GetItemWithError(loaded_.input_index.ptr(), name.ptr());
        if (index) {
            set(PyLong_AsSize_t(index), name, value);
        } else if (PyErr_Occurred()) {
            throw py::error_already_set();
        } else if (!pack(name, value)) {
            throw_usage("no input `" + py::str(name).cast<std::string>() + "`; the model has " +
                        quoted_names(loaded_.inputs));
        }
    }

    std::vector<py::object> finish() {
        for (size_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i] || loaded_.inputs[i].optional) continue;
            throw_usage("the input `" + loaded_.inputs[i].name.cast<std::string>() +
                        "` is missing");
        }
        return std::move(slots_);
    }

private:
    void set(size_t index, py::handle name, py::handle value) {
        if (slots_[index]) {
            throw_usage("the input `" + py::str(name).cast<std::string>() + "` is given twice");
        }
        slots_[index] = py::reinterpret_borrow<py::object>(value);
    }

    // The items of a pack `xs` are the inputs `xs.0`, `xs.1`, …: `model(xs=[a, b])`.
    bool pack(py::handle name, py::handle values) {
        const auto item_name = [&](size_t item) { return py::str("{}.{}").format(name, item); };
        if (!loaded_.input_index.contains(item_name(0))) return false;
        if (!py::isinstance<py::sequence>(values)) {
            throw_usage("the input `" + py::str(name).cast<std::string>() +
                        "` is a pack: give it a list of arrays");
        }
        size_t item = 0;
        for (const py::handle value : values) named(item_name(item++), value);
        return true;
    }

    const Loaded& loaded_;
    std::vector<py::object> slots_;
};

}  // namespace

std::vector<py::object> bind_arguments(const Loaded& loaded,
                                       const py::args& positional,
                                       const py::kwargs& named) {
    if (positional.size() == 1 && named.empty() && PyDict_Check(positional[0].ptr())) {
        return bind_feed(loaded, positional[0]);
    }
    Binder binder(loaded);
    for (size_t i = 0; i < positional.size(); ++i) binder.positional(i, positional[i]);
    for (const auto& [name, value] : named) binder.named(name, value);
    return binder.finish();
}

std::vector<py::object> bind_feed(const Loaded& loaded, const py::object& inputs) {
    Binder binder(loaded);
    const bool by_name =
        PyDict_Check(inputs.ptr()) || (py::hasattr(inputs, "items") && py::hasattr(inputs, "keys"));
    if (by_name) {
        for (const auto& [name, value] : py::dict(inputs)) binder.named(name, value);
    } else if (py::isinstance<py::list>(inputs) || py::isinstance<py::tuple>(inputs)) {
        size_t index = 0;
        for (const py::handle value : inputs) binder.positional(index++, value);
    } else {
        binder.positional(0, inputs);
    }
    return binder.finish();
}

}  // namespace lemma::python
