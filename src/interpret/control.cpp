// SPDX-License-Identifier: Apache-2.0
// Branches and loops: their graphs run in place, and their results become the outputs of the
// operation.
#include <fmt/format.h>

#include <algorithm>

#include "interpret/interpret.h"

namespace lemma::interpret {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// The inputs: the count tensor, if any, then the carried values and the packs.
const ir::Operand& input_of(const ir::Operation& op, const ir::Loop& loop, size_t index) {
    return op.inputs[index + (loop.dynamic_count.valid() ? 1 : 0)].operand;
}

}  // namespace

Result<bool> Interpreter::condition(ir::GraphId id) {
    const ir::Graph& graph = program_.graphs[id];
    LEMMA_TRY(run_operations(graph.operations));
    LEMMA_TRY(const auto value, state_.value_of(graph.outputs[0].operand.items[0]));
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
    const ir::Graph& graph = program_.graphs[taken];
    LEMMA_TRY(run_operations(graph.operations));
    for (size_t i = 0; i < op.outputs.size(); ++i) {
        for (size_t k = 0; k < op.outputs[i].operand.items.size(); ++k) {
            const ir::TensorId target = op.outputs[i].operand.items[k];
            LEMMA_TRY(const auto value, state_.value_of(graph.outputs[i].operand.items[k]));
            state_.learn_shape(target, value->shape);
            state_.set_value(target, value);
        }
    }
    return {};
}

Result<int64_t> Interpreter::loop_count(const ir::Loop& loop) {
    int64_t count = options_.max_loop_steps;
    if (loop.static_count.valid()) {
        LEMMA_TRY(count, state_.extent(loop.static_count));
    }
    if (!loop.dynamic_count.valid()) return count;
    LEMMA_TRY(const auto value, state_.value_of(loop.dynamic_count));
    if (value->integers.size() != 1) return bad("the count of a loop is not a single int");
    const int64_t wanted = value->integers[0];
    if (!loop.items.empty() && wanted > count) {
        return bad(
            fmt::format("a loop with {} iterations over packs of {} tensors", wanted, count));
    }
    return std::min(count, wanted);
}

Result<void> Interpreter::begin_step(const ir::Operation& op, const ir::Loop& loop, int64_t step) {
    if (loop.index.valid()) {
        LEMMA_TRY(Array index, Array::zeros(program_.tensors[loop.index].dtype, {}));
        index.integers[0] = step;
        state_.set_value(loop.index, std::move(index));
    }
    for (size_t i = 0; i < loop.items.size(); ++i) {
        const auto& pack = input_of(op, loop, loop.carried.size() + i).items;
        if (static_cast<size_t>(step) >= pack.size()) {
            return bad("a loop runs past the end of a scanned pack");
        }
        LEMMA_TRY(const auto value, state_.value_of(pack[static_cast<size_t>(step)]));
        state_.learn_shape(loop.items[i], value->shape);
        state_.set_value(loop.items[i], value);
    }
    return {};
}

// All results are read before the carried values change.
Result<void> Interpreter::end_step(const ir::Operation& op, const ir::Loop& loop, int64_t step) {
    std::vector<std::shared_ptr<Array>> results;
    for (const ir::Port& output : program_.graphs[loop.body].outputs) {
        LEMMA_TRY(auto value, state_.value_of(output.operand.items[0]));
        results.push_back(std::move(value));
    }
    for (size_t i = 0; i < results.size(); ++i) {
        if (i < loop.carried.size()) {
            state_.set_value(loop.carried[i], results[i]);
            continue;
        }
        const auto& pack = op.outputs[i].operand.items;
        if (static_cast<size_t>(step) >= pack.size()) {
            return bad(
                fmt::format("a loop gives more than the {} items of its result", pack.size()));
        }
        state_.learn_shape(pack[static_cast<size_t>(step)], results[i]->shape);
        state_.set_value(pack[static_cast<size_t>(step)], results[i]);
    }
    return {};
}

Result<void> Interpreter::run_loop(const ir::Operation& op, const ir::Loop& loop) {
    LEMMA_TRY(const int64_t count, loop_count(loop));
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        LEMMA_TRY(const auto value, state_.value_of(input_of(op, loop, i).items[0]));
        state_.set_value(loop.carried[i], value);
    }
    int64_t steps = 0;
    bool ended = false;
    while (steps < count && !ended) {
        LEMMA_TRY(go_on(state_.control()));
        LEMMA_TRY(begin_step(op, loop, steps));
        if (loop.pre_condition.valid()) {
            LEMMA_TRY(const bool go_on, condition(loop.pre_condition));
            ended = !go_on;
            if (ended) break;
        }
        LEMMA_TRY(run_operations(program_.graphs[loop.body].operations));
        LEMMA_TRY(end_step(op, loop, steps));
        ++steps;
        if (loop.post_condition.valid()) {
            LEMMA_TRY(const bool go_on, condition(loop.post_condition));
            ended = !go_on;
        }
    }
    const bool counted = loop.static_count.valid() || loop.dynamic_count.valid();
    if (!counted && !ended) return bad(fmt::format("a loop does not end after {} steps", steps));
    return end_loop(op, loop, steps);
}

Result<void> Interpreter::end_loop(const ir::Operation& op, const ir::Loop& loop, int64_t steps) {
    for (size_t i = 0; i < op.outputs.size(); ++i) {
        const ir::Operand& operand = op.outputs[i].operand;
        if (i < loop.carried.size()) {
            LEMMA_TRY(const auto value, state_.value_of(loop.carried[i]));
            state_.learn_shape(operand.items[0], value->shape);
            state_.set_value(operand.items[0], value);
            continue;
        }
        if (!operand.length.valid()) continue;
        state_.learn_extent(operand.length, steps);
        // Items past the end are never read, but have a value.
        for (size_t k = static_cast<size_t>(steps); k < operand.items.size(); ++k) {
            const ir::TensorId id = operand.items[k];
            LEMMA_TRY(tensor::Shape shape, state_.shape_of(id, true));
            LEMMA_TRY(Array empty, Array::zeros(program_.tensors[id].dtype, std::move(shape)));
            state_.set_value(id, std::move(empty));
        }
    }
    return {};
}

}  // namespace lemma::interpret
