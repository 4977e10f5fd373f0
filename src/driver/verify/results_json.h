// driver/verify/results_json.h — the outputs of a run as a JSON document. Values are in row-major
// order; NaN and infinities become null.
#pragma once

#include <span>
#include <string>

#include "interpret/interpret.h"
#include "ir/program/program.h"

namespace lemma::driver {

std::string results_json(std::span<const ir::Port> ports, const interpret::NamedArrays& outputs);

}  // namespace lemma::driver
