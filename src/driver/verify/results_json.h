// SPDX-License-Identifier: Apache-2.0
// driver/verify/results_json.h — the outputs of a run as a JSON document. Values are in row-major
// order; NaN and infinities become null.
#pragma once

#include <span>
#include <string>

#include "diag/diagnostic.h"
#include "interpret/array.h"
#include "ir/program/program.h"

namespace lemma::driver {

// `remarks` of the run, such as why the interpreter ran it; left out where there are none.
std::string results_json(std::span<const ir::Port> ports,
                         const interpret::NamedArrays& outputs,
                         std::span<const diag::Note> remarks);

}  // namespace lemma::driver
