// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "diag/json_text.h"
#include "driver/commands/command.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/verify/bisect.h"
#include "model/files.h"
#include "session/tensors.h"

namespace lemma::driver {

namespace {

class Verify final : public Command {
public:
    std::string name() const override { return "verify"; }
    std::string summary() const override { return "runs recorded cases and compares the results"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Result<CaseOptions> options() const;
    Outcome run_cases(const CaseOptions& options, const Terminal& terminal) const;
    Outcome run_bisect(const CaseOptions& options, const Terminal& terminal) const;
    Result<std::vector<std::string>> bisected() const;
    Result<PreparedCase> prepare(const std::string& path, const CaseOptions& options) const;
    bool is_model() const { return random_inputs_ || !inputs_.empty(); }
    std::string as_json(const std::vector<CaseResult>& results, size_t failed) const;

    std::vector<std::string> paths_;
    session::SessionOptions session_;
    std::string relative_, absolute_;
    std::string against_;
    std::vector<std::string> inputs_;
    std::optional<uint64_t> random_inputs_;
    bool bisect_ = false;
    bool json_ = false;
    bool verbose_ = false;
};

void Verify::declare(Arguments& arguments) {
    arguments.words("CASE",
                    paths_,
                    "a folder with case.json, or a folder that contains such folders; with "
                    "--bisect and inputs, "
                    "a model");
    arguments.group("Comparison");
    arguments.text("--rtol", relative_, "X", "relative tolerance (that of the case)");
    arguments.text("--atol", absolute_, "X", "absolute tolerance (that of the case)");
    arguments.group("Search");
    arguments.flag(
        "--bisect", bisect_, "name the first operation whose result leaves the tolerance");
    arguments.text(
        "--against",
        against_,
        "DIR|interpret",
        "compare with the tensors in DIR/NAME.npy, or compiled code with the interpreter "
        "(the case's folder `intermediates`, else interpret)");
    arguments.suggest({kAgainstInterpreter});
    arguments.texts("-i,--input", inputs_, "[NAME=]FILE", "a model: read an input from a file");
    arguments.seed(
        "--random-inputs", random_inputs_, "a model: use random values for inputs without a file");
    for (const char* option : {"--against", "--input", "--random-inputs"})
        arguments.need(option, "--bisect");
    arguments.group("Report");
    arguments.flag("-v,--verbose", verbose_, "also list the cases that pass");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    declare_session(arguments, session_);
    arguments.remark(
        "A value passes if |got - want| <= atol + rtol * |want|. Integers and bools must be "
        "equal. The exit status is 1 if a case fails.");
    arguments.remark(
        "--bisect compares the results of all operations in execution order. The absolute "
        "tolerance "
        "of a tensor is at least 1e-6 of its largest value, unless --atol is given. Tensors inside "
        "of loops and branches are not compared.");
    arguments.example("lemma verify cases", "Runs all cases below a folder.");
    arguments.example("lemma verify cases --engine=jit --rtol=1e-4",
                      "Runs them as compiled code, with another tolerance.");
    arguments.example("lemma verify --bisect cases/resnet",
                      "Names the first operation whose compiled result differs.");
    arguments.example("lemma verify --bisect net.onnx -i x=cat.npy --against=recorded",
                      "Compares a run with tensors of another tool, recorded/NAME.npy.");
}

Result<std::optional<double>> tolerance(const std::string& option, const std::string& text) {
    if (text.empty()) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (*end == '\0' && value >= 0) return value;
    return std::unexpected(Error{fmt::format("{}: `{}` is not a tolerance", option, text)});
}

Result<CaseOptions> Verify::options() const {
    CaseOptions options{.session = session_, .relative = {}, .absolute = {}};
    LEMMA_TRY(options.relative, tolerance("--rtol", relative_));
    LEMMA_TRY(options.absolute, tolerance("--atol", absolute_));
    return options;
}

std::string Verify::as_json(const std::vector<CaseResult>& results, size_t failed) const {
    nlohmann::ordered_json cases = nlohmann::ordered_json::array();
    for (const CaseResult& result : results) {
        cases.push_back(
            {{"case", result.name}, {"passed", result.passed()}, {"failures", result.failures}});
        if (!result.remarks.empty()) cases.back()["remarks"] = result.remarks;
    }
    return diag::json_text(
        {{"cases", std::move(cases)}, {"passed", results.size() - failed}, {"failed", failed}});
}

Outcome Verify::run_cases(const CaseOptions& options, const Terminal& terminal) const {
    Outcome outcome;
    std::vector<CaseResult> results;
    std::set<std::string> told;
    size_t failed = 0;
    for (const std::string& path : paths_) {
        const auto cases = find_cases(path);
        if (!cases) {
            outcome.status = model::kUnusable;
            outcome.err += model::error_line(cases.error());
            continue;
        }
        const size_t total = results.size() + cases->size();
        for (const std::string& folder : *cases) {
            show_stage(terminal, bar_text(results.size(), total, folder));
            CaseResult result = run_case(folder, options);
            if (!result.passed()) ++failed;
            if (verbose_ && result.passed())
                outcome.out += fmt::format("passed {}\n", model::safe_text(folder));
            for (const std::string& remark : result.remarks) {
                // Thousands of cases may have the same remark.
                if (told.insert(remark).second)
                    outcome.err += fmt::format(
                        "{}: note: {}\n", model::safe_text(folder), model::safe_text(remark));
            }
            for (const std::string& failure : result.failures) {
                outcome.out += fmt::format(
                    "FAILED {}: {}\n", model::safe_text(folder), model::safe_text(failure));
            }
            results.push_back(std::move(result));
        }
    }
    if (json_) {
        outcome.out = as_json(results, failed);
    } else {
        outcome.out += fmt::format("{} passed, {} failed\n", results.size() - failed, failed);
    }
    if (failed > 0) outcome.status = std::max<int>(outcome.status, model::kWrong);
    return outcome;
}

// The cases, or the models themselves.
Result<std::vector<std::string>> Verify::bisected() const {
    if (is_model()) return paths_;
    std::vector<std::string> all;
    for (const std::string& path : paths_) {
        auto cases = find_cases(path);
        if (!cases) {
            cases.error().message += "; for a model, add `--random-inputs` or `-i FILE`";
            return cases;
        }
        all.insert(all.end(), cases->begin(), cases->end());
    }
    return all;
}

Result<PreparedCase> Verify::prepare(const std::string& path, const CaseOptions& options) const {
    if (!is_model()) return prepare_case(path, options);
    constexpr Tolerance kUsual = {.relative = 1e-3, .absolute = 1e-5};
    PreparedCase prepared{.model = path,
                          .session = options.session,
                          .tolerance = {.relative = options.relative.value_or(kUsual.relative),
                                        .absolute = options.absolute.value_or(kUsual.absolute)},
                          .inputs = {}};
    prepared.session.inputs = inputs_;
    prepared.inputs = [this](const ir::Program& program,
                             int64_t) -> Result<interpret::NamedArrays> {
        LEMMA_TRY(auto inputs, session::read_inputs(program, inputs_));
        if (random_inputs_) LEMMA_TRY(session::add_random_inputs(program, *random_inputs_, inputs));
        const auto missing = session::missing_inputs(program, inputs);
        if (missing.empty()) return inputs;
        return std::unexpected(
            Error{fmt::format("no data for the input `{}`; give `-i {}=FILE`, or `--random-inputs`",
                              missing.front(),
                              missing.front())});
    };
    return prepared;
}

Outcome Verify::run_bisect(const CaseOptions& options, const Terminal& terminal) const {
    const auto paths = bisected();
    if (!paths) return {.status = model::kUnusable, .err = model::error_line(paths.error())};
    Outcome outcome;
    std::vector<BisectResult> results;
    const BisectOptions how{.against = against_, .absolute_given = options.absolute.has_value()};
    for (const std::string& path : *paths) {
        const auto prepared = prepare(path, options);
        BisectResult result{.name = path};
        if (prepared) {
            result = bisect(path, *prepared, how, terminal);
        } else {
            result.unusable = prepared.error();
        }
        const bool settled = result.culprit || result.unusable || !result.problems.empty();
        if (!settled && !is_model()) result.failures = run_case(path, options).failures;
        if (result.unusable) {
            outcome.status = model::kUnusable;
            outcome.err += model::error_line(*result.unusable);
        } else if (result.culprit || !result.problems.empty() || !result.failures.empty()) {
            outcome.status = std::max<int>(outcome.status, model::kWrong);
        }
        outcome.out += bisect_text(result);
        results.push_back(std::move(result));
    }
    if (json_) outcome.out = bisect_json(results);
    return outcome;
}

Outcome Verify::run(Terminal terminal, std::istream&) const {
    const auto options = this->options();
    if (!options) return {.status = model::kUnusable, .err = model::error_line(options.error())};
    return bisect_ ? run_bisect(*options, terminal) : run_cases(*options, terminal);
}

}  // namespace

std::unique_ptr<Command> verify_command() { return std::make_unique<Verify>(); }

}  // namespace lemma::driver
