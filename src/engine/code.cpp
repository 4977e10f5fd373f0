// SPDX-License-Identifier: Apache-2.0
#include "engine/code.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace lemma::engine {

bool asks_state(const loop::PlanStep& step) {
    return step.is<loop::InterpretedStep>() || step.is<loop::CheckStep>() ||
           step.is<loop::DynamicKernel>();
}

int64_t Code::bytes() const {
    int64_t sum = 0;
    for (const runtime::Memory& piece : memory) sum += piece.bytes();
    return sum;
}

SharedCode::SharedCode(std::unique_ptr<codegen::Compiler> compiler,
                       std::unique_ptr<codegen::Compiler> device_compiler,
                       std::shared_ptr<runtime::Device> device)
    : compiler_(std::move(compiler)),
      device_compiler_(std::move(device_compiler)),
      device_(std::move(device)) {}

Result<std::shared_ptr<SharedCode>> SharedCode::create(codegen::CompilerOptions options,
                                                       std::shared_ptr<runtime::Device> device) {
    LEMMA_TRY(auto compiler, codegen::Compiler::create(options));
    std::unique_ptr<codegen::Compiler> other;
    if (device) {
        other = codegen::Compiler::create_for(codegen::device_target(compiler->machine()), options);
    }
    return std::shared_ptr<SharedCode>(
        new SharedCode(std::move(compiler), std::move(other), std::move(device)));
}

codegen::CompilerStats SharedCode::stats() const {
    codegen::CompilerStats stats = main_compiler().stats();
    if (!device_compiler_) return stats;
    const codegen::CompilerStats& other = compiler_->stats();
    stats.kernels += other.kernels;
    stats.reused += other.reused;
    stats.cached += other.cached + cached_;
    stats.plans += other.plans;
    stats.seconds += other.seconds;
    return stats;
}

// Each has weights of its own; the most recently used stay. Others live as long as engines use
// them.
std::shared_ptr<const Code> SharedCode::use(const CodeKey& key) {
    constexpr size_t kMostKept = 8;
    const std::lock_guard lock(finding_);
    const auto found = known_.find(key);
    if (found == known_.end()) return nullptr;
    auto code = found->second.code.lock();
    if (!code) return nullptr;
    found->second.kept = code;
    found->second.used = ++uses_;
    std::erase_if(known_, [](const auto& item) { return item.second.code.expired(); });
    if (known_.size() > kMostKept) {
        std::vector<uint64_t> uses;
        for (const auto& [other, item] : known_) {
            if (item.kept) uses.push_back(item.used);
        }
        std::ranges::sort(uses);
        for (auto& [other, item] : known_) {
            const bool old = uses.size() > kMostKept && item.used < uses[uses.size() - kMostKept];
            if (old) item.kept = nullptr;
        }
    }
    return code;
}

std::optional<std::pair<CodeKey, std::shared_ptr<const Code>>> SharedCode::find(
    const Wanted& wanted) {
    const auto found = [&]() -> std::optional<CodeKey> {
        const std::lock_guard lock(finding_);
        for (const auto& [key, item] : known_) {
            const auto code = item.code.lock();
            if (code && wanted(*code)) return key;
        }
        return std::nullopt;
    }();
    if (!found) return std::nullopt;
    auto code = use(*found);
    if (!code) return std::nullopt;
    return std::pair(*found, std::move(code));
}

Result<std::unique_lock<std::recursive_mutex>> SharedCode::wait(const RunControl* control) {
    constexpr std::chrono::milliseconds kPatience(1);
    std::unique_lock lock(making_, std::defer_lock);
    if (!control) {
        lock.lock();
        return lock;
    }
    while (!lock.try_lock()) {
        LEMMA_TRY(go_on(control));
        std::this_thread::sleep_for(kPatience);
    }
    return lock;
}

Result<std::shared_ptr<const Code>> SharedCode::get(const CodeKey& key,
                                                    const Maker& make,
                                                    const RunControl* control) {
    if (auto code = use(key)) return code;
    LEMMA_TRY(const auto lock, wait(control));
    if (auto code = use(key)) return code;  // another engine has made it meanwhile
    LEMMA_TRY(const std::shared_ptr<const Code> made, make());
    {
        const std::lock_guard known(finding_);
        known_[key].code = made;
    }
    return use(key);
}

}  // namespace lemma::engine
