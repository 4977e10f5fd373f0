// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>

#include "diag/render.h"
#include "driver/commands/command.h"
#include "driver/inputs.h"
#include "driver/labels.h"
#include "driver/options.h"
#include "driver/outputs.h"
#include "driver/progress.h"
#include "driver/standard_model.h"
#include "driver/time_text.h"
#include "driver/verify/results_json.h"
#include "engine/engine.h"
#include "model/files.h"
#include "session/session.h"
#include "session/tensors.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

class Run final : public Command {
public:
    std::string name() const override { return "run"; }
    std::string summary() const override { return "runs a model on given or random inputs"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    struct Results {
        std::string text;
        std::vector<std::string> labels;                               // by class
        double seconds = 0;                                            // of the runs alone
        std::vector<std::pair<std::string, interpret::Array>> dumped;  // in the last step, by name
    };
    void run_model(Terminal terminal,
                   std::istream& input,
                   model::Finding& finding,
                   Results& results) const;
    Result<void> check_arguments() const;
    Result<bool> run_steps(session::Session& session,
                           model::Finding& finding,
                           Results& results) const;
    Result<bool> run_once(session::Session& session,
                          const model::InputReader& read,
                          const Terminal& terminal,
                          model::Finding& finding,
                          Results& results) const;
    // Outputs, and the tensors named by `--dump`.
    struct Step {
        std::vector<ir::Port> ports;
        interpret::NamedArrays arrays;
    };
    std::optional<Step> timed_step(session::Session& session,
                                   const interpret::NamedArrays& inputs,
                                   model::Finding& finding,
                                   Results& results) const;
    Result<void> complete(const ir::Program& program, interpret::NamedArrays& inputs) const;
    // How many classes to show.
    int64_t top() const { return top_ > 0 || labels_.empty() ? top_ : 5; }
    session::KeepOptions keep_options(
        std::vector<std::pair<std::string, interpret::Array>>& named) const;
    Result<void> open_dump(session::SessionOptions& options, Results& results) const;

    std::string model_;
    std::vector<std::string> inputs_;
    std::string output_;
    std::string steps_;
    std::string save_variables_;
    std::string dump_;
    session::SessionOptions options_;
    std::optional<uint64_t> random_inputs_;
    int64_t top_ = 0;
    std::string preprocess_;
    InputFormat format_ = InputFormat::ByContent;
    std::string labels_;
    Colour colour_ = Colour::Auto;
    bool brief_ = false;
    bool json_ = false;
    bool time_ = false;
};

void Run::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, kModelOrInputHelp);
    arguments.group("Input");
    arguments.texts("-i,--input", inputs_, "[NAME=]FILE", kInputHelp);
    declare_preprocess(arguments, preprocess_);
    declare_format(arguments, format_);
    arguments.seed(
        "--random-inputs", random_inputs_, "use random values for inputs without a file");
    arguments.group("Output");
    arguments.text("-o,--output",
                   output_,
                   "DIR|FILE",
                   "write each output to DIR/NAME.npy; FILE.npz: all into one file; FILE.npy: the "
                   "only output; -: it to standard output");
    arguments.text("--steps",
                   steps_,
                   "DIR",
                   "run once for each of DIR/0/NAME.npy, DIR/1/…; write outputs to OUT/0/…");
    arguments.text("--save-variables",
                   save_variables_,
                   "DIR",
                   "write the variables after the run; FILE.safetensors: into one file");
    arguments.text("--dump",
                   dump_,
                   "DIR|NAME,…",
                   "DIR: write every computed tensor to DIR/NAME.npy; NAME,…: treat these tensors "
                   "as outputs; loop:PASS: print the program after a pass of the compiler");
    arguments.number("--top", top_, {1, kAnyNumber}, "show the N largest classes of each output");
    arguments.text(
        "--labels", labels_, "FILE", "names of the classes for --top (5): a name a line, or JSON");
    arguments.flag("-t,--time", time_, "print the time of the run");
    declare_session(arguments, options_);
    arguments.group("Report");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    arguments.flag("--brief", brief_, "print one line per diagnostic, without excerpts");
    declare_colour(arguments, colour_);
    arguments.exclude("--steps", "--input");
    arguments.exclude("--json", "--top");
    arguments.exclude("--json", "--labels");
    arguments.remark(
        "The interpreter computes in double and 64-bit integers, and rounds each result to its "
        "type; with --accumulate=f32 it rounds each real operation. Random numbers depend only on "
        "the seed and the name of the tensor.");
    arguments.example("lemma run net.onnx -i x=cat.npy", "Runs the model on a file.");
    arguments.example("lemma run net.onnx -i cat.jpg --preprocess=imagenet --labels=labels.txt",
                      "Runs it on a picture and names the five largest classes.");
    arguments.example("lemma run net.onnx --random-inputs -o results",
                      "Runs on random inputs and writes each output to results/NAME.npy.");
    arguments.example("lemma run net.onnx -i inputs.npz -o outputs.npz",
                      "Reads all inputs from one file and writes all outputs to another.");
    arguments.example("lemma run net.onnx -i - -o - < x.npy > y.npy",
                      "Reads standard input and writes standard output.");
    arguments.example("lemma run recurrent --steps=frames -o results",
                      "Feeds frames/0, frames/1, … in order to one model with state.");
}

// One or several tensors, if the model has them; else a folder for all.
session::KeepOptions Run::keep_options(
    std::vector<std::pair<std::string, interpret::Array>>& named) const {
    session::KeepOptions keep;
    auto to_folder = std::make_shared<bool>(false);
    keep.choose = [dump = dump_,
                   to_folder](const ir::Program& program) -> Result<std::vector<ir::TensorId>> {
        auto chosen = session::named_tensors(program, dump);
        if (chosen || dump.find(',') != std::string::npos) return chosen;
        *to_folder = true;
        LEMMA_TRY(tensor::make_folder(dump));
        session::MadeTensors made = session::made_tensors(program);
        made.outside.insert(made.outside.end(), made.inside.begin(), made.inside.end());
        return std::move(made.outside);
    };
    keep.receive = [dump = dump_, to_folder, &named](
                       const ir::Tensor& tensor, const interpret::Array& array) -> Result<void> {
        if (!*to_folder) {
            named.emplace_back(tensor.name, array);
            return {};
        }
        return session::write_array(
            (fs::path(dump) / (session::file_name_of(tensor.name) + ".npy")).string(), array);
    };
    return keep;
}

Result<void> Run::open_dump(session::SessionOptions& options, Results& results) const {
    if (dump_.empty()) return {};
    if (!session::is_pass_dump(dump_)) {
        options.keep = keep_options(results.dumped);
        return {};
    }
    LEMMA_TRY(options.compile.dump_pass, session::dumped_pass(dump_));
    options.engine = session::EngineKind::Jit;
    return {};
}

Result<void> Run::complete(const ir::Program& program, interpret::NamedArrays& inputs) const {
    if (random_inputs_) return session::add_random_inputs(program, *random_inputs_, inputs);
    const auto missing = session::missing_inputs(program, inputs);
    if (missing.empty()) return {};
    return std::unexpected(
        Error{fmt::format("no data for the input{} `{}`; give `-i {}=FILE`, or `--random-inputs`",
                          missing.size() == 1 ? "" : "s",
                          fmt::join(missing, "`, `"),
                          missing.front())});
}

std::optional<Run::Step> Run::timed_step(session::Session& session,
                                         const interpret::NamedArrays& inputs,
                                         model::Finding& finding,
                                         Results& results) const {
    results.dumped.clear();
    const auto begin = std::chrono::steady_clock::now();
    auto outputs = session.step(inputs, finding);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    results.seconds += spent.count();
    if (!outputs) return std::nullopt;
    Step step{{session.outputs().begin(), session.outputs().end()}, std::move(*outputs)};
    std::set<std::string> own;
    for (const ir::Port& port : step.ports) own.insert(port.name);
    for (auto& [name, array] : results.dumped) {
        if (own.contains(name)) continue;
        if (!step.arrays.contains(name)) step.ports.push_back({name, ir::Operand::single({})});
        step.arrays[name] = {std::move(array)};  // in a loop, the last value
    }
    return step;
}

Result<bool> Run::run_once(session::Session& session,
                           const model::InputReader& read,
                           const Terminal& terminal,
                           model::Finding& finding,
                           Results& results) const {
    const ir::Program& program = session.program();
    LEMMA_TRY(check_place(output_, session.outputs().size(), terminal.out));
    LEMMA_TRY(interpret::NamedArrays inputs, session::read_inputs(program, inputs_, read));
    LEMMA_TRY(complete(program, inputs));
    const auto step = timed_step(session, inputs, finding, results);
    if (!step) return false;
    if (!output_.empty()) {
        LEMMA_TRY(results.text, write_outputs(output_, step->ports, step->arrays));
    }
    for (const ir::Port& port : step->ports) {
        const auto& items = step->arrays.at(port.name);
        const auto names = session::item_names(port, items.size());
        for (size_t i = 0; i < items.size() && !json_; ++i) {
            if (output_.empty()) results.text += session::summary(names[i], items[i]);
            if (top() > 0) results.text += session::top_classes(items[i], top(), results.labels);
        }
    }
    if (json_ && output_ != kStandardOutput)
        results.text = results_json(step->ports, step->arrays, finding.remarks);
    return true;
}

// Runs the folders 0, 1, 2, … as long as they exist.
Result<bool> Run::run_steps(session::Session& session,
                            model::Finding& finding,
                            Results& results) const {
    const ir::Program& program = session.program();
    const ir::Graph& main = program.graphs[program.main];
    for (int step = 0;; ++step) {
        const fs::path folder = fs::path(steps_) / fmt::format("{}", step);
        std::error_code ignored;
        if (!fs::is_directory(folder, ignored)) {
            if (step > 0) return true;
            return cannot_read(folder.string(), file_trouble(ENOENT));
        }
        LEMMA_TRY(interpret::NamedArrays inputs,
                  session::read_folder(program, main.inputs, folder.string()));
        if (auto done = complete(program, inputs); !done) {
            return std::unexpected(
                Error{fmt::format("`{}`: {}", folder.string(), done.error().message)});
        }
        const auto made = timed_step(session, inputs, finding, results);
        if (!made) return false;
        if (!output_.empty()) {
            LEMMA_TRY(session::write_folder(
                made->ports, made->arrays, (fs::path(output_) / fmt::format("{}", step)).string()));
            continue;
        }
        for (const ir::Port& port : made->ports) {
            const auto& items = made->arrays.at(port.name);
            const auto names = session::item_names(port, items.size());
            for (size_t i = 0; i < items.size(); ++i) {
                results.text += fmt::format("{}/{}", step, session::summary(names[i], items[i]));
            }
        }
    }
}

// What the declarations cannot express.
Result<void> Run::check_arguments() const {
    std::vector<std::string> files = inputs_;
    files.push_back(model_);
    LEMMA_TRY(check_standard_input(files));
    if (output_ == kStandardOutput && (json_ || top() > 0)) {
        return std::unexpected(
            Error{fmt::format("`-o -` and {} both print to standard output: give one of them",
                              json_      ? "--json"
                              : top_ > 0 ? "--top"
                                         : "--labels")});
    }
    if (!steps_.empty() && is_single_place(output_)) {
        return std::unexpected(Error{
            fmt::format("--steps writes a folder for each step, but `-o {}` is a file", output_)});
    }
    return {};
}

void Run::run_model(Terminal terminal,
                    std::istream& input,
                    model::Finding& finding,
                    Results& results) const {
    const auto unusable = [&](Error error) { finding.fail(std::move(error)); };
    if (auto good = check_arguments(); !good) return unusable(good.error());
    session::SessionOptions options = options_;
    show_progress(terminal, options);
    options.inputs = inputs_;
    auto memory = standard_model(model_, input, format_);
    if (!memory) return unusable(memory.error());
    options.memory = std::move(*memory);
    auto read = input_reader(input, preprocess_);
    if (!read) return unusable(read.error());
    options.read_input = std::move(*read);
    if (!labels_.empty()) {
        auto labels = read_labels(labels_);
        if (!labels) return unusable(labels.error());
        results.labels = std::move(*labels);
    }
    if (auto done = open_dump(options, results); !done) return unusable(done.error());
    show_stage(terminal, "loading " + model_);
    const auto session = session::Session::open(model_, options, finding);
    if (!session) return;
    const auto done = steps_.empty()
                          ? run_once(*session, options.read_input, terminal, finding, results)
                          : run_steps(*session, finding, results);
    if (session->engine()) results.text = session->engine()->dumped() + results.text;
    if (!done) return unusable(done.error());
    if (!*done || save_variables_.empty()) return;
    auto saved = session->save_variables(save_variables_);
    if (!saved) unusable(saved.error());
}

Outcome Run::run(Terminal terminal, std::istream& input) const {
    model::Finding finding{.model = model_, .diag = Diagnostics()};
    Results results;
    run_model(terminal, input, finding, results);
    finding.diag.sort_by_place();
    Outcome outcome{.status = finding.status, .out = results.text};
    if (finding.status != model::kGood && json_) {
        std::vector<model::Finding> findings;
        findings.push_back(std::move(finding));
        outcome.out = model::as_json(findings);
        return outcome;
    }
    if (finding.unusable) {
        outcome.err = model::error_line(*finding.unusable);
    } else {
        const bool colour = colour_errors(colour_, terminal);
        outcome.err =
            diag::render(finding.sources, finding.diag, {.brief = brief_, .colour = colour});
    }
    if (finding.status == model::kGood) outcome.err += model::remarks_text(finding);
    if (time_ && finding.status == model::kGood) {
        outcome.err += fmt::format("ran in {}\n", time_text(results.seconds));
    }
    return outcome;
}

}  // namespace

std::unique_ptr<Command> run_command() { return std::make_unique<Run>(); }

}  // namespace lemma::driver
