// SPDX-License-Identifier: Apache-2.0
// engine/freeze.h — a model as a frozen plan: its kernels for a processor, and the bytes that the
// steps on constants make.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/machine_target.h"
#include "engine/extent_code.h"
#include "interpret/interpret.h"
#include "loop/ir/numerics.h"
#include "loop/plan/frozen.h"

namespace lemma::engine {

struct FreezeOptions {
    codegen::MachineTarget target;  // may be another processor than this one
    loop::Numerics numerics = loop::Numerics::Default;
    ir::Accumulate accumulate = ir::Accumulate::F64;  // F32 needs strict numerics
    // What the generated code has beyond kernels: powers of integers, and functions for operators
    // without a formula. The shapes are those of the inputs.
    bool integer_powers = false;
    std::function<bool(const ir::Operation&, const std::vector<tensor::Shape>&)> has_function;
    // Extents that each run gives; the others follow from the inputs.
    std::vector<OpenExtent> open;
    int64_t max_loop_steps = interpret::RunOptions().max_loop_steps;
    // Reads the data of variables that the state does not have.
    std::function<Result<std::optional<tensor::Tensor>>(const ir::Tensor&)> weights;
};

// An operation that only the engine and the interpreter together can run.
struct Obstacle {
    ir::OpId op;
    std::string why;
};
struct Frozen {
    loop::FrozenPlan plan;
    std::vector<Obstacle> obstacles;  // if there are any, the plan is empty
};

// The inputs decide the extents that are not open; their values do not count. Steps on constants
// run without machine code (loop/ir/run.h), so no code generator is needed.
Result<Frozen> freeze(interpret::State& state,
                      const interpret::NamedArrays& inputs,
                      const FreezeOptions& options);

}  // namespace lemma::engine
