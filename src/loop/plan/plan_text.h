// SPDX-License-Identifier: Apache-2.0
// loop/plan/plan_text.h — prints a plan for people: `--dump=loop:plan`.
#pragma once

#include <string>

#include "loop/plan/plan.h"

namespace lemma::loop {

// Each step with its kernel, and the storages.
std::string print(const Plan& plan, const ir::Program& program);

}  // namespace lemma::loop
