// SPDX-License-Identifier: Apache-2.0
#include "driver/bench/peak.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "base/processors.h"
#include "runtime/memory.h"

namespace lemma::driver {

namespace {

constexpr int64_t kSteps = 20'000;
constexpr int kTimes = 24;
constexpr std::chrono::milliseconds kTogether{40};

// Each item multiplies and adds in all registers. They are independent, so only the arithmetic
// units limit the speed.
struct PeakKernel {
    loop::Function function;
    double operations = 0;  // operations of an item
};
PeakKernel make_kernel(const loop::Target& target, int threads) {
    PeakKernel kernel;
    loop::Function& f = kernel.function;
    loop::Builder build(f);
    const uint16_t lanes = target.lanes();
    const int64_t sums = target.registers * 3 / 4;
    f.name = "peak";
    f.item = build.var("item");
    f.items = threads;
    const loop::BufferId buffer = build.buffer("data", tensor::DType::F32, true);
    const loop::BufferId factors = build.buffer("factors", tensor::DType::F32, false);
    const loop::ExprId factor = build.load(factors, {}, lanes);
    loop::Address second;
    second.offset = lanes;
    const loop::ExprId shift = build.load(factors, second, lanes);
    f.body.push_back({loop::Let{factor}});
    f.body.push_back({loop::Let{shift}});
    std::vector<loop::LocalId> locals;
    const loop::VarId step = build.var("step");
    loop::For steps{step, build.integer(0), build.integer(kSteps), 1, {}};
    for (int64_t i = 0; i < sums; ++i) {
        const loop::LocalId local = build.local({loop::Kind::F32, lanes});
        loop::Address own;
        own.offset = i * lanes;
        own.add(f.item, sums * lanes);
        f.body.push_back({loop::Set{local, build.load(buffer, own, lanes)}});
        const loop::ExprId next = build.make(loop::Op::Fma, {build.get(local), factor, shift});
        steps.body.push_back({loop::Set{local, next}});
        locals.push_back(local);
    }
    f.body.push_back({std::move(steps)});
    for (int64_t i = 0; i < sums; ++i) {
        loop::Address own;
        own.offset = i * lanes;
        own.add(f.item, sums * lanes);
        const loop::ExprId sum = build.get(locals[static_cast<size_t>(i)]);
        f.body.push_back({loop::StoreStmt{buffer, own, sum, {}}});
    }
    kernel.operations = 2.0 * static_cast<double>(sums * lanes * kSteps);
    return kernel;
}

// The kernel with its memory.
class PeakRun {
public:
    static Result<PeakRun> create(codegen::Compiler& compiler, int threads) {
        const loop::Target& target = compiler.target();
        PeakRun run;
        PeakKernel kernel = make_kernel(target, threads);
        run.operations_ = kernel.operations;
        loop::ScheduledKernel scheduled{std::move(kernel.function), {}, {}, {}};
        loop::ScheduledKernel* const kernels[] = {&scheduled};
        LEMMA_TRY(const auto code, compiler.compile(kernels, 1));
        run.code_ = code[0];
        LEMMA_TRY(run.data_,
                  runtime::Memory::zeros(target.registers * target.vector_bytes * threads));
        LEMMA_TRY(run.factors_, runtime::Memory::zeros(2 * target.vector_bytes));
        // Sums stay near 1, because subnormal numbers may take longer.
        std::fill_n(static_cast<float*>(run.factors_.data()), 2 * target.lanes(), 0.5F);
        return run;
    }

    double operations() const { return operations_; }
    void call(int item) {
        void* const buffers[] = {data_.data(), factors_.data()};
        code_(buffers, item, item + 1);
    }

private:
    runtime::KernelFunction code_ = nullptr;
    runtime::Memory data_, factors_;
    double operations_ = 0;
};

// The sum of what the function gives for each thread.
template <class F>
double sum_of_threads(int threads, const F& function) {
    std::vector<double> results(static_cast<size_t>(threads));
    std::vector<std::thread> others;
    const auto one = [&](int item) { results[static_cast<size_t>(item)] = function(item); };
    for (int item = 1; item < threads; ++item) others.emplace_back(one, item);
    one(0);
    for (std::thread& other : others) other.join();
    return std::reduce(results.begin(), results.end());
}

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

// Counts the CPU time of each thread, so that other programs do not change the result.
Result<double> measure_peak(codegen::Compiler& compiler, int threads) {
    const int used = std::min(threads, usable_processors());
    LEMMA_TRY(PeakRun run, PeakRun::create(compiler, used));
    return sum_of_threads(used, [&](int item) {
        double best = 0;
        for (int i = 0; i < kTimes; ++i) {
            const double begin = cpu_seconds();
            run.call(item);
            best = std::max(best, run.operations() / (cpu_seconds() - begin));
        }
        return best;
    });
}

Result<double> measure_arithmetic(codegen::Compiler& compiler, int threads) {
    using Clock = std::chrono::steady_clock;
    const int used = std::min(threads, usable_processors());
    LEMMA_TRY(PeakRun run, PeakRun::create(compiler, used));
    std::atomic<int> ready = 0;
    return sum_of_threads(used, [&](int item) {
        ++ready;
        while (ready.load() < used) std::this_thread::yield();
        const auto begin = Clock::now();
        Clock::duration spent{};
        double operations = 0;
        while (spent < kTogether) {
            run.call(item);
            operations += run.operations();
            spent = Clock::now() - begin;
        }
        return operations / std::chrono::duration<double>(spent).count();
    });
}

}  // namespace lemma::driver
