// SPDX-License-Identifier: Apache-2.0
// tools.h — `lemma.check`, `convert`, `fmt` and `compile` for the package (lemma/_tools.py).
#pragma once

#include <lemma/lemma.h>
#include <pybind11/pybind11.h>

#include <string>

namespace lemma::python {

namespace py = pybind11;

// The graph of a model as JSON.
std::string graph_json(const lemma_model* model);

void define_tools(py::module_& module);

}  // namespace lemma::python
