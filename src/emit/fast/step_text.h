// SPDX-License-Identifier: Apache-2.0
// emit/fast/step_text.h — the steps of a frozen plan as the body of a C function.
#pragma once

#include <string>
#include <vector>

#include "emit/fast/vector_support.h"
#include "ir/program/program.h"
#include "loop/plan/frozen.h"

namespace lemma::emit {

// Whether a step calls a function of the support file.
bool calls_intrinsics(const loop::FrozenSteps& steps);

// The definition of `static int32_t run_steps(struct run* r)`. `kernels` has the names of the
// functions of the kernels.
struct StepContext {
    std::string weights;  // the name of the constants
    const ir::Program* program = nullptr;
};
std::string print_steps(const loop::FrozenPlan& plan,
                        const std::vector<std::string>& kernels,
                        const StepContext& context,
                        VectorSupport& support);

}  // namespace lemma::emit
