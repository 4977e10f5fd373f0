// SPDX-License-Identifier: Apache-2.0
#include "support/number_engine.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "device/device.h"
#include "engine/engine.h"
#include "interpret/interpret.h"
#include "interpret/random.h"
#include "support/guarded_run.h"
#include "support/number_variant.h"
#include "support/test_device.h"

namespace lemma::testing {

namespace {

using engine::Engine;
using interpret::Array;
using interpret::Interpreter;
using interpret::NamedArrays;
using interpret::State;

constexpr int kRuns = 2;
constexpr double kRelative = 1e-4, kAbsolute = 1e-5;

// ---- Comparing ----------------------------------------------------------------------------------

bool is_near(double got, double want) {
    if (std::isnan(want)) return std::isnan(got);
    if (got == want || std::isinf(want)) return got == want;
    return std::fabs(got - want) <= kAbsolute + kRelative * std::fabs(want);
}

bool same_bits(double a, double b) {
    if (std::isnan(a) && std::isnan(b)) return true;
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

// The first difference of two arrays in words.
template <class Same>
std::string compare(const Array& got, const Array& want, const Same& same) {
    if (got.dtype != want.dtype || got.shape != want.shape) {
        return fmt::format("is {}{}, expected {}{}",
                           tensor::dtype_name(got.dtype),
                           tensor::shape_text(got.shape),
                           tensor::dtype_name(want.dtype),
                           tensor::shape_text(want.shape));
    }
    const auto at = [](size_t i, const auto& a, const auto& b) {
        return fmt::format("has {} at {} of {}, expected {}", a[i], i, a.size(), b[i]);
    };
    for (size_t i = 0; i < want.reals.size(); ++i) {
        if (!same(got.reals[i], want.reals[i])) return at(i, got.reals, want.reals);
    }
    for (size_t i = 0; i < want.integers.size(); ++i) {
        if (got.integers[i] != want.integers[i]) return at(i, got.integers, want.integers);
    }
    for (size_t i = 0; i < want.strings.size(); ++i) {
        if (got.strings[i] != want.strings[i]) return at(i, got.strings, want.strings);
    }
    return {};
}

template <class Same>
std::string compare(const NamedArrays& got, const NamedArrays& want, const Same& same) {
    std::string report;
    for (const auto& [name, items] : want) {
        const auto found = got.find(name);
        if (found == got.end() || found->second.size() != items.size()) {
            report += fmt::format("`{}` is missing\n", name);
            continue;
        }
        for (size_t i = 0; i < items.size(); ++i) {
            const std::string text = compare(found->second[i], items[i], same);
            if (!text.empty()) report += fmt::format("`{}` {}\n", name, text);
        }
    }
    return report;
}

// ---- Running ------------------------------------------------------------------------------------

uint64_t seed_of(const std::string& name, uint64_t seed) {
    for (const char c : name) seed = interpret::mix_bits(seed + static_cast<uint8_t>(c));
    return seed;
}

Result<void> set_variables(const NumberCase& test, uint64_t seed, State& state) {
    for (const NumberTensor& variable : test.variables) {
        const ir::Program& program = state.program();
        Array value = variable.values;
        for (const ir::Tensor& tensor : program.tensors) {
            if (tensor.role != ir::TensorRole::Variable || tensor.name != variable.name) continue;
            tensor::Shape shape;
            for (const ir::SymId part : tensor.shape) {
                shape.push_back(program.symbols.as_int(part).value_or(0));
            }
            if (value.size > 0 && shape.size() == value.shape.size()) {
                value = repeated(value, shape);
            }
        }
        value = random_like(value, seed_of(variable.name, seed));
        value.round();
        LEMMA_TRY(state.set_variable(variable.name, std::move(value)));
    }
    return {};
}

// The results of each run, or the error.
using Results = std::vector<Result<NamedArrays>>;

Results run_interpreter(State& state,
                        const NamedArrays& inputs,
                        interpret::RunOptions options = {}) {
    Interpreter interpreter(state, std::move(options));
    Results results;
    for (int i = 0; i < kRuns; ++i) results.push_back(interpreter.run(inputs));
    return results;
}

void count_steps(const loop::Plan& plan, EngineReport& report) {
    for (const loop::PlanStep& step : plan.steps) {
        const loop::ScheduledKernel* const kernel = step.kernel();
        report.interpreted += step.is<loop::InterpretedStep>();
        report.kernels += kernel != nullptr;
        report.tiled += kernel && kernel->schedule.starts_with("tile");
    }
}

// What runs kernels beside the processor.
Result<void> add_device(const std::string& name, engine::EngineOptions& options) {
    if (name == "test") {
        const auto device = std::make_shared<TestDevice>();
        options.device = device;
        options.load_kernel = [device = device.get()](const loop::Function& function) {
            return device->add(function);
        };
        return {};
    }
    LEMMA_TRY(const device::ChosenDevice chosen, device::parse_device(name));
    LEMMA_TRY(options.device, device::open_device(chosen));
    return {};
}

// The steps alone.
Result<void> run_steps(State& state,
                       const NamedArrays& inputs,
                       Engine& engine,
                       EngineReport& report) {
    auto done = engine.prepare(inputs);
    if (done) count_steps(engine.plan(), report);
    for (size_t i = 0; done && i < engine.plan().steps.size(); ++i) {
        report.on_device += engine.runs_on_device(i);
    }
    if (done) done = engine.run_again();
    state.end_run(false);
    return done;
}

Results run_engine(State& state,
                   const NamedArrays& inputs,
                   const EngineRun& run,
                   int threads,
                   EngineReport& report) {
    engine::EngineOptions options;
    options.verify = true;
    options.threads = threads;
    options.least_steps = 1;  // sums of all sizes are tiled
    options.compiler.cache_folder = run.cache_folder;
    options.compiler.numerics = run.numerics;
    options.run.accumulate = run.accumulate;
    if (const auto done = add_device(run.device, options); !done) {
        return Results(kRuns, std::unexpected(done.error()));
    }
    auto engine = Engine::create(state, options);
    if (!engine) return Results(kRuns, std::unexpected(engine.error()));
    if (auto done = run_steps(state, inputs, **engine, report); !done) {
        return Results(kRuns, std::unexpected(done.error()));
    }
    Results results;
    for (int i = 0; i < kRuns; ++i) results.push_back((*engine)->run(inputs));
    if (auto direct = run_guarded(state, inputs, **engine)) {
        results.push_back(std::move(*direct));
        ++report.direct;
    }
    return results;
}

// Compares another way to run with the reference.
template <class Same>
std::string compare(const Result<NamedArrays>& got,
                    const Result<NamedArrays>& want,
                    const Same& same) {
    if (got && want) return compare(*got, *want, same);
    if (!got && !want) return {};
    if (got) return fmt::format("no error, expected: {}\n", want.error().message);
    return got.error().message + "\n";
}

// Those of the inputs that are variables go to the state.
Result<NamedArrays> give_weights(const NumberCase& test, NamedArrays values, State& state) {
    for (const std::string& name : test.weights) {
        Array value = std::move(values[name][0]);
        value.round();
        LEMMA_TRY(state.set_variable(name, std::move(value)));
        values.erase(name);
    }
    return values;
}

EngineReport compare_with(const NumberCase& test,
                          const EngineRun& run,
                          const NamedArrays& values,
                          State& state) {
    const auto refused = [](const Error& error) {
        return EngineReport{EngineOutcome::Refused, error.message};
    };
    const auto given = give_weights(test, values, state);
    if (!given) return refused(given.error());
    const NamedArrays& inputs = *given;
    // What is kept from run to run begins anew for each.
    auto ready = set_variables(test, run.seed, state);
    if (!ready) return refused(ready.error());
    const Results want = run_interpreter(state, inputs);
    ready = set_variables(test, run.seed, state);
    if (!ready) return refused(ready.error());
    EngineReport result, again;
    const Results one = run_engine(state, inputs, run, 1, result);
    ready = set_variables(test, run.seed, state);
    if (!ready) return refused(ready.error());
    const Results two = run_engine(state, inputs, run, 2, again);
    std::string& report = result.text;
    const auto add = [&](const char* what, const std::string& text) {
        if (!text.empty()) report += fmt::format("{}: {}", what, text);
    };
    for (size_t i = 0; i < kRuns; ++i) {
        add("one thread", compare(one[i], want[i], is_near));
        add("two threads, next to one", compare(two[i], one[i], same_bits));
    }
    if (state.program().updates.empty())
        add("the second run, next to the first", compare(one[1], one[0], same_bits));
    for (const Results& results : {one, two}) {
        if (results.size() > kRuns)
            add("the direct run, next to the one before",
                compare(results[kRuns], results[kRuns - 1], same_bits));
    }
    if (report.empty() && !want[0]) return refused(want[0].error());
    if (!report.empty()) result.outcome = EngineOutcome::Differs;
    return result;
}

// As compare_with, bit by bit, with one thread.
EngineReport compare_bits(const NumberCase& test,
                          const EngineRun& run,
                          const NamedArrays& values,
                          State& state) {
    const auto refused = [](const Error& error) {
        return EngineReport{EngineOutcome::Refused, error.message};
    };
    const auto inputs = give_weights(test, values, state);
    if (!inputs) return refused(inputs.error());
    auto ready = set_variables(test, run.seed, state);
    if (!ready) return refused(ready.error());
    const Results want = run_interpreter(state, *inputs, {.accumulate = run.accumulate});
    ready = set_variables(test, run.seed, state);
    if (!ready) return refused(ready.error());
    EngineReport result;
    const Results got = run_engine(state, *inputs, run, 1, result);
    for (size_t i = 0; i < kRuns; ++i) result.text += compare(got[i], want[i], same_bits);
    if (!result.text.empty()) {
        result.outcome = EngineOutcome::Differs;
    } else if (!want[0]) {
        return refused(want[0].error());
    }
    return result;
}

// Inserts NaN, infinities and zeros of both signs.
void sprinkle(Array& array, uint64_t seed) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kValues[] = {kNan, kInfinity, -kInfinity, 0.0, -0.0};
    for (size_t i = 0; i < array.reals.size(); ++i) {
        const uint64_t bits = interpret::random_bits(seed, i);
        if (bits % 8 == 0) array.reals[i] = kValues[(bits >> 32) % std::size(kValues)];
    }
}

}  // namespace

EngineReport compare_engine(const NumberCase& test, ir::Program program, const EngineRun& run) {
    State state(std::move(program));
    NamedArrays given, random;
    for (const NumberTensor& input : test.steps.front().inputs) {
        given[input.name] = {input.values};
        random[input.name] = {random_like(input.values, seed_of(input.name, run.seed))};
    }
    EngineReport report = compare_with(test, run, random, state);
    // Some operators take certain values only.
    if (report.outcome == EngineOutcome::Refused) {
        report = compare_with(test, run, given, state);
    }
    if (report.outcome == EngineOutcome::Agrees) {
        // Not for weights: padding may multiply them by zero (docs/numerics.md).
        const auto& inputs = test.steps.front().inputs;
        const std::string data = inputs.empty() ? std::string() : inputs.front().name;
        const bool windows = test.compose.find("conv") != std::string::npos;
        for (auto& [name, items] : random) {
            const bool weight = test.weights.contains(name) || (windows && name != data);
            if (!weight) sprinkle(items[0], seed_of(name, run.seed + 1));
        }
        const EngineReport special = compare_with(test, run, random, state);
        if (special.outcome == EngineOutcome::Differs) return special;
    }
    return report;
}

EngineReport compare_strict(const NumberCase& test, ir::Program program, const EngineRun& run) {
    State state(std::move(program));
    NamedArrays given, random, special;
    for (const NumberTensor& input : test.steps.front().inputs) {
        given[input.name] = {input.values};
        random[input.name] = {random_like(input.values, seed_of(input.name, run.seed))};
        special[input.name] = random[input.name];
        sprinkle(special[input.name][0], seed_of(input.name, run.seed + 1));
    }
    EngineReport result;
    for (const auto accumulate : {ir::Accumulate::F64, ir::Accumulate::F32}) {
        EngineRun strict = run;
        strict.numerics = loop::Numerics::Strict;
        strict.accumulate = accumulate;
        EngineReport report = compare_bits(test, strict, random, state);
        if (report.outcome == EngineOutcome::Refused) {
            report = compare_bits(test, strict, given, state);
        } else if (report.outcome == EngineOutcome::Agrees) {
            const EngineReport odd = compare_bits(test, strict, special, state);
            if (odd.outcome == EngineOutcome::Differs) report = odd;
        }
        if (report.outcome != EngineOutcome::Agrees) {
            report.text = (accumulate == ir::Accumulate::F32 ? "f32: " : "f64: ") + report.text;
            return report;
        }
        result.kernels += report.kernels;
        result.interpreted += report.interpreted;
        result.direct += report.direct;
    }
    return result;
}

}  // namespace lemma::testing
