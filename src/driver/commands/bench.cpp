#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "diag/render.h"
#include "driver/commands/command.h"
#include "driver/files.h"
#include "driver/json_text.h"
#include "driver/run/engine.h"
#include "driver/run/session.h"
#include "driver/run/tensors.h"

namespace lemma::driver {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

double quantile(std::vector<double> values, double q) {
    std::ranges::sort(values);
    const auto at = static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
    return values[at];
}

class Bench final : public Command {
public:
    std::string name() const override { return "bench"; }
    std::string summary() const override { return "measures how long runs of a model take"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    struct Numbers {
        double load = 0, prepare = 0, first = 0;
        std::vector<double> runs;
        std::vector<std::vector<double>> steps;  // of each run, if there is a profile
        double operations = 0;
        size_t compiled = 0, interpreted = 0;
    };
    Result<void> measure(Session& session, Numbers& numbers) const;
    std::string table(Session& session, const Numbers& numbers) const;
    std::string profile(Session& session, const Numbers& numbers) const;
    std::string as_json(Session& session, const Numbers& numbers) const;

    std::string model_;
    SessionOptions options_;
    uint64_t seed_ = 1;
    int64_t runs_ = 0;
    double seconds_ = 2;
    bool profile_ = false;
    bool json_ = false;
};

void Bench::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, "a .sknd file, or a folder or archive with main.sknd");
    arguments.number("--runs", runs_, {1, 1'000'000}, "how many runs (as many as fit in 2 s)");
    arguments.flag("--profile", profile_, "what each operation takes");
    arguments.flag("--json", json_, "one JSON document on stdout instead of text");
    declare_session(arguments, options_);
    arguments.remark("Inputs are random; weights are, too, where the model has no data.");
}

Result<void> Bench::measure(Session& session, Numbers& numbers) const {
    loop::NamedArrays inputs;
    if (auto done = add_random_inputs(session.program(), seed_, inputs); !done) return done;
    Engine& engine = *session.engine();
    auto begin = Clock::now();
    if (auto done = engine.prepare(inputs); !done) return done;
    numbers.prepare = seconds_since(begin);
    begin = Clock::now();
    if (auto done = engine.run_again(); !done) return done;
    numbers.first = seconds_since(begin);
    for (const size_t i : engine.plan_steps()) {
        const loop::PlanStep& step = engine.plan().steps[i];
        numbers.operations += step.operations;
        ++(step.interpreted ? numbers.interpreted : numbers.compiled);
    }
    const auto start = Clock::now();
    while (runs_ > 0 ? std::ssize(numbers.runs) < runs_
                     : numbers.runs.size() < 3 || seconds_since(start) < seconds_) {
        begin = Clock::now();
        if (profile_) numbers.steps.emplace_back();
        auto done = engine.run_again(profile_ ? &numbers.steps.back() : nullptr);
        if (!done) return done;
        numbers.runs.push_back(seconds_since(begin));
    }
    return {};
}

std::string Bench::profile(Session& session, const Numbers& numbers) const {
    Engine& engine = *session.engine();
    const auto& steps = engine.plan_steps();
    std::vector<std::pair<double, size_t>> order;
    double total = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
        double least = HUGE_VAL;
        for (const auto& run : numbers.steps) least = std::min(least, run[i]);
        order.emplace_back(least, i);
        total += least;
    }
    std::string text = fmt::format(
        "{:>9} {:>6} {:>8}  {:24} {}\n", "µs", "share", "GFLOP/s", "schedule", "operation");
    for (const auto& [least, i] : order) {
        const loop::PlanStep& step = engine.plan().steps[steps[i]];
        text += fmt::format("{:9.1f} {:5.1f}% {:8.1f}  {:24} {} {}\n",
                            least * 1e6,
                            100 * least / total,
                            step.operations / least * 1e-9,
                            step.interpreted ? "interpreted: " + step.why : step.kernel.schedule,
                            session.program().operations[step.op].op,
                            step.label);
    }
    return text;
}

std::string Bench::table(Session& session, const Numbers& numbers) const {
    const double least = quantile(numbers.runs, 0);
    std::string text = fmt::format("min {:.3f} ms, median {:.3f} ms, p90 {:.3f} ms over {} runs\n",
                                   least * 1e3,
                                   quantile(numbers.runs, 0.5) * 1e3,
                                   quantile(numbers.runs, 0.9) * 1e3,
                                   numbers.runs.size());
    const auto& compiler = session.engine()->compiler_stats();
    text += fmt::format("{:.1f} GFLOP/s, {} kernels compiled, {} operations interpreted\n",
                        numbers.operations / least * 1e-9,
                        compiler.kernels,
                        numbers.interpreted);
    text += fmt::format(
        "load {:.0f} ms, compile and pack {:.0f} ms (code {:.0f} ms), first run {:.1f} ms\n",
        numbers.load * 1e3,
        numbers.prepare * 1e3,
        compiler.seconds * 1e3,
        numbers.first * 1e3);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    text += fmt::format("memory {:.1f} MB, peak of the process {:.1f} MB\n",
                        static_cast<double>(session.engine()->bytes()) / 1e6,
                        static_cast<double>(usage.ru_maxrss) * 1.024e-3);
    return text;
}

std::string Bench::as_json(Session& session, const Numbers& numbers) const {
    const auto& compiler = session.engine()->compiler_stats();
    nlohmann::ordered_json json = {
        {"model", model_},
        {"threads", options_.threads},
        {"runs", numbers.runs.size()},
        {"min_ms", quantile(numbers.runs, 0) * 1e3},
        {"median_ms", quantile(numbers.runs, 0.5) * 1e3},
        {"p90_ms", quantile(numbers.runs, 0.9) * 1e3},
        {"gflops", numbers.operations / quantile(numbers.runs, 0) * 1e-9},
        {"load_ms", numbers.load * 1e3},
        {"prepare_ms", numbers.prepare * 1e3},
        {"compile_ms", compiler.seconds * 1e3},
        {"kernels", compiler.kernels},
        {"interpreted", numbers.interpreted},
        {"memory_bytes", session.engine()->bytes()}};
    return json_text(std::move(json));
}

Outcome Bench::run(Terminal terminal, std::istream&) const {
    Finding finding{.model = model_, .diag = Diagnostics()};
    SessionOptions options = options_;
    options.engine = EngineKind::Jit;
    if (!options.random_weights) options.random_weights = 1;
    const auto begin = Clock::now();
    const auto session = Session::open(model_, options, finding);
    Numbers numbers;
    numbers.load = seconds_since(begin);
    Outcome outcome;
    if (session) {
        if (auto done = measure(*session, numbers); !done) {
            finding.unusable = done.error();
            finding.status = kUnusable;
        }
    }
    outcome.status = finding.status;
    if (finding.unusable) {
        outcome.err = fmt::format("lemma: {}\n", finding.unusable->message);
    } else if (finding.status != kGood) {
        outcome.err = diag::render(
            finding.sources, finding.diag, {.colour = colour_errors(Colour::Auto, terminal)});
    } else if (json_) {
        outcome.out = as_json(*session, numbers);
    } else {
        if (profile_) outcome.out = profile(*session, numbers);
        outcome.out += table(*session, numbers);
    }
    return outcome;
}

}  // namespace

std::unique_ptr<Command> bench_command() { return std::make_unique<Bench>(); }

}  // namespace lemma::driver
