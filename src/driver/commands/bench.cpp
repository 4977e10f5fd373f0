// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "codegen/compiler.h"
#include "diag/json_text.h"
#include "diag/render.h"
#include "driver/bench/numbers.h"
#include "driver/bench/peak.h"
#include "driver/bench/scaling.h"
#include "driver/bench/streams.h"
#include "driver/commands/command.h"
#include "driver/inputs.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "engine/engine.h"
#include "model/files.h"
#include "session/session.h"
#include "session/tensors.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Of the tensors that the kernel reads and writes.
double bytes_of(const loop::Plan& plan, const loop::ScheduledKernel& kernel) {
    double sum = 0;
    for (const loop::StorageId id : kernel.arguments) {
        if (!id.valid()) continue;
        const loop::Storage& storage = plan.storages[id];
        sum += static_cast<double>(storage.elements * tensor::dtype_size(storage.dtype));
    }
    return sum;
}

class Bench final : public Command {
public:
    std::string name() const override { return "bench"; }
    std::string summary() const override { return "measures the latency and memory of a model"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    session::SessionOptions session_options() const;
    Result<void> measure(session::Session& session,
                         const model::InputReader& read,
                         BenchNumbers& numbers) const;
    Result<void> measure_runs(engine::Engine& engine, BenchNumbers& numbers) const;
    Result<void> measure_whole_runs(session::Session& session,
                                    const interpret::NamedArrays& inputs,
                                    BenchNumbers& numbers) const;
    void describe(session::Session& session, BenchNumbers& numbers) const;
    Result<std::string> result(session::Session& session, const BenchNumbers& numbers) const;
    struct Tables {
        std::vector<ScalingRow> scaling;
        std::vector<StreamNumbers> streams;
    };
    Result<void> add_row(session::Session& session,
                         const model::InputReader& read,
                         int threads,
                         Tables& tables) const;
    std::string text_of(const Tables& tables, const std::string& target) const;
    Result<void> check_options() const;
    bool wants_tables() const { return streams_ > 0 || threads_.size() > 1; }
    bool timed_steps() const { return profile_ || !trace_.empty(); }

    std::string model_;
    session::SessionOptions options_;
    std::vector<std::string> inputs_;
    std::string preprocess_;
    uint64_t seed_ = 1;
    std::vector<int> threads_ = {1};
    int streams_ = 0;
    BenchLimits limits_;
    std::string trace_;
    std::string dump_;
    bool profile_ = false;
    bool json_ = false;
};

void Bench::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, kModelHelp);
    arguments.group("Input");
    arguments.texts("-i,--input", inputs_, "[NAME=]FILE", kInputHelp);
    declare_preprocess(arguments, preprocess_);
    arguments.group("Measurement");
    arguments.number(
        "--runs", limits_.runs, {1, 1'000'000}, "number of runs (as many as fit in 2 s)");
    arguments.number("--streams",
                     streams_,
                     {1, 1024},
                     "run so many sessions of the model at the same time; print their throughput");
    arguments.flag("--profile", profile_, "print the time of each step and operator");
    arguments.text("--trace", trace_, "FILE", "write a Chrome trace of the runs (.json)");
    arguments.text("--dump", dump_, "loop:PASS", "print the program after a pass of the compiler");
    arguments.group("Report");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    declare_session(arguments, options_, &threads_);
    arguments.remark("Inputs without a file and weights without data are random.");
    arguments.example("lemma bench net.onnx", "Latency and memory, over two seconds of runs.");
    arguments.example("lemma bench net.onnx --threads=4 --profile",
                      "With four threads, and the time of each step and operator.");
    arguments.example(
        "lemma bench net.onnx --threads=1,2,4,8 --profile",
        "How runs and steps get faster with more threads, and where threads lose time.");
    arguments.example("lemma bench net.onnx --device=cuda --profile",
                      "On the first NVIDIA GPU, with the steps that run on the processor.");
    arguments.example("lemma bench net.onnx --streams=4 --threads=2",
                      "Throughput and latency of four sessions at a time.");
}

// Tables have no room for what these options ask for.
Result<void> Bench::check_options() const {
    const auto wrong = [](const char* option, const char* where) {
        return std::unexpected(
            Error{fmt::format("`{}` is for {}; leave out one of the two", option, where)});
    };
    constexpr const char* kOneNumber = "one number of `--threads` and no `--streams`";
    if (wants_tables() && !trace_.empty()) return wrong("--trace", kOneNumber);
    if (wants_tables() && !dump_.empty()) return wrong("--dump", kOneNumber);
    if (streams_ > 0 && profile_) return wrong("--profile", "a single stream");
    return {};
}

session::SessionOptions Bench::session_options() const {
    session::SessionOptions options = options_;
    options.threads = threads_[0];
    options.engine = session::EngineKind::Jit;
    options.inputs = inputs_;
    if (!options.random_weights) options.random_weights = 1;
    return options;
}

Result<void> Bench::measure_runs(engine::Engine& engine, BenchNumbers& numbers) const {
    auto begin = Clock::now();
    LEMMA_TRY(engine.run_again());
    numbers.first = seconds_since(begin);
    const auto start = Clock::now();
    std::vector<double> steps;
    while (!limits_.enough(numbers.runs.size(), seconds_since(start))) {
        double on_device = 0;
        begin = Clock::now();
        LEMMA_TRY(engine.run_again(timed_steps() ? &steps : nullptr, &on_device));
        numbers.runs.push_back(seconds_since(begin));
        if (on_device > 0) numbers.device_runs.push_back(on_device);
        for (size_t i = 0; i < numbers.steps.size(); ++i) {
            numbers.steps[i].seconds.push_back(steps[i]);
        }
    }
    return {};
}

// Runs from the memory of the caller to the memory of the caller, if the engine can do that.
Result<void> Bench::measure_whole_runs(session::Session& session,
                                       const interpret::NamedArrays& inputs,
                                       BenchNumbers& numbers) const {
    const ir::Program& program = session.program();
    std::vector<tensor::Tensor> tensors;
    std::vector<engine::Engine::Bytes> bytes;
    for (const ir::Port& port : program.graphs[program.main].inputs) {
        for (const interpret::Array& array : inputs.at(port.name)) {
            LEMMA_TRY(tensor::Tensor one, interpret::to_tensor(array));
            tensors.push_back(std::move(one));
        }
    }
    for (const tensor::Tensor& one : tensors) {
        bytes.push_back({one.dtype(), one.shape(), one.bytes().data()});
    }
    std::vector<std::vector<std::byte>> memory;
    std::vector<engine::Engine::Room> rooms;
    const auto receive = [&](const engine::Engine::Output& made) -> Result<void> {
        if (rooms.empty()) memory.emplace_back(made.bytes);
        return {};
    };
    // The first run tells how much memory the outputs need.
    LEMMA_TRY(const bool possible, session.engine()->run_directly(bytes, receive));
    if (!possible) return {};
    for (auto& one : memory) rooms.push_back({one.data(), one.size()});
    const auto start = Clock::now();
    while (!limits_.enough(numbers.whole_runs.size(), seconds_since(start))) {
        const auto begin = Clock::now();
        LEMMA_TRY(const bool done, session.engine()->run_directly(bytes, receive, rooms));
        if (!done) return {};
        numbers.whole_runs.push_back(seconds_since(begin));
    }
    return {};
}

// Takes the facts about the model from the plan.
void Bench::describe(session::Session& session, BenchNumbers& numbers) const {
    const engine::Engine& engine = *session.engine();
    const loop::Plan& plan = engine.plan();
    for (const size_t i : engine.plan_steps()) {
        const loop::PlanStep& step = plan.steps[i];
        numbers.operations += step.operations;
        const auto* const interpreted = std::get_if<loop::InterpretedStep>(&step.kind);
        const bool check = step.is<loop::CheckStep>();
        if (!check) ++(interpreted ? numbers.interpreted : numbers.compiled);
        numbers.on_device += engine.runs_on_device(i);
        if (!timed_steps()) continue;
        StepNumbers one;
        one.op = session.program().operations[step.op].op;
        one.label = step.label;
        if (step.kernel()) one.schedule = step.kernel()->schedule;
        if (interpreted) one.why = interpreted->why;
        if (check) one.why = "the extents of its results";
        one.operations = step.operations;
        one.on_device = engine.runs_on_device(i);
        if (step.kernel()) one.bytes = bytes_of(plan, *step.kernel());
        numbers.steps.push_back(std::move(one));
    }
    for (const loop::Storage& storage : plan.storages) {
        const bool weights = storage.role == loop::StorageRole::Constant && !storage.only_once;
        if (weights) numbers.weights += storage.elements * tensor::dtype_size(storage.dtype);
    }
    numbers.memory = engine.bytes();
    numbers.arena = plan.arena_bytes;
    numbers.plan = engine.load_times().plan;
    numbers.code = engine.load_times().code;
    numbers.pack = engine.load_times().pack;
    const codegen::CompilerStats stats = engine.compiler_stats();
    numbers.kernels = stats.kernels;
    numbers.cached = stats.cached;
    numbers.reused = stats.reused;
    numbers.cache_trouble = stats.cache_trouble;
    numbers.target = stats.target;
}

Result<void> Bench::measure(session::Session& session,
                            const model::InputReader& read,
                            BenchNumbers& numbers) const {
    LEMMA_TRY(interpret::NamedArrays inputs,
              session::read_inputs(session.program(), inputs_, read));
    LEMMA_TRY(session::add_random_inputs(session.program(), seed_, inputs));
    engine::Engine& engine = *session.engine();
    const auto begin = Clock::now();
    LEMMA_TRY(engine.prepare(inputs));
    numbers.prepare = seconds_since(begin);
    describe(session, numbers);
    LEMMA_TRY(measure_runs(engine, numbers));
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    numbers.peak_rss = int64_t{usage.ru_maxrss} * 1024;
    if (engine.device()) {
        numbers.device = engine.device()->name();
        numbers.device_memory = engine.device_bytes();
        numbers.peak = engine.device()->peaks().operations;
        numbers.device_bytes_peak = engine.device()->peaks().bytes;
        return measure_whole_runs(session, inputs, numbers);
    }
    LEMMA_TRY(const auto compiler,
              codegen::Compiler::create(session::compiler_options(options_.compile)));
    LEMMA_TRY(numbers.peak, measure_peak(*compiler, threads_[0]));
    return {};
}

// A line of the scaling table, or of the throughput of streams. The other streams are sessions of
// the same model.
Result<void> Bench::add_row(session::Session& session,
                            const model::InputReader& read,
                            int threads,
                            Tables& tables) const {
    LEMMA_TRY(interpret::NamedArrays inputs,
              session::read_inputs(session.program(), inputs_, read));
    LEMMA_TRY(session::add_random_inputs(session.program(), seed_, inputs));
    std::vector<std::unique_ptr<session::Session>> others;
    std::vector<engine::Engine*> engines = {session.engine()};
    for (int i = 1; i < streams_; ++i) {
        LEMMA_TRY(auto other,
                  session::Session::create(session.shared_model(),
                                           {.threads = threads, .seed = options_.run.seed}));
        LEMMA_CHECK(other->engine());
        engines.push_back(other->engine());
        others.push_back(std::move(other));
    }
    for (engine::Engine* const engine : engines) {
        LEMMA_TRY(engine->prepare(inputs));
    }
    if (streams_ > 0) {
        LEMMA_TRY(StreamNumbers row, measure_streams(engines, threads, limits_));
        tables.streams.push_back(std::move(row));
    } else {
        LEMMA_TRY(ScalingRow row, measure_scaling(*engines[0], threads, limits_));
        LEMMA_TRY(const auto compiler,
                  codegen::Compiler::create(session::compiler_options(options_.compile)));
        LEMMA_TRY(row.arithmetic, measure_arithmetic(*compiler, threads));
        if (profile_) {
            BenchNumbers numbers;
            describe(session, numbers);
            LEMMA_TRY(measure_runs(*engines[0], numbers));
            row.steps = std::move(numbers.steps);
        }
        tables.scaling.push_back(std::move(row));
    }
    return {};
}

std::string Bench::text_of(const Tables& tables, const std::string& target) const {
    const bool streams = streams_ > 0;
    if (!json_) return streams ? streams_text(tables.streams) : scaling_text(tables.scaling);
    nlohmann::ordered_json json = {{"model", model_}, {"target", target}};
    json[streams ? "streams" : "scaling"] =
        streams ? streams_json(tables.streams) : scaling_json(tables.scaling);
    return diag::json_text(json);
}

Result<std::string> Bench::result(session::Session& session, const BenchNumbers& numbers) const {
    if (!trace_.empty()) {
        LEMMA_TRY(tensor::write_file(trace_, trace_json(numbers)));
    }
    if (json_) {
        BenchNumbers told = numbers;
        if (!profile_) told.steps.clear();
        return diag::json_text(bench_json(told));
    }
    return session.engine()->dumped() + (profile_ ? profile_text(numbers) : std::string()) +
           summary_text(numbers);
}

Outcome Bench::run(Terminal terminal, std::istream& input) const {
    model::Finding finding{.model = model_, .diag = Diagnostics()};
    Outcome outcome;
    const auto fail = [&](const Error& error) {
        outcome.status = model::kUnusable;
        outcome.err = model::error_line(error);
        return outcome;
    };
    if (auto good = check_standard_input(inputs_); !good) return fail(good.error());
    if (auto good = check_options(); !good) return fail(good.error());
    session::SessionOptions options = session_options();
    auto read = input_reader(input, preprocess_);
    if (!read) return fail(read.error());
    options.read_input = std::move(*read);
    if (!dump_.empty()) {
        auto pass = session::dumped_pass(dump_);
        if (!pass) return fail(pass.error());
        options.compile.dump_pass = std::move(*pass);
    }
    show_progress(terminal, options);
    Tables tables;
    // Each number of threads has a model of its own, because kernels are planned for it.
    for (const int threads : threads_) {
        options.threads = threads;
        BenchNumbers numbers;
        numbers.model = model_;
        numbers.threads = threads;
        const auto begin = Clock::now();
        show_stage(terminal, "loading " + model_);
        const auto session = session::Session::open(model_, options, finding);
        numbers.load = seconds_since(begin);
        if (finding.unusable) return fail(*finding.unusable);
        if (!session) {
            outcome.status = finding.status;
            outcome.err = diag::render(
                finding.sources, finding.diag, {.colour = colour_errors(Colour::Auto, terminal)});
            return outcome;
        }
        LEMMA_CHECK(session->engine());  // it was asked for
        show_stage(terminal, "measuring " + model_);
        if (wants_tables()) {
            auto done = add_row(*session, options.read_input, threads, tables);
            if (!done) return fail(done.error());
            outcome.out = text_of(tables, session->model().target());
            continue;
        }
        if (auto done = measure(*session, options.read_input, numbers); !done)
            return fail(done.error());
        auto text = result(*session, numbers);
        if (!text) return fail(text.error());
        outcome.out = std::move(*text);
    }
    outcome.err += model::remarks_text(finding);
    return outcome;
}

}  // namespace

std::unique_ptr<Command> bench_command() { return std::make_unique<Bench>(); }

}  // namespace lemma::driver
