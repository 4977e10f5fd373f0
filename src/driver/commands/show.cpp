// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "diag/render.h"
#include "driver/commands/command.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/standard_model.h"
#include "ir/text/print.h"
#include "model/files.h"
#include "model/finding.h"
#include "model/load.h"
#include "show/dot.h"
#include "show/json.h"
#include "show/svg.h"
#include "show/table.h"
#include "show/tree.h"

namespace lemma::driver {

namespace {

class Show final : public Command {
public:
    std::string name() const override { return "show"; }
    std::string summary() const override { return "shows the graph of a model"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    std::optional<ir::Program> load(std::istream& input,
                                    show::Origin& origin,
                                    model::Finding& finding) const;
    Result<std::string> picture(const ir::Program& program,
                                const show::Origin& origin,
                                const Terminal& terminal) const;

    std::string model_;
    model::LoadOptions load_;
    InputFormat format_ = InputFormat::ByContent;
    show::Level level_ = show::Level::Compound;
    Colour colour_ = Colour::Auto;
    size_t depth_ = SIZE_MAX;
    size_t width_ = 0;  // 0: that of the terminal
    bool attributes_ = false;
    bool tree_ = false;
    bool json_ = false;
    bool dot_ = false;
    bool svg_ = false;
    bool text_ = false;
    bool brief_ = false;
};

void Show::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, kModelOrInputHelp);
    arguments.group("Output");
    const Choices<show::Level> levels = {{"compound", show::Level::Compound},
                                         {"primitive", show::Level::Primitive}};
    arguments.choice("--level",
                     level_,
                     levels,
                     "show the calls of the graph, or their primitive operations (compound)");
    arguments.flag("--attributes",
                   attributes_,
                   "list the operands and attributes below each operation of the table");
    arguments.flag(
        "--tree", tree_, "print a tree of scopes, compounds and bodies instead of the table");
    arguments.number("--depth", depth_, {1, kAnyNumber}, "levels of the tree (all)");
    arguments.number("--width",
                     width_,
                     {20, kAnyNumber},
                     "columns of the table or tree (those of the terminal; else names stay whole)");
    arguments.flag("--json", json_, "print one JSON document instead of the table");
    arguments.flag("--dot", dot_, "print a Graphviz graph instead of the table");
    arguments.flag("--svg", svg_, "print a drawing of the graph as an SVG file");
    arguments.flag("--text", text_, "print the composed program with its formulas");
    arguments.group("Input");
    declare_format(arguments, format_);
    arguments.texts("-i", load_.inputs, "[NAME=]FILE", "ONNX: values of inputs that decide shapes");
    declare_graph_options(arguments, load_.check.graph);
    arguments.group("Report");
    arguments.flag("--brief", brief_, "print one line per diagnostic, without excerpts");
    declare_colour(arguments, colour_);
    declare_dialect(arguments, load_.check);
    declare_limits(arguments, load_.check);
    declare_source_limits(arguments, load_.source);
    const std::vector<std::string> forms = {
        "--json", "--dot", "--svg", "--text", "--tree", "--attributes"};
    for (size_t i = 0; i < forms.size(); ++i) {
        for (size_t j = i + 1; j < forms.size(); ++j) arguments.exclude(forms[i], forms[j]);
    }
    arguments.need("--depth", "--tree");
    arguments.remark(
        "MACs are multiply-accumulate operations: iterations of formulas that sum products of two "
        "tensor elements. Other formulas count 0. Activations are the inputs and all results; "
        "their peak is the most memory needed at one time. A runtime extent counts at its upper "
        "bound, marked `≤`; without a bound it counts as 1, marked `≥`.");
    arguments.example("lemma show net.onnx", "The operations with shapes, parameters and MACs.");
    arguments.example("lemma show net.onnx --attributes",
                      "The same, with operands and attributes.");
    arguments.example("lemma show net.onnx --tree --depth=2",
                      "The scopes of the model, with the cost of each.");
    arguments.example("lemma show net.onnx --svg > net.svg", "The graph as a drawing.");
    arguments.example("lemma show net.onnx --dot | dot -Tpdf -o net.pdf",
                      "The graph as a drawing, with Graphviz.");
}

std::optional<ir::Program> Show::load(std::istream& input,
                                      show::Origin& origin,
                                      model::Finding& finding) const {
    if (model_.ends_with(model::kProgramEnding)) return model::load_program(model_, finding);
    model::LoadOptions load = load_;
    auto memory = standard_model(model_, input, format_);
    if (!memory) {
        finding.fail(memory.error());
        return std::nullopt;
    }
    load.memory = std::move(*memory);
    auto model = model::load_model(model_, load, finding);
    if (!model) return std::nullopt;
    origin.metadata = std::move(model->metadata);
    origin.deciding = std::move(model->deciding);
    return std::move(model->program);
}

Result<std::string> Show::picture(const ir::Program& program,
                                  const show::Origin& origin,
                                  const Terminal& terminal) const {
    if (json_) return show::show_json(program, level_, origin);
    if (dot_) return show::show_dot(program, level_);
    if (svg_) return show::show_svg(program, level_);
    if (text_) return ir::print(program);
    constexpr size_t kLeastWidth = 20;
    const size_t width = std::max(width_ > 0 ? width_ : terminal.width, kLeastWidth);
    const bool cut = width_ > 0 || terminal.out;
    if (tree_) {
        return show::show_tree(program,
                               {.level = level_,
                                .sources = origin.sources->size() > 0 ? origin.sources : nullptr,
                                .depth = depth_,
                                .width = cut ? width : show::kNoLimit});
    }
    return show::show_table(
        program, {.level = level_, .attributes = attributes_, .width = width, .cut = cut});
}

Outcome Show::run(Terminal terminal, std::istream& input) const {
    model::Finding finding{.model = model_, .diag = Diagnostics()};
    show::Origin origin{.sources = &finding.sources, .metadata = {}, .deciding = {}};
    show_stage(terminal, "loading " + model_);
    const auto program = load(input, origin, finding);
    finding.diag.sort_by_place();

    Outcome outcome{.status = finding.status};
    if (program) {
        auto shown = picture(*program, origin, terminal);
        if (!shown) return {.status = model::kUnusable, .err = model::error_line(shown.error())};
        outcome.out = std::move(*shown);
    }
    if (!program && json_) {
        std::vector<model::Finding> findings;
        findings.push_back(std::move(finding));
        outcome.out = model::as_json(findings);
    } else if (finding.unusable) {
        outcome.err = model::error_line(*finding.unusable);
    } else {
        const bool colour = colour_errors(colour_, terminal);
        outcome.err =
            diag::render(finding.sources, finding.diag, {.brief = brief_, .colour = colour});
    }
    return outcome;
}

}  // namespace

std::unique_ptr<Command> show_command() { return std::make_unique<Show>(); }

}  // namespace lemma::driver
