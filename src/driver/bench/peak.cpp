#include "driver/bench/peak.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "runtime/executable.h"

namespace lemma::driver {

namespace {

constexpr int64_t kSteps = 20'000;
constexpr int kTimes = 24;

// Each item multiplies and adds in as many registers as there are, which are independent, so that
// nothing but the units themselves is waited for.
struct PeakKernel {
    loop::Function function;
    double operations = 0;  // of an item
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
        f.body.push_back({loop::Store{buffer, own, sum, {}}});
    }
    kernel.operations = 2.0 * static_cast<double>(sums * lanes * kSteps);
    return kernel;
}

}  // namespace

Result<double> measure_peak(codegen::Compiler& compiler, int threads) {
    const loop::Target& target = compiler.target();
    const PeakKernel kernel = make_kernel(target, threads);
    const loop::Function* const functions[] = {&kernel.function};
    LEMMA_TRY(const auto code, compiler.compile(functions, 1));
    runtime::Executable executable(threads);
    const int64_t bytes = target.registers * target.vector_bytes * threads;
    LEMMA_TRY(const size_t data, executable.add_memory(bytes));
    LEMMA_TRY(const size_t factors, executable.add_memory(2 * target.vector_bytes));
    auto* const values = static_cast<float*>(executable.memory(factors));
    for (int64_t i = 0; i < target.lanes(); ++i) {
        values[i] = 0.5F;  // sums stay near 1: numbers that are too small may take longer
        values[target.lanes() + i] = 0.5F;
    }
    std::vector<runtime::Step> steps(1);
    steps[0].kernel = code[0];
    steps[0].items = threads;
    steps[0].buffers = {data, factors};
    double best = 0;
    for (int i = 0; i < kTimes; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        if (auto done = executable.run(steps); !done) return std::unexpected(done.error());
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        best = std::max(best, kernel.operations * threads / spent.count());
    }
    return best;
}

}  // namespace lemma::driver
