// SPDX-License-Identifier: Apache-2.0
#include "driver/bench/peak.h"

#include <time.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "base/processors.h"
#include "runtime/memory.h"

namespace lemma::driver {

namespace {

constexpr int64_t kSteps = 20'000;
constexpr int kTimes = 24;

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

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

// Counts the CPU time of each thread, so that other programs do not change the result.
Result<double> measure_peak(codegen::Compiler& compiler, int threads) {
    const loop::Target& target = compiler.target();
    const int cores = usable_processors();
    const int used = std::min(threads, cores);
    const PeakKernel kernel = make_kernel(target, used);
    loop::ScheduledKernel scheduled{kernel.function, {}, {}, {}};
    loop::ScheduledKernel* const kernels[] = {&scheduled};
    LEMMA_TRY(const auto code, compiler.compile(kernels, 1));
    LEMMA_TRY(const auto data,
              runtime::Memory::zeros(target.registers * target.vector_bytes * used));
    LEMMA_TRY(const auto factors, runtime::Memory::zeros(2 * target.vector_bytes));
    // Sums stay near 1, because subnormal numbers may take longer.
    std::fill_n(static_cast<float*>(factors.data()), 2 * target.lanes(), 0.5F);
    void* const buffers[] = {data.data(), factors.data()};
    std::vector<double> best(static_cast<size_t>(used));
    const auto measure = [&](int item) {
        for (int i = 0; i < kTimes; ++i) {
            const double begin = cpu_seconds();
            code[0](buffers, item, item + 1);
            const double rate = kernel.operations / (cpu_seconds() - begin);
            best[static_cast<size_t>(item)] = std::max(best[static_cast<size_t>(item)], rate);
        }
    };
    std::vector<std::thread> others;
    for (int item = 1; item < used; ++item) others.emplace_back(measure, item);
    measure(0);
    for (std::thread& other : others) other.join();
    return std::reduce(best.begin(), best.end());
}

}  // namespace lemma::driver
