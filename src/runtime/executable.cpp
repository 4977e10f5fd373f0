#include "runtime/executable.h"

#include <chrono>

namespace lemma::runtime {

namespace {

struct Call {
    KernelFunction kernel;
    void* const* buffers;
    int64_t items;
};

// Each thread does a run of neighbouring items.
void run_part(void* context, int part, int parts) {
    const Call& call = *static_cast<const Call*>(context);
    const int64_t begin = call.items * part / parts;
    const int64_t end = call.items * (part + 1) / parts;
    if (begin < end) call.kernel(call.buffers, begin, end);
}

}  // namespace

Result<size_t> Executable::add_memory(int64_t bytes) {
    LEMMA_TRY(Memory memory, Memory::zeros(bytes));
    bytes_ += bytes;
    pieces_.push_back(memory.data());
    owned_.push_back(std::move(memory));
    return pieces_.size() - 1;
}

size_t Executable::add_alias(size_t memory, int64_t offset_bytes) {
    pieces_.push_back(static_cast<std::byte*>(pieces_[memory]) + offset_bytes);
    owned_.emplace_back();
    return pieces_.size() - 1;
}

void Executable::release(size_t memory) {
    bytes_ -= owned_[memory].bytes();
    owned_[memory] = Memory();
    pieces_[memory] = nullptr;
}

Result<void> Executable::run_step(const Step& step) {
    if (step.call) return step.call();
    constexpr size_t kMostBuffers = 64;
    void* few[kMostBuffers];
    std::vector<void*> many;
    void** buffers = few;
    if (step.buffers.size() > kMostBuffers) {
        many.resize(step.buffers.size());
        buffers = many.data();
    }
    int64_t failed = 0;
    for (size_t i = 0; i < step.buffers.size(); ++i) {
        buffers[i] = step.buffers[i] == kFlag ? &failed : pieces_[step.buffers[i]];
    }
    Call call{step.kernel, buffers, step.items};
    if (step.items == 1) {
        step.kernel(buffers, 0, 1);
    } else {
        pool_.run(run_part, &call);
    }
    if (failed) return std::unexpected(Error{"an index is outside of its tensor"});
    return {};
}

Result<void> Executable::run(const std::vector<Step>& steps, std::vector<double>* seconds) {
    using Clock = std::chrono::steady_clock;
    if (seconds) seconds->assign(steps.size(), 0);
    for (size_t i = 0; i < steps.size(); ++i) {
        const auto begin = seconds ? Clock::now() : Clock::time_point();
        if (auto done = run_step(steps[i]); !done) return done;
        if (seconds) (*seconds)[i] = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    return {};
}

}  // namespace lemma::runtime
