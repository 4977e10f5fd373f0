// runtime/executable.h — a compiled model: memory, and the calls of kernels in their order. Knows
// nothing of the compiler.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/kernel.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace lemma::runtime {

// In place of a piece of memory: an i64 that a kernel sets to 1 where an index leaves its tensor.
inline constexpr size_t kFlag = SIZE_MAX;

struct Step {
    std::string label;
    KernelFunction kernel = nullptr;
    std::vector<size_t> buffers;  // pieces of memory, or kFlag
    int64_t items = 1;
    // In place of a kernel.
    std::function<Result<void>()> call;
};

class Executable {
public:
    explicit Executable(int threads) : pool_(threads) {}

    Result<size_t> add_memory(int64_t bytes);
    size_t add_alias(size_t memory, int64_t offset_bytes);
    // Gives memory back, which no step may use any more.
    void release(size_t memory);
    void* memory(size_t index) const { return pieces_[index]; }
    int64_t bytes() const { return bytes_; }
    int threads() const { return pool_.threads(); }

    // In order. An error if an index left its tensor; its message is for the engine.
    Result<void> run(const std::vector<Step>& steps, std::vector<double>* seconds = nullptr);

private:
    Result<void> run_step(const Step& step);

    ThreadPool pool_;
    std::vector<Memory> owned_;  // by piece; of an alias: none
    std::vector<void*> pieces_;
    int64_t bytes_ = 0;
};

}  // namespace lemma::runtime
