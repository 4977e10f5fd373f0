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
#include "driver/verify/case.h"
#include "model/files.h"

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
    std::string as_json(const std::vector<CaseResult>& results, size_t failed) const;

    std::vector<std::string> paths_;
    session::SessionOptions session_;
    std::string relative_, absolute_;
    bool json_ = false;
    bool verbose_ = false;
};

void Verify::declare(Arguments& arguments) {
    arguments.words(
        "CASE", paths_, "a folder with case.json, or a folder that contains such folders");
    arguments.group("Comparison");
    arguments.text("--rtol", relative_, "X", "relative tolerance (that of the case)");
    arguments.text("--atol", absolute_, "X", "absolute tolerance (that of the case)");
    arguments.group("Report");
    arguments.flag("-v,--verbose", verbose_, "also list the cases that pass");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    declare_session(arguments, session_);
    arguments.remark(
        "A value passes if |got - want| <= atol + rtol * |want|. Integers and bools must be "
        "equal. The exit status is 1 if a case fails.");
    arguments.example("lemma verify cases", "Runs all cases below a folder.");
    arguments.example("lemma verify cases --engine=jit --rtol=1e-4",
                      "Runs them as compiled code, with another tolerance.");
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

Outcome Verify::run(Terminal terminal, std::istream&) const {
    const auto options = this->options();
    if (!options) return {.status = model::kUnusable, .err = model::error_line(options.error())};
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
            CaseResult result = run_case(folder, *options);
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

}  // namespace

std::unique_ptr<Command> verify_command() { return std::make_unique<Verify>(); }

}  // namespace lemma::driver
