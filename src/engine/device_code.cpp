// SPDX-License-Identifier: Apache-2.0
// Makes the kernels of a device, and keeps them with their plan in the object cache.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "base/processors.h"
#include "engine/engine.h"
#include "engine/impl.h"
#include "engine/stored_code.h"
#include "loop/plan/stored_plan.h"

namespace lemma::engine {

namespace {

// Visits the numbers from 0 on with as many threads as help, until the control ends the run.
template <class Visit>
void on_all_threads(size_t count, const RunControl* control, const Visit& visit) {
    constexpr int kMostThreads = 32;
    std::atomic<size_t> next = 0;
    const auto some = [&](const RunControl* own) {
        for (size_t i = next++; i < count; i = next++) {
            if (!go_on(own)) {
                next = count;
                return;
            }
            visit(i);
        }
    };
    std::vector<std::jthread> others;
    const auto most = static_cast<size_t>(std::min(usable_processors(), kMostThreads));
    for (size_t i = 1; i < std::min(most, count); ++i) others.emplace_back([&] { some(nullptr); });
    some(control);
}

// Whether everything that the kernel gets begins at a whole vector. Devices give out such memory.
// Tensors that move, such as the items of a loop, may lie anywhere in it.
bool is_aligned(const loop::Plan& plan, const loop::ScheduledKernel& kernel) {
    constexpr int64_t kVector = 16;
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
        loop::StorageId id = kernel.arguments[i];
        if (!id.valid()) continue;
        int64_t begin = kernel.offsets.empty() ? 0 : kernel.offsets[i];
        for (; plan.storages[id].base.valid(); id = plan.storages[id].base) {
            const loop::Storage& part = plan.storages[id];
            begin += part.begin * tensor::dtype_size(part.dtype);
        }
        const loop::Storage& whole = plan.storages[id];
        begin += std::max<int64_t>(whole.offset, 0);
        if (whole.moves || whole.only_once || begin % kVector != 0) return false;
    }
    return true;
}

}  // namespace

// Makes the texts code of the device. The driver may take longer for it than making them took.
Result<void> Engine::compile_texts(DeviceCode& all) {
    std::vector<Result<std::string>> results(all.kernels.size());
    on_all_threads(results.size(), state_.control(), [&](size_t i) {
        results[i] = shared_->device()->compile(all.kernels[i].code);
    });
    LEMMA_TRY(go_on(state_.control()));
    for (size_t i = 0; i < results.size(); ++i) {
        LEMMA_TRY(all.kernels[i].code, std::move(results[i]));
    }
    return {};
}

Result<Engine::LoadedKernels> Engine::load_kernels(const DeviceCode& all) {
    LoadedKernels loaded;
    for (const runtime::Device::KernelCode& kernel : all.kernels) {
        LEMMA_TRY(go_on(state_.control()));
        LEMMA_TRY(loaded[kernel.name], shared_->device()->load(kernel));
    }
    return loaded;
}

// Gives the steps of the plan their kernels: those of the device, and the others in order.
bool Engine::take_kernels(Code& code,
                          const DeviceCode& made,
                          const LoadedKernels& loaded,
                          std::span<const runtime::KernelFunction> here) {
    if (made.steps.size() != code.plan.steps.size()) return false;
    size_t next = 0;
    for (size_t i = 0; i < made.steps.size(); ++i) {
        const DeviceCode::Step& step = made.steps[i];
        const loop::ScheduledKernel* const kernel = code.plan.steps[i].kernel();
        Code::OnDevice& one = code.on_device.emplace_back();
        const auto found = loaded.find(step.symbol);
        const bool there = !step.symbol.empty();
        if (there && (!kernel || found == loaded.end())) return false;
        if (there) one.kernel = found->second;
        const bool processor = kernel && !there;
        if (processor && next == here.size()) return false;
        code.kernels.push_back(processor ? here[next++] : nullptr);
        if (kernel && (step.written.size() < kernel->arguments.size() || step.group < 1)) {
            return false;
        }
        one.group = step.group;
        one.written = step.written;
    }
    return next == here.size();
}

// The code of the kernels of the device. For tests: the kernels themselves, by symbol.
Result<DeviceCode> Engine::make_device_code(Code& code, int threads, LoadedKernels& loaded) {
    DeviceCode made;
    std::vector<loop::ScheduledKernel*> there;
    std::vector<DeviceCode::Step*> steps;
    made.steps.resize(code.plan.steps.size());
    for (size_t i = 0; i < made.steps.size(); ++i) {
        const loop::ScheduledKernel* const kernel = code.plan.steps[i].kernel();
        if (!kernel) continue;
        DeviceCode::Step& step = made.steps[i];
        step.group = std::max<int64_t>(kernel->function.group, 1);
        for (size_t at = 0; at < kernel->function.argument_count(); ++at) {
            step.written.push_back(kernel->function.buffers[at].written);
        }
        if (kernel->function.group <= 0) continue;
        there.push_back(code.plan.steps[i].kernel());
        there.back()->function.aligned = is_aligned(code.plan, *kernel);
        steps.push_back(&step);
    }
    if (options_.load_kernel) {
        for (size_t i = 0; i < there.size(); ++i) {
            steps[i]->symbol = std::to_string(i);
            LEMMA_TRY(loaded[steps[i]->symbol], options_.load_kernel(there[i]->function));
        }
        return made;
    }
    LEMMA_TRY(auto objects, shared_->device_compiler()->objects(there, threads, state_.control()));
    std::map<std::string, const loop::Function*> functions;
    for (size_t i = 0; i < there.size(); ++i) {
        steps[i]->symbol = objects.symbols[i];
        functions[objects.symbols[i]] = &there[i]->function;
    }
    for (auto& [symbol, text] : objects.objects) {
        const loop::Function& function = *functions.at(symbol);
        const int64_t bytes = function.group_memory();
        made.kernels.push_back({symbol,
                                std::move(text),
                                bytes > loop::kPlainGroupMemory ? bytes : 0,
                                function.aligned});
    }
    LEMMA_TRY(compile_texts(made));
    LEMMA_TRY(loaded, load_kernels(made));
    return made;
}

// The device has the kernels with groups, and the processor the others.
Result<void> Engine::compile_for_device(Code& code, int threads, const std::string* source) {
    LoadedKernels loaded;
    LEMMA_TRY(const DeviceCode made, make_device_code(code, threads, loaded));
    std::vector<loop::ScheduledKernel*> here;
    for (size_t i = 0; i < made.steps.size(); ++i) {
        loop::ScheduledKernel* const kernel = code.plan.steps[i].kernel();
        if (kernel && made.steps[i].symbol.empty()) here.push_back(kernel);
    }
    codegen::Compiler::Objects objects;
    LEMMA_TRY(
        const auto compiled,
        shared_->compiler().compile(here, threads, state_.control(), source ? &objects : nullptr));
    if (!take_kernels(code, made, loaded, compiled)) {
        return std::unexpected(Error{"a plan without its kernels"});
    }
    for (loop::ScheduledKernel* const kernel : here) kernel->schedule += ", on the processor";
    for (loop::PlanStep& step : code.plan.steps) {
        if (step.kernel()) free_function(*step.kernel());
    }
    if (!source) return {};
    ArchiveWriter writer;
    writer(loop::encode_plan(code.plan), code.packers, made.steps, made.kernels);
    shared_->compiler().store_plan(device_source(*source), writer.bytes, objects);
    return {};
}

// The version of the compiler for the device decides, too, and the device.
std::string Engine::device_source(const std::string& source) const {
    return source + shared_->device_compiler()->machine().identity + shared_->device()->make();
}

// Takes the plan and its code from the cache; false if they are not there.
bool Engine::find_device_plan(Code& code, const std::string& source) {
    auto stored = shared_->compiler().find_plan(device_source(source));
    if (!stored) return false;
    Code found;
    std::string_view plan;
    DeviceCode made;
    ArchiveReader reader(stored->plan);
    reader(plan, found.packers, made.steps, made.kernels);
    auto decoded = reader.good() && reader.at_end() ? loop::decode_plan(plan) : std::nullopt;
    if (!decoded) return false;
    found.plan = std::move(*decoded);
    const auto begin = std::chrono::steady_clock::now();
    const auto loaded = load_kernels(made);
    // The caller takes all time for that of the plan.
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    shared_->times().code += spent.count();
    shared_->times().plan -= spent.count();
    if (!loaded || !take_kernels(found, made, *loaded, stored->kernels)) return false;
    shared_->add_cached(made.kernels.size());
    code = std::move(found);
    return true;
}

}  // namespace lemma::engine
