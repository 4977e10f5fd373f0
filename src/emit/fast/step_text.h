// emit/fast/step_text.h — the steps of a frozen plan as the body of a C function.
#pragma once

#include <string>
#include <vector>

#include "emit/fast/vector_support.h"
#include "loop/plan/frozen.h"

namespace lemma::emit {

// The definition of `static int32_t run_steps(struct run* r)`. `kernels` has the names of the
// functions of the kernels.
std::string print_steps(const loop::FrozenPlan& plan,
                        const std::vector<std::string>& kernels,
                        const std::string& weights,
                        VectorSupport& support);

}  // namespace lemma::emit
