// SPDX-License-Identifier: Apache-2.0
// loop/plan/stored_plan.h — plans in the object cache. A stored plan replaces planning and
// scheduling when a model starts again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loop/plan/plan.h"

namespace lemma::loop {

// Everything that determines the plan, ids included: equal bytes mean equal plans. The log and
// `verify` are not part of it.
std::string plan_source(const ir::Program& program,
                        const KnownExtents& known,
                        const PlanOptions& options);

// A plan whose kernels have code; their functions are not kept, except for the number of items.
std::string encode_plan(const Plan& plan);
// Empty if the bytes are no plan.
std::optional<Plan> decode_plan(std::string_view bytes);

}  // namespace lemma::loop
