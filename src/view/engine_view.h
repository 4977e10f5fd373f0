// SPDX-License-Identifier: Apache-2.0
// view/engine_view.h — what the compiled engine made of a model: the kernels with their operations
// and times, and the memory plan (docs/view-json.md).
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/engine.h"
#include "ir/program/program.h"
#include "view/tree.h"

namespace lemma::view {

// Which operations belong together in a program.
class ProgramIndex {
public:
    explicit ProgramIndex(const ir::Program& program);

    // The primitive operations that a step computes, fused ones included.
    std::vector<ir::OpId> operations_of(const loop::PlanStep& step) const;
    // The operation and everything around it: compounds, loops and branches.
    std::vector<ir::OpId> around(ir::OpId id) const;

private:
    void add(const std::vector<ir::OpId>& ops, ir::OpId parent, int depth);

    const ir::Program& program_;
    std::unordered_map<ir::TensorId, ir::OpId, IdHash> makers_;
    std::unordered_map<ir::OpId, ir::OpId, IdHash> parents_;
};

struct Times {
    int threads = 1;
    double total = 0;           // seconds of a run
    std::vector<double> steps;  // seconds of each step of a run
    double peak = 0;            // operations per second; 0: not known
};
Json times_json(const ir::Program& program, const engine::Engine& engine, const Times& times);

Json memory_json(const ir::Program& program, const engine::Engine& engine);

// All kernels, or those of one operation.
Json kernels_json(const ir::Program& program,
                  const engine::Engine& engine,
                  std::optional<uint32_t> operation);

}  // namespace lemma::view
