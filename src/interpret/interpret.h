// SPDX-License-Identifier: Apache-2.0
// interpret/interpret.h — the oracle (design D7): runs an ir::Program by plain loops over its
// formulas, in double and int64, with every access checked.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "interpret/bytecode.h"
#include "interpret/executor.h"
#include "interpret/state.h"
#include "ir/program/accumulate.h"

namespace lemma::interpret {

struct RunOptions {
    uint64_t seed = 0;  // seed of random operators
    // Called with each computed tensor; in loops, in every iteration.
    std::function<Result<void>(const ir::Tensor&, const Array&)> on_tensor;
    // Called before each operation of the main graph with the number done and the total.
    std::function<void(size_t, size_t)> on_progress;
    int64_t max_loop_steps = int64_t{1} << 32;  // limit of a loop without a count
    ir::Accumulate accumulate = ir::Accumulate::F64;
};

class Interpreter : public Executor {
public:
    // The state outlives the interpreter.
    explicit Interpreter(State& state, RunOptions options = {});

    Result<NamedArrays> run(const NamedArrays& inputs) override;
    // One operation of a run that somebody else began, on the values of the state.
    Result<void> run_operation(ir::OpId id);

private:
    struct CachedKernel {
        std::vector<int64_t> key;  // the runtime extents that the bytecode was compiled for
        Bytecode kernel;
    };

    Result<NamedArrays> run_step(const NamedArrays& inputs);
    Result<void> update_variables();
    Result<void> run_main();
    Result<void> run_operations(const std::vector<ir::OpId>& operations);
    Result<void> run_formulas(ir::OpId id);
    Result<void> run_formula(ir::OpId id, size_t index);
    Result<Bytecode*> kernel(ir::OpId id, size_t index);
    Result<void> round_written(const ir::Formula& formula);
    ir::Formula settled(const ir::Formula& formula, std::vector<int64_t>& key);
    // `counted`: what an earlier formula has counted by the same counter.
    Result<void> end_append(const ir::Formula& formula,
                            int64_t count,
                            std::optional<int64_t> counted);
    Result<void> run_intrinsic(const ir::Operation& op);
    bool is_given(const ir::Operation& op, ir::SymId extent) const;
    Result<void> run_branch(const ir::Operation& op, const ir::Branch& branch);
    Result<void> run_loop(const ir::Operation& op, const ir::Loop& loop);
    Result<int64_t> loop_count(const ir::Loop& loop);
    Result<void> begin_step(const ir::Operation& op, const ir::Loop& loop, int64_t step);
    Result<void> end_step(const ir::Operation& op, const ir::Loop& loop, int64_t step);
    Result<void> end_loop(const ir::Operation& op, const ir::Loop& loop, int64_t steps);
    Result<bool> condition(ir::GraphId graph);
    Result<void> make_outputs(const ir::Operation& op);
    Result<void> finish_outputs(const ir::Operation& op);

    State& state_;
    const ir::Program& program_;
    RunOptions options_;
    std::map<std::pair<ir::OpId, size_t>, CachedKernel> kernels_;
    std::vector<std::vector<ir::TensorId>> dead_after_;
};

}  // namespace lemma::interpret
