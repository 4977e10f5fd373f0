// loop/passes/pipeline.h — the passes between the formulas of a region and its kernels, as a list:
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
    bool verify = false;  // verify.h, after each pass
};

// When the planner runs a pass.
enum class PassPhase : uint8_t {
    Planner,   // it is a step of the planner itself
    Stages,    // on the stages as the formulas say them, also when nothing is to be fused
    Optimise,  // before tensors have memory
    Placed,    // when they have
};

struct Pass {
    std::string_view name;  // of `--dump=loop:NAME`
    PassPhase phase{};
    std::vector<std::string_view> needs;  // passes that must have run before
    // Returns how many groups or tensors it changed. Missing for steps of the planner.
    int (*run)(RegionGraph& region, const PassOptions& options) = nullptr;
    std::string_view promises;  // what holds behind it
};

// All passes in their order.
const std::vector<Pass>& pipeline();
// Their names: what `--dump=loop:…` takes.
std::vector<std::string> dump_passes();

// The text of the one pass that somebody wants to see.
struct PassLog {
    std::string pass;
    std::string text;

    bool wants(std::string_view name) const { return name == pass; }
};

// Stops with the name of the pass if there is a fault: that is ours.
void check_pass(std::string_view pass, const std::string& fault);

// Runs the passes of the phase in order. The log may be missing; a pass that is shown is verified.
void run_passes(PassPhase phase, RegionGraph& region, const PassOptions& options, PassLog* log);

}  // namespace lemma::loop
