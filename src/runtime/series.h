// SPDX-License-Identifier: Apache-2.0
// runtime/series.h — kernel calls in order, as jobs that a pool runs as a series.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/control.h"
#include "runtime/scratch.h"
#include "runtime/thread_pool.h"

namespace lemma::runtime {

// A call with the addresses of its buffers. All threads read it when they start, so it is in as few
// cache lines as possible.
class alignas(64) PreparedCall {
public:
    // `first`: the item that counts as 0. Backwards: from the last item of a piece on.
    void prepare(const KernelCall& kernel,
                 const std::vector<void*>& pieces,
                 ScratchMemory& scratch,
                 int64_t first,
                 bool backwards);
    void run(int64_t begin, int64_t end) const;
    Result<void> outcome() const;

private:
    static constexpr size_t kMostBuffers = 64;  // without memory from the heap

    void run_with(void* const* buffers, int64_t begin, int64_t end) const;

    KernelFunction kernel_ = nullptr;
    void* const* buffers_ = nullptr;
    int64_t first_ = 0;
    bool backwards_ = false;
    ScratchMemory* scratch_ = nullptr;   // missing if the kernel has none
    size_t count_ = 0, scratch_at_ = 0;  // all buffers, and the place of the scratch memory
    void* few_[kMostBuffers] = {};
    int64_t failed_ = 0;
    std::vector<void*> many_;
};

class Series {
public:
    Series(ThreadPool& pool, const std::vector<void*>& pieces, ScratchMemory& scratch)
        : pool_(pool), pieces_(pieces), scratch_(scratch) {}

    // Whether so many calls may follow those that were added. A series is short, so that a run can
    // be stopped between two of them.
    bool has_room(size_t calls) const;
    bool empty() const { return jobs_.empty(); }
    void add(const KernelCall& call, int64_t begin, int64_t end, bool backwards = false);
    // The calls of a wave as one job, in pieces of about the same work.
    void add(const KernelWave& wave);
    // Runs the calls and removes them. An error if an index left its tensor. The time of calls goes
    // to `KernelCall::seconds`.
    Result<void> run();

private:
    // A call of a wave.
    struct Part {
        const PreparedCall* call;
        int64_t items, piece;
        int64_t first;  // piece, among those of all calls

        int64_t pieces() const { return (items - 1) / piece + 1; }
    };
    PreparedCall& prepare(const KernelCall& call, int64_t first, bool backwards);
    void add_job(ThreadPool::Job job, const KernelCall* measured, double work);
    static void run_parts(void* context, int64_t begin, int64_t end);

    ThreadPool& pool_;
    const std::vector<void*>& pieces_;
    ScratchMemory& scratch_;
    // Memory of earlier series is used again.
    std::vector<std::unique_ptr<PreparedCall>> calls_;
    size_t used_ = 0;
    std::vector<std::unique_ptr<std::vector<Part>>> waves_;
    std::vector<ThreadPool::Job> jobs_;
    std::vector<const KernelCall*> measured_;  // by job; null: nobody wants to know
    double work_ = 0;                          // of all threads, in seconds
    bool checks_ = false;                      // the last call may leave its tensors
};

}  // namespace lemma::runtime
