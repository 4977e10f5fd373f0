// loop/interpret.h — the oracle (design D7): runs an ir::Program by plain loops over its formulas,
// in double and int64, with every access checked.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "loop/array.h"

namespace lemma::loop {

// Tensors by the name of an input, output or variable; several for a pack.
using NamedArrays = std::map<std::string, std::vector<Array>>;

class Interpreter {
public:
    explicit Interpreter(ir::Program program);

    const ir::Program& program() const { return program_; }
    // Gives a variable its value; by its scoped name.
    Result<void> set_variable(const std::string& name, Array value);
    // One step: inputs in, outputs out. Variables take their updated values afterwards.
    Result<NamedArrays> run(const NamedArrays& inputs);

private:
    using Values = std::map<ir::TensorId, std::shared_ptr<Array>>;

    Result<void> bind_inputs(const NamedArrays& inputs);
    Result<void> bind_shape(ir::TensorId id, const Array& array);
    Result<void> run_operations(const std::vector<ir::OpId>& operations);
    Result<void> run_operation(ir::OpId id);
    Result<void> run_formulas(const ir::Operation& op);
    Result<void> run_formula(const ir::Operation& op, const ir::Formula& formula);
    Result<void> run_branch(const ir::Operation& op, const ir::Branch& branch);
    Result<void> run_loop(const ir::Operation& op, const ir::Loop& loop);
    Result<bool> condition(ir::GraphId graph);
    Result<void> check(const std::vector<ir::Assertion>& assertions);
    Result<void> make_outputs(const ir::Operation& op);
    // Extents that only a run tells: known ones are put in place.
    ir::SymId resolve(ir::SymId id);
    Result<int64_t> extent(ir::SymId id);
    Result<tensor::Shape> shape_of(ir::TensorId id, bool upper_bound);
    Result<std::shared_ptr<Array>> value_of(ir::TensorId id);
    void set_value(ir::TensorId id, std::shared_ptr<Array> value) {
        values_[id] = std::move(value);
    }
    void learn_shape(ir::TensorId id, const Array& array);
    Result<std::shared_ptr<Array>> constant(const ir::Tensor& tensor);
    static size_t input_of_carried(const ir::Operation& op, const ir::Loop& loop, size_t index);
    static Array cut(const Array& array, const tensor::Shape& shape);

    ir::Program program_;
    Values values_;
    Values variables_;
    std::unordered_map<ir::SymId, ir::SymId, IdHash> known_;  // dynamic extents, as constants
};

}  // namespace lemma::loop
