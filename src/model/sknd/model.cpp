// SPDX-License-Identifier: Apache-2.0
#include "model/sknd/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lemma::model {

namespace {

// Expressions nest deeper than brackets, because `a + b + c` nests, too.
sknd::ParseLimits parse_limits(const CheckOptions& options) {
    sknd::ParseLimits limits = options.parse;
    limits.max_expr_depth = std::max(limits.max_expr_depth, 2 * limits.max_depth);
    return limits;
}

sknd::Package main_module_only(const ModelFile& model,
                               const CheckOptions& options,
                               diag::FileId file,
                               const diag::SourceMap& sources,
                               Diagnostics& diag) {
    sknd::LoadedModule main;
    main.name = model.name;
    main.module = sknd::parse_module(sources, file, parse_limits(options), diag);
    sknd::Package package;
    package.modules.push_back(std::move(main));
    return package;
}

const sknd::Module& main_module(const SkndModel& model) {
    return model.package[model.package.main()].module;
}

// `a`, `b` and `c`
std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
        const char* join = i == 0 ? "" : i + 1 < names.size() ? ", " : " and ";
        text += fmt::format("{}`{}`", join, names[i]);
    }
    return text;
}

// Drops graphs that another graph invokes, because they are composed there, and graphs that cannot
// run alone.
void drop_others(const SkndModel& model, GraphList& graphs) {
    const sknd::Module& main = main_module(model);
    const auto& callees = model.types.modules[model.package.main().value].callees;
    std::vector<bool> dropped(main.definitions.size());
    for (uint32_t region = 0; region < main.regions.size(); ++region) {
        const auto& callee = callees[make_id<sknd::RegionId>(region)];
        if (callee && callee->module == model.package.main()) dropped[callee->definition] = true;
    }
    for (const sknd::TypedDefinition& definition : model.types.definitions) {
        const bool main_module = definition.ref.module == model.package.main();
        if (main_module && !definition.runs_alone) dropped[definition.ref.definition] = true;
    }
    std::erase_if(graphs, [&](const sknd::Definition* graph) {
        return dropped[static_cast<size_t>(graph - main.definitions.data())];
    });
}

std::optional<ir::Program> compose(const SkndModel& model,
                                   const CheckOptions& options,
                                   const sknd::Definition& graph,
                                   std::vector<ir::Attribute> attributes,
                                   Diagnostics& diag) {
    sknd::ComposeOptions compose = options.graph.compose;
    compose.graph = graph.name.text;
    compose.attributes = std::move(attributes);
    compose.limits = options.eval;
    return sknd::compose(model.package, compose, diag);
}

void report_missing(const sknd::Definition& graph,
                    const std::vector<std::string>& missing,
                    Diagnostics& diag) {
    std::vector<std::string> flags;
    for (const std::string& name : missing) flags.push_back(fmt::format("-a {}=…", name));
    diag.error(graph.name.span,
               DiagKind::MissingAttribute,
               fmt::format("the graph `{}` needs values for its attributes {}",
                           graph.name.text,
                           listed(missing)))
        .note(fmt::format("give them as `{}`", fmt::join(flags, " ")));
}

// Runs after all graphs are composed, because composition stops at errors. `whole`: these are all
// graphs of the model, so a file without a variable is superfluous.
void check_data(const SkndModel& model,
                const CheckOptions& options,
                const std::vector<ir::Program>& programs,
                bool whole,
                Diagnostics& diag) {
    if (options.data == DataMode::Ignore || programs.empty()) return;
    DataCheck data(model.model, model.package, options.data, diag);
    for (const ir::Program& program : programs) data.check(program);
    if (whole) data.report_unused();
}

}  // namespace

Result<SkndModel> check_sknd(const ModelFile& model,
                             const CheckOptions& options,
                             diag::SourceMap& sources,
                             Diagnostics& diag) {
    LEMMA_TRY(std::string text, read_main(model));
    const diag::FileId file = sources.add(model.path, std::move(text));
    SkndModel result{.file = file, .model = model};
    if (options.syntax_only) {
        result.package = main_module_only(model, options, file, sources, diag);
        return result;
    }
    const sknd::LoadOptions load = {
        .limits = parse_limits(options), .library = options.library, .used_only = true};
    const sknd::ModuleReader reader = module_reader(model);
    result.package = sknd::load_package(sources, file, model.name, reader, load, diag);
    result.types = sknd::check_types(
        result.package, {.limits = options.eval, .graph = options.graph.graph}, diag);
    return result;
}

std::optional<ir::Program> compose_graph(const SkndModel& model,
                                         const CheckOptions& options,
                                         Finding& finding) {
    const sknd::Module& main = main_module(model);
    const auto bad_usage = [&] {
        finding.status = kUnusable;
        return std::nullopt;
    };
    auto graphs = named_graphs(main, options.graph, finding.sources, finding.diag);
    if (!graphs) return bad_usage();
    if (graphs->empty()) return std::nullopt;
    graphs->resize(1);
    auto attributes = given_attributes(main, *graphs, options.graph, finding.sources, finding.diag);
    if (!attributes) return bad_usage();
    const sknd::Definition& graph = *graphs->front();
    const auto missing = missing_attributes(main, graph, attributes->front());
    if (!missing.empty()) {
        report_missing(graph, missing, finding.diag);
        return bad_usage();
    }
    return compose(model, options, graph, std::move(attributes->front()), finding.diag);
}

std::vector<ir::Program> check_graphs(const SkndModel& model,
                                      const CheckOptions& options,
                                      Finding& finding) {
    const sknd::Module& main = main_module(model);
    Diagnostics& diag = finding.diag;
    const auto bad_usage = [&] {
        finding.status = kUnusable;
        return std::vector<ir::Program>();
    };
    auto graphs = named_graphs(main, options.graph, finding.sources, diag);
    if (!graphs) return bad_usage();
    if (options.graph.graph.empty()) drop_others(model, *graphs);
    auto attributes = given_attributes(main, *graphs, options.graph, finding.sources, diag);
    if (!attributes) return bad_usage();
    std::vector<ir::Program> programs;
    for (size_t i = 0; i < graphs->size() && !diag.full(); ++i) {
        const sknd::Definition& graph = *(*graphs)[i];
        const auto missing = missing_attributes(main, graph, (*attributes)[i]);
        if (missing.empty()) {
            auto program = compose(model, options, graph, std::move((*attributes)[i]), diag);
            if (program) programs.push_back(std::move(*program));
            continue;
        }
        // The first graph, which a run would use, needs its values; the others may be for later.
        if (i == 0) {
            report_missing(graph, missing, diag);
            bad_usage();
            continue;
        }
        const char* verb = missing.size() == 1 ? "has" : "have";
        finding.remarks.push_back(
            {graph.name.span,
             fmt::format("the graph `{}` is checked without composing it: {} {} no default "
                         "(`-a NAME=VALUE` gives a value)",
                         graph.name.text,
                         listed(missing),
                         verb)});
    }
    const bool whole = options.graph.graph.empty() && programs.size() == graphs->size();
    check_data(model, options, programs, whole, diag);
    return programs;
}

}  // namespace lemma::model
