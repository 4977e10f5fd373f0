// SPDX-License-Identifier: Apache-2.0
#include "certify/certify.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "certify/report.h"
#include "diag/json_text.h"
#include "driver/certify/ranges.h"
#include "driver/certify/witness.h"
#include "driver/commands/command.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "model/files.h"
#include "session/session.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

class Certify final : public Command {
public:
    std::string name() const override { return "certify"; }
    std::string summary() const override {
        return "bounds the values and rounding errors of a model";
    }
    std::string group() const override { return kAssuranceCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Result<std::optional<certify::Certificate>> make(Terminal terminal,
                                                     model::Finding& finding) const;
    Result<void> search(const Ranges& ranges, certify::Certificate& found) const;
    session::SessionOptions session_options() const;
    std::string text_of(const certify::Certificate& certificate, bool json) const;
    Result<void> check_output() const;

    std::string model_;
    std::string out_;
    RangeOptions ranges_;
    std::vector<std::string> assumed_;
    session::SessionOptions options_;
    certify::CertifyOptions certify_;
    certify::JsonOptions json_options_;
    bool allow_open_ = false;
    bool no_search_ = false;
    ProblemStyle style_;
};

void Certify::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, kModelHelp);
    arguments.group("Ranges");
    arguments.texts("--range",
                    ranges_.ranges,
                    "NAME=LOW:HIGH",
                    "range of all elements of an input; can be repeated; LOW:HIGH~E: given with an "
                    "error of at most E");
    arguments.text("--range-file", ranges_.file, "FILE.json", "ranges by name, also per element");
    arguments.texts(
        "--data",
        ranges_.data,
        "[NAME=]FILE|DIR",
        "ranges of recorded inputs; DIR has NAME.npy, or folders 0, 1, … of such files");
    arguments.text("--margin",
                   ranges_.margin,
                   "X",
                   "widens ranges from --data by this part of their width on both sides (0.1)");
    arguments.texts("--assume",
                    assumed_,
                    "NAME=LOW:HIGH",
                    "range of a result that is taken for granted; can be repeated");
    declare_accumulate(arguments, certify_.accumulate);
    arguments.group("Output");
    arguments.text("-o,--output", out_, "FILE.md|FILE.json", "write the certificate to a file");
    arguments.flag(
        "--elements", json_options_.elements, "JSON: bounds of each input and output element");
    arguments.flag("--inner", json_options_.inner, "JSON: also tensors inside of operations");
    arguments.flag("--allow-open", allow_open_, "exit with status 0 in spite of open points");
    arguments.flag("--no-search", no_search_, "do not search for inputs that cause trouble");
    arguments.group("Limits");
    arguments.number("--max-steps",
                     certify_.max_steps,
                     {1, kAnyNumber},
                     "limit on the evaluated steps of formulas (4294967296)");
    arguments.group("Model");
    arguments.texts(
        "-i,--input", options_.inputs, "[NAME=]FILE", "the value of an input that decides shapes");
    declare_loading(arguments, options_);
    declare_problem_style(arguments, style_);
    arguments.remark(
        "Prints a range and an error bound for every tensor, and for every operation whether it "
        "can overflow, give NaN or divide by zero (docs/certificate.md). The exit status is 1 if "
        "one of these is not excluded.");
    arguments.example("lemma certify net.onnx --range x=0:1", "Inputs between 0 and 1.");
    arguments.example("lemma certify net.onnx --data=recorded -o net.md",
                      "Takes the ranges from recorded inputs and writes the certificate.");
}

session::SessionOptions Certify::session_options() const {
    session::SessionOptions options = options_;
    options.engine = session::EngineKind::Interpret;
    options.run.accumulate = certify_.accumulate;
    return options;
}

Result<void> Certify::check_output() const {
    if (out_.empty() || out_.ends_with(".md") || out_.ends_with(".json")) return {};
    return std::unexpected(Error{fmt::format("-o: `{}` ends neither in .md nor in .json", out_)});
}

// Runs the model on some inputs within the ranges.
Result<void> Certify::search(const Ranges& ranges, certify::Certificate& found) const {
    std::optional<WitnessSearch> search;
    session::SessionOptions options = session_options();
    options.run.on_tensor = [&](const ir::Tensor& tensor,
                                const interpret::Array& array) -> Result<void> {
        search->see(tensor.name, array);
        return {};
    };
    model::Finding finding{.model = model_, .diag = Diagnostics()};
    const auto session = session::Session::open(model_, options, finding);
    if (!session) return {};
    search.emplace(session->program(), ranges, found);
    for (int i = 0; i < WitnessSearch::kSamples; ++i) {
        const interpret::NamedArrays inputs = search->sample(i);
        // A run that fails shows nothing.
        if (inputs.empty() || !session->step(inputs, finding)) break;
    }
    return {};
}

Result<std::optional<certify::Certificate>> Certify::make(Terminal terminal,
                                                          model::Finding& finding) const {
    LEMMA_TRY(check_output());
    LEMMA_TRY(const model::ModelFile file, model::find_model(model_, options_.source));
    LEMMA_TRY(const std::string bytes, model::read_main(file));
    show_stage(terminal, "loading " + model_);
    const auto session = session::Session::open(model_, session_options(), finding);
    if (!session) return std::nullopt;
    certify::CertifyOptions options = certify_;
    LEMMA_TRY(options.ranges, read_ranges(session->program(), ranges_));
    Ranges assumed;
    for (const std::string& argument : assumed_) {
        LEMMA_TRY(add_range(argument, assumed));
    }
    for (const auto& [name, range] : assumed) options.assumed[name] = range.ranges[0];
    options.on_progress = bar_of(terminal, "operations");
    const auto variable = [&](const ir::Tensor& tensor) {
        const interpret::Array* const value = session->variable(tensor.name);
        // The session outlives the certificate.
        return std::shared_ptr<const interpret::Array>(std::shared_ptr<void>(), value);
    };
    LEMMA_TRY(certify::Certificate certificate,
              certify::certify(session->program(), variable, options));
    show_stage(terminal, "searching for inputs that cause trouble");
    certificate.model = fs::path(model_).filename().string();
    certificate.sha256 = sha256(bytes);
    if (!certificate.established() && !no_search_) {
        LEMMA_TRY(search(options.ranges, certificate));
    }
    return certificate;
}

std::string Certify::text_of(const certify::Certificate& certificate, bool json) const {
    return json ? diag::json_text(certify::as_json(certificate, json_options_))
                : certify::as_markdown(certificate);
}

Outcome Certify::run(Terminal terminal, std::istream&) const {
    model::Finding finding{.model = model_, .diag = Diagnostics()};
    auto made = make(terminal, finding);
    if (made && *made && !out_.empty()) {
        const auto written = tensor::write_file(out_, text_of(**made, out_.ends_with(".json")));
        if (!written) made = std::unexpected(written.error());
    }
    if (!made) finding.fail(made.error());
    if (!made || !*made) return problems_of(std::move(finding), style_, terminal);
    Outcome outcome;
    if (out_.empty() || style_.json) outcome.out = text_of(**made, style_.json);
    if ((*made)->established()) return outcome;
    if (!allow_open_) outcome.status = model::kWrong;
    if (out_.empty() || allow_open_) return outcome;
    outcome.err = fmt::format(
        "{}: not established for some operations (see Open points in {}); "
        "--allow-open accepts them\n",
        model::safe_text(model_),
        model::safe_text(out_));
    return outcome;
}

}  // namespace

std::unique_ptr<Command> certify_command() { return std::make_unique<Certify>(); }

}  // namespace lemma::driver
