// SPDX-License-Identifier: Apache-2.0
// Makes the kernels of a device, and keeps them with their plan in the object cache.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "base/processors.h"
#include "engine/engine.h"
#include "engine/impl.h"
#include "engine/stored_code.h"
#include "loop/plan/stored_plan.h"

namespace lemma::engine {

// Loads the texts. The driver compiles each of them, which may take longer than making it.
Result<Engine::LoadedKernels> Engine::load_texts(const DeviceTexts& all) {
    constexpr int kMostLoaders = 16;
    std::vector<Result<const runtime::DeviceKernel*>> results(all.texts.size(), nullptr);
    std::atomic<size_t> next = 0;
    const auto load_some = [&](const RunControl* control) {
        for (size_t i = next++; i < all.texts.size(); i = next++) {
            if (!go_on(control)) {
                next = all.texts.size();
                return;
            }
            results[i] = shared_->device()->load(all.texts[i].second, all.texts[i].first);
        }
    };
    {
        std::vector<std::jthread> others;
        const auto most = static_cast<size_t>(std::min(usable_processors(), kMostLoaders));
        for (size_t i = 1; i < std::min(most, all.texts.size()); ++i) {
            others.emplace_back([&] { load_some(nullptr); });
        }
        load_some(state_.control());
    }
    LEMMA_TRY(go_on(state_.control()));
    LoadedKernels loaded;
    for (size_t i = 0; i < all.texts.size(); ++i) {
        LEMMA_TRY(loaded[all.texts[i].first], std::move(results[i]));
    }
    return loaded;
}

// Gives the steps of the plan their kernels: those of the device, and the others in order.
bool Engine::take_kernels(Code& code,
                          const DeviceTexts& made,
                          const LoadedKernels& loaded,
                          std::span<const runtime::KernelFunction> here) {
    if (made.steps.size() != code.plan.steps.size()) return false;
    size_t next = 0;
    for (size_t i = 0; i < made.steps.size(); ++i) {
        const DeviceTexts::Step& step = made.steps[i];
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

// The texts of the kernels of the device. For tests: the kernels themselves, by symbol.
Result<DeviceTexts> Engine::make_texts(Code& code, int threads, LoadedKernels& loaded) {
    DeviceTexts made;
    std::vector<loop::ScheduledKernel*> there;
    std::vector<DeviceTexts::Step*> steps;
    made.steps.resize(code.plan.steps.size());
    for (size_t i = 0; i < made.steps.size(); ++i) {
        const loop::ScheduledKernel* const kernel = code.plan.steps[i].kernel();
        if (!kernel) continue;
        DeviceTexts::Step& step = made.steps[i];
        step.group = std::max<int64_t>(kernel->function.group, 1);
        for (size_t at = 0; at < kernel->function.argument_count(); ++at) {
            step.written.push_back(kernel->function.buffers[at].written);
        }
        if (kernel->function.group <= 0) continue;
        there.push_back(code.plan.steps[i].kernel());
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
    for (size_t i = 0; i < there.size(); ++i) steps[i]->symbol = objects.symbols[i];
    for (auto& [symbol, text] : objects.objects) made.texts.emplace_back(symbol, std::move(text));
    LEMMA_TRY(loaded, load_texts(made));
    return made;
}

// The device has the kernels with groups, and the processor the others.
Result<void> Engine::compile_for_device(Code& code, int threads, const std::string* source) {
    LoadedKernels loaded;
    LEMMA_TRY(const DeviceTexts made, make_texts(code, threads, loaded));
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
    writer(loop::encode_plan(code.plan), code.packers, made.steps, made.texts);
    shared_->compiler().store_plan(device_source(*source), writer.bytes, objects);
    return {};
}

// The version of the compiler for the device decides, too.
std::string Engine::device_source(const std::string& source) const {
    return source + shared_->device_compiler()->machine().identity;
}

// Takes the plan and its code from the cache; false if they are not there.
bool Engine::find_device_plan(Code& code, const std::string& source) {
    auto stored = shared_->compiler().find_plan(device_source(source));
    if (!stored) return false;
    Code found;
    std::string_view plan;
    DeviceTexts made;
    ArchiveReader reader(stored->plan);
    reader(plan, found.packers, made.steps, made.texts);
    auto decoded = reader.good() && reader.at_end() ? loop::decode_plan(plan) : std::nullopt;
    if (!decoded) return false;
    found.plan = std::move(*decoded);
    const auto begin = std::chrono::steady_clock::now();
    const auto loaded = load_texts(made);
    // The caller takes all time for that of the plan.
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    shared_->times().code += spent.count();
    shared_->times().plan -= spent.count();
    if (!loaded || !take_kernels(found, made, *loaded, stored->kernels)) return false;
    shared_->add_cached(made.texts.size());
    code = std::move(found);
    return true;
}

}  // namespace lemma::engine
