#include "loop/interpret.h"

#include <fmt/format.h>

#include <algorithm>

#include "loop/kernel.h"

namespace lemma::loop {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

std::unexpected<Error> within(const ir::Operation& op, const Error& error) {
    return bad(fmt::format("in `{}`{}: {}",
                           op.op,
                           op.label.empty() ? "" : fmt::format(" (`{}`)", op.label),
                           error.message));
}

}  // namespace

Interpreter::Interpreter(ir::Program program) : program_(std::move(program)) {}

Result<void> Interpreter::set_variable(const std::string& name, Array value) {
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const ir::Tensor& tensor = program_.tensors[id];
        if (tensor.role != ir::TensorRole::Variable || tensor.name != name) continue;
        value.dtype = tensor.dtype;
        variables_[id] = std::make_shared<Array>(std::move(value));
        return {};
    }
    return bad(fmt::format("no variable `{}`", name));
}

Result<NamedArrays> Interpreter::run(const NamedArrays& inputs) {
    values_ = variables_;
    known_.clear();
    if (auto done = bind_inputs(inputs); !done) return std::unexpected(done.error());
    if (auto done = check(program_.assertions); !done) return std::unexpected(done.error());
    const ir::Graph& main = program_.graphs[program_.main];
    if (auto done = run_operations(main.operations); !done) return std::unexpected(done.error());
    NamedArrays outputs;
    for (const ir::Port& port : main.outputs) {
        auto& items = outputs[port.name];
        int64_t count = static_cast<int64_t>(port.operand.items.size());
        if (port.operand.length.valid()) {
            LEMMA_TRY(count, extent(port.operand.length));
        }
        for (int64_t i = 0; i < count; ++i) {
            LEMMA_TRY(const auto value, value_of(port.operand.items[static_cast<size_t>(i)]));
            items.push_back(*value);
        }
    }
    Values updated;
    for (const ir::Update& update : program_.updates) {
        LEMMA_TRY(updated[update.variable], value_of(update.value));
    }
    for (auto& [id, value] : updated) variables_[id] = value;
    return outputs;
}

Result<void> Interpreter::bind_inputs(const NamedArrays& inputs) {
    for (const ir::Port& port : program_.graphs[program_.main].inputs) {
        const auto given = inputs.find(port.name);
        if (given == inputs.end()) return bad(fmt::format("no data for the input `{}`", port.name));
        const auto count = static_cast<int64_t>(given->second.size());
        if (port.operand.length.valid()) {
            known_[port.operand.length] = program_.symbols.integer(count);
        } else if (given->second.size() != port.operand.items.size()) {
            return bad(fmt::format("the input `{}` has {} tensors, expected {}",
                                   port.name,
                                   count,
                                   port.operand.items.size()));
        }
        for (size_t i = 0; i < given->second.size() && i < port.operand.items.size(); ++i) {
            const ir::TensorId id = port.operand.items[i];
            auto array = std::make_shared<Array>(given->second[i]);
            if (auto done = bind_shape(id, *array); !done) return done;
            array->dtype = program_.tensors[id].dtype;
            array->round();
            set_value(id, std::move(array));
        }
    }
    return {};
}

// Unknown extents take the sizes of what is given; known ones must agree.
Result<void> Interpreter::bind_shape(ir::TensorId id, const Array& array) {
    const ir::Tensor& tensor = program_.tensors[id];
    const bool same_kind =
        tensor::is_real(tensor.dtype) == tensor::is_real(array.dtype) &&
        (tensor.dtype == tensor::DType::Bool) == (array.dtype == tensor::DType::Bool);
    if (array.shape.size() != tensor.shape.size() || !same_kind) {
        return bad(fmt::format("`{}` is given {} {}, expected rank {} of {}",
                               tensor.name,
                               tensor::dtype_name(array.dtype),
                               tensor::shape_text(array.shape),
                               tensor.shape.size(),
                               tensor::dtype_name(tensor.dtype)));
    }
    learn_shape(id, array);
    for (size_t axis = 0; axis < array.shape.size(); ++axis) {
        LEMMA_TRY(const int64_t wanted, extent(tensor.shape[axis]));
        const int64_t most = program_.symbols.range(tensor.shape[axis]).high;
        if (wanted == array.shape[axis] && array.shape[axis] <= most) continue;
        return bad(fmt::format("axis {} of `{}` has extent {}, expected {}",
                               axis,
                               tensor.name,
                               array.shape[axis],
                               std::min(wanted, most)));
    }
    return {};
}

void Interpreter::learn_shape(ir::TensorId id, const Array& array) {
    const auto& shape = program_.tensors[id].shape;
    for (size_t axis = 0; axis < shape.size() && axis < array.shape.size(); ++axis) {
        if (program_.symbols.as_int(resolve(shape[axis]))) continue;
        if (program_.symbols.node(shape[axis]).kind != ir::SymKind::Symbol) continue;
        known_[shape[axis]] = program_.symbols.integer(array.shape[axis]);
    }
}

ir::SymId Interpreter::resolve(ir::SymId id) {
    if (known_.empty() || program_.symbols.is_constant(id)) return id;
    return program_.symbols.substitute(id, known_).value_or(id);
}

Result<int64_t> Interpreter::extent(ir::SymId id) {
    const auto value = program_.symbols.as_int(resolve(id));
    if (!value)
        return bad(fmt::format("the extent {} is not known yet", program_.symbols.text(id)));
    return *value;
}

Result<tensor::Shape> Interpreter::shape_of(ir::TensorId id, bool upper_bound) {
    tensor::Shape shape;
    for (const ir::SymId part : program_.tensors[id].shape) {
        const ir::SymId known = resolve(part);
        const auto value = program_.symbols.as_int(known);
        if (!value && !upper_bound) {
            return bad(fmt::format("the extent {} is not known yet", program_.symbols.text(part)));
        }
        shape.push_back(value ? *value : program_.symbols.range(known).high);
    }
    return shape;
}

Result<std::shared_ptr<Array>> Interpreter::value_of(ir::TensorId id) {
    const auto found = values_.find(id);
    if (found != values_.end()) return found->second;
    const ir::Tensor& tensor = program_.tensors[id];
    if (tensor.role == ir::TensorRole::Constant) {
        LEMMA_TRY(auto array, constant(tensor));
        LEMMA_TRY(array->shape, shape_of(id, false));
        set_value(id, array);
        return array;
    }
    return bad(fmt::format("`{}` has no value", tensor.name));
}

Result<std::shared_ptr<Array>> Interpreter::constant(const ir::Tensor& tensor) {
    tensor::Shape shape;
    for (const ir::SymId part : tensor.shape) {
        LEMMA_TRY(const int64_t value, extent(part));
        shape.push_back(value);
    }
    LEMMA_TRY(Array array, Array::zeros(tensor.dtype, shape));
    for (int64_t i = 0; i < array.size; ++i) {
        const auto at = static_cast<size_t>(i);
        const ir::Scalar& item = tensor.items.size() == 1 ? tensor.items[0] : tensor.items[at];
        ir::SymId symbol;
        if (const auto* s = std::get_if<ir::SymId>(&item)) symbol = resolve(*s);
        const auto real = [&]() -> double {
            if (const auto* v = std::get_if<double>(&item)) return *v;
            if (const auto* v = std::get_if<int64_t>(&item)) return static_cast<double>(*v);
            return symbol.valid() ? program_.symbols.as_real(symbol).value_or(0) : 0;
        };
        const auto integer = [&]() -> int64_t {
            if (const auto* v = std::get_if<int64_t>(&item)) return *v;
            if (const auto* v = std::get_if<bool>(&item)) return *v;
            if (!symbol.valid()) return 0;
            if (const auto flag = program_.symbols.as_bool(symbol)) return *flag;
            return program_.symbols.as_int(symbol).value_or(0);
        };
        if (!array.reals.empty()) array.reals[at] = real();
        if (!array.integers.empty()) array.integers[at] = integer();
        if (!array.strings.empty() && std::holds_alternative<std::string>(item)) {
            array.strings[at] = std::get<std::string>(item);
        }
    }
    array.round();
    return std::make_shared<Array>(std::move(array));
}

Result<void> Interpreter::check(const std::vector<ir::Assertion>& assertions) {
    for (const ir::Assertion& assertion : assertions) {
        const auto holds = program_.symbols.as_bool(resolve(assertion.condition));
        if (holds && !*holds) return bad(assertion.message);
    }
    return {};
}

// ---- Operations ---------------------------------------------------------------------------------

Result<void> Interpreter::run_operations(const std::vector<ir::OpId>& operations) {
    for (const ir::OpId id : operations) {
        if (auto done = run_operation(id); !done) return done;
    }
    return {};
}

Result<void> Interpreter::run_operation(ir::OpId id) {
    const ir::Operation op = program_.operations[id];
    if (auto done = check(op.assertions); !done) return within(op, done.error());
    if (op.compound()) return run_operations(op.parts);
    Result<void> done;
    if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
        done = run_branch(op, *branch);
    } else if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
        done = run_loop(op, *loop);
    } else {
        done = run_formulas(op);
    }
    if (!done) return within(op, done.error());
    return {};
}

Result<void> Interpreter::make_outputs(const ir::Operation& op) {
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            LEMMA_TRY(tensor::Shape shape, shape_of(id, true));
            LEMMA_TRY(Array array, Array::zeros(program_.tensors[id].dtype, std::move(shape)));
            set_value(id, std::make_shared<Array>(std::move(array)));
        }
    }
    return {};
}

Result<void> Interpreter::run_formulas(const ir::Operation& op) {
    if (op.formulas.empty() && !op.outputs.empty()) {
        return bad("this operator has no formula and no intrinsic");
    }
    if (auto done = make_outputs(op); !done) return done;
    for (const ir::Formula& formula : op.formulas) {
        if (auto done = run_formula(op, formula); !done) return done;
    }
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) values_[id]->round();
    }
    return {};
}

Result<void> Interpreter::run_formula(const ir::Operation& op, const ir::Formula& original) {
    ir::Formula formula = original;
    const auto settle = [&](ir::SymId& id) {
        if (id.valid()) id = resolve(id);
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
    std::unordered_map<ir::TensorId, Array*, IdHash> arrays;
    for (const ir::Access& access : formula.accesses) {
        LEMMA_TRY(const auto value, value_of(access.tensor));
        arrays[access.tensor] = value.get();
    }
    for (const ir::Write& write : formula.writes)
        arrays[write.tensor] = values_[write.tensor].get();
    LEMMA_TRY(Kernel kernel, Kernel::compile(program_, formula, arrays));
    if (auto done = kernel.run(); !done) return done;
    if (!formula.counter.valid()) return {};
    // The append form: the counter is the extent, and the output is cut to it.
    known_[formula.counter] = program_.symbols.integer(kernel.counter());
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            LEMMA_TRY(const tensor::Shape shape, shape_of(id, true));
            *values_[id] = cut(*values_[id], shape);
        }
    }
    return {};
}

Result<bool> Interpreter::condition(ir::GraphId id) {
    const ir::Graph graph = program_.graphs[id];
    if (auto done = run_operations(graph.operations); !done) return std::unexpected(done.error());
    LEMMA_TRY(const auto value, value_of(graph.outputs[0].operand.items[0]));
    if (value->integers.size() != 1) return bad("a condition is not a single bool");
    return value->integers[0] != 0;
}

Result<void> Interpreter::run_branch(const ir::Operation& op, const ir::Branch& branch) {
    ir::GraphId taken = branch.alternative;
    for (const ir::Branch::Arm& arm : branch.arms) {
        LEMMA_TRY(const bool holds, condition(arm.condition));
        if (!holds) continue;
        taken = arm.consequent;
        break;
    }
    const ir::Graph graph = program_.graphs[taken];
    if (auto done = run_operations(graph.operations); !done) return done;
    for (size_t i = 0; i < op.outputs.size(); ++i) {
        for (size_t k = 0; k < op.outputs[i].operand.items.size(); ++k) {
            const ir::TensorId target = op.outputs[i].operand.items[k];
            LEMMA_TRY(const auto value, value_of(graph.outputs[i].operand.items[k]));
            learn_shape(target, *value);
            set_value(target, value);
        }
    }
    return {};
}

Result<void> Interpreter::run_loop(const ir::Operation& op, const ir::Loop& loop) {
    int64_t count = INT64_MAX;
    if (loop.static_count.valid()) {
        LEMMA_TRY(count, extent(loop.static_count));
    }
    if (loop.dynamic_count.valid()) {
        LEMMA_TRY(const auto value, value_of(loop.dynamic_count));
        if (value->integers.size() != 1) return bad("the count of a loop is not a single int");
        count = std::min(count, value->integers[0]);
    }
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        LEMMA_TRY(const auto value,
                  value_of(op.inputs[input_of_carried(op, loop, i)].operand.items[0]));
        set_value(loop.carried[i], value);
    }
    const ir::Graph body = program_.graphs[loop.body];
    int64_t steps = 0;
    for (; steps < count; ++steps) {
        if (loop.index.valid()) {
            LEMMA_TRY(Array index, Array::zeros(tensor::DType::I64, {}));
            index.integers[0] = steps;
            set_value(loop.index, std::make_shared<Array>(std::move(index)));
        }
        for (size_t i = 0; i < loop.items.size(); ++i) {
            const size_t port = input_of_carried(op, loop, loop.carried.size() + i);
            const auto& pack = op.inputs[port].operand.items;
            if (static_cast<size_t>(steps) >= pack.size())
                return bad("a loop runs past the end of a scanned pack");
            LEMMA_TRY(const auto value, value_of(pack[static_cast<size_t>(steps)]));
            set_value(loop.items[i], value);
        }
        if (loop.pre_condition.valid()) {
            LEMMA_TRY(const bool go_on, condition(loop.pre_condition));
            if (!go_on) break;
        }
        if (auto done = run_operations(body.operations); !done) return done;
        std::vector<std::shared_ptr<Array>> results;
        for (const ir::Port& output : body.outputs) {
            LEMMA_TRY(const auto value, value_of(output.operand.items[0]));
            results.push_back(value);
        }
        for (size_t i = 0; i < results.size(); ++i) {
            if (i < loop.carried.size()) {
                set_value(loop.carried[i], results[i]);
            } else {
                const auto& pack = op.outputs[i].operand.items;
                if (static_cast<size_t>(steps) < pack.size())
                    set_value(pack[static_cast<size_t>(steps)], results[i]);
            }
        }
        if (loop.post_condition.valid()) {
            LEMMA_TRY(const bool go_on, condition(loop.post_condition));
            if (go_on) continue;
            ++steps;
            break;
        }
    }
    for (size_t i = 0; i < op.outputs.size(); ++i) {
        const ir::Operand& operand = op.outputs[i].operand;
        if (i < loop.carried.size()) {
            LEMMA_TRY(const auto value, value_of(loop.carried[i]));
            learn_shape(operand.items[0], *value);
            set_value(operand.items[0], value);
        } else if (operand.length.valid()) {
            known_[operand.length] = program_.symbols.integer(steps);
            // Items past the end are never read, but have a value.
            for (size_t k = static_cast<size_t>(steps); k < operand.items.size(); ++k) {
                LEMMA_TRY(tensor::Shape shape, shape_of(operand.items[k], true));
                LEMMA_TRY(Array empty,
                          Array::zeros(program_.tensors[operand.items[k]].dtype, std::move(shape)));
                set_value(operand.items[k], std::make_shared<Array>(std::move(empty)));
            }
        }
    }
    return {};
}

// A count tensor, if there is one, is the first input.
size_t Interpreter::input_of_carried(const ir::Operation&, const ir::Loop& loop, size_t index) {
    return index + (loop.dynamic_count.valid() ? 1 : 0);
}

// The leading part of an array, axis by axis.
Array Interpreter::cut(const Array& array, const tensor::Shape& shape) {
    auto result = Array::zeros(array.dtype, shape);
    if (!result) return array;
    tensor::Shape index(shape.size(), 0);
    for (int64_t to = 0; to < result->size; ++to) {
        int64_t from = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis)
            from = from * array.shape[axis] + index[axis];
        const auto t = static_cast<size_t>(to);
        const auto f = static_cast<size_t>(from);
        if (!array.reals.empty()) result->reals[t] = array.reals[f];
        if (!array.integers.empty()) result->integers[t] = array.integers[f];
        for (size_t axis = shape.size(); axis-- > 0;) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
    return std::move(*result);
}

}  // namespace lemma::loop
