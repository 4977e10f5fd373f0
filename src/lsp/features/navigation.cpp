// SPDX-License-Identifier: Apache-2.0
// Definition, references, highlights and rename.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lsp/features/requests.h"
#include "lsp/features/target.h"
#include "lsp/workspace/library_files.h"
#include "nnef1/syntax/tokens.h"
#include "sknd/syntax/keywords.h"

namespace lemma::lsp {

namespace {

bool is_name(const std::string& text, Language language) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    if (text.empty() || !is_letter(text[0])) return false;
    const bool plain =
        std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
    if (!plain) return false;
    return language == Language::Nnef1 ? nnef1::word_kind(text) == nnef1::TokenKind::Identifier
                                       : sknd::word_kind(text) == sknd::TokenKind::Identifier &&
                                             text != "is" && text != "in";
}

bool is_read_only(const ViewedFile& file) {
    return file.path.starts_with("stdlib/") || !library_name(file.path).empty();
}

// The problem with renaming this; empty if there is none.
std::string obstacle(const Target& target) {
    if (target.thing < 0) return "a module has the name of its file";
    if (is_read_only(target.file)) return "the standard library cannot be changed";
    return "";
}

}  // namespace

Answer definition(const Query& query) {
    const auto target = target_at(query);
    if (!target || target->file.uri.empty()) return Json();
    const TextSpan place = target->thing >= 0 ? target->what().place : TextSpan{};
    return location_in(query.workspace, target->file, place);
}

Answer references(const Query& query) {
    const auto target = target_at(query);
    if (!target || target->thing < 0) return Json::array();
    const bool with_declaration =
        bool_of(member_at(query.params, "context/includeDeclaration"), true);
    Json found = Json::array();
    for (const Use& use : uses_of(query.workspace, query.views, *target)) {
        if (use.place.declares && !with_declaration) continue;
        if (use.file.uri.empty()) continue;
        found.push_back(location_in(query.workspace, use.file, use.place.place));
    }
    return found;
}

Answer document_highlight(const Query& query) {
    const auto view = query.view();
    const Occurrence* const here = view->names.at(query.offset());
    Json found = Json::array();
    if (!here) return found;
    constexpr int kRead = 2;
    constexpr int kWrite = 3;
    for (const Occurrence& other : view->names.occurrences) {
        if (other.thing != here->thing || other.external != here->external) continue;
        found.push_back({{"range", range_json(query.document.lines(), other.place)},
                         {"kind", other.writes ? kWrite : kRead}});
    }
    return found;
}

Answer prepare_rename(const Query& query) {
    const auto view = query.view();
    const Occurrence* const here = view->names.at(query.offset());
    const auto target = here ? target_of(query, *here) : std::nullopt;
    if (!target) return Json();
    const std::string problem = obstacle(*target);
    if (!problem.empty()) return refused(kRequestFailed, problem);
    return Json{{"range", range_json(query.document.lines(), here->place)},
                {"placeholder", view->source(here->place)}};
}

Answer rename(const Query& query) {
    const std::string name = text_of(member(query.params, "newName"));
    if (!is_name(name, query.document.language()))
        return refused(kInvalidParams, fmt::format("`{}` is not a name", name));
    const auto target = target_at(query);
    if (!target) return Json();
    const std::string problem = obstacle(*target);
    if (!problem.empty()) return refused(kRequestFailed, problem);
    const Thing& thing = target->what();
    for (const Thing& other : target->file.view->names.things) {
        const bool near = other.definition == thing.definition ||
                          (thing.kind == NameKind::Operator && other.kind == NameKind::Operator);
        if (near && other.name == name && name != thing.name)
            return refused(kRequestFailed,
                           fmt::format("`{}` exists: {} {}",
                                       name,
                                       kind_text(other.kind) == "operator" ? "an" : "the",
                                       kind_text(other.kind)));
    }
    std::map<std::string, Json> edits;
    for (const Use& use : uses_of(query.workspace, query.views, *target)) {
        Json& list = edits.try_emplace(use.file.uri, Json::array()).first->second;
        list.push_back(
            {{"range", range_in(query.workspace, use.file, use.place.place)}, {"newText", name}});
    }
    return workspace_edit(query.workspace, edits);
}

}  // namespace lemma::lsp
