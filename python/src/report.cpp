// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <string>

namespace lemma::python {

namespace {

py::module_ errors() { return py::module_::import("lemma._errors"); }

// Texts quote names and lines of models, which need not be valid UTF-8.
py::str text_of(const char* text) {
    return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
        text, static_cast<Py_ssize_t>(std::char_traits<char>::length(text)), "replace"));
}

}  // namespace

py::list diagnostics_of(const lemma_report* report) {
    py::list result;
    const py::object type = errors().attr("Diagnostic");
    const char* const severities[] = {"error", "warning", "note"};
    for (size_t i = 0; i < lemma_report_count(report); ++i) {
        const lemma_diagnostic& found = *lemma_report_at(report, i);
        const int severity = found.severity >= 0 && found.severity <= 2 ? found.severity : 0;
        result.append(type(severities[severity],
                           text_of(found.kind),
                           text_of(found.message),
                           text_of(found.file),
                           found.line,
                           found.column,
                           found.end_line,
                           found.end_column,
                           text_of(found.path),
                           text_of(found.text)));
    }
    return result;
}

void throw_failure(int status, const lemma_report* report, bool running) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    const py::object failure = errors().attr("failure")(status, diagnostics_of(report), running);
    PyErr_SetObject(py::type::of(failure).ptr(), failure.ptr());
    throw py::error_already_set();
}

void throw_usage(const std::string& message) {
    PyErr_SetString(errors().attr("UsageError").ptr(), message.c_str());
    throw py::error_already_set();
}

}  // namespace lemma::python
