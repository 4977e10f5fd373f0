// SPDX-License-Identifier: Apache-2.0
#include "model/sknd/graph_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/sknd/attribute_value.h"
#include "sknd/types/signature.h"

namespace lemma::model {

namespace {

using sknd::Definition;

constexpr const char* kCommandLine = "<command line>";

// One `-a NAME=VALUE`, with places in the text `-a NAME=VALUE`.
struct Assignment {
    std::string name;
    Span name_span;
    Span value_span;
};

Assignment read_assignment(const std::string& text, diag::SourceMap& sources) {
    const std::string prefix = "-a ";
    const diag::FileId file = sources.add(kCommandLine, prefix + text);
    const auto begin = static_cast<uint32_t>(prefix.size());
    const auto middle = begin + static_cast<uint32_t>(text.find('='));
    const auto end = begin + static_cast<uint32_t>(text.size());
    return {.name = text.substr(0, text.find('=')),
            .name_span = {file, begin, middle},
            .value_span = {file, middle + 1, end}};
}

void report_unknown(const Assignment& given,
                    const std::vector<sknd::Signature>& signatures,
                    const GraphList& graphs,
                    Diagnostics& diag) {
    std::vector<std::string_view> names;
    for (const sknd::Signature& signature : signatures) {
        for (const sknd::Parameter& attribute : signature.attributes) {
            names.push_back(attribute.name);
        }
    }
    const std::string subject = graphs.size() == 1
                                    ? fmt::format("the graph `{}` has no", graphs[0]->name.text)
                                    : "none of the graphs has an";
    auto report = diag.error(given.name_span,
                             DiagKind::NoAttribute,
                             fmt::format("{} attribute `{}`", subject, given.name));
    if (graphs.size() != 1) return;
    const std::string_view nearest = diag::nearest_name(given.name, names);
    if (!nearest.empty()) {
        report.note(fmt::format("did you mean `{}`?", nearest));
    } else if (names.empty()) {
        report.note(graphs[0]->name.span, "it has no attributes at all");
    } else {
        report.note(graphs[0]->name.span, fmt::format("it has {}", fmt::join(names, ", ")));
    }
}

// Reports a name that was given before; true if there was none.
bool is_first(const Assignment& given, const std::vector<Assignment>& before, Diagnostics& diag) {
    const auto same = std::ranges::find(before, given.name, &Assignment::name);
    if (same == before.end()) return true;
    diag.error(given.name_span,
               DiagKind::DuplicateAttribute,
               fmt::format("the attribute `{}` is given twice", given.name));
    return false;
}

std::vector<sknd::Signature> signatures_of(const sknd::Module& main, const GraphList& graphs) {
    std::vector<sknd::Signature> signatures;
    for (const Definition* graph : graphs) signatures.push_back(make_signature(main, *graph));
    return signatures;
}

}  // namespace

std::optional<GraphList> named_graphs(const sknd::Module& main,
                                      const GraphOptions& options,
                                      diag::SourceMap& sources,
                                      Diagnostics& diag) {
    GraphList graphs;
    std::vector<std::string_view> names;
    for (const Definition& definition : main.definitions) {
        if (!definition.graph) continue;
        names.push_back(definition.name.text);
        if (options.graph.empty() || options.graph == names.back()) graphs.push_back(&definition);
    }
    if (options.graph.empty() || !graphs.empty()) return graphs;
    const std::string prefix = "--graph=";
    const diag::FileId file = sources.add(kCommandLine, prefix + options.graph);
    const auto begin = static_cast<uint32_t>(prefix.size());
    const auto end = begin + static_cast<uint32_t>(options.graph.size());
    auto report = diag.error({file, begin, end},
                             DiagKind::NoGraph,
                             fmt::format("no graph `{}` in the main module", options.graph));
    const std::string_view nearest = diag::nearest_name(options.graph, names);
    if (!nearest.empty()) report.note(fmt::format("did you mean `{}`?", nearest));
    if (nearest.empty() && !names.empty()) {
        report.note(fmt::format("it has {}", fmt::join(names, ", ")));
    }
    return std::nullopt;
}

std::optional<AttributeLists> given_attributes(const sknd::Module& main,
                                               const GraphList& graphs,
                                               const GraphOptions& options,
                                               diag::SourceMap& sources,
                                               Diagnostics& diag) {
    const std::vector<sknd::Signature> signatures = signatures_of(main, graphs);
    AttributeLists lists(graphs.size());
    std::vector<Assignment> before;
    bool good = true;
    for (const std::string& text : options.attributes) {
        const Assignment given = read_assignment(text, sources);
        good = is_first(given, before, diag) && good;
        bool known = false;
        for (size_t i = 0; i < graphs.size(); ++i) {
            const sknd::Parameter* declared = signatures[i].attribute(given.name);
            if (declared == nullptr) continue;
            known = true;
            auto value = read_attribute_value(sources, given.value_span, *declared, diag);
            good = good && value;
            if (value) lists[i].push_back({given.name, std::move(*value)});
        }
        if (!known) report_unknown(given, signatures, graphs, diag);
        good = good && known;
        before.push_back(given);
    }
    if (!good) return std::nullopt;
    return lists;
}

std::vector<std::string> missing_attributes(const sknd::Module& main,
                                            const Definition& graph,
                                            const std::vector<ir::Attribute>& given) {
    std::vector<std::string> missing;
    for (const sknd::Parameter& declared : make_signature(main, graph).attributes) {
        const bool there =
            std::ranges::find(given, declared.name, &ir::Attribute::name) != given.end();
        if (!there && !declared.has_default && !declared.type.optional) {
            missing.emplace_back(declared.name);
        }
    }
    return missing;
}

}  // namespace lemma::model
