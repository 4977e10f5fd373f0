#include "driver/run/engine.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "codegen/jit.h"
#include "driver/run/engine_data.h"

namespace lemma::driver {

namespace {

class Stopwatch {
public:
    // Seconds since the last time.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

struct Engine::Loaded {
    explicit Loaded(int threads) : executable(threads) {}

    loop::Plan plan;
    runtime::Executable executable;
    std::vector<size_t> pieces;                    // by storage
    std::vector<runtime::KernelFunction> kernels;  // by step of the plan; null: interpreted
    std::vector<runtime::Step> steps;              // of each run
    std::vector<size_t> plan_steps;
    std::vector<ir::OpId> operations;  // whose assertions count

    void* data(const loop::Place& place) { return executable.memory(pieces[place.storage.value]); }
};

Result<std::unique_ptr<Engine>> Engine::create(loop::Interpreter& interpreter,
                                               EngineOptions options) {
    auto engine = std::unique_ptr<Engine>(new Engine(interpreter, std::move(options)));
    LEMMA_TRY(engine->compiler_, codegen::load_compiler(engine->options_.compiler));
    return engine;
}

Engine::Engine(loop::Interpreter& interpreter, EngineOptions options)
    : interpreter_(interpreter), options_(std::move(options)) {
    log_.pass = options_.dump_pass;
}

Engine::~Engine() = default;

void Engine::variables_changed() { loaded_.clear(); }

const loop::Plan& Engine::plan() const { return current_->plan; }

const std::vector<size_t>& Engine::plan_steps() const { return current_->plan_steps; }

int64_t Engine::bytes() const { return current_->executable.bytes(); }

// ---- Loading ------------------------------------------------------------------------------------

Result<Engine::Loaded*> Engine::load() {
    const loop::Known known = interpreter_.known_extents();
    std::vector<std::pair<uint32_t, int64_t>> key;
    for (const auto& [symbol, value] : known) key.emplace_back(symbol.value, value);
    std::ranges::sort(key);
    if (const auto found = loaded_.find(key); found != loaded_.end()) return found->second.get();
    auto loaded = std::make_unique<Loaded>(options_.threads);
    Stopwatch watch;
    loaded->plan = loop::make_plan(interpreter_.program(),
                                   known,
                                   {.target = compiler_->target(),
                                    .fuse = options_.fuse,
                                    .numerics = options_.compiler.numerics,
                                    .log = &log_});
    times_.plan += watch.lap();
    std::vector<const loop::Function*> functions;
    for (const loop::PlanStep& step : loaded->plan.steps) {
        if (!step.interpreted) functions.push_back(&step.kernel.function);
    }
    LEMMA_TRY(const auto code, compiler_->compile(functions, options_.threads));
    times_.code += watch.lap();
    size_t next = 0;
    for (const loop::PlanStep& step : loaded->plan.steps) {
        loaded->kernels.push_back(step.interpreted ? nullptr : code[next++]);
    }
    if (auto done = allocate(*loaded); !done) return std::unexpected(done.error());
    if (auto done = fill_constants(*loaded); !done) return std::unexpected(done.error());
    LEMMA_TRY(const auto once, make_steps(*loaded, true));
    if (auto done = loaded->executable.run(once); !done) return std::unexpected(done.error());
    for (size_t i = 0; i < loaded->pieces.size(); ++i) {
        const auto id = make_id<loop::StorageId>(i);
        if (loaded->plan.storages[id].only_once) loaded->executable.release(loaded->pieces[i]);
    }
    times_.pack += watch.lap();
    LEMMA_TRY(loaded->steps, make_steps(*loaded, false));
    return (loaded_[std::move(key)] = std::move(loaded)).get();
}

Result<void> Engine::allocate(Loaded& loaded) {
    LEMMA_TRY(const size_t arena, loaded.executable.add_memory(loaded.plan.arena_bytes));
    for (const loop::Storage& storage : loaded.plan.storages) {
        const int64_t bytes = storage.elements * tensor::dtype_size(storage.dtype);
        if (storage.offset >= 0) {
            loaded.pieces.push_back(loaded.executable.add_alias(arena, storage.offset));
            continue;
        }
        LEMMA_TRY(const size_t piece, loaded.executable.add_memory(bytes));
        loaded.pieces.push_back(piece);
    }
    return {};
}

Result<void> Engine::fill_constants(Loaded& loaded) {
    for (const loop::Storage& storage : loaded.plan.storages) {
        const bool given =
            storage.role == loop::StorageRole::Constant || storage.role == loop::StorageRole::Kept;
        if (!given || !storage.tensor.valid()) continue;
        const ir::TensorRole role = interpreter_.program().tensors[storage.tensor].role;
        if (role != ir::TensorRole::Constant && role != ir::TensorRole::Variable) continue;
        LEMMA_TRY(const auto value, interpreter_.take_value(storage.tensor));
        const loop::Place& place = loaded.plan.places.at(storage.tensor);
        to_memory(*value, place, loaded.data(place));
    }
    return {};
}

Result<std::vector<runtime::Step>> Engine::make_steps(Loaded& loaded, bool once) {
    std::vector<runtime::Step> steps;
    for (size_t i = 0; i < loaded.plan.steps.size(); ++i) {
        const loop::PlanStep& step = loaded.plan.steps[i];
        if (step.once != once) continue;
        runtime::Step out;
        out.label = step.label;
        if (step.interpreted) {
            out.call = [this, &loaded, &step] { return interpret(loaded, step); };
        } else {
            out.kernel = loaded.kernels[i];
            out.items = step.kernel.function.items;
            for (const loop::StorageId id : step.kernel.arguments) {
                out.buffers.push_back(id.valid() ? loaded.pieces[id.value] : runtime::kFlag);
            }
        }
        steps.push_back(std::move(out));
        if (!once) loaded.plan_steps.push_back(i);
    }
    return steps;
}

// ---- Running ------------------------------------------------------------------------------------

Result<void> Engine::fill_inputs(Loaded& loaded) {
    for (const loop::Storage& storage : loaded.plan.storages) {
        if (storage.role != loop::StorageRole::Given) continue;
        LEMMA_TRY(const auto value, interpreter_.take_value(storage.tensor));
        const loop::Place& place = loaded.plan.places.at(storage.tensor);
        to_memory(*value, place, loaded.data(place));
    }
    return {};
}

Result<loop::Array> Engine::array_of(Loaded& loaded, ir::TensorId id) {
    const auto place = loaded.plan.places.find(id);
    if (place != loaded.plan.places.end()) {
        const loop::Storage& storage = loaded.plan.storages[place->second.storage];
        const bool here = storage.role == loop::StorageRole::Computed ||
                          storage.role == loop::StorageRole::Constant;
        if (here) return from_memory(place->second, loaded.data(place->second));
    }
    LEMMA_TRY(const auto value, interpreter_.take_value(id));
    return *value;
}

Result<void> Engine::interpret(Loaded& loaded, const loop::PlanStep& step) {
    for (const ir::TensorId id : step.reads) {
        const bool made = std::ranges::find(step.writes, id) != step.writes.end();
        if (made || interpreter_.has_value(id) || !loaded.plan.places.contains(id)) continue;
        LEMMA_TRY(loop::Array value, array_of(loaded, id));
        interpreter_.give_value(id, std::move(value));
    }
    if (auto done = interpreter_.run_alone(step.op); !done) return done;
    for (const ir::TensorId id : step.writes) {
        const auto place = loaded.plan.places.find(id);
        if (place == loaded.plan.places.end()) continue;
        LEMMA_TRY(const auto value, interpreter_.take_value(id));
        to_memory(*value, place->second, loaded.data(place->second));
    }
    return {};
}

Result<loop::NamedArrays> Engine::collect(Loaded& loaded) {
    loop::NamedArrays outputs;
    const ir::Program& program = interpreter_.program();
    for (const ir::Port& port : program.graphs[program.main].outputs) {
        auto& items = outputs[port.name];
        auto count = static_cast<int64_t>(port.operand.items.size());
        if (port.operand.length.valid()) {
            LEMMA_TRY(count, interpreter_.take_extent(port.operand.length));
        }
        for (int64_t i = 0; i < count; ++i) {
            LEMMA_TRY(loop::Array value,
                      array_of(loaded, port.operand.items[static_cast<size_t>(i)]));
            items.push_back(std::move(value));
        }
    }
    return outputs;
}

// All of them are read before any is changed.
Result<void> Engine::update_variables(Loaded& loaded) {
    std::vector<std::pair<ir::TensorId, loop::Array>> updated;
    for (const ir::Update& update : interpreter_.program().updates) {
        LEMMA_TRY(loop::Array value, array_of(loaded, update.value));
        updated.emplace_back(update.variable, std::move(value));
    }
    for (auto& [id, value] : updated) {
        const auto place = loaded.plan.places.find(id);
        if (place != loaded.plan.places.end()) {
            to_memory(value, place->second, loaded.data(place->second));
        }
        interpreter_.keep_variable(id, std::move(value));
    }
    return {};
}

Result<void> Engine::prepare(const loop::NamedArrays& inputs) {
    if (auto done = interpreter_.begin_run(inputs); !done) return done;
    LEMMA_TRY(current_, load());
    return fill_inputs(*current_);
}

Result<void> Engine::run_again(std::vector<double>* seconds) {
    return current_->executable.run(current_->steps, seconds);
}

Result<loop::NamedArrays> Engine::run(const loop::NamedArrays& inputs) {
    if (auto done = prepare(inputs); !done) return std::unexpected(done.error());
    const auto done = run_again();
    if (!done) {
        // The interpreter says what is wrong, and where.
        interpreter_.end_run(false);
        return interpreter_.run(inputs);
    }
    LEMMA_TRY(loop::NamedArrays outputs, collect(*current_));
    if (auto updated = update_variables(*current_); !updated) {
        return std::unexpected(updated.error());
    }
    interpreter_.end_run(true);
    return outputs;
}

}  // namespace lemma::driver
