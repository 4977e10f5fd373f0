// SPDX-License-Identifier: Apache-2.0
// loop/passes/pipeline.h — the list of passes between the formulas of a region and its kernels;
// pipeline.cpp has it on one page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loop/passes/region.h"

namespace lemma::loop {

struct PassOptions {
    Target target;
    Numerics numerics = Numerics::Default;
    double least_gain = kLeastGain;
    double window_share = kWindowShare;
    double term_share = kTermShare;
    bool verify = false;  // run verify.h after each pass
};

// The time at which the planner runs a pass.
enum class PassPhase : uint8_t {
    Planner,   // a step of the planner itself
    Stages,    // on the stages of the formulas, also without fusion
    Optimise,  // before tensors have memory
    Placed,    // after tensors have memory
};

struct Pass {
    std::string_view name;  // for `--dump=loop:NAME`
    PassPhase phase{};
    std::vector<std::string_view> needs;  // passes that run earlier
    // Returns the number of groups or tensors that it changed. Missing for steps of the planner.
    int (*run)(RegionGraph& region, const PassOptions& options) = nullptr;
    std::string_view promises;  // true after the pass
    bool for_device = true;     // false: only plans for the processor need it
};

// All passes in their order.
const std::vector<Pass>& pipeline();
// The names that `--dump=loop:…` accepts.
std::vector<std::string> dump_passes();

// The text after the one pass that the user asked for.
struct PassLog {
    std::string pass;
    std::string text;

    bool wants(std::string_view name) const { return name == pass; }
};

// Stops with the name of the pass if there is a fault: that is an internal error.
void check_pass(std::string_view pass, const std::string& fault);

// Runs the passes of the phase in order. The log may be missing; a logged pass is verified.
void run_passes(PassPhase phase, RegionGraph& region, const PassOptions& options, PassLog* log);

}  // namespace lemma::loop
