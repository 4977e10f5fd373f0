// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/data.h"
#include "engine/growing.h"
#include "engine/impl.h"
#include "tensor/files/mapped_file.h"

namespace lemma::engine {

Result<std::unique_ptr<Engine>> Engine::create(interpret::State& state,
                                               EngineOptions options,
                                               std::shared_ptr<SharedCode> shared) {
    if (options.run.accumulate == ir::Accumulate::F32 &&
        options.compiler.numerics != loop::Numerics::Strict) {
        return std::unexpected(Error{"compiled code adds in f32 only with strict numerics"});
    }
    if (!shared) {
        LEMMA_TRY(shared, SharedCode::create(options.compiler, options.device));
    }
    return std::unique_ptr<Engine>(new Engine(state, std::move(options), std::move(shared)));
}

Engine::Engine(interpret::State& state, EngineOptions options, std::shared_ptr<SharedCode> shared)
    : state_(state),
      options_(std::move(options)),
      interpreter_(state, options_.run),
      shared_(std::move(shared)),
      growing_(growing_extents(state.program())) {}

Engine::~Engine() = default;

void Engine::variables_changed() {
    // Without memory for the values, the state keeps the older ones.
    if (!store_variables()) changed_ = nullptr;
    loaded_.clear();
    current_ = nullptr;
}

void Engine::measure(runtime::ThreadPool::Times* times) { current_->executable.measure(times); }

int Engine::used_threads() const { return current_->executable.usable_threads(); }

const loop::Plan& Engine::plan() const { return current_->plan; }

const std::vector<size_t>& Engine::plan_steps() const { return current_->plan_steps; }

int64_t Engine::bytes() const { return current_->executable.bytes() + current_->code->bytes(); }

int64_t Engine::device_bytes() const { return current_->executable.device_bytes(); }

bool Engine::runs_on_device(size_t step) const {
    const auto& all = current_->code->on_device;
    return !all.empty() && all[step].kernel;
}

// ---- Loading ------------------------------------------------------------------------------------

loop::KnownExtents Engine::fixed_extents() const {
    loop::KnownExtents known = state_.known_extents();
    for (const ir::SymId symbol : growing_) {
        const auto found = known.find(symbol);
        // Nothing is there yet: the first run has code of its own, with known extents.
        if (found != known.end() && found->second > 0) known.erase(found);
    }
    return known;
}

Result<Engine::Loaded*> Engine::load() {
    CodeKey key;
    for (const auto& [symbol, value] : fixed_extents()) key.emplace_back(symbol.value, value);
    for (const CarriedValue& carried : carried_) {
        if (!carrying_) break;
        key.emplace_back(UINT32_MAX - carried.pair().input.value, carried.pair().output.value);
    }
    std::ranges::sort(key);
    if (const auto found = loaded_.find(key); found != loaded_.end()) {
        Loaded& known = *found->second;
        known.used = ++uses_;
        if (known.version != version_) {
            LEMMA_TRY(fill_kept(known));
        }
        return &known;
    }
    LEMMA_TRY(check_extents());
    current_ = nullptr;
    std::shared_ptr<const Code> code;
    if (has_own_weights()) {
        LEMMA_TRY(const auto lock, shared_->wait(state_.control()));
        LEMMA_TRY(code, make_code());
    } else {
        LEMMA_TRY(code, shared_->get(key, [this] { return make_code(); }, state_.control()));
    }
    return add(std::move(key), std::move(code));
}

Result<Engine::Loaded*> Engine::add(CodeKey key, std::shared_ptr<const Code> code) {
    LEMMA_TRY(store_variables());
    // Each has its own memory; the most recently used stay.
    constexpr size_t kMostLoaded = 8;
    while (loaded_.size() >= kMostLoaded) {
        loaded_.erase(std::ranges::min_element(
            loaded_, {}, [](const auto& item) { return item.second->used; }));
    }
    auto loaded = std::make_unique<Loaded>(std::move(code), options_);
    LEMMA_TRY(use_device(*loaded));
    LEMMA_TRY(allocate(*loaded));
    LEMMA_TRY(fill_state(*loaded));
    loaded->used = ++uses_;
    loaded->steps = make_steps(*loaded, loaded->plan.regions[0]);
    find_places(*loaded);
    return (loaded_[std::move(key)] = std::move(loaded)).get();
}

// Checks the assertions on extents that follow from the inputs. Whether the operation is reached at
// all is for the interpreter to decide, which also reports the place.
Result<void> Engine::check_extents() {
    const ir::Program& program = state_.program();
    for (uint32_t i = 0; i < program.operations.size(); ++i) {
        const auto id = make_id<ir::OpId>(i);
        if (program.operations[id].assertions.empty()) continue;
        LEMMA_TRY(state_.check_assertions(id, false));
    }
    return {};
}

Result<void> Engine::allocate(Loaded& loaded) {
    LEMMA_TRY(const size_t arena, loaded.executable.add_memory(loaded.plan.arena_bytes));
    for (const auto& constants : loaded.code->device_constants) {
        loaded.executable.show_device(constants);
    }
    if (loaded.code->device_constants.empty()) {
        for (const runtime::Memory& constants : loaded.code->memory) {
            loaded.executable.show_device(constants.data(), constants.bytes());
        }
    }
    loaded.pieces.assign(loaded.plan.storages.size(), SIZE_MAX);
    int64_t scratch = 0;
    for (const loop::Storage& storage : loaded.plan.storages) {
        if (!storage.scratch) continue;
        scratch = std::max(scratch, storage.elements * tensor::dtype_size(storage.dtype));
    }
    if (scratch > 0) LEMMA_TRY(loaded.executable.set_scratch(scratch));
    // Recorded work of a device has fixed addresses.
    if (shared_->device()) {
        loaded.exchanges.resize(state_.program().updates.size());
    } else if (loaded.code->direct) {
        loaded.exchanges = find_exchanges(state_.program(), loaded.plan);
    }
    for (const Exchange& exchange : loaded.exchanges) {
        if (!exchange.value.valid()) continue;
        // Not in the arena, whose memory other tensors use.
        const loop::Storage& value = loaded.plan.storages[exchange.value];
        const int64_t bytes = value.elements * tensor::dtype_size(value.dtype);
        LEMMA_TRY(loaded.pieces[exchange.value.value], loaded.executable.add_memory(bytes));
    }
    for (uint32_t i = 0; i < loaded.plan.storages.size(); ++i) {
        LEMMA_TRY(allocate(loaded, arena, make_id<loop::StorageId>(i)));
    }
    return {};
}

Result<void> Engine::allocate(Loaded& loaded, size_t arena, loop::StorageId id) {
    const loop::Storage& storage = loaded.plan.storages[id];
    size_t& piece = loaded.pieces[id.value];
    if (piece != SIZE_MAX) return {};
    const int64_t size = tensor::dtype_size(storage.dtype);
    if (storage.scratch) {
        piece = runtime::kScratch;
    } else if (storage.base.valid()) {
        LEMMA_TRY(allocate(loaded, arena, storage.base));
        const size_t base = loaded.pieces[storage.base.value];
        piece = loaded.executable.add_alias(base, storage.begin * size);
    } else if (loaded.code->constants[id.value]) {
        piece = loaded.executable.add_moving();
        loaded.executable.lend_memory(piece, loaded.code->constants[id.value]);
    } else if (storage.moves || storage.only_once) {
        piece = loaded.executable.add_moving();
    } else if (storage.offset >= 0) {
        piece = loaded.executable.add_alias(arena, storage.offset);
    } else {
        LEMMA_TRY(piece, loaded.executable.add_memory(storage.elements * size));
    }
    return {};
}

// The stored data of a variable, if the engine can use it without conversion.
Result<std::optional<tensor::Tensor>> Engine::stored_data(const Loaded& loaded, ir::TensorId id) {
    const ir::Tensor& tensor = state_.program().tensors[id];
    const loop::BufferView& place = loaded.plan.places.at(id);
    const bool stored =
        tensor.role == ir::TensorRole::Variable && options_.weights && !state_.has_variable(id);
    if (!stored) return std::nullopt;
    LEMMA_TRY(auto data, options_.weights(tensor));
    const bool same = data && data->dtype() == place.dtype && data->shape() == place.shape &&
                      place.layout == loop::row_major(place.shape);
    if (!same) return std::nullopt;
    return data;
}

Result<void> Engine::fill(Loaded& loaded, ir::TensorId id) {
    const loop::BufferView& place = loaded.plan.places.at(id);
    LEMMA_TRY(const auto data, stored_data(loaded, id));
    if (data) {
        std::memcpy(loaded.write(place), data->bytes().data(), data->bytes().size());
        if (data->shared_bytes()) tensor::drop_pages(*data->shared_bytes());
        return {};
    }
    LEMMA_TRY(const auto value, state_.value_of(id));
    to_memory(*value, place, loaded.write(place));
    return {};
}

// What this engine has for itself: memory around constants, and variables that runs change.
Result<void> Engine::fill_state(Loaded& loaded) {
    for (const Code::Initial& initial : loaded.code->initial) {
        const auto bytes = static_cast<int64_t>(initial.bytes.size());
        std::memcpy(loaded.executable.write(loaded.piece(initial.storage), bytes),
                    initial.bytes.data(),
                    initial.bytes.size());
    }
    return fill_kept(loaded);
}

// Runs with other extents may have changed the variables since.
Result<void> Engine::fill_kept(Loaded& loaded) {
    loaded.version = version_;
    std::vector<ir::TensorId> kept;
    for (const loop::Storage& storage : loaded.plan.storages) {
        const bool changes = storage.role == loop::StorageRole::Kept;
        if (changes && is_stored(storage, state_.program())) kept.push_back(storage.tensor);
    }
    if (kept.empty()) return {};
    LEMMA_TRY(const auto lock, shared_->wait(state_.control()));
    for (const ir::TensorId id : kept) {
        LEMMA_TRY(fill(loaded, id));
    }
    return {};
}

// ---- Running ------------------------------------------------------------------------------------

Result<void> Engine::fill_inputs(Loaded& loaded) {
    for (const loop::Storage& storage : loaded.plan.storages) {
        if (storage.role != loop::StorageRole::Given) continue;
        LEMMA_TRY(const auto value, state_.value_of(storage.tensor));
        const loop::BufferView& place = loaded.plan.places.at(storage.tensor);
        to_memory(*value, place, loaded.write(place));
    }
    for (const ir::Port& port : state_.program().graphs[state_.program().main].inputs) {
        for (const ir::TensorId id : port.operand.items) {
            if (!loaded.plan.dynamic_places.contains(id)) continue;
            LEMMA_TRY(fill_dynamic(loaded, id));
        }
    }
    return {};
}

Result<interpret::Array> Engine::array_of(Loaded& loaded, ir::TensorId id) {
    const auto place = loaded.plan.places.find(id);
    if (place != loaded.plan.places.end()) {
        const loop::Storage& storage = loaded.plan.storages[place->second.storage];
        const bool here = storage.role == loop::StorageRole::Computed ||
                          storage.role == loop::StorageRole::Constant;
        if (here) return from_memory(place->second, loaded.read(place->second));
    }
    const auto dynamic = loaded.plan.dynamic_places.find(id);
    const bool made = dynamic != loaded.plan.dynamic_places.end() && dynamic->second.computed;
    if (made) return dynamic_array(loaded, id);
    LEMMA_TRY(const auto value, state_.value_of(id));
    return *value;
}

Result<void> Engine::interpret(Loaded& loaded,
                               const loop::PlanStep& step,
                               const loop::InterpretedStep& interpreted) {
    for (const ir::OpId id : interpreted.within) {
        LEMMA_TRY(check_assertions(loaded, id, false));
    }
    // Of a compound, only the assertions remain: its parts are separate steps.
    if (state_.program().operations[step.op].compound()) {
        return check_assertions(loaded, step.op, true);
    }
    for (const ir::TensorId id : step.reads) {
        const bool made = std::ranges::find(step.writes, id) != step.writes.end();
        const auto dynamic = loaded.plan.dynamic_places.find(id);
        const bool ours = dynamic != loaded.plan.dynamic_places.end() && dynamic->second.computed &&
                          loaded.dynamic.contains(id);
        if (!made && ours) {
            LEMMA_TRY(give_dynamic(loaded, id));
        }
        const auto place = loaded.plan.places.find(id);
        if (made || place == loaded.plan.places.end()) continue;
        // In a loop, the value changes with each iteration.
        const loop::Storage& storage = loaded.plan.storages[place->second.storage];
        const bool computed = storage.role == loop::StorageRole::Computed;
        if (!computed && state_.has_value(id)) continue;
        LEMMA_TRY(interpret::Array value, array_of(loaded, id));
        state_.set_value(id, std::move(value));
    }
    LEMMA_TRY(interpreter_.run_operation(step.op));
    for (const ir::TensorId id : step.writes) {
        if (loaded.plan.dynamic_places.contains(id)) {
            LEMMA_TRY(fill_dynamic(loaded, id));
        }
        const auto place = loaded.plan.places.find(id);
        if (place == loaded.plan.places.end()) continue;
        LEMMA_TRY(const auto value, state_.value_of(id));
        if (value->shape != place->second.shape) {
            return std::unexpected(Error{"a result has another shape than its tensor"});
        }
        to_memory(*value, place->second, loaded.write(place->second));
    }
    return {};
}

// All updates are read before any variable changes.
Result<void> Engine::update_variables(Loaded& loaded) {
    std::vector<std::pair<ir::TensorId, interpret::Array>> updated;
    for (const ir::Update& update : state_.program().updates) {
        LEMMA_TRY(interpret::Array value, array_of(loaded, update.value));
        updated.emplace_back(update.variable, std::move(value));
    }
    for (auto& [id, value] : updated) {
        const auto place = loaded.plan.places.find(id);
        if (place != loaded.plan.places.end()) {
            if (value.shape != place->second.shape) {
                return std::unexpected(Error{"a variable gets a value of another shape"});
            }
            to_memory(value, place->second, loaded.write(place->second));
        }
        state_.keep_variable(id, std::make_shared<interpret::Array>(std::move(value)));
    }
    if (!updated.empty()) loaded.version = ++version_;
    return {};
}

Result<void> Engine::prepare(const interpret::NamedArrays& inputs) {
    without_code_ = false;
    LEMMA_TRY(store_variables());
    LEMMA_TRY(state_.begin_run(inputs));
    LEMMA_TRY(Loaded* const loaded, load());
    current_ = loaded;
    return fill_inputs(*current_);
}

Result<void> Engine::run_again(std::vector<double>* seconds, double* on_device) {
    current_->executable.set_control(state_.control());
    if (!seconds) return current_->executable.run(current_->steps, nullptr, on_device);
    std::vector<double> times(current_->plan.steps.size());
    auto done = current_->executable.run(current_->steps, &times, on_device);
    seconds->clear();
    for (const size_t number : current_->plan_steps) seconds->push_back(times[number]);
    return done;
}

Result<interpret::NamedArrays> Engine::run(const interpret::NamedArrays& inputs) {
    auto outputs = run_step(inputs);
    device_failed_ |= !outputs && current_ && current_->executable.device_failed();
    // The interpreter needed the data of an input.
    const bool failed = std::exchange(failed_directly_, false);
    if (failed && outputs && current_->code->stateful) current_->needs_arrays = true;
    state_.end_run(outputs.has_value());
    return outputs;
}

Result<interpret::NamedArrays> Engine::run_step(const interpret::NamedArrays& inputs) {
    LEMMA_TRY(prepare(inputs));
    LEMMA_TRY(run_again());
    LEMMA_TRY(interpret::NamedArrays outputs,
              state_.collect_outputs([this](ir::TensorId id) { return array_of(*current_, id); }));
    LEMMA_TRY(update_variables(*current_));
    if (shared_->device()) LEMMA_TRY(current_->executable.finish_device());
    return outputs;
}

}  // namespace lemma::engine
