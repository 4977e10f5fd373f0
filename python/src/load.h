// SPDX-License-Identifier: Apache-2.0
// load.h — loading a model from Python: options and files in memory.
#pragma once

#include <lemma/lemma.h>
#include <pybind11/pybind11.h>

#include <memory>

#include "model.h"

namespace lemma::python {

// `source` is a path as str, or a list of (name, bytes) of which the first is the model. `options`
// has checked values only (lemma/_model.py).
std::unique_ptr<Model> load_model(const py::object& source, const py::dict& options);

}  // namespace lemma::python
