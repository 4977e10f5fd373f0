#include <fmt/format.h>

#include <algorithm>

#include "diag/render.h"
#include "driver/commands/command.h"
#include "driver/dump.h"
#include "driver/files.h"
#include "driver/finding.h"
#include "driver/onnx_model.h"
#include "driver/pipeline.h"

namespace lemma::driver {

namespace {

enum class Dialect { Strict, Khronos, Tract };

class Check final : public Command {
public:
    std::string name() const override { return "check"; }
    std::string summary() const override { return "checks models: syntax, types and graphs"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Finding check(const std::string& model) const;
    Result<CheckedModel> read(const std::string& model, Finding& finding) const;
    void compose(const CheckedModel& model, Finding& finding) const;
    bool check_other_format(const std::string& model, Finding& finding) const;
    Finding finished(Finding finding) const;
    void apply_werror(Diagnostics& diag) const;
    std::string as_text(const Finding& finding, bool colour) const;

    std::vector<std::string> models_;
    CheckOptions options_;
    tensor::SourceLimits source_limits_;
    size_t max_errors_ = Diagnostics::kDefaultMaxErrors;
    Dialect dialect_ = Dialect::Strict;
    Dump dump_ = Dump::None;
    Colour colour_ = Colour::Auto;
    bool brief_ = false;
    bool json_ = false;
    bool werror_ = false;
    bool verbose_ = false;
};

void Check::declare(Arguments& arguments) {
    arguments.words("MODEL", models_, "a .sknd file, or a folder or archive with main.sknd");
    arguments.flag("--syntax-only", options_.syntax_only, "no further than the syntax of the file");
    arguments.flag("--types-only", options_.types_only, "check types, but compose no graph");
    arguments.flag("--module", options_.library, "a library module: it needs no graph");
    arguments.flag("--brief", brief_, "one line per diagnostic, no excerpts");
    arguments.flag("--json", json_, "one JSON document on stdout instead of text");
    arguments.flag("--werror", werror_, "warnings are errors");
    arguments.flag("-v,--verbose", verbose_, "say `ok` for every good model");
    const Choices<Dialect> dialects = {
        {"strict", Dialect::Strict}, {"khronos", Dialect::Khronos}, {"tract", Dialect::Tract}};
    arguments.choice("--dialect", dialect_, dialects, "the reading of NNEF 1.0 (.sknd: no effect)");
    const Choices<DataMode> modes = {
        {"auto", DataMode::Auto}, {"require", DataMode::Require}, {"ignore", DataMode::Ignore}};
    arguments.choice("--data", options_.data, modes, "the .dat files: as they are there, or all");
    declare_colour(arguments, colour_);
    declare_graph_options(arguments, options_.graph);
    arguments.number(
        "--max-errors", max_errors_, {0, kAnyNumber}, "errors to report per model; 0: all (100)");
    declare_limits(arguments, options_);
    declare_source_limits(arguments, source_limits_);
    const Choices<Dump> dumps = {{"tokens", Dump::Tokens}, {"tree", Dump::Tree}};
    arguments.choice("--dump", dump_, dumps, "print what was read, for debugging");
    arguments.exclude("--dump", "--json");
}

Result<CheckedModel> Check::read(const std::string& model, Finding& finding) const {
    LEMMA_TRY(const ModelFile file, find_model(model, source_limits_));
    return check_sknd(file, options_, finding.sources, finding.diag);
}

void Check::compose(const CheckedModel& model, Finding& finding) const {
    if (options_.syntax_only || options_.types_only || finding.diag.has_errors()) return;
    ComposeCheck result = check_graphs(model, options_, finding.sources, finding.diag);
    finding.remarks = std::move(result.remarks);
    if (result.bad_usage) finding.status = kUnusable;
}

// Turns warnings into errors. Where errors were dropped there is enough to do as it is.
void Check::apply_werror(Diagnostics& diag) const {
    if (!werror_ || diag.warning_count() == 0 || diag.dropped_errors() > 0) return;
    Diagnostics strict(0);  // no limit
    for (diag::Diagnostic item : diag.items()) {
        item.severity = diag::Severity::Error;
        strict.add(std::move(item));
    }
    diag = std::move(strict);
}

// False for SkriptND.
bool Check::check_other_format(const std::string& model, Finding& finding) const {
    const auto file = find_model(model, source_limits_);
    if (!file || file->format != Format::Onnx) return false;
    auto result = check_onnx(*file, options_, finding.sources, finding.diag);
    if (result) {
        finding.remarks = std::move(result->remarks);
    } else {
        finding.status = kUnusable;
        finding.unusable = result.error();
    }
    return true;
}

Finding Check::finished(Finding finding) const {
    finding.diag.sort_by_place();
    apply_werror(finding.diag);
    if (finding.diag.has_errors()) finding.status = std::max<int>(finding.status, kWrong);
    return finding;
}

Finding Check::check(const std::string& model) const {
    Finding finding{.model = model, .diag = Diagnostics(max_errors_)};
    if (check_other_format(model, finding)) return finished(std::move(finding));
    const Result<CheckedModel> checked = read(model, finding);
    if (!checked) {
        finding.status = kUnusable;
        finding.unusable = checked.error();
        return finding;
    }
    compose(*checked, finding);
    finding.dump = dump(dump_, finding.sources, *checked);
    return finished(std::move(finding));
}

std::string Check::as_text(const Finding& finding, bool colour) const {
    if (finding.unusable) return unreadable_line(*finding.unusable);
    return diag::render(finding.sources, finding.diag, {.brief = brief_, .colour = colour}) +
           remarks_text(finding);
}

Outcome Check::run(Terminal terminal, std::istream&) const {
    if (dialect_ == Dialect::Tract) {
        return {.status = kUnusable,
                .err = "lemma: --dialect=tract is for NNEF 1.0, not supported in this version\n"};
    }
    Outcome outcome;
    std::vector<Finding> findings;
    for (const std::string& model : models_) {
        Finding finding = check(model);
        outcome.status = std::max(outcome.status, finding.status);
        outcome.out += finding.dump;
        if (json_) {
            findings.push_back(std::move(finding));
            continue;
        }
        outcome.err += as_text(finding, colour_errors(colour_, terminal));
        if (verbose_ && finding.status == kGood) outcome.out += fmt::format("{}: ok\n", model);
    }
    if (json_) outcome.out += as_json(findings);
    return outcome;
}

}  // namespace

std::unique_ptr<Command> check_command() { return std::make_unique<Check>(); }

}  // namespace lemma::driver
