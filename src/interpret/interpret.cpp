// SPDX-License-Identifier: Apache-2.0
#include "interpret/interpret.h"

#include <fmt/format.h>

#include <algorithm>

#include "interpret/intrinsic.h"
#include "interpret/lifetimes.h"
#include "ir/program/display_name.h"

namespace lemma::interpret {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

}  // namespace

Interpreter::Interpreter(State& state, RunOptions options)
    : state_(state),
      program_(state.program()),
      options_(std::move(options)),
      dead_after_(tensors_dead_after(program_)) {}

Result<NamedArrays> Interpreter::run(const NamedArrays& inputs) {
    auto outputs = run_step(inputs);
    state_.end_run(outputs.has_value());
    return outputs;
}

Result<NamedArrays> Interpreter::run_step(const NamedArrays& inputs) {
    LEMMA_TRY(state_.begin_run(inputs));
    LEMMA_TRY(run_main());
    LEMMA_TRY(state_.check_program(true));
    const auto read = [this](ir::TensorId id) -> Result<Array> {
        LEMMA_TRY(const auto value, state_.value_of(id));
        return *value;
    };
    LEMMA_TRY(NamedArrays outputs, state_.collect_outputs(read));
    LEMMA_TRY(update_variables());
    return outputs;
}

// All of them are read before any is changed.
Result<void> Interpreter::update_variables() {
    std::vector<std::pair<ir::TensorId, std::shared_ptr<Array>>> updated;
    for (const ir::Update& update : program_.updates) {
        LEMMA_TRY(auto value, state_.value_of(update.value));
        LEMMA_TRY(const tensor::Shape shape, state_.shape_of(update.variable, false));
        if (value->shape != shape) {
            return bad(fmt::format("the variable `{}` has the shape {}, its new value {}",
                                   program_.tensors[update.variable].name,
                                   tensor::shape_text(shape),
                                   tensor::shape_text(value->shape)));
        }
        updated.emplace_back(update.variable, std::move(value));
    }
    for (auto& [id, value] : updated) state_.keep_variable(id, std::move(value));
    return {};
}

// ---- Operations ---------------------------------------------------------------------------------

Result<void> Interpreter::run_main() {
    const std::vector<ir::OpId>& operations = program_.graphs[program_.main].operations;
    for (size_t i = 0; i < operations.size(); ++i) {
        if (options_.on_progress) options_.on_progress(i, operations.size());
        if (const RunControl* const control = state_.control()) {
            control->stop_after("run", i, operations.size());  // the operation asks
        }
        LEMMA_TRY(run_operation(operations[i]));
        for (const ir::TensorId id : dead_after_[i]) state_.drop_value(id);
    }
    return {};
}

Result<void> Interpreter::run_operations(const std::vector<ir::OpId>& operations) {
    for (const ir::OpId id : operations) {
        LEMMA_TRY(run_operation(id));
    }
    return {};
}

Result<void> Interpreter::run_operation(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    LEMMA_TRY(go_on(state_.control()));
    Result<void> done = state_.check_assertions(id, false);
    if (!done) {
    } else if (op.compound()) {
        done = run_operations(op.parts);
    } else if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
        done = run_branch(op, *branch);
    } else if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
        done = run_loop(op, *loop);
    } else if (op.kind == ir::OperationKind::Intrinsic) {
        done = run_intrinsic(op);
    } else {
        done = run_formulas(id);
    }
    if (done && !op.compound()) done = finish_outputs(op);
    if (done) done = state_.check_assertions(id, true);
    if (!done) state_.set_failed(id);
    return done;
}

Result<void> Interpreter::finish_outputs(const ir::Operation& op) {
    if (!options_.on_tensor) return {};
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            if (!state_.has_value(id)) continue;
            LEMMA_TRY(const auto value, state_.value_of(id));
            LEMMA_TRY(options_.on_tensor(program_.tensors[id], *value));
        }
    }
    return {};
}

Result<void> Interpreter::make_outputs(const ir::Operation& op) {
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            LEMMA_TRY(tensor::Shape shape, state_.shape_of(id, true));
            LEMMA_TRY(Array array, Array::zeros(program_.tensors[id].dtype, std::move(shape)));
            state_.set_value(id, std::move(array));
        }
    }
    return {};
}

Result<void> Interpreter::run_formulas(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    // What an append counter counted in an earlier step of a loop is not known any more.
    for (const ir::Formula& formula : op.formulas) state_.forget_extent(formula.counter);
    LEMMA_TRY(make_outputs(op));
    for (size_t i = 0; i < op.formulas.size(); ++i) {
        LEMMA_TRY(run_formula(id, i));
    }
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) {
            LEMMA_TRY(const tensor::Shape shape, state_.shape_of(output, true));
            LEMMA_TRY(const auto value, state_.value_of(output));
            if (value->shape != shape) *value = cut(*value, shape);
            value->round();
        }
    }
    return {};
}

Result<void> Interpreter::run_formula(ir::OpId id, size_t index) {
    // Another formula with the same counter counts separately and must reach the same number.
    const ir::SymId counter = program_.operations[id].formulas[index].counter;
    const auto counted = counter.valid() ? state_.known_extent(counter) : std::nullopt;
    if (counted) state_.forget_extent(counter);
    LEMMA_TRY(Bytecode* const kernel, this->kernel(id, index));
    std::vector<Array*> arrays;
    for (const ir::TensorId tensor : kernel->tensors()) {
        LEMMA_TRY(const auto value, state_.value_of(tensor));
        arrays.push_back(value.get());
    }
    LEMMA_TRY(kernel->run(arrays, state_.control()));
    const ir::Formula& formula = program_.operations[id].formulas[index];
    LEMMA_TRY(round_written(formula));
    if (!formula.counter.valid()) return {};
    return end_append(formula, kernel->counter(), counted);
}

// With F32, the next formula reads floats: also those that a formula with f64 results has written.
Result<void> Interpreter::round_written(const ir::Formula& formula) {
    const bool done = options_.accumulate == ir::Accumulate::F64 ||
                      ir::computes_in_float(program_, formula, options_.accumulate);
    for (const ir::Write& write : formula.writes) {
        if (done || program_.tensors[write.tensor].dtype != ir::DType::F32) continue;
        LEMMA_TRY(const auto value, state_.value_of(write.tensor));
        value->round();
    }
    return {};
}

// Compiles the bytecode of a formula once for each set of shapes.
Result<Bytecode*> Interpreter::kernel(ir::OpId id, size_t index) {
    const ir::Formula& original = program_.operations[id].formulas[index];
    std::vector<int64_t> key;
    const ir::Formula formula = settled(original, key);
    Bytecode::Shapes shapes;
    const auto add = [&](ir::TensorId tensor) -> Result<void> {
        LEMMA_TRY(const auto value, state_.value_of(tensor));
        if (!shapes.emplace(tensor, value->shape).second) return {};
        key.insert(key.end(), value->shape.begin(), value->shape.end());
        return {};
    };
    for (const ir::Access& access : formula.accesses) {
        LEMMA_TRY(add(access.tensor));
    }
    for (const ir::Write& write : formula.writes) {
        LEMMA_TRY(add(write.tensor));
    }
    const auto place = std::make_pair(id, index);
    const auto found = kernels_.find(place);
    if (found != kernels_.end() && found->second.key == key) return &found->second.kernel;
    const bool in_float = ir::computes_in_float(program_, formula, options_.accumulate);
    LEMMA_TRY(Bytecode made,
              Bytecode::compile(program_, state_.own_symbols(), formula, shapes, in_float));
    auto& cached = kernels_[place];
    cached = {std::move(key), std::move(made)};
    return &cached.kernel;
}

// Substitutes known extents; the key distinguishes the results.
ir::Formula Interpreter::settled(const ir::Formula& original, std::vector<int64_t>& key) {
    ir::Formula formula = original;
    if (!state_.knows_extents()) return formula;
    const auto settle = [&](ir::SymId& id) {
        if (id.valid()) id = state_.resolve(id);
        key.push_back(id.value);
    };
    const auto settle_terms = [&](std::vector<ir::IndexTerm>& terms) {
        for (ir::IndexTerm& term : terms) {
            settle(term.value);
            settle(term.below);
            settle(term.above);
        }
    };
    for (ir::Bound& bound : formula.bounds) settle(bound.extent);
    for (ir::Access& access : formula.accesses) settle_terms(access.indices);
    for (ir::Write& write : formula.writes) {
        settle_terms(write.indices);
        settle(write.value);
    }
    settle(formula.condition);
    return formula;
}

// The append form: the counter is the extent, and the output is cut to it.
Result<void> Interpreter::end_append(const ir::Formula& formula,
                                     int64_t count,
                                     std::optional<int64_t> counted) {
    if (counted && *counted != count) {
        return bad(
            fmt::format("`{}` gets {} elements, expected {} as in another output with the "
                        "extent {}",
                        program_.tensors[formula.writes.back().tensor].name,
                        count,
                        *counted,
                        state_.symbols().text(formula.counter)));
    }
    state_.learn_extent(formula.counter, count);
    for (const ir::Write& write : formula.writes) {
        LEMMA_TRY(const tensor::Shape shape, state_.shape_of(write.tensor, true));
        LEMMA_TRY(const auto value, state_.value_of(write.tensor));
        *value = cut(*value, shape);
    }
    return {};
}

// Whether the extent comes from an input or an attribute, not from the operation itself.
bool Interpreter::is_given(const ir::Operation& op, ir::SymId extent) const {
    const auto among = [&](const std::vector<ir::SymId>& shape) {
        return std::ranges::find(shape, extent) != shape.end();
    };
    for (const ir::Port& port : op.inputs) {
        for (const ir::TensorId id : port.operand.items) {
            if (among(program_.tensors[id].shape)) return true;
        }
    }
    const ir::Scalar wanted(extent);
    for (const ir::Attribute& attribute : op.attributes) {
        const auto* scalar = std::get_if<ir::Scalar>(&attribute.value);
        const auto* pack = std::get_if<ir::Pack>(&attribute.value);
        if (scalar && *scalar == wanted) return true;
        if (pack && std::ranges::find(pack->items, wanted) != pack->items.end()) return true;
    }
    return false;
}

Result<void> Interpreter::run_intrinsic(const ir::Operation& op) {
    const Intrinsic intrinsic = find_intrinsic(op.op);
    if (!intrinsic)
        return bad(
            fmt::format("`{}` has no formula, and no intrinsic either", ir::display_name(op.op)));
    IntrinsicCall call(op, options_.seed + 0x9E3779B97F4A7C15u * state_.next_call());
    call.settle = [this](const ir::Scalar& item) { return state_.resolve(item); };
    for (const ir::Port& port : op.inputs) {
        auto& items = call.inputs.emplace_back();
        for (const ir::TensorId id : port.operand.items) {
            LEMMA_TRY(auto value, state_.value_of(id));
            items.push_back(std::move(value));
        }
    }
    std::vector<ir::TensorId> outputs;
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            // Symbols that this call defines must not keep values of an earlier one.
            for (const ir::SymId extent : program_.tensors[id].shape) {
                if (!is_given(op, extent)) state_.forget_extent(extent);
            }
            LEMMA_TRY(tensor::Shape shape, state_.shape_of(id, true));
            call.outputs.push_back({program_.tensors[id].dtype, std::move(shape), {}});
            outputs.push_back(id);
        }
    }
    LEMMA_TRY(intrinsic(call));
    for (size_t i = 0; i < outputs.size(); ++i) {
        Array& array = call.outputs[i].array;
        array.round();
        state_.learn_shape(outputs[i], array.shape);
        state_.set_value(outputs[i], std::move(array));
    }
    return {};
}

}  // namespace lemma::interpret
