// tests/support/guarded_run.h — runs compiled code on inputs of the caller's that lie right in
// front of memory which nobody may touch.
#pragma once

#include <optional>

#include "driver/run/engine.h"
#include "loop/interpret.h"

namespace lemma::testing {

// Behind a run with the same inputs. Nothing, where the engine has no direct way to run.
std::optional<loop::NamedArrays> run_guarded(const loop::Interpreter& interpreter,
                                             const loop::NamedArrays& inputs,
                                             driver::Engine& engine);

}  // namespace lemma::testing
