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
// `verify` are not part of it, and neither are the threads of the target.
std::string plan_source(const ir::Program& program,
                        const KnownExtents& known,
                        const PlanOptions& options);

// The same for a plan that depends on the threads (Plan::by_threads).
std::string plan_source_for(std::string source, int64_t threads);

// The threads of the target whose plan so many threads use. One and two threads have the same plan,
// which costs one thread at most 2 % of the time of sums over windows (choose_window.cpp).
constexpr int64_t planned_threads(int64_t threads) { return threads < 2 ? 2 : threads; }

// A plan whose kernels have code; their functions are not kept, except for the number of items.
std::string encode_plan(const Plan& plan);
// Empty if the bytes are no plan.
std::optional<Plan> decode_plan(std::string_view bytes);

}  // namespace lemma::loop
