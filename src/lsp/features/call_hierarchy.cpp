// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "lsp/features/requests.h"
#include "lsp/features/target.h"
#include "lsp/text/uri.h"

namespace lemma::lsp {

namespace {

bool is_callable(const Thing& thing) {
    return thing.kind == NameKind::Operator || thing.kind == NameKind::Graph;
}

Json item(const Workspace& workspace, const ViewedFile& file, const Thing& thing) {
    constexpr int kFunction = 12;
    constexpr int kClass = 5;
    return {{"name", thing.name},
            {"kind", thing.kind == NameKind::Graph ? kClass : kFunction},
            {"detail", file.path.substr(file.path.rfind('/') + 1)},
            {"uri", file.uri},
            {"range", range_in(workspace, file, thing.whole)},
            {"selectionRange", range_in(workspace, file, thing.place)}};
}

// The operator or graph that contains a place.
int definition_thing(const View& view, uint32_t offset) {
    const int definition = view.definition_at(offset);
    for (size_t i = 0; i < view.names.things.size(); ++i) {
        const Thing& thing = view.names.things[i];
        if (is_callable(thing) && thing.definition == definition) return static_cast<int>(i);
    }
    return -1;
}

// The target of an item that the client gives back.
std::optional<Target> given_item(const Workspace& workspace, const Json& params, Views& views) {
    const Json& given = member(params, "item");
    const std::string uri = text_of(member(given, "uri"));
    const Document* const open = workspace.find(uri);
    const std::string path = open ? open->path() : path_of_uri(uri);
    auto view = open ? views.of(*open) : path.empty() ? nullptr : views.of_file(workspace, path);
    if (!view) return std::nullopt;
    const LineIndex lines(*view->text, workspace.encoding);
    const uint32_t offset = lines.offset(position_of(member_at(given, "selectionRange/start")));
    const int thing = definition_thing(*view, offset);
    if (thing < 0) return std::nullopt;
    return Target{{uri, path, std::move(view)}, thing};
}

class Calls {
public:
    Calls(const Workspace& workspace, const char* side) : workspace_(workspace), side_(side) {}

    void add(const Target& target, Json range) {
        const auto key = std::pair(target.file.uri, target.thing);
        auto found = calls_.find(key);
        if (found == calls_.end()) {
            Json call = {{side_, item(workspace_, target.file, target.what())},
                         {"fromRanges", Json::array()}};
            found = calls_.emplace(key, std::move(call)).first;
        }
        found->second["fromRanges"].push_back(std::move(range));
    }
    Json take() {
        Json list = Json::array();
        for (auto& [key, call] : calls_) list.push_back(std::move(call));
        return list;
    }

private:
    const Workspace& workspace_;
    const char* side_;
    std::map<std::pair<std::string, int>, Json> calls_;
};

}  // namespace

Answer prepare_call_hierarchy(const Query& query) {
    auto target = target_at(query);
    if (!target || target->thing < 0 || !is_callable(target->what())) {
        const ViewedFile file = file_of(query);
        const int thing = definition_thing(*file.view, query.offset());
        if (thing < 0) return Json();
        target = Target{file, thing};
    }
    if (target->file.uri.empty()) return Json();
    return Json::array({item(query.workspace, target->file, target->what())});
}

Answer incoming_calls(const Workspace& workspace, const Json& params, Views& views) {
    const auto target = given_item(workspace, params, views);
    if (!target) return Json::array();
    Calls calls(workspace, "from");
    for (const Use& use : uses_of(workspace, views, *target)) {
        if (use.place.declares) continue;
        const int caller = definition_thing(*use.file.view, use.place.place.begin);
        if (caller >= 0)
            calls.add({use.file, caller}, range_in(workspace, use.file, use.place.place));
    }
    return calls.take();
}

Answer outgoing_calls(const Workspace& workspace, const Json& params, Views& views) {
    const auto caller = given_item(workspace, params, views);
    if (!caller) return Json::array();
    const View& view = *caller->file.view;
    const TextSpan whole = caller->what().whole;
    Calls calls(workspace, "to");
    for (const Occurrence& occurrence : view.names.occurrences) {
        if (occurrence.place.begin < whole.begin || occurrence.place.end > whole.end) continue;
        std::optional<Target> target;
        if (occurrence.thing >= 0) {
            target = Target{caller->file, occurrence.thing};
        } else {
            const External& external =
                view.names.externals[static_cast<size_t>(occurrence.external)];
            if (external.op.empty() || !external.attribute.empty()) continue;
            target = external_target(workspace, views, caller->file.path, view.language, external);
        }
        if (!target || target->thing < 0 || occurrence.declares || target->file.uri.empty() ||
            !is_callable(target->what()))
            continue;
        calls.add(*target, range_in(workspace, caller->file, occurrence.place));
    }
    return calls.take();
}

}  // namespace lemma::lsp
