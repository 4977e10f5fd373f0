// SPDX-License-Identifier: Apache-2.0
// Loops that are not unrolled: the number of steps is unknown before the run, or large.
#include <fmt/format.h>

#include "onnx/import/importer.h"

namespace lemma::onnx {

namespace {

// Upper bound of the items that one output collects.
constexpr int64_t kMaxCollected = 100'000;

}  // namespace

ir::TensorId Importer::loop_tensor(const std::string& name, ValueId like) {
    ir::Tensor made;
    made.name = name;
    made.dtype = dtype(like);
    made.shape = shape(like);
    return builder_.add_tensor(std::move(made));
}

// A loop that collects outputs needs an upper bound of steps: every collected item has a place.
bool Importer::can_collect(const NodeCall& call, std::optional<int64_t> count) {
    if (count && *count <= kMaxCollected) return true;
    failed_ = true;
    const auto undecided = [&](size_t input) {
        return call.has_input(input) && values_[call.inputs[input]].undecided;
    };
    if (!undecided(0) && !undecided(1)) {
        not_supported(call,
                      fmt::format("a `Loop` that collects outputs needs a number of steps that is "
                                  "known before the run, {} at most",
                                  kMaxCollected));
    }
    return false;
}

// The results of the body become those of the loop. Carried values stay as they are. Collected
// values become packs, which are stacked after the loop.
bool Importer::connect_loop(const NodeCall& call,
                            const std::vector<ValueId>& initial,
                            const std::vector<ValueId>& results,
                            const LoopCount& steps,
                            ir::Operation& operation,
                            ir::Graph& body) {
    for (size_t i = 0; i < results.size(); ++i) {
        const ValueId made = results[i];
        const std::string name = fmt::format("y{}", i);
        body.outputs.push_back({name, ir::Operand::single(tensor(made))});
        ir::Operand output;
        if (i >= initial.size()) {
            output.packed = true;
            output.length = steps.length;
            for (int64_t step = 0; step < *steps.count; ++step)
                output.items.push_back(loop_tensor(values_[made].name, made));
        } else if (dtype(made) == dtype(initial[i]) && shape(made) == shape(initial[i])) {
            output = ir::Operand::single(loop_tensor(values_[made].name, made));
        } else {
            return not_supported(
                call,
                fmt::format("`{}` changes its shape or type from step to step, which is not "
                            "supported in a loop that is not written out",
                            values_[initial[i]].name));
        }
        operation.outputs.push_back({name, std::move(output)});
    }
    return true;
}

Importer::Results Importer::repeat_loop(const NodeCall& call,
                                        const Scope& scope,
                                        const Graph& body,
                                        const LoopCount& steps) {
    if (refuse_sequences(call, call.inputs)) return std::nullopt;
    std::vector<ValueId> initial;
    initial.push_back(call.has_input(1) ? call.inputs[1]
                                        : known_value({DType::Bool, {}, {true}}, "go"));
    for (size_t i = 2; i < call.inputs.size(); ++i) initial.push_back(call.inputs[i]);
    if (body.outputs.size() < initial.size()) {
        fail(call, DiagKind::ResultCount, "the graph of `Loop` has too few outputs");
        return std::nullopt;
    }
    if (body.outputs.size() > initial.size() && !can_collect(call, steps.count))
        return std::nullopt;

    ir::Loop loop;
    ir::Operation operation{.kind = ir::OperationKind::Control, .op = "loop"};
    if (steps.count) loop.static_count = symbols().integer(*steps.count);
    if (call.has_input(0) && !steps.count) {
        loop.dynamic_count = tensor(call.inputs[0]);
        operation.inputs.push_back({"count", ir::Operand::single(loop.dynamic_count)});
    }
    loop.index = loop_tensor("step", known_value({DType::I64, {}, {int64_t{0}}}, "step"));
    std::vector<ValueId> inputs = {tensor_value(loop.index, "step")};
    for (const ValueId value : initial) {
        const std::string name = values_[value].name;
        // A value may be carried twice, but ports need different names.
        operation.inputs.push_back(
            {fmt::format("v{}", loop.carried.size()), ir::Operand::single(tensor(value))});
        loop.carried.push_back(loop_tensor(name, value));
        inputs.push_back(tensor_value(loop.carried.back(), name));
    }
    builder_.begin_graph();
    ir::Graph test;
    test.outputs = {{"go", ir::Operand::single(loop.carried[0])}};
    loop.pre_condition = builder_.end_graph(std::move(test));
    builder_.begin_graph();
    const Results results = import_body(call, body, inputs, scope);
    ir::Graph graph;
    const bool good = results && !refuse_sequences(call, *results) &&
                      connect_loop(call, initial, *results, steps, operation, graph);
    loop.body = builder_.end_graph(std::move(graph));
    if (!good) return std::nullopt;
    operation.label = label_of(call);
    operation.span = call.span;
    operation.control = std::move(loop);
    const std::vector<ir::Port> ports = operation.outputs;
    builder_.add_control(std::move(operation));
    std::vector<ValueId> outputs;
    for (size_t i = 1; i < ports.size(); ++i) {
        const ir::Operand& made = ports[i].operand;
        outputs.push_back(made.packed ? stacked_pack(call, made, 0)
                                      : tensor_value(made.items[0], body.outputs[i].name));
    }
    return outputs;
}

}  // namespace lemma::onnx
