// SPDX-License-Identifier: Apache-2.0
// Kernels with run-time extents: before each call the engine computes the extents and makes memory
// for the results.
#include <algorithm>
#include <cstring>

#include "engine/data.h"
#include "engine/engine.h"
#include "engine/impl.h"
#include "tensor/room.h"

namespace lemma::engine {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

}  // namespace

// Symbolic arithmetic takes longer than most of these kernels. It is repeated only if one of the
// symbols has a new value.
bool Engine::Loaded::Told::refresh(const interpret::State& state) {
    bool same = valid;
    values.resize(symbols.size());
    for (size_t i = 0; i < symbols.size(); ++i) {
        const auto now = state.known_extent(symbols[i]);
        same &= values[i] == now;
        values[i] = now;
    }
    valid = false;
    return same;
}

Result<int64_t> Engine::told_number(Loaded& loaded, ir::SymId id) {
    const ir::SymbolPool& symbols = state_.program().symbols;
    if (const auto number = symbols.as_int(id)) return *number;
    const auto [found, fresh] = loaded.told.try_emplace(id);
    Loaded::Told& told = found->second;
    if (fresh) told.symbols = symbols.symbols_of(id);
    if (told.refresh(state_)) {
        told.valid = true;
        return told.value;
    }
    LEMMA_TRY(told.value, state_.extent(id));
    told.valid = true;
    return told.value;
}

Result<void> Engine::check_assertions(Loaded& loaded, ir::OpId id, bool all) {
    const ir::Program& program = state_.program();
    const auto [found, fresh] = loaded.checked.try_emplace(id);
    Loaded::Told& checked = found->second;
    if (fresh) {
        for (const ir::Assertion& assertion : program.operations[id].assertions) {
            const auto symbols = program.symbols.symbols_of(assertion.condition);
            checked.symbols.insert(checked.symbols.end(), symbols.begin(), symbols.end());
        }
    }
    if (!checked.refresh(state_)) {
        LEMMA_TRY(state_.check_assertions(id, all));
    }
    checked.valid = true;
    return {};
}

Result<tensor::Shape> Engine::told_shape(Loaded& loaded, ir::TensorId id) {
    const ir::Tensor& tensor = state_.program().tensors[id];
    tensor::Shape shape;
    for (const ir::SymId part : tensor.shape) {
        LEMMA_TRY(const int64_t extent, told_number(loaded, part));
        if (extent < 0 || extent > loop::kMostExtent) return bad("an extent that is none");
        shape.push_back(extent);
    }
    return shape;
}

// Gives the tensor memory for this run; keeps the old memory if it is large enough. Kernels read
// the first element of an axis instead of one outside, even if the axis is empty.
Result<void> Engine::make_room(Loaded& loaded, ir::TensorId id, tensor::Shape shape) {
    const loop::DynamicView& place = loaded.plan.dynamic_places.at(id);
    Loaded::Dynamic& dynamic = loaded.dynamic[id];
    const auto elements = tensor::room(shape);
    if (!elements) return bad("a tensor that is too large");
    constexpr int64_t kLeastBytes = 4096;
    constexpr int64_t kMuch = int64_t{64} << 20;
    int64_t bytes = std::max(kLeastBytes, *elements * tensor::dtype_size(place.dtype));
    if (dynamic.capacity < bytes) {
        // Extents that grow from run to run must not allocate each time.
        if (bytes < kMuch) bytes += bytes / 2;
        const size_t piece = loaded.piece(place.storage);
        loaded.executable.release(piece);
        dynamic.capacity = 0;
        LEMMA_TRY(loaded.executable.give_memory(piece, bytes));
        dynamic.capacity = bytes;
    }
    dynamic.shape = std::move(shape);
    dynamic.given = false;
    return {};
}

Result<void> Engine::fill_dynamic(Loaded& loaded, ir::TensorId id) {
    LEMMA_TRY(const auto value, state_.value_of(id));
    LEMMA_TRY(make_room(loaded, id, value->shape));
    const loop::DynamicView& place = loaded.plan.dynamic_places.at(id);
    to_memory(*value,
              {place.storage, place.dtype, value->shape, loop::row_major(value->shape)},
              loaded.executable.write(loaded.piece(place.storage), 0));
    return {};
}

Result<interpret::Array> Engine::dynamic_array(Loaded& loaded, ir::TensorId id) {
    const loop::DynamicView& place = loaded.plan.dynamic_places.at(id);
    const tensor::Shape& shape = loaded.dynamic[id].shape;
    return from_memory({place.storage, place.dtype, shape, loop::row_major(shape)},
                       loaded.executable.read(loaded.piece(place.storage), 0));
}

// Passes a result of kernels to the interpreter, once.
Result<void> Engine::give_dynamic(Loaded& loaded, ir::TensorId id) {
    Loaded::Dynamic& dynamic = loaded.dynamic[id];
    if (dynamic.given && state_.has_value(id)) return {};
    LEMMA_TRY(interpret::Array value, dynamic_array(loaded, id));
    state_.set_value(id, std::move(value));
    dynamic.given = true;
    return {};
}

// ---- Before a call ------------------------------------------------------------------------------

Result<void> Engine::tell_numbers(Loaded& loaded, const loop::DynamicKernel& dynamic) {
    auto* const to = static_cast<int64_t*>(loaded.executable.write(loaded.piece(dynamic.told), 0));
    for (size_t i = 0; i < dynamic.numbers.size(); ++i) {
        const loop::ShapeArgument& number = dynamic.numbers[i];
        if (number.room_of.valid()) {
            const CarriedValue* const value =
                find_carried(&loop::CarriedPair::output, number.room_of);
            if (!value) return bad("a tensor without its memory");
            to[i] = value->room();
            continue;
        }
        LEMMA_TRY(to[i], told_number(loaded, number.symbol));
        if (number.count) to[i] = std::max<int64_t>(to[i], 0);
        const bool fits = !number.var.valid() || (to[i] >= 0 && to[i] <= number.most);
        if (!fits) return bad("an extent that is larger than its bound");
    }
    return {};
}

Result<void> Engine::make_results(Loaded& loaded,
                                  const loop::PlanStep& step,
                                  const loop::DynamicKernel& dynamic) {
    for (const ir::TensorId id : dynamic.inlined) {
        LEMMA_TRY(const tensor::Shape shape, told_shape(loaded, id));
        if (!tensor::room(shape)) return bad("a tensor that is too large");
    }
    for (const ir::TensorId id : step.writes) {
        const auto place = loaded.plan.dynamic_places.find(id);
        if (place == loaded.plan.dynamic_places.end()) continue;
        LEMMA_TRY(tensor::Shape shape, told_shape(loaded, id));
        if (const auto at = loaded.dynamic.find(id);
            at != loaded.dynamic.end() && at->second.lent) {
            if (at->second.shape != shape) return bad("a carried tensor of another shape");
            continue;
        }
        LEMMA_TRY(make_room(loaded, id, std::move(shape)));
    }
    for (const ir::TensorId id : dynamic.cleared) {
        if (const auto at = loaded.dynamic.find(id);
            at != loaded.dynamic.end() && at->second.lent) {
            continue;
        }
        const auto place = loaded.plan.dynamic_places.find(id);
        if (place != loaded.plan.dynamic_places.end()) {
            const int64_t bytes =
                *tensor::volume(loaded.dynamic[id].shape) * tensor::dtype_size(place->second.dtype);
            std::memset(loaded.executable.write(loaded.piece(place->second.storage), bytes),
                        0,
                        static_cast<size_t>(bytes));
            continue;
        }
        const loop::BufferView& known = loaded.plan.places.at(id);
        LEMMA_TRY(const interpret::Array zeros, interpret::Array::zeros(known.dtype, known.shape));
        to_memory(zeros, known, loaded.write(known));
    }
    return {};
}

// Checks that each tensor the kernel reads is present and has the expected shape.
Result<void> Engine::check_reads(Loaded& loaded, const loop::DynamicKernel& dynamic) {
    const ir::Program& program = state_.program();
    for (const ir::TensorId id : dynamic.read) {
        const ir::TensorRole role = program.tensors[id].role;
        if (role == ir::TensorRole::Constant || role == ir::TensorRole::Variable) {
            LEMMA_TRY(fill_dynamic(loaded, id));
        }
        const auto found = loaded.dynamic.find(id);
        LEMMA_TRY(const tensor::Shape shape, told_shape(loaded, id));
        const bool same = found != loaded.dynamic.end() && found->second.shape == shape;
        if (!same) return bad("a tensor that has another shape than its operation");
    }
    return {};
}

// Returns the number of items; stores the steps of an item for the kernel.
int64_t Engine::tell_items(Loaded& loaded, const loop::DynamicKernel& dynamic) {
    auto* const told =
        static_cast<int64_t*>(loaded.executable.write(loaded.piece(dynamic.told), 0));
    const loop::RunCut cut =
        loop::cut_items(dynamic.kernel.run_items, {told, dynamic.numbers.size()});
    told[dynamic.numbers.size()] = cut.steps;
    return cut.items;
}

Result<void> Engine::run_dynamic(Loaded& loaded,
                                 const loop::PlanStep& step,
                                 const loop::DynamicKernel& dynamic,
                                 const runtime::KernelCall& call) {
    LEMMA_TRY(tell_numbers(loaded, dynamic));
    if (dynamic.first) {
        for (const ir::OpId id : dynamic.within) {
            LEMMA_TRY(check_assertions(loaded, id, false));
        }
        LEMMA_TRY(check_assertions(loaded, step.op, true));
        LEMMA_TRY(make_results(loaded, step, dynamic));
    }
    LEMMA_TRY(check_reads(loaded, dynamic));
    if (call.items == 0) return {};
    return loaded.executable.run_items(call, 0, tell_items(loaded, dynamic));
}

// ---- Branches -----------------------------------------------------------------------------------

// An output gets the shape of the arm's result; its memory is already in place.
Result<void> Engine::end_branch(Loaded& loaded, const loop::PlanBranch& branch, size_t arm) {
    for (const loop::PlanBranch::Dynamic& item : branch.dynamic) {
        const ir::TensorId from = item.results[arm];
        tensor::Shape shape;
        if (const auto place = loaded.plan.places.find(from); place != loaded.plan.places.end()) {
            shape = place->second.shape;
        } else {
            shape = loaded.dynamic[from].shape;
        }
        state_.learn_shape(item.output, shape);
        loaded.dynamic[item.output] = {.shape = std::move(shape), .capacity = 0, .given = false};
    }
    return {};
}

}  // namespace lemma::engine
