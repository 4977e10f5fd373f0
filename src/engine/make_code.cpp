// SPDX-License-Identifier: Apache-2.0
// Makes what engines share: the plan, the code, and the constants in the layout of the kernels.
#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/archive.h"
#include "base/processors.h"
#include "engine/engine.h"
#include "engine/impl.h"
#include "engine/stored_code.h"
#include "loop/plan/stored_plan.h"
#include "loop/schedule/share.h"

namespace lemma::engine {

namespace {

constexpr int kMostCompilers = 16;  // each takes a few MB

class Stopwatch {
public:
    // Seconds since the last call.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

// Whether this engine has other values than its program for variables that the plan takes for
// constants.
bool Engine::has_own_weights() const {
    const ir::Program& program = state_.program();
    for (uint32_t i = 0; i < program.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        if (!state_.has_variable(id)) continue;
        if (std::ranges::find(program.updates, id, &ir::Update::variable) == program.updates.end())
            return true;
    }
    return false;
}

// Takes the plan and its code from the cache; false if they are not there.
bool Engine::find_plan(Code& code, const std::string& source) {
    auto stored = shared_->compiler().find_plan(source);
    if (!stored) return false;
    std::string_view plan;
    std::vector<Code::Packer> packers;
    ArchiveReader reader(stored->plan);
    reader(plan, packers);
    auto decoded = reader.good() && reader.at_end() ? loop::decode_plan(plan) : std::nullopt;
    if (!decoded) return false;
    std::vector<runtime::KernelFunction> kernels;
    size_t next = 0;
    for (loop::PlanStep& step : decoded->steps) {
        const bool has = step.kernel() && next < stored->kernels.size();
        kernels.push_back(has ? stored->kernels[next] : nullptr);
        next += step.kernel() ? 1 : 0;
    }
    if (next != stored->kernels.size()) return false;
    code.plan = std::move(*decoded);
    code.kernels = std::move(kernels);
    code.packers = std::move(packers);
    return true;
}

loop::PlanOptions Engine::plan_options() const {
    std::vector<loop::CarriedPair> carried;
    for (const CarriedValue& value : carried_) {
        if (carrying_ && value.grows()) carried.push_back(value.pair());
    }
    loop::Target target = shared_->target();
    target.threads = loop::kAnyThreads;
    return {.target = target,
            .fuse = options_.fuse,
            .numerics = options_.compiler.numerics,
            .accumulate = options_.run.accumulate,
            .least_steps = options_.least_steps,
            .least_gain = options_.least_gain,
            .window_share = options_.window_share,
            .term_share = options_.term_share,
            .apart = options_.guarded,
            .carried = std::move(carried),
            .verify = options_.verify};
}

loop::Plan Engine::plan_again() const {
    return loop::make_plan(state_.program(), fixed_extents(), plan_options());
}

// The plan with machine code for its kernels.
Result<void> Engine::make_plan(Code& code) {
    Stopwatch watch;
    loop::PlanOptions options = plan_options();
    options.log = &shared_->log();
    codegen::Compiler& compiler = shared_->compiler();
    shared_->log().pass = options_.dump_pass;
    const bool keeps = compiler.keeps_plans() && !options_.verify && options_.dump_pass.empty() &&
                       !options_.load_kernel;
    std::string source;
    if (keeps) {
        source = loop::plan_source(state_.program(), fixed_extents(), options);
        const bool found =
            shared_->device() ? find_device_plan(code, source) : find_plan(code, source);
        shared_->times().plan += watch.lap();
        if (found) return {};
    }
    // Code is made once, so all processors may help.
    const int threads = std::max(options_.threads, std::min(usable_processors(), kMostCompilers));
    {
        // The code generator is large, and is needed after planning.
        std::optional<std::jthread> loader;
        codegen::Compiler* const used = shared_->device() ? shared_->device_compiler() : &compiler;
        if (threads > 1) loader.emplace([used] { used->preload(); });
        code.plan = loop::make_plan(state_.program(), fixed_extents(), options);
        find_packers(code);
    }
    shared_->times().plan += watch.lap();
    LEMMA_TRY(go_on(state_.control()));
    if (shared_->device()) {
        const auto compiled = compile_for_device(code, threads, keeps ? &source : nullptr);
        without_code_ = !compiled;
        shared_->times().code += watch.lap();
        return compiled;
    }
    std::vector<loop::ScheduledKernel*> kernels;
    std::vector<loop::SharedKernel> shared;
    for (loop::PlanStep& step : code.plan.steps) {
        if (!step.kernel()) continue;
        kernels.push_back(step.kernel());
        if (step.is<loop::ScheduledKernel>()) shared.push_back({step.kernel(), step.once});
    }
    std::vector<loop::StorageId> fixed;
    for (uint32_t i = 0; i < code.plan.storages.size(); ++i) {
        const auto id = make_id<loop::StorageId>(i);
        if (code.plan.storages[id].scratch) fixed.push_back(id);
    }
    loop::share_code(shared, fixed);
    codegen::Compiler::Objects objects;
    const auto compiled =
        compiler.compile(kernels, threads, state_.control(), keeps ? &objects : nullptr);
    without_code_ = !compiled;
    if (!compiled) return std::unexpected(compiled.error());
    size_t next = 0;
    for (loop::PlanStep& step : code.plan.steps) {
        loop::ScheduledKernel* const kernel = step.kernel();
        code.kernels.push_back(kernel ? (*compiled)[next++] : nullptr);
        if (kernel) free_function(*kernel);
    }
    if (keeps) {
        ArchiveWriter writer;
        writer(loop::encode_plan(code.plan), code.packers);
        compiler.store_plan(source, writer.bytes, objects);
    }
    shared_->times().code += watch.lap();
    return {};
}

// The plan, the code and the constants for the extents of this run.
Result<std::shared_ptr<Code>> Engine::make_code() {
    auto code = std::make_shared<Code>();
    LEMMA_TRY(make_plan(*code));
    LEMMA_TRY(go_on(state_.control()));
    Stopwatch watch;
    // What grows from run to run is on the processor.
    const bool possible = !shared_->device() || growing_.empty();
    code->direct = possible && is_direct(code->plan);
    code->stateful = std::ranges::any_of(code->plan.steps, asks_state);
    LEMMA_TRY(allocate_constants(*code));
    Loaded making(code, options_);
    LEMMA_TRY(use_device(making));
    auto packed = pack(making, *code);
    device_failed_ |= making.executable.device_failed();
    if (!packed) return std::unexpected(packed.error());
    code->packers.clear();
    shared_->times().pack += watch.lap();
    return code;
}

Result<void> Engine::use_device(Loaded& loaded) {
    if (!shared_->device()) return {};
    auto done = loaded.executable.use_device(shared_->device());
    device_failed_ |= !done;
    return done;
}

// The constants have their values afterwards. Those of a device stay there for all engines.
Result<void> Engine::pack(Loaded& making, Code& code) {
    LEMMA_TRY(allocate(making));
    LEMMA_TRY(fill_constants(making));
    LEMMA_TRY(run_once(making));
    keep_initial(making, code);
    LEMMA_TRY(making.executable.finish_device());
    if (!shared_->device()) return {};
    for (const runtime::Memory& memory : code.memory) {
        if (!memory.data()) continue;
        code.device_constants.push_back(making.executable.share_device(memory.data()));
    }
    return {};
}

// Weights are in one piece of memory, in the order of the steps. So large pages hold them all, and
// the first panel of a step follows the last panel of the previous step.
Result<void> Engine::allocate_constants(Code& code) const {
    constexpr int64_t kAlign = 64;
    std::vector<std::pair<loop::StorageId, int64_t>> offsets;
    int64_t bytes = 0;
    code.constants.assign(code.plan.storages.size(), nullptr);
    for (uint32_t i = 0; i < code.plan.storages.size(); ++i) {
        const auto id = make_id<loop::StorageId>(i);
        const loop::Storage& storage = code.plan.storages[id];
        const bool own = !storage.base.valid() && !storage.moves && !storage.only_once;
        if (storage.role != loop::StorageRole::Constant || !own || storage.offset >= 0) continue;
        const int64_t size = storage.elements * tensor::dtype_size(storage.dtype);
        if (options_.guarded) {
            LEMMA_TRY(runtime::Memory alone, runtime::Memory::guarded_zeros(size));
            code.constants[i] = alone.data();
            code.memory.push_back(std::move(alone));
            continue;
        }
        offsets.emplace_back(id, bytes);
        bytes += (size + kAlign - 1) / kAlign * kAlign;
    }
    if (offsets.empty()) return {};
    LEMMA_TRY(runtime::Memory weights, runtime::Memory::zeros(bytes));
    for (const auto& [id, offset] : offsets) {
        code.constants[id.value] = static_cast<std::byte*>(weights.data()) + offset;
    }
    code.memory.push_back(std::move(weights));
    return {};
}

// A constant may lie inside of a computed tensor, which each engine has for itself.
void Engine::keep_initial(const Loaded& loaded, Code& code) const {
    std::vector<bool> kept(code.plan.storages.size());
    for (uint32_t i = 0; i < code.plan.storages.size(); ++i) {
        const loop::Storage& storage = code.plan.storages[make_id<loop::StorageId>(i)];
        const loop::StorageId root = code.plan.root(make_id<loop::StorageId>(i));
        const loop::Storage& whole = code.plan.storages[root];
        const bool own = !code.constants[root.value] && !whole.moves && !whole.only_once;
        if (storage.role != loop::StorageRole::Constant || !own || kept[root.value]) continue;
        kept[root.value] = true;
        const int64_t bytes = whole.elements * tensor::dtype_size(whole.dtype);
        const auto* const from =
            static_cast<const std::byte*>(loaded.executable.read(loaded.piece(root), bytes));
        code.initial.push_back({root, {from, from + bytes}});
    }
}

Result<void> Engine::fill_constants(Loaded& loaded) {
    for (const loop::Storage& storage : loaded.plan.storages) {
        const bool constant = storage.role == loop::StorageRole::Constant;
        if (constant && is_stored(storage, state_.program()) && !storage.only_once) {
            LEMMA_TRY(fill(loaded, storage.tensor));
        }
    }
    return {};
}

}  // namespace lemma::engine
