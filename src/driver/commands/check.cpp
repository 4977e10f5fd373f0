// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "diag/render.h"
#include "driver/commands/command.h"
#include "driver/inputs.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/standard_model.h"
#include "model/checked.h"
#include "model/files.h"
#include "model/finding.h"

namespace lemma::driver {

namespace {

class Check final : public Command {
public:
    std::string name() const override { return "check"; }
    std::string summary() const override { return "checks models: syntax, types, shapes, data"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    model::LoadOptions load_options(const Terminal& terminal) const;
    std::optional<std::string> one_model_option() const;
    Outcome certify(const Terminal& terminal) const;
    void declare_profile(Arguments& arguments);
    std::string as_text(const model::Finding& finding, bool colour) const;

    std::vector<std::string> models_;
    InputFormat format_ = InputFormat::ByContent;
    model::LoadOptions load_;
    model::CheckLimits limits_;
    Colour colour_ = Colour::Auto;
    bool brief_ = false;
    bool json_ = false;
    bool verbose_ = false;
    std::vector<std::string> ranges_;
};

void Check::declare(Arguments& arguments) {
    model::CheckOptions& options = load_.check;
    arguments.words("MODEL", models_, kModelOrInputHelp);
    arguments.group("Checks");
    arguments.flag("--syntax-only", options.syntax_only, "check only the syntax of the file");
    arguments.flag("--types-only", options.types_only, "check types, but do not compose graphs");
    arguments.flag("--module", options.library, "check a library module, which needs no graph");
    arguments.group("Report");
    arguments.flag("--brief", brief_, "print one line per diagnostic, without excerpts");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    arguments.flag("--werror", limits_.werror, "treat warnings as errors");
    arguments.flag("-v,--verbose", verbose_, "print `ok` for every valid model");
    declare_dialect(arguments, options);
    arguments.group("Checks");
    const Choices<model::DataMode> modes = {{"auto", model::DataMode::Auto},
                                            {"require", model::DataMode::Require},
                                            {"ignore", model::DataMode::Ignore}};
    arguments.choice("--data",
                     options.data,
                     modes,
                     "check the .dat files that exist, require all, or ignore them (auto)");
    declare_colour(arguments, colour_);
    declare_graph_options(arguments, options.graph);
    arguments.group("Report");
    arguments.number("--max-errors",
                     limits_.max_errors,
                     {0, kAnyNumber},
                     "limit on reported errors per model; 0: no limit (100)");
    declare_limits(arguments, options);
    declare_source_limits(arguments, load_.source);
    const Choices<model::Dump> dumps = {{"tokens", model::Dump::Tokens},
                                        {"tree", model::Dump::Tree}};
    arguments.choice("--dump", options.dump, dumps, "print the tokens or the syntax tree");
    arguments.exclude("--dump", "--json");
    declare_profile(arguments);
    arguments.group("Input");
    declare_format(arguments, format_);
    arguments.example("lemma check --format=nnef1 - < graph.nnef",
                      "Checks standard input; mostly its content says what it is.");
    arguments.example("lemma check net.onnx", "Prints every error of a model with its place.");
    arguments.example("lemma check --json models/*.nnef",
                      "Checks several models; the result is one JSON document.");
    arguments.example("lemma check --profile=sonnx --report=report.html net.onnx",
                      "Checks the safety profile and writes the conformity report.");
}

void Check::declare_profile(Arguments& arguments) {
    const Arguments::Group group(arguments, "Safety profile");
    model::ProfileOptions& profile = load_.profile;
    const Choices<bool> profiles = {{"sonnx", true}};
    arguments.choice("--profile", profile.sonnx, profiles, "also apply a safety profile (ONNX)");
    const Choices<bool> relaxed = {{"broadcast", true}};
    arguments.choice(
        "--relax", profile.relax_broadcast, relaxed, "report implicit broadcasting as an advisory");
    arguments.number("--max-concat-inputs",
                     profile.max_concat_inputs,
                     {1, INT32_MAX},
                     "limit on the inputs of Concat (2^31-1)");
    arguments.text(
        "--report", profile.report, "FILE", "write the conformity report (.md, .html or .json)");
    arguments.text("--trace",
                   profile.trace,
                   "FILE",
                   "write the trace from clauses to rules, functions and goals (.json or .csv)");
    arguments.text("--proofs",
                   profile.proofs,
                   "FILE",
                   "proofs of the model, from `lemma prove --json`, for the report and the trace");
    arguments.text("--tests",
                   profile.tests,
                   "FILE",
                   "tests of the model, from `lemma verify --json`, for the report and the trace");
    arguments.text("--certificate",
                   profile.certificate,
                   "FILE",
                   "ranges and errors of the model, from `lemma certify --json`, for the report");
    arguments.texts("--range",
                    ranges_,
                    "NAME=LOW:HIGH",
                    "range of an input: certify the model for the report; can be repeated");
    arguments.exclude("--range", "--certificate");
    arguments.text("--fix", profile.fix, "OUT.onnx", "write the model in the explicit form");
    for (const char* option : {"--relax",
                               "--max-concat-inputs",
                               "--report",
                               "--trace",
                               "--proofs",
                               "--tests",
                               "--certificate",
                               "--range",
                               "--fix"})
        arguments.need(option, "--profile");
}

// Reports name the command line and the tool. Hashing the tool takes a moment.
model::LoadOptions Check::load_options(const Terminal& terminal) const {
    model::LoadOptions load = load_;
    load.profile.command = terminal.arguments;
    if (json_ || !load_.profile.report.empty() || !load_.profile.trace.empty())
        load.profile.executable = terminal.executable;
    return load;
}

std::string Check::as_text(const model::Finding& finding, bool colour) const {
    if (finding.unusable) return model::error_line(*finding.unusable);
    return diag::render(finding.sources, finding.diag, {.brief = brief_, .colour = colour}) +
           model::remarks_text(finding);
}

// An option that cannot be given for several models.
std::optional<std::string> Check::one_model_option() const {
    const model::ProfileOptions& profile = load_.profile;
    if (models_.size() == 1) return std::nullopt;
    if (!ranges_.empty()) return "--range";
    for (const auto& [option, value] : {std::pair{"--report", &profile.report},
                                        {"--trace", &profile.trace},
                                        {"--proofs", &profile.proofs},
                                        {"--tests", &profile.tests},
                                        {"--certificate", &profile.certificate},
                                        {"--fix", &profile.fix}}) {
        if (!value->empty()) return option;
    }
    return std::nullopt;
}

// The certificate of the model for the given ranges, in the arithmetic of the profile.
Outcome Check::certify(const Terminal& terminal) const {
    std::vector<std::string> words = {"certify", models_[0], "--accumulate=f32", "--json"};
    for (const std::string& range : ranges_) words.insert(words.end(), {"--range", range});
    std::istringstream none;
    return driver::run(words, {.progress = terminal.progress}, none);
}

Outcome Check::run(Terminal terminal, std::istream& input) const {
    Outcome outcome;
    const auto fail = [&](const Error& error) {
        outcome.status = model::kUnusable;
        outcome.err = model::error_line(error);
        return outcome;
    };
    if (auto once = check_standard_input(models_); !once) return fail(once.error());
    if (const auto option = one_model_option()) {
        outcome.status = model::kUnusable;
        outcome.err = fmt::format("lemma: {} takes one model at a time\n", *option);
        return outcome;
    }
    model::LoadOptions load = load_options(terminal);
    if (!ranges_.empty()) {
        Outcome made = certify(terminal);
        if (made.status >= model::kUnusable) return made;
        load.profile.certificate_text = std::move(made.out);
    }
    std::vector<model::Finding> findings;
    for (const std::string& model : models_) {
        show_stage(terminal, "checking " + model);
        auto memory = standard_model(model, input, format_);
        if (!memory) return fail(memory.error());
        load.memory = std::move(*memory);
        model::Finding finding = model::checked(model, load, limits_);
        outcome.status = std::max(outcome.status, finding.status);
        outcome.out += finding.dump;
        if (json_) {
            findings.push_back(std::move(finding));
            continue;
        }
        outcome.err += as_text(finding, colour_errors(colour_, terminal));
        if (verbose_ && finding.status == model::kGood)
            outcome.out += fmt::format("{}: ok\n", model::safe_text(model));
    }
    if (json_) outcome.out += model::as_json(findings);
    return outcome;
}

}  // namespace

std::unique_ptr<Command> check_command() { return std::make_unique<Check>(); }

}  // namespace lemma::driver
