// Runs from the caller's bytes to the caller's bytes.
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
    BorrowedInputs(Loaded& loaded, const std::vector<Bytes>& inputs) : loaded_(loaded) {
        for (const Bytes& input : inputs) {
            const loop::BufferView& place = loaded.plan.places.at(input.tensor);
            const auto address = reinterpret_cast<uintptr_t>(input.data);
            const bool odd = address % static_cast<size_t>(tensor::dtype_size(place.dtype)) != 0;
            const size_t bytes = bytes_of(place);
            if (odd && bytes > 0) std::memcpy(loaded.data(place), input.data, bytes);
            if (odd || bytes == 0) continue;
            const size_t piece = loaded.piece(place.storage);
            own_.emplace_back(piece, loaded.executable.memory(piece));
            loaded.executable.lend_memory(piece, input.data);
        }
    }
    BorrowedInputs(const BorrowedInputs&) = delete;
    ~BorrowedInputs() {
        for (const auto& [piece, data] : own_) loaded_.executable.lend_memory(piece, data);
    }

private:
    Loaded& loaded_;
    std::vector<std::pair<size_t, void*>> own_;
};

bool Engine::is_direct(const Loaded& loaded) const {
    const ir::Program& program = state_.program();
    const loop::Plan& plan = loaded.plan;
    const auto plain = [&](const ir::Port& port) {
        if (port.operand.length.valid()) return false;
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
    // The plan also depends on the lengths of packs.
    const bool fixed = std::ranges::none_of(
        graph.inputs, [](const ir::Port& port) { return port.operand.length.valid(); });
    return compiled && fixed && program.updates.empty() &&
           std::ranges::all_of(graph.outputs, plain);
}

Result<bool> Engine::run_directly(const std::vector<Bytes>& inputs, const Receiver& receive) {
    if (!current_ || !current_->direct) return false;
    Loaded& loaded = *current_;
    const ir::Program& program = state_.program();
    size_t known = 0;
    for (const loop::Storage& storage : loaded.plan.storages) {
        if (storage.role != loop::StorageRole::Given) continue;
        const auto given = std::ranges::find(inputs, storage.tensor, &Bytes::tensor);
        const loop::BufferView& place = loaded.plan.places.at(storage.tensor);
        const bool same = given != inputs.end() && given->dtype == place.dtype &&
                          *given->shape == place.shape && is_plain(place);
        if (!same) return false;
        ++known;
    }
    // An unused input has no place; the interpreter checks whether it fits.
    if (known != inputs.size()) return false;
    const BorrowedInputs borrowed(loaded, inputs);
    if (auto done = loaded.executable.run(loaded.steps); !done) return false;
    for (const ir::Port& port : program.graphs[program.main].outputs) {
        for (const ir::TensorId id : port.operand.items) {
            const loop::BufferView& place = loaded.plan.places.at(id);
            void* const to = receive(id, place.dtype, place.shape);
            if (bytes_of(place) > 0) std::memcpy(to, loaded.data(place), bytes_of(place));
        }
    }
    return true;
}

}  // namespace lemma::engine
