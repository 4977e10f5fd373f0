// SPDX-License-Identifier: Apache-2.0
// interpret/state.h — what executors work on: the program, the values of its variables from run to
// run, and in a run the values of tensors and the extents that are known.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/control.h"
#include "interpret/array.h"
#include "ir/program/program.h"

namespace lemma::interpret {

class State {
public:
    explicit State(ir::Program program)
        : State(std::make_shared<const ir::Program>(std::move(program))) {}
    // Other states may share the program.
    explicit State(std::shared_ptr<const ir::Program> program);
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const ir::Program& program() const { return program_; }
    // The expressions of the program, and those that runs make of them.
    const ir::SymbolPool& symbols() const { return own_ ? *own_ : program_.symbols; }
    // The same to add expressions. The program's own stay as they are.
    ir::SymbolPool& own_symbols();

    // ---- Variables ------------------------------------------------------------------------------

    // Gives a variable its value, by its scoped name. The shape and the kind of data must fit.
    Result<void> set_variable(const std::string& name, Array value);
    // Where values of variables come from that were given none, when somebody wants one; null if
    // there is no data. Other states may share the value. The shape and the kind of data must fit.
    using VariableSource = std::function<Result<std::shared_ptr<const Array>>(ir::TensorId)>;
    void set_variable_source(VariableSource source) { source_ = std::move(source); }
    // The value that a variable has now; null before it was given one.
    const Array* variable(const std::string& name);
    // Whether the variable has a value of this state alone, given or from an update.
    bool has_variable(ir::TensorId id) const { return variables_.contains(id); }
    // Takes back all values that variables were given, and their updates.
    void reset_variables() {
        variables_.clear();
        values_.clear();
    }
    // What an update made of it.
    void keep_variable(ir::TensorId id, std::shared_ptr<Array> value) {
        values_.erase(id);
        variables_[id] = std::move(value);
    }

    // ---- One run --------------------------------------------------------------------------------

    // Of the calls until the next one; null: nobody stops them.
    void set_control(const RunControl* control) { control_ = control; }
    const RunControl* control() const { return control_; }

    // Takes the inputs, and what they tell of extents.
    Result<void> begin_run(const NamedArrays& inputs);
    // The same for inputs whose data others have, in the order of the graph: only what their shapes
    // tell. For graphs without packs of runtime length.
    using InputShape = std::span<const int64_t>;
    Result<void> begin_run(std::span<const InputShape> shapes);
    // Forgets all but the variables; `done` counts the run.
    void end_run(bool done);
    // What the graph asserts; `all`: an assertion that is still open is an error.
    Result<void> check_program(bool all);
    // The outputs of the graph, from whoever has the values.
    using ValueReader = std::function<Result<Array>(ir::TensorId)>;
    Result<NamedArrays> collect_outputs(const ValueReader& read);
    Result<void> check_assertions(ir::OpId id, bool all) {
        return check(program_.operations[id].assertions, all);
    }
    // Where the last run failed, if somebody knows the operation.
    const ir::Operation* failed() const {
        return failed_.valid() ? &program_.operations[failed_] : nullptr;
    }
    void set_failed(ir::OpId id) {
        if (!failed_.valid()) failed_ = id;  // the innermost operation comes first
    }
    // Whether the last run failed for what the graph asserts of its inputs.
    bool failed_for_inputs() const { return failed_for_inputs_; }
    // Another number for each call of an operator, in all runs.
    uint64_t next_call() { return runs_ * 1'000'003 + ++calls_; }

    // ---- Values ---------------------------------------------------------------------------------

    bool has_value(ir::TensorId id) const { return values_.contains(id); }
    Result<std::shared_ptr<Array>> value_of(ir::TensorId id);
    void set_value(ir::TensorId id, std::shared_ptr<Array> value) {
        values_[id] = std::move(value);
    }
    void set_value(ir::TensorId id, Array value) {
        set_value(id, std::make_shared<Array>(std::move(value)));
    }
    void drop_value(ir::TensorId id) { values_.erase(id); }

    // ---- Extents --------------------------------------------------------------------------------

    bool knows_extents() const { return !known_.empty(); }
    std::unordered_map<ir::SymId, int64_t, IdHash> known_extents() const;
    // Of a symbol, if inputs or results told it.
    std::optional<int64_t> known_extent(ir::SymId symbol) const;
    void learn_extent(ir::SymId id, int64_t value) { known_[id] = own_symbols().integer(value); }
    void forget_extent(ir::SymId id) { known_.erase(id); }
    // The extents of a result, where they are symbols of their own.
    void learn_shape(ir::TensorId id, const tensor::Shape& shape);
    // With known extents in place.
    ir::SymId resolve(ir::SymId id);
    ir::Scalar resolve(const ir::Scalar& item);
    Result<int64_t> extent(ir::SymId id);
    // `upper_bound`: in place of extents that are not known yet.
    Result<tensor::Shape> shape_of(ir::TensorId id, bool upper_bound);

private:
    using Values = std::unordered_map<ir::TensorId, std::shared_ptr<Array>, IdHash>;

    Result<void> bind_inputs(const NamedArrays& inputs);
    void forget_run();
    Result<void> bind_input(ir::TensorId id, const Array& given);
    Result<void> bind_shape(ir::TensorId id, InputShape shape);
    Result<void> bind_absent(ir::TensorId id);
    Result<void> check(const std::vector<ir::Assertion>& assertions, bool all);
    std::string known_values(ir::SymId condition) const;
    ir::TensorId find_variable(const std::string& name) const;
    Result<std::shared_ptr<Array>> variable_value(ir::TensorId id);
    Result<void> check_fits(ir::TensorId id, const Array& value);
    Result<std::shared_ptr<Array>> constant(const ir::Tensor& tensor);

    std::shared_ptr<const ir::Program> shared_program_;
    const ir::Program& program_;
    std::optional<ir::SymbolPool> own_;  // a copy of the program's, when the first one is added
    Values values_;
    Values variables_;  // given, or from updates
    Values stored_;     // from the source
    VariableSource source_;
    const RunControl* control_ = nullptr;
    std::unordered_map<ir::SymId, ir::SymId, IdHash> known_;  // as constants
    ir::OpId failed_;
    bool failed_for_inputs_ = false;
    uint64_t runs_ = 0;
    uint64_t calls_ = 0;  // in this run
};

}  // namespace lemma::interpret
