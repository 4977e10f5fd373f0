// SPDX-License-Identifier: Apache-2.0
#include "lsp/features/target.h"

#include <algorithm>
#include <set>

#include "lsp/workspace/library_files.h"

namespace lemma::lsp {

namespace {

// `stdlib/…` for copies of standard modules.
std::string own_path(const std::string& path) {
    std::string name = library_name(path);
    return name.empty() ? path : name;
}

std::optional<int> parameter(const Names& names, int definition, const std::string& name) {
    for (size_t i = 0; i < names.things.size(); ++i) {
        const Thing& thing = names.things[i];
        const bool kind = thing.kind == NameKind::Attribute || thing.kind == NameKind::Input;
        if (kind && thing.definition == definition && thing.name == name)
            return static_cast<int>(i);
    }
    return std::nullopt;
}

std::optional<int> thing_of(const View& view, const External& external) {
    const auto op = view.names.operator_named(external.op);
    if (!op || external.attribute.empty()) return op;
    const int definition = view.names.things[static_cast<size_t>(*op)].definition;
    return parameter(view.names, definition, external.attribute);
}

bool can_be_external(const Thing& thing) {
    return thing.kind == NameKind::Operator || thing.kind == NameKind::Graph ||
           thing.kind == NameKind::Attribute;
}

// Names of the target in a file that imports its module.
void add_external_uses(const Workspace& workspace,
                       Views& views,
                       const ViewedFile& file,
                       const Target& target,
                       std::vector<Use>& uses) {
    const Names& names = file.view->names;
    const Thing& thing = target.what();
    const bool is_attribute = thing.kind == NameKind::Attribute;
    std::set<int> matching;
    for (size_t i = 0; i < names.externals.size(); ++i) {
        const External& external = names.externals[i];
        if ((is_attribute ? external.attribute : external.op) != thing.name) continue;
        if (is_attribute == external.attribute.empty()) continue;
        const auto found =
            external_target(workspace, views, file.path, file.view->language, external);
        if (found && own_path(found->file.path) == own_path(target.file.path) &&
            found->thing == target.thing)
            matching.insert(static_cast<int>(i));
    }
    for (const Occurrence& occurrence : names.occurrences) {
        if (matching.contains(occurrence.external)) uses.push_back({file, occurrence});
    }
}

}  // namespace

ViewedFile file_of(const Query& query) {
    return {query.document.uri(), query.document.path(), query.view()};
}

std::optional<Target> external_target(const Workspace& workspace,
                                      Views& views,
                                      const std::string& path,
                                      Language language,
                                      const External& external) {
    if (language == Language::Nnef1) {
        ViewedFile file = views.nnef1_standard();
        const auto thing = thing_of(*file.view, external);
        if (!thing) return std::nullopt;
        return Target{std::move(file), *thing};
    }
    for (ViewedFile& file : views.module(workspace, path, external.module)) {
        if (!file.view) continue;
        if (external.op.empty()) return Target{std::move(file), -1};
        const auto thing = thing_of(*file.view, external);
        if (thing) return Target{std::move(file), *thing};
    }
    return std::nullopt;
}

std::optional<Target> target_of(const Query& query, const Occurrence& occurrence) {
    const ViewedFile file = file_of(query);
    if (occurrence.thing >= 0) return Target{file, occurrence.thing};
    const External& external = file.view->names.externals[static_cast<size_t>(occurrence.external)];
    return external_target(
        query.workspace, query.views, file.path, query.document.language(), external);
}

std::optional<Target> target_at(const Query& query) {
    const auto view = query.view();
    const Occurrence* const occurrence = view->names.at(query.offset());
    if (!occurrence) return std::nullopt;
    return target_of(query, *occurrence);
}

std::vector<Use> uses_of(const Workspace& workspace, Views& views, const Target& target) {
    std::vector<Use> uses;
    for (const Occurrence& occurrence : target.file.view->names.occurrences) {
        if (target.thing >= 0 && occurrence.thing == target.thing)
            uses.push_back({target.file, occurrence});
    }
    const bool sknd = target.file.view->language == Language::SkriptND;
    const bool standard = own_path(target.file.path).starts_with("stdlib/");
    if (target.thing < 0 || !can_be_external(target.what()) || (!sknd && !standard)) return uses;
    const std::string_view ending = sknd ? ".sknd" : ".nnef";
    std::set<std::string> paths;
    const std::string folder =
        standard ? "" : target.file.path.substr(0, target.file.path.rfind('/'));
    for (std::string& path : workspace.files(ending, folder)) paths.insert(std::move(path));
    for (const auto& [uri, document] : workspace.documents) {
        if (document.path().ends_with(ending)) paths.insert(document.path());
    }
    for (const std::string& path : paths) {
        if (path == target.file.path) continue;
        auto view = views.of_file(workspace, path);
        if (!view) continue;
        const ViewedFile file{workspace.uri_of(path), path, std::move(view)};
        add_external_uses(workspace, views, file, target, uses);
    }
    // A text that is no file can only name operators of the standard library.
    for (const auto& [uri, document] : workspace.documents) {
        if (!document.path().empty() || document.language() == Language::None) continue;
        add_external_uses(workspace, views, {uri, "", views.of(document)}, target, uses);
    }
    return uses;
}

Json range_in(const Workspace& workspace, const ViewedFile& file, TextSpan place) {
    return range_json(LineIndex(*file.view->text, workspace.encoding), place);
}

Json location_in(const Workspace& workspace, const ViewedFile& file, TextSpan place) {
    return {{"uri", file.uri}, {"range", range_in(workspace, file, place)}};
}

}  // namespace lemma::lsp
