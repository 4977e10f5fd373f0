// interpret/interpret.h — the oracle (design D7): runs an ir::Program by plain loops over its
// formulas, in double and int64, with every access checked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpret/array.h"
#include "interpret/bytecode.h"
#include "ir/program/program.h"

namespace lemma::interpret {

// Tensors by the name of an input, output or variable; several for a pack.
using NamedArrays = std::map<std::string, std::vector<Array>>;

struct RunOptions {
    uint64_t seed = 0;  // seed of random operators
    // Called with each computed tensor; in loops, in every iteration.
    std::function<Result<void>(const ir::Tensor&, const Array&)> on_tensor;
    // Called before each operation of the main graph with the number done and the total.
    std::function<void(size_t, size_t)> on_progress;
    int64_t max_loop_steps = int64_t{1} << 32;  // limit of a loop without a count
};

class Interpreter {
public:
    explicit Interpreter(ir::Program program, RunOptions options = {});

    const ir::Program& program() const { return program_; }
    // Sets a variable by its scoped name. The shape and the kind of data must fit.
    Result<void> set_variable(const std::string& name, Array value);
    // Supplies the initial value of a variable on its first use; nothing if there is no data. The
    // shape and the kind of data must fit.
    using VariableSource = std::function<Result<std::optional<Array>>(const ir::Tensor&)>;
    void set_variable_source(VariableSource source) { source_ = std::move(source); }
    // The current value of a variable; null if it has none.
    const Array* variable(const std::string& name);
    // Runs one step: takes inputs, returns outputs. Afterwards the variables take their updated
    // values.
    Result<NamedArrays> run(const NamedArrays& inputs);
    // The operation in which the last run failed, if any.
    const ir::Operation* failed() const;
    // Whether the last run failed because of an assertion about inputs.
    bool failed_for_inputs() const { return failed_for_inputs_; }

    // ---- A run in pieces, for engines that compute most tensors themselves ----------------------

    // Takes the inputs and learns extents from them.
    Result<void> begin_run(const NamedArrays& inputs);
    // Drops all values except variables; `update` counts it as a run.
    void end_run(bool update);
    std::unordered_map<ir::SymId, int64_t, IdHash> known_extents() const;
    // `all`: an undecided condition is an error.
    Result<void> check_assertions(ir::OpId id, bool all = false) {
        return check(program_.operations[id].assertions, all);
    }
    // Runs one operation on existing values.
    Result<void> run_alone(ir::OpId id) { return run_operation(id); }
    bool has_value(ir::TensorId id) const { return values_.contains(id); }
    void give_value(ir::TensorId id, Array value) {
        set_value(id, std::make_shared<Array>(std::move(value)));
    }
    Result<std::shared_ptr<Array>> take_value(ir::TensorId id) { return value_of(id); }
    void keep_variable(ir::TensorId id, Array value) {
        variables_[id] = std::make_shared<Array>(std::move(value));
    }
    bool has_variable(ir::TensorId id) const { return variables_.contains(id); }
    Result<int64_t> take_extent(ir::SymId id) { return extent(id); }
    // Learns the extents of a result that are symbols.
    void learn_result(ir::TensorId id, const tensor::Shape& shape) { learn_shape(id, shape); }
    // The value of a symbol, if inputs or results have defined it.
    std::optional<int64_t> known_extent(ir::SymId symbol) const {
        const auto found = known_.find(symbol);
        return found != known_.end() ? program_.symbols.as_int(found->second) : std::nullopt;
    }
    // Sets a runtime extent.
    void learn_extent(ir::SymId id, int64_t value) { known_[id] = program_.symbols.integer(value); }
    const RunOptions& options() const { return options_; }

private:
    using Values = std::unordered_map<ir::TensorId, std::shared_ptr<Array>, IdHash>;
    struct CachedKernel {
        std::vector<int64_t> key;  // the runtime extents that the bytecode was compiled for
        Bytecode kernel;
    };

    Result<void> bind_inputs(const NamedArrays& inputs);
    Result<void> bind_input(ir::TensorId id, const Array& given);
    Result<void> bind_absent(ir::TensorId id);
    Result<NamedArrays> collect_outputs();
    Result<void> update_variables();
    Result<void> run_main();
    Result<void> run_operations(const std::vector<ir::OpId>& operations);
    Result<void> run_operation(ir::OpId id);
    Result<void> run_formulas(ir::OpId id);
    Result<void> run_formula(ir::OpId id, size_t index);
    Result<Bytecode*> kernel(ir::OpId id, size_t index);
    ir::Formula settled(const ir::Formula& formula, std::vector<int64_t>& key);
    ir::Scalar settled(const ir::Scalar& item);
    // `counted`: the count of an earlier formula with the same counter.
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
    Result<void> check(const std::vector<ir::Assertion>& assertions, bool all);
    Result<void> check_program(bool all);
    std::string known_values(ir::SymId condition) const;
    Result<void> make_outputs(const ir::Operation& op);
    Result<void> finish_outputs(const ir::Operation& op);
    // Substitutes known runtime extents.
    ir::SymId resolve(ir::SymId id);
    Result<int64_t> extent(ir::SymId id);
    Result<tensor::Shape> shape_of(ir::TensorId id, bool upper_bound);
    Result<std::shared_ptr<Array>> value_of(ir::TensorId id);
    void set_value(ir::TensorId id, std::shared_ptr<Array> value) {
        values_[id] = std::move(value);
    }
    Result<std::shared_ptr<Array>> variable_value(ir::TensorId id);
    Result<Array> fitting(ir::TensorId id, Array value);
    // Learns the extents of a result that are symbols.
    void learn_shape(ir::TensorId id, const tensor::Shape& shape);
    Result<std::shared_ptr<Array>> constant(const ir::Tensor& tensor);
    // Finds the tensors whose last use is in each operation of the main graph.
    void find_last_uses();

    ir::Program program_;
    RunOptions options_;
    Values values_;
    Values variables_;
    VariableSource source_;
    std::unordered_map<ir::SymId, ir::SymId, IdHash> known_;  // runtime extents, as constants
    std::map<std::pair<ir::OpId, size_t>, CachedKernel> kernels_;
    std::vector<std::vector<ir::TensorId>> dead_after_;
    ir::OpId failed_;
    bool failed_for_inputs_ = false;
    uint64_t runs_ = 0;
    uint64_t calls_ = 0;  // calls of intrinsics in this run
};

}  // namespace lemma::interpret
