// kernel_test [FILTER…]: runs every kernel of the standard library's operators on random memory,
// with the evaluator of the loop IR, as machine code, and with run_function. All must leave the
// same bits, and no access may leave its buffer. With filters, only files of tests/stdlib whose
// path contains one of them.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "codegen/compiler.h"
#include "interpret/random.h"
#include "loop/ir/run.h"
#include "loop/plan/plan.h"
#include "support/loop_evaluator.h"
#include "support/number_files.h"
#include "support/number_run.h"
#include "support/run_extents.h"

namespace lemma::testing {

namespace {

using tensor::DType;
using tensor::Tensor;

// Number of first and last items to run, because the evaluator is slow.
constexpr int64_t kFewItems = 3;

// Small numbers, so that integers are sometimes valid indices; some are special.
void fill(Tensor& buffer, uint64_t seed) {
    constexpr double kSpecial[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-42, 3e38};
    for (int64_t i = 0; i < buffer.size(); ++i) {
        const uint64_t bits = interpret::random_bits(seed, static_cast<uint64_t>(i));
        if (!is_real(buffer.dtype())) {
            buffer.set_integer(
                i, static_cast<int64_t>(bits % (buffer.dtype() == DType::Bool ? 2 : 4)));
        } else if (bits % 64 == 0) {
            buffer.set_real(i, kSpecial[(bits >> 32) % std::size(kSpecial)]);
        } else {
            buffer.set_real(i, interpret::random_unit(seed, static_cast<uint64_t>(i)) * 4 - 2);
        }
    }
}

// Describes the first difference of two buffers.
std::string compare(const Tensor& got, const Tensor& want) {
    for (int64_t i = 0; i < want.size(); ++i) {
        if (is_real(want.dtype())) {
            const double a = got.real(i), b = want.real(i);
            const bool same =
                (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
            if (!same) return fmt::format("{} at {}, where the loops have {}", a, i, b);
        } else if (got.integer(i) != want.integer(i)) {
            return fmt::format(
                "{} at {}, where the loops have {}", got.integer(i), i, want.integer(i));
        }
    }
    return {};
}

class KernelTest {
public:
    explicit KernelTest(codegen::Compiler& compiler)
        : compiler_(compiler),
          fma_(compiler.stats().target == "sse2" ? Fma::Separate : Fma::Fused) {}

    void test_cases(const std::string& name,
                    const std::vector<NumberCase>& cases,
                    NumberCounts& counts) const {
        for (const NumberCase& test : cases) {
            const auto program = compose_numbers(test);
            if (!program) continue;  // one that expects an error
            const std::string report = test_program(*program, counts);
            ++(report.empty() ? counts.passed : counts.failed);
            if (!report.empty()) {
                say(fmt::format(
                    "FAILED {}:{}: {}\n{}{}\n", name, test.line, test.name, test.compose, report));
            }
        }
    }

private:
    std::string test_program(const ir::Program& program, NumberCounts& counts) const {
        loop::PlanOptions options{.target = compiler_.target(), .least_steps = 1, .verify = true};
        loop::Plan plan = loop::make_plan(program, {}, options);
        std::vector<const loop::PlanStep*> steps;
        std::vector<loop::ScheduledKernel*> kernels;
        for (loop::PlanStep& step : plan.steps) {
            if (!step.kernel()) continue;
            steps.push_back(&step);
            kernels.push_back(step.kernel());
        }
        const auto code = compiler_.compile(kernels, 1);
        if (!code) return code.error().message;
        std::string report;
        for (size_t i = 0; i < steps.size() && report.empty(); ++i) {
            for (uint64_t seed = 0;
                 seed < (steps[i]->is<loop::DynamicKernel>() ? 8 : 1) && report.empty();
                 ++seed) {
                const RunExtents extents(program, *steps[i], seed);
                if (!extents.good()) continue;
                report = test_kernel(plan, *steps[i], extents, (*code)[i], fma_);
            }
            if (!report.empty()) report += "\n" + loop::print(steps[i]->kernel()->function);
            ++counts.kernels;
        }
        return report;
    }

    // Elements from the beginning of a storage to the end of the memory that contains it.
    static int64_t room(const loop::Plan& plan, loop::StorageId id) {
        int64_t before = 0;
        for (; plan.storages[id].base.valid(); id = plan.storages[id].base) {
            before += plan.storages[id].begin;
        }
        return plan.storages[id].elements - before;
    }
    static std::string test_kernel(const loop::Plan& plan,
                                   const loop::PlanStep& step,
                                   const RunExtents& extents,
                                   runtime::KernelFunction code,
                                   Fma fma) {
        const loop::ScheduledKernel& kernel = *step.kernel();
        const auto* const run_time = std::get_if<loop::DynamicKernel>(&step.kind);
        std::vector<Tensor> loops;
        for (size_t i = 0; i < kernel.arguments.size(); ++i) {
            const loop::StorageId id = kernel.arguments[i];
            const DType dtype = kernel.function.buffers[i].dtype;
            const bool moves = id.valid() && plan.storages[id].elements == 0;
            const auto dynamic = moves ? extents.elements(plan.storages[id].tensor) : std::nullopt;
            const int64_t elements = !id.valid() ? 1 : dynamic ? *dynamic : room(plan, id);
            loops.push_back(Tensor::zeros(dtype, {elements}).value());
            if (id.valid()) fill(loops.back(), i + 1);
            if (!run_time || id != run_time->told) continue;
            for (int64_t k = 0; k < elements; ++k) {
                loops.back().set_integer(k, extents.told()[static_cast<size_t>(k)]);
            }
        }
        std::vector<Tensor> compiled = loops;
        std::vector<Tensor> walked = loops;
        std::vector<void*> pointers, others;
        for (Tensor& buffer : compiled) pointers.push_back(buffer.bytes().data());
        for (Tensor& buffer : walked) others.push_back(buffer.bytes().data());
        const int64_t items = run_time ? extents.items() : kernel.function.items;
        const int64_t first = std::min(items, kFewItems);
        const int64_t last = std::max(first, items - kFewItems);
        for (const auto& [begin, end] : {std::pair{int64_t{0}, first}, std::pair{last, items}}) {
            if (auto done = evaluate(kernel.function, {begin, end}, fma, loops); !done) {
                return done.error().message;
            }
            code(pointers.data(), begin, end);
            loop::run_function(
                kernel.function, others.data(), begin, end, {.has_fma = fma == Fma::Fused});
        }
        for (size_t i = 0; i < loops.size(); ++i) {
            const std::string text = compare(compiled[i], loops[i]);
            if (!text.empty()) return fmt::format("buffer {} has {}", i, text);
            const std::string other = compare(walked[i], loops[i]);
            if (!other.empty()) return fmt::format("buffer {} of run_function has {}", i, other);
        }
        return {};
    }

    codegen::Compiler& compiler_;
    Fma fma_;
};

int run(const std::vector<std::string>& filters) {
    const auto compiler = codegen::Compiler::create();
    if (!compiler) {
        say(compiler.error().message + "\n");
        return 2;
    }
    const KernelTest test(**compiler);
    const NumberCounts counts = test_number_files(
        filters,
        [&](const auto& name, const auto& cases, auto& to) { test.test_cases(name, cases, to); });
    say(fmt::format(
        "{} kernels\n{} passed, {} failed\n", counts.kernels, counts.passed, counts.failed));
    return counts.failed == 0 && counts.kernels > 0 ? 0 : 1;
}

}  // namespace

}  // namespace lemma::testing

int main(int argc, char** argv) { return lemma::testing::run({argv + 1, argv + argc}); }
