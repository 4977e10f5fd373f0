// SPDX-License-Identifier: Apache-2.0
// Runs from the caller's bytes to the engine's, without the interpreter's arrays.
#include <algorithm>
#include <cstring>

#include "engine/engine.h"
#include "engine/impl.h"

namespace lemma::engine {

namespace {

bool is_plain(const loop::BufferView& place) {
    return place.dtype != tensor::DType::Str && place.layout == loop::row_major(place.shape);
}

size_t bytes_of(const loop::BufferView& place) {
    return static_cast<size_t>(*tensor::volume(place.shape) * tensor::dtype_size(place.dtype));
}

}  // namespace

// The steps read inputs from the caller's memory during the lifetime of this object. Inputs at an
// unaligned address are copied. Inputs without elements use our memory, which has room for one.
class Engine::BorrowedInputs {
public:
    BorrowedInputs(Loaded& loaded, std::span<const Bytes> inputs) : loaded_(loaded) {
        for (size_t i = 0; i < inputs.size(); ++i) {
            const loop::BufferView& place = *loaded.input_places[i];
            const auto address = reinterpret_cast<uintptr_t>(inputs[i].data);
            const bool odd = address % static_cast<size_t>(tensor::dtype_size(place.dtype)) != 0;
            const size_t bytes = bytes_of(place);
            if (odd && bytes > 0) std::memcpy(loaded.data(place), inputs[i].data, bytes);
            if (odd || bytes == 0) continue;
            const size_t piece = loaded.piece(place.storage);
            own_.push_back({piece, loaded.executable.memory(piece), address, bytes});
            loaded.executable.lend_memory(piece, inputs[i].data);
        }
    }
    BorrowedInputs(const BorrowedInputs&) = delete;
    ~BorrowedInputs() {
        for (const Own& own : own_) loaded_.executable.lend_memory(own.piece, own.data);
    }

    // Whether the address is in the caller's memory.
    bool has(const void* data) const {
        const auto address = reinterpret_cast<uintptr_t>(data);
        return std::ranges::any_of(own_, [&](const Own& own) {
            return address >= own.address && address - own.address < own.bytes;
        });
    }

private:
    struct Own {
        size_t piece;
        void* data;         // of the engine
        uintptr_t address;  // of the caller
        size_t bytes;
    };
    Loaded& loaded_;
    std::vector<Own> own_;
};

bool Engine::is_direct(const loop::Plan& plan) const {
    const ir::Program& program = state_.program();
    const auto plain = [&](const ir::Port& port) {
        if (port.operand.length.valid()) return false;  // the plan depends on it
        return std::ranges::all_of(port.operand.items, [&](ir::TensorId id) {
            const auto place = plan.places.find(id);
            return place != plan.places.end() && is_plain(place->second);
        });
    };
    const ir::Graph& graph = program.graphs[program.main];
    const bool compiled = std::ranges::none_of(plan.steps, [](const loop::PlanStep& step) {
        return step.is<loop::InterpretedStep>() || step.is<loop::CheckStep>() ||
               step.is<loop::DynamicKernel>();
    });
    // An unused input has no place; the interpreter checks whether it fits.
    const bool given = std::ranges::all_of(graph.inputs, [&](const ir::Port& port) {
        return plain(port) && std::ranges::all_of(port.operand.items, [&](ir::TensorId id) {
                   const auto role = plan.storages[plan.places.at(id).storage].role;
                   return role == loop::StorageRole::Given;
               });
    });
    return compiled && given && program.updates.empty() &&
           std::ranges::all_of(graph.outputs, plain);
}

std::vector<const loop::BufferView*> Engine::places_of(const loop::Plan& plan,
                                                       const std::vector<ir::Port>& ports) {
    std::vector<const loop::BufferView*> places;
    for (const ir::Port& port : ports) {
        for (const ir::TensorId id : port.operand.items) places.push_back(&plan.places.at(id));
    }
    return places;
}

void Engine::find_places(Loaded& loaded) const {
    if (!loaded.code->direct) return;
    const ir::Graph& graph = state_.program().graphs[state_.program().main];
    loaded.input_places = places_of(loaded.plan, graph.inputs);
    loaded.output_places = places_of(loaded.plan, graph.outputs);
}

bool Engine::takes(std::span<const loop::BufferView* const> places, std::span<const Bytes> inputs) {
    return std::ranges::equal(places, inputs, [](const auto* place, const Bytes& input) {
        return input.dtype == place->dtype && std::ranges::equal(input.shape, place->shape);
    });
}

// The code for these inputs, also if another engine of the program has made it.
Result<Engine::Loaded*> Engine::find_direct(std::span<const Bytes> inputs) {
    const auto fits = [&](const Loaded& loaded) {
        return loaded.code->direct && takes(loaded.input_places, inputs);
    };
    if (current_ && fits(*current_)) return current_;
    for (const auto& [key, loaded] : loaded_) {
        if (fits(*loaded)) return loaded.get();
    }
    if (has_own_weights()) return nullptr;
    const ir::Graph& graph = state_.program().graphs[state_.program().main];
    auto shared = shared_->find([&](const Code& code) {
        return code.direct && takes(places_of(code.plan, graph.inputs), inputs);
    });
    if (!shared) return nullptr;
    return add(std::move(shared->first), std::move(shared->second));
}

Result<std::unique_lock<std::recursive_mutex>> Engine::first_turn() {
    if (!loaded_.empty()) return std::unique_lock<std::recursive_mutex>();
    return shared_->wait(state_.control());
}

Result<bool> Engine::load_directly(std::span<const Bytes> inputs) {
    LEMMA_TRY(Loaded* const found, find_direct(inputs));
    if (found) current_ = found;
    return found != nullptr;
}

Result<bool> Engine::run_directly(std::span<const Bytes> inputs, const Receiver& receive) {
    LEMMA_TRY(const bool ready, load_directly(inputs));
    if (!ready) return false;
    Loaded& loaded = *current_;
    loaded.used = ++uses_;
    const BorrowedInputs borrowed(loaded, inputs);
    loaded.executable.set_control(state_.control());
    if (auto done = loaded.executable.run(loaded.steps); !done) return false;
    for (size_t i = 0; i < loaded.output_places.size(); ++i) {
        const loop::BufferView& place = *loaded.output_places[i];
        void* data = loaded.data(place);
        // An output may be an input, whose memory is the caller's.
        if (borrowed.has(data)) {
            const auto* const from = static_cast<const std::byte*>(data);
            loaded.passed.resize(loaded.output_places.size());
            loaded.passed[i].assign(from, from + bytes_of(place));
            data = loaded.passed[i].data();
        }
        LEMMA_TRY(receive({place.dtype, &place.shape, data, bytes_of(place)}));
    }
    return true;
}

}  // namespace lemma::engine
