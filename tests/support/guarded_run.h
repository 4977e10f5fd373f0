// SPDX-License-Identifier: Apache-2.0
// tests/support/guarded_run.h — runs compiled code on inputs, and into outputs, that lie directly
// before inaccessible memory.
#pragma once

#include <optional>

#include "engine/engine.h"
#include "interpret/interpret.h"

namespace lemma::testing {

// Behind a run with the same inputs. Nothing, where the engine has no direct way to run.
std::optional<interpret::NamedArrays> run_guarded(const interpret::State& state,
                                                  const interpret::NamedArrays& inputs,
                                                  engine::Engine& engine);

}  // namespace lemma::testing
