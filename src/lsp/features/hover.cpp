// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lsp/features/facts.h"
#include "lsp/features/requests.h"
#include "lsp/features/target.h"

namespace lemma::lsp {

namespace {

const char* language_name(const View& view) {
    return view.language == Language::Nnef1 ? "nnef" : "sknd";
}

std::string code(const View& view, std::string_view text) {
    return fmt::format("```{}\n{}\n```\n", language_name(view), text);
}

std::string listed(const std::vector<std::pair<std::string, std::string>>& items,
                   std::string_view join) {
    std::string text;
    for (const auto& [name, value] : items)
        text += fmt::format("{}`{}{}{}`", text.empty() ? "" : ", ", name, join, value);
    return text;
}

std::string call_text(const CallFacts& facts) {
    std::string text = "\n---\nThis call:\n\n";
    const auto line = [&](const char* title, const std::string& items) {
        if (!items.empty()) text += fmt::format("- {}: {}\n", title, items);
    };
    line("inputs", listed(facts.inputs, ": "));
    line("outputs", listed(facts.outputs, ": "));
    line("types", listed(facts.types, " = "));
    line("attributes", listed(facts.attributes, " = "));
    return text;
}

std::string operator_text(const Query& query,
                          const Target& target,
                          uint32_t offset,
                          bool declares) {
    const View& view = *target.file.view;
    const Thing& thing = target.what();
    const auto op = describe_operator(view, thing.name, "");
    std::string text =
        op ? code(view, signature_text(*op)) : code(view, fmt::format("graph {}", thing.name));
    if (op && !op->documentation.empty()) text += "\n" + op->documentation + "\n";
    if (declares || !query.analysis) return text;
    const auto facts = call_facts(*query.analysis, offset);
    if (facts) text += call_text(*facts);
    return text;
}

std::string thing_text(const Query& query, const Target& target, const Occurrence& here) {
    const View& view = *target.file.view;
    const Thing& thing = target.what();
    std::string declared(view.source(thing.whole));
    constexpr size_t kMaxText = 400;
    if (declared.size() > kMaxText || thing.whole.end <= thing.place.end) declared = thing.name;
    std::string text = code(view, declared) + "\n" + std::string(kind_text(thing.kind));
    if (!query.analysis || target.file.uri != query.document.uri()) return text + "\n";
    std::string graph;
    for (const Thing& other : view.names.things) {
        if (other.kind == NameKind::Graph && other.definition == thing.definition)
            graph = other.name;
    }
    auto type = graph.empty() ? std::nullopt : TensorTypes(*query.analysis, graph).find(thing.name);
    if (!type) type = expression_type(*query.analysis, here.place);
    if (type) text += fmt::format(", `{}`", *type);
    return text + "\n";
}

}  // namespace

Answer hover(const Query& query) {
    const auto view = query.view();
    const uint32_t offset = query.offset();
    const Occurrence* const here = view->names.at(offset);
    const auto target = here ? target_of(query, *here) : std::nullopt;
    if (!target) return Json();
    std::string text;
    if (target->thing < 0) {
        const std::string& first = *target->file.view->text;
        text = fmt::format("module `{}`\n", view->source(here->place));
        if (first.starts_with('#')) {
            size_t end = 0;
            while (end < first.size() && first[end] == '#')
                end = std::min(first.find('\n', end), first.size() - 1) + 1;
            text += "\n" + target->file.view->comment_above(static_cast<uint32_t>(end)) + "\n";
        }
    } else if (target->what().kind == NameKind::Operator ||
               target->what().kind == NameKind::Graph) {
        text = operator_text(query, *target, here->place.begin, here->declares);
    } else {
        text = thing_text(query, *target, *here);
    }
    return Json{{"contents", {{"kind", "markdown"}, {"value", text}}},
                {"range", range_json(query.document.lines(), here->place)}};
}

}  // namespace lemma::lsp
