// tests/support/engine_models.h — small models for tests of compiled code, with values for their
// variables.
#pragma once

#include <memory>
#include <string>

#include "loop/interpret.h"

namespace lemma::testing_support {

// The graph of a SkriptND text; null, with failures reported, if it is wrong.
std::unique_ptr<loop::Interpreter> load_text(const std::string& text);

// Random values for all inputs.
loop::NamedArrays random_inputs(const ir::Program& program);

}  // namespace lemma::testing_support
