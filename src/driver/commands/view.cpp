// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "diag/json_text.h"
#include "diag/render.h"
#include "driver/commands/command.h"
#include "driver/explain/pages.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/standard_model.h"
#include "model/files.h"
#include "tensor/files/file_io.h"
#include "view/document.h"
#include "view/page.h"

namespace lemma::driver {

namespace {

std::string_view error_page(std::string_view kind) {
    const auto pages = error_pages();
    const auto found = std::ranges::find(pages, kind, &ErrorPage::kind);
    return found == pages.end() ? std::string_view() : found->text;
}

class View final : public Command {
public:
    std::string name() const override { return "view"; }
    std::string summary() const override { return "shows a model in the web browser"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Outcome write(const view::ViewedModel& viewed) const;

    std::string model_;
    model::LoadOptions load_;
    InputFormat format_ = InputFormat::ByContent;
    std::string html_;
    bool json_ = false;
};

void View::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, kModelOrInputHelp);
    arguments.group("Output");
    arguments.text("--html", html_, "OUT.html", "write the page with the model into one file");
    arguments.flag("--json", json_, "print the document of the page, without a page");
    arguments.exclude("--html", "--json");
    arguments.group("Input");
    declare_format(arguments, format_);
    arguments.texts(
        "-i,--input", load_.inputs, "[NAME=]FILE", "values of inputs, as for `lemma run`");
    declare_graph_options(arguments, load_.check.graph);
    declare_dialect(arguments, load_.check);
    declare_limits(arguments, load_.check);
    declare_source_limits(arguments, load_.source);
    arguments.group("Safety profile");
    const Choices<bool> profiles = {{"sonnx", true}};
    arguments.choice(
        "--profile", load_.profile.sonnx, profiles, "also show the verdicts of a profile (ONNX)");
}

Outcome View::write(const view::ViewedModel& viewed) const {
    if (json_) return {.status = viewed.finding.status, .out = diag::json_text(viewed.document)};
    const auto fail = [](const Error& error) {
        return Outcome{.status = model::kUnusable, .err = model::error_line(error)};
    };
    const auto page = view::offline_page(viewed.document);
    if (!page) return fail(page.error());
    if (auto done = tensor::write_file(html_, *page); !done) return fail(done.error());
    return {.status = viewed.finding.status};
}

Outcome View::run(Terminal terminal, std::istream& input) const {
    const auto fail = [](const Error& error) {
        return Outcome{.status = model::kUnusable, .err = model::error_line(error)};
    };
    view::ViewOptions options{.model = model_, .load = load_, .pages = error_page};
    auto memory = standard_model(model_, input, format_);
    if (!memory) return fail(memory.error());
    options.load.memory = std::move(*memory);
    show_stage(terminal, "loading " + model_);
    const view::ViewedModel viewed = view::view_model(options);
    return write(viewed);
}

}  // namespace

std::unique_ptr<Command> view_command() { return std::make_unique<View>(); }

}  // namespace lemma::driver
