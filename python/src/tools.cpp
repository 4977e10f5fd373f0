// SPDX-License-Identifier: Apache-2.0
#include "tools.h"

#include <lemma/tools.h>

#include <memory>

#include "options.h"
#include "report.h"

namespace lemma::python {

namespace {

// A text that the library allocated.
class Text {
public:
    Text() = default;
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;
    ~Text() { lemma_text_free(text_); }

    char** place() { return &text_; }
    std::string get() const { return text_ ? text_ : ""; }

private:
    char* text_ = nullptr;
};

// Makes a call without the GIL; throws if it fails.
template <class Call>
py::list finish(const Call& call) {
    Report report;
    int status = LEMMA_GOOD;
    {
        const py::gil_scoped_release release;
        status = call(report.place());
    }
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), false);
    return diagnostics_of(report.get());
}

// A wrong model is a result of a check, not a failure of it.
py::list check(const py::object& source, const py::dict& dictionary) {
    Options given(dictionary);
    lemma_check_options options = {};
    options.struct_size = sizeof options;
    options.graph = given.text("graph");
    options.attributes = given.texts("attributes", options.attribute_count);
    options.dialect = given.text("dialect");
    options.data = given.text("data");
    options.werror = given.number("werror");
    options.max_errors = given.number("max_errors");
    options.profile = given.text("profile");
    options.report = given.text("report");
    options.trace = given.text("trace");
    options.fix = given.text("fix");
    options.relax_broadcast = given.number("relax_broadcast");
    Report report;
    int status = LEMMA_GOOD;
    if (py::isinstance<py::str>(source)) {
        const std::string path = plain(source.cast<std::string>());
        const py::gil_scoped_release release;
        status = lemma_check(path.c_str(), &options, report.place());
    } else {
        const Files files(source);
        const py::gil_scoped_release release;
        status = lemma_check_memory(files.data(), files.size(), &options, report.place());
    }
    if (status > LEMMA_WRONG) throw_failure(status, report.get(), false);
    return diagnostics_of(report.get());
}

py::list convert(std::string path, std::string out, const py::dict& dictionary) {
    path = plain(std::move(path));
    out = plain(std::move(out));
    Options given(dictionary);
    lemma_convert_options options = {};
    options.struct_size = sizeof options;
    options.to = given.text("to");
    given.set_graph(options);
    options.inputs = given.texts("inputs", options.input_count);
    options.dialect = given.text("dialect");
    options.flat = given.number("flat");
    options.keep = given.texts("keep", options.keep_count);
    options.opset = given.number("opset");
    options.external_data = given.number("external_data");
    options.no_data = given.number("no_data");
    options.overwrite = given.number("overwrite");
    return finish([&](lemma_report** report) {
        return lemma_convert(path.c_str(), out.c_str(), &options, report);
    });
}

py::list compile(std::string path, std::string out, const py::dict& dictionary) {
    path = plain(std::move(path));
    out = plain(std::move(out));
    Options given(dictionary);
    lemma_compile_options options = {};
    options.struct_size = sizeof options;
    options.form = given.text("form");
    options.name = given.text("name");
    options.target = given.text("target");
    options.numerics = given.number("numerics");
    options.accumulate_f32 = given.number("accumulate_f32");
    options.profile = given.text("profile");
    options.shapes = given.texts("shapes", options.shape_count);
    options.inputs = given.texts("inputs", options.input_count);
    given.set_graph(options);
    given.set_weights(options);
    options.dialect = given.text("dialect");
    return finish([&](lemma_report** report) {
        return lemma_compile(path.c_str(), out.c_str(), &options, report);
    });
}

py::bytes format(const py::bytes& content, const py::dict& dictionary) {
    Options given(dictionary);
    lemma_format_options options = {};
    options.struct_size = sizeof options;
    options.language = given.text("language");
    options.dialect = given.text("dialect");
    const std::string text = content;
    Text formatted;
    finish([&](lemma_report** report) {
        return lemma_format(text.data(), text.size(), &options, formatted.place(), report);
    });
    return formatted.get();
}

std::string operators_json(const std::string& name) {
    Text json;
    finish([&](lemma_report** report) {
        return lemma_operators_json(plain(name).c_str(), json.place(), report);
    });
    return json.get();
}

std::string definitions_json(const py::bytes& content) {
    const std::string text = content;
    Text json;
    finish([&](lemma_report** report) {
        return lemma_definitions_json(text.data(), text.size(), nullptr, json.place(), report);
    });
    return json.get();
}

}  // namespace

std::string graph_json(const lemma_model* model) {
    Text json;
    finish([&](lemma_report** report) {
        return lemma_graph_json(model, LEMMA_CALLS, json.place(), report);
    });
    return json.get();
}

void define_tools(py::module_& module) {
    module.def("check", &check);
    module.def("convert", &convert);
    module.def("compile", &compile);
    module.def("format", &format);
    module.def("operators_json", &operators_json);
    module.def("definitions_json", &definitions_json);
}

}  // namespace lemma::python
