// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/loadable_part.h"
#include "base/processors.h"
#include "codegen/compiler.h"
#include "diag/json_text.h"
#include "driver/bench/peak.h"
#include "driver/browser.h"
#include "driver/commands/command.h"
#include "driver/explain/pages.h"
#include "driver/inputs.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/standard_model.h"
#include "model/files.h"
#include "tensor/files/file_io.h"
#include "view/api.h"
#include "view/document.h"
#include "view/guard.h"
#include "view/page.h"
#include "view/recorded.h"

namespace lemma::driver {

namespace {

std::string_view error_page(std::string_view kind) {
    const auto pages = error_pages();
    const auto found = std::ranges::find(pages, kind, &ErrorPage::kind);
    return found == pages.end() ? std::string_view() : found->text;
}

// The server has a library of its own, so it is a part that is loaded.
Result<view::ServeFunction> find_server() {
    constexpr LoadablePart kServer = {"the page server", "lemma_view.so", "LEMMA_VIEW", "lemma"};
    LEMMA_TRY(void* const address, load_symbol(kServer, "lemma_view_address"));
    return reinterpret_cast<view::ServeFunction>(reinterpret_cast<void* (*)()>(address)());
}

class View final : public Command {
public:
    std::string name() const override { return "view"; }
    std::string summary() const override { return "shows a model in the web browser"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    void declare_file(Arguments& arguments);
    view::WorkbenchOptions workbench_options(const view::ViewOptions& options) const;
    Result<void> add_measurements(const Terminal& terminal,
                                  const view::WorkbenchOptions& bench,
                                  view::ViewedModel& viewed) const;
    Outcome write(const view::ViewedModel& viewed) const;
    Outcome serve(const Terminal& terminal,
                  const view::ViewedModel& viewed,
                  view::WorkbenchOptions bench) const;

    std::string model_;
    model::LoadOptions load_;
    session::CompileOptions compile_;
    InputFormat format_ = InputFormat::ByContent;
    std::string preprocess_;
    std::string html_;
    std::string times_;
    int threads_ = 1;
    int port_ = 0;
    bool run_ = false;
    bool weights_ = false;
    bool json_ = false;
    bool no_open_ = false;
};

void View::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, kModelOrInputHelp);
    arguments.group("Server");
    arguments.number("--port", port_, {0, 65535}, "port on 127.0.0.1; 0: any free one (0)");
    arguments.flag("--no-open", no_open_, "print the address, but do not open the browser");
    declare_file(arguments);
    arguments.group("Input");
    declare_format(arguments, format_);
    arguments.texts("-i,--input", load_.inputs, "[NAME=]FILE", kInputHelp);
    declare_preprocess(arguments, preprocess_);
    declare_graph_options(arguments, load_.check.graph);
    declare_dialect(arguments, load_.check);
    declare_limits(arguments, load_.check);
    declare_source_limits(arguments, load_.source);
    arguments.group("Safety profile");
    const Choices<bool> profiles = {{"sonnx", true}};
    arguments.choice(
        "--profile", load_.profile.sonnx, profiles, "also show the verdicts of a profile (ONNX)");
    arguments.group("Engine");
    arguments.number(
        "--threads", threads_, {1, 1024}, "number of threads of compiled code, for --times (1)");
    declare_compile_options(arguments, compile_);
    arguments.remark(
        "The page shows the graph with shapes, costs and formulas, the definitions of operators, "
        "and the diagnostics of a broken model. On request it runs the model: values, times, "
        "errors of the compiled code, memory and kernels. Inputs without a file and weights "
        "without data are random. Ctrl-C ends the server.");
    arguments.example("lemma view net.onnx", "Opens the model in the browser.");
    arguments.example("lemma view net.onnx --html=net.html",
                      "Writes a page that needs no server, with the structure of the model.");
    arguments.example("lemma view net.onnx --html=net.html --times --run --weights",
                      "The same with times, values on random inputs, and weights.");
    arguments.example("lemma view --no-open --port=8080 net.onnx",
                      "Serves the page on a given port, for a browser behind `ssh -L`.");
}

void View::declare_file(Arguments& arguments) {
    const Arguments::Group group(arguments, "Output");
    arguments.text(
        "--html", html_, "OUT.html", "write the page with the model into one file; serve nothing");
    arguments.flag("--json", json_, "print the document of the page; serve nothing");
    arguments.optional_text("--times",
                            times_,
                            "FILE",
                            "include measured times, kernels and memory, or the times of `lemma "
                            "bench --profile --json`");
    arguments.flag("--run", run_, "include statistics of all tensors of a run");
    arguments.flag("--weights", weights_, "include statistics of the weights");
    arguments.exclude("--html", "--json");
    for (const char* const option : {"--html", "--json"}) {
        arguments.exclude(option, "--port");
        arguments.exclude(option, "--no-open");
    }
}

view::WorkbenchOptions View::workbench_options(const view::ViewOptions& options) const {
    view::WorkbenchOptions bench{.model = model_};
    bench.session.check = options.load.check;
    bench.session.source = options.load.source;
    bench.session.inputs = options.load.inputs;
    bench.session.read_input = options.load.read_input;
    bench.session.memory = options.load.memory;
    bench.session.compile = compile_;
    bench.peak = [compile = compile_](int threads) -> Result<double> {
        LEMMA_TRY(const auto compiler,
                  codegen::Compiler::create(session::compiler_options(compile)));
        return measure_peak(*compiler, threads);
    };
    return bench;
}

// ---- Files --------------------------------------------------------------------------------------

Result<void> View::add_measurements(const Terminal& terminal,
                                    const view::WorkbenchOptions& options,
                                    view::ViewedModel& viewed) const {
    if (!viewed.program()) return {};  // the page shows the errors
    view::Workbench bench(viewed, options);
    const RunControl control;
    view::Json& document = viewed.document;
    if (times_ == Arguments::kGiven) {
        show_stage(terminal, "measuring " + model_);
        LEMMA_TRY(document["times"], bench.profile(threads_, control));
        LEMMA_TRY(document["memory"], bench.memory(control));
        LEMMA_TRY(document["kernels"], bench.kernels(std::nullopt, control));
    } else if (!times_.empty()) {
        LEMMA_TRY(const std::string text, model::read_text(times_, FileKind::Any));
        auto times = view::recorded_times(*viewed.program(), text);
        if (!times)
            return std::unexpected(Error{fmt::format("`{}`: {}", times_, times.error().message)});
        document["times"] = std::move(*times);
    }
    view::Json tensors = view::Json::object();
    if (weights_) {
        LEMMA_TRY(tensors, bench.weights(control));
    }
    if (run_) {
        show_stage(terminal, "running " + model_);
        LEMMA_TRY(const view::Json results, bench.run(1, control));
        tensors.update(results["tensors"]);
    }
    if (!tensors.empty()) document["tensors"] = std::move(tensors);
    return {};
}

Outcome View::write(const view::ViewedModel& viewed) const {
    const int status = viewed.finding.status;
    if (json_) return {.status = status, .out = diag::json_text(viewed.document)};
    const auto fail = [](const Error& error) {
        return Outcome{.status = model::kUnusable, .err = model::error_line(error)};
    };
    const auto page = view::offline_page(viewed.document);
    if (!page) return fail(page.error());
    if (auto done = tensor::write_file(html_, *page); !done) return fail(done.error());
    if (status == model::kGood) return {};
    return {.status = status,
            .err = fmt::format("lemma: the model is wrong; `{}` shows how\n", html_)};
}

// ---- The server ---------------------------------------------------------------------------------

Outcome View::serve(const Terminal& terminal,
                    const view::ViewedModel& viewed,
                    view::WorkbenchOptions bench) const {
    const auto fail = [](const Error& error) {
        return Outcome{.status = model::kUnusable, .err = model::error_line(error)};
    };
    if (auto page = view::viewer_exists(); !page) return fail(page.error());
    const auto server = find_server();
    if (!server) return fail(server.error());
    const std::string token = view::make_token();
    view::Api api(viewed, std::move(bench), token);
    std::atomic<int> port = port_;
    view::ServerOptions options{.port = port_};
    options.answer = [&](const view::HttpRequest& request) { return api.answer(request, port); };
    options.ending = [&] { api.end(); };
    options.ready = [&](int bound) {
        port = bound;
        const std::string address = fmt::format("http://127.0.0.1:{}/#token={}", bound, token);
        if (terminal.progress) terminal.progress("");
        if (terminal.out_line) terminal.out_line(address);
        const bool opened = !no_open_ && open_in_browser(address);
        if (terminal.quiet || !terminal.err_line) return;
        terminal.err_line(opened ? "lemma: the browser opens; Ctrl-C ends the server"
                                 : "lemma: open this address in a browser on this machine; Ctrl-C "
                                   "ends the server");
    };
    const std::string trouble = (*server)(options);
    if (!trouble.empty()) return fail(Error{trouble});
    return {};
}

Outcome View::run(Terminal terminal, std::istream& input) const {
    const auto fail = [](const Error& error) {
        return Outcome{.status = model::kUnusable, .err = model::error_line(error)};
    };
    const bool file = json_ || !html_.empty();
    if (!file && (run_ || weights_ || !times_.empty()))
        return fail(
            Error{"--times, --run and --weights are for --html and --json; the served page "
                  "has buttons for them"});
    std::vector<std::string> files = load_.inputs;
    files.push_back(model_);
    if (auto once = check_standard_input(files); !once) return fail(once.error());
    view::ViewOptions options{.model = model_, .load = load_, .live = !file, .pages = error_page};
    auto read = input_reader(input, preprocess_);
    if (!read) return fail(read.error());
    options.load.read_input = std::move(*read);
    auto memory = standard_model(model_, input, format_);
    if (!memory) return fail(memory.error());
    options.load.memory = std::move(*memory);
    show_stage(terminal, "loading " + model_);
    view::ViewedModel viewed = view::view_model(options);
    // Without any text or graph there is nothing to show.
    if (viewed.finding.unusable && viewed.finding.sources.size() == 0)
        return fail(*viewed.finding.unusable);
    if (load_.profile.sonnx && viewed.document["model"].value("format", "") != "onnx")
        return fail(Error{"the profile `sonnx` is for ONNX models"});
    view::WorkbenchOptions bench = workbench_options(options);
    if (!file) return serve(terminal, viewed, std::move(bench));
    show_progress(terminal, bench.session);
    if (auto done = add_measurements(terminal, bench, viewed); !done) return fail(done.error());
    return write(viewed);
}

}  // namespace

std::unique_ptr<Command> view_command() { return std::make_unique<View>(); }

}  // namespace lemma::driver
