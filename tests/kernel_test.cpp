// SPDX-License-Identifier: Apache-2.0
// kernel_test [--c=TARGET] [FILTER…]: runs every kernel of the standard library's operators on
// random memory, with the evaluator of the loop IR, as machine code, and with run_function. All
// must leave the same bits, and no access may leave its buffer. With filters, only files of
// tests/stdlib whose path contains one of them.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <span>

#include "codegen/compiler.h"
#include "interpret/random.h"
#include "loop/ir/run.h"
#include "loop/plan/plan.h"
#include "support/c_kernels.h"
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

// How kernels become functions; null functions are not tested.
struct KernelMaker {
    loop::Target target;
    Fma fma = Fma::Fused;
    bool integer_powers = false;
    std::function<Result<std::vector<runtime::KernelFunction>>(
        std::span<loop::ScheduledKernel* const>)>
        compile;
};

class KernelTest {
public:
    explicit KernelTest(KernelMaker maker) : maker_(std::move(maker)) {}

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
        loop::PlanOptions options{.target = maker_.target,
                                  .least_steps = 1,
                                  .window_share = HUGE_VAL,
                                  .integer_powers = maker_.integer_powers,
                                  .verify = true};
        loop::Plan plan = loop::make_plan(program, {}, options);
        std::vector<const loop::PlanStep*> steps;
        std::vector<loop::ScheduledKernel*> kernels;
        for (loop::PlanStep& step : plan.steps) {
            if (!step.kernel()) continue;
            steps.push_back(&step);
            kernels.push_back(step.kernel());
        }
        const auto code = maker_.compile(kernels);
        if (!code) return code.error().message;
        const Tables tables = tables_of(plan, kernels);
        std::string report;
        for (size_t i = 0; i < steps.size() && report.empty(); ++i) {
            if (!(*code)[i]) continue;
            for (uint64_t seed = 0;
                 seed < (steps[i]->is<loop::DynamicKernel>() ? 8 : 1) && report.empty();
                 ++seed) {
                const RunExtents extents(program, *steps[i], seed);
                if (!extents.good()) continue;
                report = test_kernel(plan, tables, *steps[i], extents, (*code)[i], maker_.fma);
            }
            if (!report.empty()) report += "\n" + loop::print(steps[i]->kernel()->function);
            ++counts.kernels;
        }
        return report;
    }

    // Integers that a kernel computes from nothing. Others may use them as indices without a check,
    // so they are not random.
    using Tables = std::map<uint32_t, Tensor>;  // by storage
    static Tables tables_of(const loop::Plan& plan,
                            const std::vector<loop::ScheduledKernel*>& kernels) {
        Tables tables;
        for (const loop::ScheduledKernel* const kernel : kernels) {
            const loop::Function& f = kernel->function;
            const bool alone = kernel->arguments.size() == 1 && kernel->arguments[0].valid() &&
                               f.buffers.size() == 1 && !is_real(f.buffers[0].dtype);
            if (!alone || plan.storages[kernel->arguments[0]].elements == 0) continue;
            Tensor table =
                Tensor::zeros(f.buffers[0].dtype, {room(plan, kernel->arguments[0])}).value();
            void* const data = table.bytes().data();
            loop::run_function(f, &data, 0, f.items, {});
            tables.emplace(kernel->arguments[0].value, std::move(table));
        }
        return tables;
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
                                   const Tables& tables,
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
            const auto table = id.valid() ? tables.find(id.value) : tables.end();
            if (table != tables.end() && !kernel.function.buffers[i].written) {
                loops.back() = table->second;
            } else if (id.valid()) {
                fill(loops.back(), i + 1);
            }
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

    KernelMaker maker_;
};

int report(const NumberCounts& counts) {
    say(fmt::format(
        "{} kernels\n{} passed, {} failed\n", counts.kernels, counts.passed, counts.failed));
    return counts.failed == 0 && counts.kernels > 0 ? 0 : 1;
}

int run(const std::vector<std::string>& filters) {
    const auto compiler = codegen::Compiler::create();
    if (!compiler) {
        say(compiler.error().message + "\n");
        return 2;
    }
    const bool fused = (*compiler)->stats().target != "sse2";
    const KernelTest test({.target = (*compiler)->target(),
                           .fma = fused ? Fma::Fused : Fma::Separate,
                           .compile = [&](auto all) { return (*compiler)->compile(all, 1); }});
    return report(test_number_files(filters, [&](const auto& name, const auto& cases, auto& to) {
        test.test_cases(name, cases, to);
    }));
}

// The kernels of a file are collected first and built at once.
void test_as_c(const codegen::MachineTarget& target,
               const std::string& name,
               const std::vector<NumberCase>& cases,
               NumberCounts& counts) {
    CKernels c(target);
    KernelMaker maker{.target = target.schedule,
                      .fma = target.has_fma ? Fma::Fused : Fma::Separate,
                      .integer_powers = true,
                      .compile = {}};
    const auto each = [](auto all, auto visit) -> Result<std::vector<runtime::KernelFunction>> {
        std::vector<runtime::KernelFunction> functions;
        for (const loop::ScheduledKernel* const kernel : all) {
            functions.push_back(visit(kernel->function));
        }
        return functions;
    };
    maker.compile = [&](auto all) {
        return each(all, [&](const loop::Function& function) -> runtime::KernelFunction {
            c.add(function);
            return nullptr;
        });
    };
    NumberCounts ignored;
    KernelTest(maker).test_cases(name, cases, ignored);
    if (c.size() == 0) return;
    const char* const compiler = std::getenv("CC");
    if (const std::string trouble = c.build(compiler ? compiler : "cc"); !trouble.empty()) {
        ++counts.failed;
        return say(fmt::format("FAILED {}: {}\n", name, trouble));
    }
    maker.compile = [&](auto all) {
        return each(all, [&](const loop::Function& function) { return c.find(function); });
    };
    KernelTest(maker).test_cases(name, cases, counts);
}

int run_c(const std::string& target_name, const std::vector<std::string>& filters) {
    const auto target = codegen::any_target(target_name);
    if (!target) {
        say(target.error().message + "\n");
        return 2;
    }
    if (!target->runs_here) {
        say(fmt::format("skipped: this processor has no {}\n", target->name));
        return 0;
    }
    return report(
        test_number_files(filters, [&](const auto& name, const auto& cases, auto& counts) {
            test_as_c(*target, name, cases, counts);
        }));
}

}  // namespace

}  // namespace lemma::testing

int main(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    constexpr std::string_view kC = "--c=";
    if (words.empty() || !words[0].starts_with(kC)) return lemma::testing::run(words);
    const std::string target = words[0].substr(kC.size());
    words.erase(words.begin());
    return lemma::testing::run_c(target, words);
}
