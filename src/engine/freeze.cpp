// SPDX-License-Identifier: Apache-2.0
#include "engine/freeze.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/match.h"
#include "engine/freeze_impl.h"
#include "tensor/room.h"

namespace lemma::engine {

std::vector<ir::TensorId> Freezer::tensors_of(const std::vector<ir::Port>& ports) {
    std::vector<ir::TensorId> result;
    for (const ir::Port& port : ports) {
        result.insert(result.end(), port.operand.items.begin(), port.operand.items.end());
    }
    return result;
}

bool Freezer::is_bit_cast(const ir::Operation& op) {
    return op.op == "onnx.elementwise.BitCast" && op.inputs.size() == 1 && op.outputs.size() == 1;
}

// Whether the step is an operator without a formula that generated code can call.
bool Freezer::has_function(const loop::PlanStep& step) const {
    const ir::Operation& op = program_.operations[step.op];
    const auto* const interpreted = std::get_if<loop::InterpretedStep>(&step.kind);
    if (!interpreted || op.kind != ir::OperationKind::Intrinsic || !interpreted->within.empty()) {
        return false;
    }
    std::vector<tensor::Shape> shapes;
    bool plain = true;
    const auto visit = [&](const std::vector<ir::Port>& ports, bool input) {
        for (const ir::TensorId id : tensors_of(ports)) {
            auto shape = state_.shape_of(id, false);
            const auto place = plan_.places.find(id);
            plain &= shape && program_.tensors[id].dtype != tensor::DType::Str &&
                     (place == plan_.places.end() ||
                      place->second.layout == loop::row_major(place->second.shape));
            if (input && shape) shapes.push_back(std::move(*shape));
        }
    };
    visit(op.inputs, true);
    visit(op.outputs, false);
    if (!plain) return false;
    if (!is_bit_cast(op)) return options_.has_function && options_.has_function(op, shapes);
    const ir::TensorId from = op.inputs[0].operand.items[0];
    const ir::TensorId to = op.outputs[0].operand.items[0];
    return program_.tensors[to].dtype != tensor::DType::Bool &&
           tensor::dtype_size(program_.tensors[from].dtype) ==
               tensor::dtype_size(program_.tensors[to].dtype);
}

// What else is in the way of an operator that fixed extents might compile.
std::string Freezer::open_text(const loop::PlanStep& step) {
    const ir::Operation& op = program_.operations[step.op];
    if (op.kind != ir::OperationKind::Intrinsic || open_.empty()) return "";
    for (const auto* const ports : {&op.inputs, &op.outputs}) {
        for (const ir::TensorId id : tensors_of(*ports)) {
            if (!state_.shape_of(id, false)) return ", and its tensors have runtime extents";
        }
    }
    return "";
}

// Each operation is named once, even if it has several steps.
void Freezer::find_obstacles(Frozen& frozen) {
    const auto add = [&](const loop::PlanStep& step, std::string why) {
        const bool known = std::ranges::any_of(
            frozen.obstacles, [&](const Obstacle& other) { return other.op == step.op; });
        if (!known) frozen.obstacles.push_back({step.op, std::move(why)});
    };
    for (const loop::PlanStep& step : plan_.steps) {
        match(
            step.kind,
            [&](const loop::InterpretedStep& interpreted) {
                if (!has_function(step)) add(step, interpreted.why + open_text(step));
            },
            [&](const loop::ScheduledKernel&) {},
            [&](const loop::PlanLoop&) {
                if (const auto good = check_control(step); !good) add(step, good.error().message);
            },
            [&](const loop::PlanBranch&) {
                if (const auto good = check_control(step); !good) add(step, good.error().message);
            },
            [&](const auto&) {
                if (const auto code = extent_code(step); !code) add(step, code.error().message);
            });
    }
    for (const auto* const ids : {&inputs_, &outputs_}) {
        for (const ir::TensorId id : *ids) {
            if (program_.tensors[id].dtype != tensor::DType::Str) continue;
            frozen.obstacles.push_back(
                {{}, fmt::format("`{}` has strings", program_.tensors[id].name)});
        }
    }
}

Result<loop::FrozenTensor> Freezer::interface_tensor(std::string name, ir::TensorId id) {
    const std::vector<ir::SymId>& extents = program_.tensors[id].shape;
    loop::FrozenTensor result;
    result.name = std::move(name);
    result.dtype = program_.tensors[id].dtype;
    LEMMA_TRY(result.shape, open_.empty() ? state_.shape_of(id, false) : open_.most(extents));
    bool open = false;
    for (const ir::SymId part : extents) {
        const ir::SymId bounded = open_.bounded(part).value_or(part);
        open |= !open_.symbols().is_constant(bounded);
        result.axes.push_back({open_.symbols().text(bounded), open_.number(bounded)});
    }
    if (!open) result.axes.clear();
    const auto elements = tensor::bounded_volume(result.shape);
    if (!elements) {
        return std::unexpected(Error{fmt::format("the tensor `{}` is too large", result.name)});
    }
    result.bytes = *elements * tensor::dtype_size(result.dtype);
    return result;
}

// The items of a pack `xs` are `xs.0`, `xs.1`, …
Result<void> Freezer::list_interface() {
    const auto list = [&](const std::vector<ir::Port>& ports,
                          std::vector<ir::TensorId>& ids,
                          std::vector<loop::FrozenTensor>& tensors) -> Result<void> {
        for (const ir::Port& port : ports) {
            for (size_t i = 0; i < port.operand.items.size(); ++i) {
                const ir::TensorId id = port.operand.items[i];
                std::string name =
                    port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name;
                LEMMA_TRY(loop::FrozenTensor tensor, interface_tensor(std::move(name), id));
                ids.push_back(id);
                tensors.push_back(std::move(tensor));
            }
        }
        return {};
    };
    const ir::Graph& graph = program_.graphs[program_.main];
    LEMMA_TRY(list(graph.inputs, inputs_, out_.inputs));
    return list(graph.outputs, outputs_, out_.outputs);
}

Result<Frozen> Freezer::run() {
    for (uint32_t i = 0; i < program_.operations.size(); ++i) {
        LEMMA_TRY(state_.check_assertions(make_id<ir::OpId>(i), false));
    }
    plan_ = loop::make_plan(program_,
                            state_.known_extents(),
                            {.target = options_.target.schedule,
                             .numerics = options_.numerics,
                             .accumulate = options_.accumulate,
                             .integer_powers = options_.integer_powers});
    Frozen frozen;
    find_obstacles(frozen);
    if (!frozen.obstacles.empty()) return frozen;
    LEMMA_TRY(list_interface());
    find_obstacles(frozen);
    if (!frozen.obstacles.empty()) return frozen;
    LEMMA_TRY(bound_memory());
    out_.name = program_.name;
    out_.target = options_.target.name;
    out_.has_fma = options_.target.has_fma;
    LEMMA_TRY(place_storages());
    LEMMA_TRY(fill_blocks());
    LEMMA_TRY(run_once());
    LEMMA_TRY(add_shapes());
    for (loop::FrozenCopy& copy : input_copies_) {
        out_.steps.push_back({.label = "", .kind = std::move(copy)});
    }
    for (loop::FrozenStep& step : make_steps(plan_.regions[0])) {
        out_.steps.push_back(std::move(step));
    }
    LEMMA_TRY(add_outputs());
    LEMMA_TRY(add_updates());
    out_.arena_bytes = arena_bytes_;
    struct Owner {
        runtime::Memory constants, state;
    };
    const auto owner = std::make_shared<Owner>(std::move(constants_), std::move(state_block_));
    const auto bytes = [](const runtime::Memory& memory) {
        return std::string_view(static_cast<const char*>(memory.data()),
                                static_cast<size_t>(memory.bytes()));
    };
    out_.constants = bytes(owner->constants);
    out_.initial_state = bytes(owner->state);
    out_.owner = owner;
    frozen.plan = std::move(out_);
    return frozen;
}

Result<Frozen> freeze(interpret::State& state,
                      const interpret::NamedArrays& inputs,
                      const FreezeOptions& options) {
    LEMMA_TRY(state.begin_run(inputs));
    for (const OpenExtent& extent : options.open) state.forget_extent(extent.symbol);
    auto samples = Freezer(state, options).run_samples();
    auto frozen = samples && *samples ? std::move(**samples) : Freezer(state, options).run();
    state.end_run(false);
    return frozen;
}

}  // namespace lemma::engine
