// SPDX-License-Identifier: Apache-2.0
// module.cpp — the extension module `lemma._lemma`. The package `lemma` makes its public classes
// from those of this module.
#include <lemma/lemma.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "device_tensor.h"
#include "load.h"
#include "model.h"
#include "report.h"
#include "tools.h"

namespace lemma::python {

namespace {

// One output as it is, several as a tuple.
py::object as_result(std::vector<py::object> outputs) {
    if (outputs.size() == 1) return std::move(outputs[0]);
    py::tuple result(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) result[i] = std::move(outputs[i]);
    return result;
}

template <class Runner>
py::object call(Runner& runner, const py::args& positional, const py::kwargs& named) {
    return as_result(runner.run(bind_arguments(runner.loaded(), positional, named), {}));
}

template <class Runner>
py::dict run(Runner& runner,
             const py::object& inputs,
             std::optional<double> limit,
             Stop* stop,
             bool on_device) {
    const std::vector<TensorPlan>& plans = runner.loaded().outputs;
    std::vector<py::object> outputs =
        runner.run(bind_feed(runner.loaded(), inputs), {limit, stop, on_device});
    py::dict result;
    for (size_t i = 0; i < outputs.size(); ++i) result[plans[i].name] = std::move(outputs[i]);
    return result;
}

// name, type, shape, bounds, extents, optional, updated
py::list infos(const Loaded& loaded, int group) {
    py::list result;
    for (size_t i = 0; i < lemma_count(loaded.handle, group); ++i) {
        const lemma_tensor_info& info = *lemma_info(loaded.handle, group, i);
        py::tuple extents(info.rank);
        for (size_t axis = 0; axis < info.rank; ++axis) extents[axis] = info.extents[axis];
        result.append(py::make_tuple(info.name,
                                     lemma_type_name(info.type),
                                     shape_tuple(info.shape, info.rank),
                                     shape_tuple(info.bounds, info.rank),
                                     std::move(extents),
                                     info.optional != 0,
                                     info.updated != 0));
    }
    return result;
}

py::tuple engine(Model& model) {
    if (model.has_run()) return model.first_session().engine();
    const lemma_model* const handle = model.loaded().handle;
    return py::make_tuple(lemma_model_engine(handle) == LEMMA_COMPILE ? "compile" : "interpret",
                          lemma_model_target(handle),
                          lemma_model_engine_reason(handle));
}

constexpr const char* kCallText =
    "Runs the model on these inputs, by position or by name. Returns the output, or a tuple if the "
    "model has several.";
constexpr const char* kRunText =
    "Runs the model. `inputs` is a dictionary by name, a list in the order of the model, or the "
    "only input. Returns a dictionary of all outputs. `time_limit` is in seconds; `stop` is a "
    "`lemma.Stop`. With `on_device`, outputs stay on the device of the model, as "
    "`lemma.DeviceTensor`; those with runtime extents are arrays in any case.";

template <class Class>
void define_runs(Class& type) {
    using Runner = typename Class::type;
    type.def("__call__", &call<Runner>, kCallText)
        .def("run",
             &run<Runner>,
             py::arg("inputs"),
             py::kw_only(),
             py::arg("time_limit") = py::none(),
             py::arg("stop") = py::none(),
             py::arg("on_device") = false,
             kRunText)
        .def("_infos", [](Runner& runner, int group) { return infos(runner.loaded(), group); })
        .def("_names", [](Runner& runner) {
            return py::make_tuple(lemma_model_name(runner.loaded().handle),
                                  lemma_model_format(runner.loaded().handle),
                                  lemma_model_device(runner.loaded().handle));
        });
}

void define_models(py::module_& module) {
    py::class_<Stop>(module,
                     "Stop",
                     "A request to stop. Any number of calls and threads may share one: "
                     "`model.run(x, stop=stop)` raises `Stopped` soon after `stop.now()`.")
        .def(py::init<>())
        .def("now", &Stop::now, "Stops the calls that have this request, from any thread.")
        .def("reset", &Stop::reset, "Takes the request back, for the next call.")
        .def_property_readonly(
            "requested",
            [](const Stop& stop) { return lemma_stop_requested(stop.get()) != 0; },
            "Whether it was stopped.");

    py::class_<Model> model(module, "Model");
    model.def(py::init(&load_model));
    define_runs(model);
    model.def("_diagnostics", &Model::diagnostics)
        .def("_engine", &engine)
        .def("_graph_json", [](Model& self) { return graph_json(self.loaded().handle); })
        .def("variable",
             [](Model& self, const std::string& name) {
                 return self.first_session().variable(name);
             })
        .def("set_variable",
             [](Model& self, const std::string& name, const py::object& value) {
                 self.keep_state();
                 self.first_session().set_variable(name, value);
             })
        .def(
            "save_variables",
            [](Model& self, const std::string& path) { self.first_session().save_variables(path); })
        .def("reset", [](Model& self) { self.first_session().reset(); });

    py::class_<Session, std::shared_ptr<Session>> session(module, "Session");
    session.def(py::init([](Model& of, std::optional<int> threads, std::optional<uint64_t> seed) {
        return std::make_shared<Session>(
            of.share(), threads.value_or(of.threads()), seed.value_or(of.seed()));
    }));
    define_runs(session);
    session.def("_diagnostics", &Session::diagnostics)
        .def("_engine", &Session::engine)
        .def("variable", &Session::variable)
        .def("set_variable", &Session::set_variable)
        .def("save_variables", &Session::save_variables)
        .def("reset", &Session::reset);
}

}  // namespace

PYBIND11_MODULE(_lemma, module) {
    module.doc() = "The C interface of Lemma, for the package `lemma`.";
    if (lemma_api_version() / 10000 != LEMMA_API_VERSION / 10000) {
        throw std::runtime_error("liblemma has another major version than this module");
    }
    module.def("version", &lemma_version);
    module.attr("INPUTS") = static_cast<int>(LEMMA_INPUTS);
    module.attr("OUTPUTS") = static_cast<int>(LEMMA_OUTPUTS);
    module.attr("VARIABLES") = static_cast<int>(LEMMA_VARIABLES);
    define_device_tensors(module);
    define_models(module);
    define_tools(module);
}

}  // namespace lemma::python
