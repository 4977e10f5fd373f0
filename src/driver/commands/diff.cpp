// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "diag/render.h"
#include "diff/report.h"
#include "driver/commands/command.h"
#include "driver/diff/run_both.h"
#include "driver/inputs.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "model/files.h"
#include "model/load.h"
#include "tensor/files/file_io.h"
#include "view/document.h"
#include "view/page.h"

namespace lemma::driver {

namespace {

class Diff final : public Command {
public:
    std::string name() const override { return "diff"; }
    std::string summary() const override { return "compares two models"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    // The options of A that B may have otherwise.
    struct Own {
        std::optional<session::EngineKind> engine;
        std::optional<loop::Numerics> numerics;
        std::optional<tensor::DType> real;
        int threads = 0;
    };
    void declare_run(Arguments& arguments);
    void declare_own(Arguments& arguments, const std::string& suffix, Own& own);
    Result<diff::CompareOptions> compare_options() const;
    Result<RunBoth> run_options(std::istream& input) const;
    std::optional<diff::Side> load(const std::string& path,
                                   const Own& own,
                                   const model::InputReader& read,
                                   model::Finding& finding) const;
    Outcome trouble(model::Finding a, model::Finding b, Terminal terminal) const;
    Result<void> write_page(const diff::Comparison& comparison, const diff::Numbers* numbers) const;

    std::string a_, b_;
    std::string html_;
    model::LoadOptions load_;
    diff::Level level_ = diff::Level::Auto;
    std::string weights_ = "exact";
    bool names_ = false, order_ = false;
    bool run_ = false;
    std::vector<std::string> inputs_;
    std::string preprocess_;
    std::optional<uint64_t> random_inputs_;
    std::string relative_, absolute_;
    session::SessionOptions session_;
    Own own_a_, own_b_;
    Colour colour_ = Colour::Auto;
    bool json_ = false;
    bool brief_ = false;
};

void Diff::declare_own(Arguments& arguments, const std::string& suffix, Own& own) {
    const bool second = !suffix.empty();
    const auto text = [&](const char* of_a, const char* of_b) { return second ? of_b : of_a; };
    using session::EngineKind;
    const Choices<std::optional<EngineKind>> engines = {
        {"auto", EngineKind::Auto}, {"interpret", EngineKind::Interpret}, {"jit", EngineKind::Jit}};
    arguments.choice("--engine" + suffix,
                     own.engine,
                     engines,
                     text("run in the interpreter or as compiled code (auto)", "the same for B"));
    arguments.number("--threads" + suffix,
                     own.threads,
                     {1, 1024},
                     text("number of threads of compiled code (1)", "the same for B"));
    const Choices<std::optional<loop::Numerics>> numerics = {{"strict", loop::Numerics::Strict},
                                                             {"default", loop::Numerics::Default},
                                                             {"fast", loop::Numerics::Fast}};
    arguments.choice("--numerics" + suffix,
                     own.numerics,
                     numerics,
                     text("precision of compiled code (default)", "the same for B"));
    const Choices<std::optional<tensor::DType>> reals = {{"f32", tensor::DType::F32},
                                                         {"f64", tensor::DType::F64},
                                                         {"f16", tensor::DType::F16},
                                                         {"bf16", tensor::DType::BF16}};
    arguments.choice(
        "--real" + suffix, own.real, reals, text("type of `real` (f32)", "the same for B"));
}

void Diff::declare_run(Arguments& arguments) {
    arguments.group("Numbers");
    arguments.flag("--run", run_, "run both models on the same inputs and compare all tensors");
    arguments.texts("-i,--input", inputs_, "[NAME=]FILE", kInputHelp);
    declare_preprocess(arguments, preprocess_);
    arguments.seed("--random-inputs", random_inputs_, "seed of the inputs without a file");
    arguments.text("--rtol", relative_, "X", "relative tolerance (1e-4)");
    arguments.text("--atol", absolute_, "X", "absolute tolerance (1e-5)");
    arguments.seed("--random-weights",
                   session_.random_weights,
                   "use random values for variables without data");
    arguments.number("--seed", session_.run.seed, {0, kAnyNumber}, "seed of random operators (0)");
    arguments.group("Engine");
    declare_own(arguments, "", own_a_);
    declare_own(arguments, "-b", own_b_);
}

void Diff::declare(Arguments& arguments) {
    arguments.word("A",
                   a_,
                   "a .sknd, .nnef, .onnx or .ir file, or a folder or archive with main.sknd or "
                   "graph.nnef");
    arguments.word("B", b_, "the other model, of the same or another format");
    arguments.group("Comparison");
    const Choices<diff::Level> levels = {{"compound", diff::Level::Compound},
                                         {"primitive", diff::Level::Primitive},
                                         {"formula", diff::Level::Formula}};
    arguments.choice("--level",
                     level_,
                     levels,
                     "compare the calls of the graphs, their primitive operations, or what these "
                     "compute (compound; formula across formats)");
    arguments.text("--weights",
                   weights_,
                   "exact|ignore|TOL",
                   "compare weights exactly, not at all, or up to TOL times their largest "
                   "magnitude (exact)");
    arguments.suggest({"exact", "ignore"});
    arguments.flag("--names", names_, "count and list other names of operations and tensors");
    arguments.flag("--order", order_, "count and list another order of operations");
    declare_run(arguments);
    arguments.group("Report");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    arguments.text("--html", html_, "OUT.html", "also write a page with both graphs side by side");
    arguments.flag("--brief", brief_, "print one line per diagnostic, without excerpts");
    declare_colour(arguments, colour_);
    declare_graph_options(arguments, load_.check.graph);
    declare_dialect(arguments, load_.check);
    declare_limits(arguments, load_.check);
    declare_source_limits(arguments, load_.source);
    arguments.remark(
        "The exit status is 0 if the models are equal up to names and order, 1 if they differ, and "
        "2 if one of them cannot be compared.");
    arguments.remark(
        "Models of different formats are compared by the formulas of their primitive operations. "
        "Axes of extent 1, reshapes and other copies do not count there.");
    arguments.example("lemma diff old.onnx new.onnx", "What changed.");
    arguments.example("lemma diff old.onnx new.onnx --html=changes.html",
                      "The same in the browser, with both graphs.");
    arguments.example("lemma diff net.onnx net.nnef --run",
                      "Structure and numbers of a model and its conversion.");
    arguments.example("lemma diff net.onnx net.onnx --run --engine=interpret --engine-b=jit",
                      "Compiled code against the interpreter, tensor by tensor.");
}

Result<double> amount(const std::string& option, const std::string& text, double otherwise) {
    if (text.empty()) return otherwise;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end != '\0' || !std::isfinite(value) || value < 0) {
        return std::unexpected(
            Error{fmt::format("{} must be a number of at least 0; got `{}`", option, text)});
    }
    return value;
}

Result<diff::CompareOptions> Diff::compare_options() const {
    diff::CompareOptions options{.level = level_};
    options.weights.ignore = weights_ == "ignore";
    if (weights_ == "exact" || weights_ == "ignore") return options;
    auto tolerance = amount("--weights", weights_, 0);
    if (!tolerance) {
        return std::unexpected(Error{
            fmt::format("--weights must be `exact`, `ignore` or a tolerance; got `{}`", weights_)});
    }
    options.weights.tolerance = *tolerance;
    return options;
}

Result<RunBoth> Diff::run_options(std::istream& input) const {
    RunBoth both{.inputs = inputs_, .seed = random_inputs_.value_or(1)};
    LEMMA_TRY(both.tolerance.relative, amount("--rtol", relative_, both.tolerance.relative));
    LEMMA_TRY(both.tolerance.absolute, amount("--atol", absolute_, both.tolerance.absolute));
    LEMMA_TRY(check_standard_input(inputs_));
    both.a = session_;
    both.a.check = load_.check;
    both.a.source = load_.source;
    LEMMA_TRY(both.a.read_input, input_reader(input, preprocess_));
    both.b = both.a;
    const auto apply = [](const Own& own, session::SessionOptions& options) {
        if (own.engine) options.engine = *own.engine;
        if (own.numerics) options.compile.numerics = own.numerics;
        if (own.real) options.check.graph.compose.real = *own.real;
        if (own.threads > 0) options.threads = own.threads;
    };
    apply(own_a_, both.a);
    apply(own_a_, both.b);
    apply(own_b_, both.b);
    return both;
}

std::optional<diff::Side> Diff::load(const std::string& path,
                                     const Own& own,
                                     const model::InputReader& read,
                                     model::Finding& finding) const {
    if (path.ends_with(model::kProgramEnding)) {
        auto program = model::load_program(path, finding);
        if (!program) return std::nullopt;
        return diff::Side{path, "ir", std::move(*program), {}};
    }
    model::LoadOptions options = load_;
    options.inputs = inputs_;
    options.read_input = read;
    if (own_a_.real) options.check.graph.compose.real = *own_a_.real;
    if (own.real) options.check.graph.compose.real = *own.real;
    auto model = model::load_model(path, options, finding);
    if (!model) return std::nullopt;
    return diff::Side{path,
                      model::format_word(model->file.format),
                      std::move(model->program),
                      std::move(model->data)};
}

Outcome Diff::trouble(model::Finding a, model::Finding b, Terminal terminal) const {
    Outcome outcome{.status = model::kUnusable};
    std::vector<model::Finding> findings;
    findings.push_back(std::move(a));
    findings.push_back(std::move(b));
    if (findings[0].status == model::kFault || findings[1].status == model::kFault)
        outcome.status = model::kFault;
    for (model::Finding& finding : findings) {
        finding.diag.sort_by_place();
        if (finding.unusable) {
            // A bad option concerns both models.
            const std::string line = model::error_line(*finding.unusable);
            if (outcome.err != line) outcome.err += line;
            continue;
        }
        const bool colour = colour_errors(colour_, terminal);
        outcome.err +=
            diag::render(finding.sources, finding.diag, {.brief = brief_, .colour = colour});
    }
    if (!json_) return outcome;
    outcome.out = model::as_json(findings);
    outcome.err.clear();
    return outcome;
}

// The page of `lemma view` with both graphs.
Result<void> Diff::write_page(const diff::Comparison& comparison,
                              const diff::Numbers* numbers) const {
    LEMMA_TRY(view::viewer_exists());
    view::Json diff = diff::view_diff(comparison,
                                      numbers,
                                      diff::operation_ids(*comparison.a.program),
                                      diff::operation_ids(*comparison.b.program));
    view::Json document = view::compared_document(
        {a_, comparison.a.program}, {b_, comparison.b.program}, std::move(diff));
    LEMMA_TRY(const std::string page, view::offline_page(document));
    return tensor::write_file(html_, page);
}

Outcome Diff::run(Terminal terminal, std::istream& input) const {
    model::Finding a{.model = a_, .diag = Diagnostics()}, b{.model = b_, .diag = Diagnostics()};
    const auto unusable = [&](Error error) {
        a.fail(std::move(error));
        return trouble(std::move(a), std::move(b), terminal);
    };
    auto options = compare_options();
    if (!options) return unusable(options.error());
    const auto both = run_options(input);
    if (!both) return unusable(both.error());
    show_stage(terminal, "loading " + a_);
    auto left = load(a_, own_a_, both->a.read_input, a);
    show_stage(terminal, "loading " + b_);
    auto right = load(b_, own_b_, both->b.read_input, b);
    if (!left || !right) return trouble(std::move(a), std::move(b), terminal);

    show_stage(terminal, "comparing");
    const auto comparison = diff::compare(*left, *right, *options);
    if (!comparison) return unusable(comparison.error());
    std::optional<diff::Numbers> numbers;
    for (const diff::Side* side : {&*left, &*right}) {
        if (!run_ || side->format != "ir") continue;
        return unusable(Error{fmt::format(
            "`{}` is the text of a program, which has no data to run with; give the model itself",
            side->path)});
    }
    if (run_) {
        auto ran = run_both(*comparison, *both, terminal, a, b);
        if (!ran) return unusable(ran.error());
        if (!*ran) return trouble(std::move(a), std::move(b), terminal);
        numbers = std::move(*ran);
    }
    const bool colour = colour_ == Colour::Always ||
                        (colour_ == Colour::Auto && terminal.out && !terminal.no_colour);
    const diff::ReportOptions report{
        .a = a_, .b = b_, .names = names_, .order = order_, .colour = colour};
    const diff::Numbers* table = numbers ? &*numbers : nullptr;
    if (!html_.empty()) {
        if (auto done = write_page(*comparison, table); !done) return unusable(done.error());
    }
    Outcome outcome{.status = is_equal(*comparison, table, report) ? model::kGood : model::kWrong};
    outcome.out = json_ ? diff::report_json(*comparison, table, report)
                        : diff::report_text(*comparison, table, report);
    if (!json_) outcome.err = model::remarks_text(a) + model::remarks_text(b);
    return outcome;
}

}  // namespace

std::unique_ptr<Command> diff_command() { return std::make_unique<Diff>(); }

}  // namespace lemma::driver
