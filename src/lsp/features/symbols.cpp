// SPDX-License-Identifier: Apache-2.0
// Outlines: symbols of a document and of the workspace, folding, and links of imports.
#include <algorithm>
#include <cctype>
#include <set>

#include "lsp/features/requests.h"
#include "lsp/features/target.h"

namespace lemma::lsp {

namespace {

// Kinds of symbols of the protocol.
enum SymbolKind : int {
    kMethod = 6,
    kProperty = 7,
    kFunction = 12,
    kVariable = 13,
    kConstant = 14,
    kClass = 5,
    kTypeParameter = 26,
};

int symbol_kind(NameKind kind) {
    switch (kind) {
        case NameKind::Graph:
            return kClass;
        case NameKind::Operator:
            return kFunction;
        case NameKind::Type:
            return kTypeParameter;
        case NameKind::Attribute:
            return kProperty;
        case NameKind::Constant:
        case NameKind::Helper:
        case NameKind::Extent:
            return kConstant;
        default:
            return kVariable;
    }
}

bool is_callable(const Thing& thing) {
    return thing.kind == NameKind::Operator || thing.kind == NameKind::Graph;
}

// Names that an outline shows: not indices and values of single statements.
bool in_outline(const Thing& thing) {
    switch (thing.kind) {
        case NameKind::LoopIndex:
        case NameKind::Local:
        case NameKind::Extent:
        case NameKind::Carried:
        case NameKind::ScanItem:
            return false;
        default:
            return true;
    }
}

Json symbol(const Thing& thing, const LineIndex& lines) {
    const TextSpan whole{std::min(thing.whole.begin, thing.place.begin),
                         std::max(thing.whole.end, thing.place.end)};
    return {{"name", thing.name},
            {"detail", kind_text(thing.kind)},
            {"kind", symbol_kind(thing.kind)},
            {"range", range_json(lines, whole)},
            {"selectionRange", range_json(lines, thing.place)}};
}

Json flat_symbol(const Thing& thing, const std::string& container, const Json& location) {
    Json item = {{"name", thing.name}, {"kind", symbol_kind(thing.kind)}, {"location", location}};
    if (!container.empty()) item["containerName"] = container;
    return item;
}

// Whether the characters of `wanted` appear in `name` in this order, in any case.
bool matches(std::string_view name, std::string_view wanted) {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    size_t next = 0;
    for (const char c : name) {
        if (next < wanted.size() && lower(c) == lower(wanted[next])) ++next;
    }
    return next == wanted.size();
}

}  // namespace

Answer document_symbols(const Query& query) {
    const auto view = query.view();
    const LineIndex& lines = query.document.lines();
    Json result = Json::array();
    for (const Thing& thing : view->names.things) {
        if (!is_callable(thing)) continue;
        if (!query.workspace.client.hierarchical_symbols) {
            result.push_back(
                flat_symbol(thing, "", location_json(query.document.uri(), lines, thing.whole)));
        }
        Json item = symbol(thing, lines);
        Json children = Json::array();
        for (const Thing* inner : view->names.of_definition(thing.definition)) {
            if (!in_outline(*inner)) continue;
            if (query.workspace.client.hierarchical_symbols)
                children.push_back(symbol(*inner, lines));
            else
                result.push_back(
                    flat_symbol(*inner,
                                std::string(thing.name),
                                location_json(query.document.uri(), lines, inner->place)));
        }
        if (!query.workspace.client.hierarchical_symbols) continue;
        item["children"] = std::move(children);
        result.push_back(std::move(item));
    }
    return result;
}

Answer workspace_symbols(const Workspace& workspace, const Json& params, Views& views) {
    constexpr size_t kMaxSymbols = 500;
    const std::string wanted = text_of(member(params, "query"));
    Json result = Json::array();
    std::set<std::string> paths;
    for (const std::string_view ending : {".sknd", ".nnef"}) {
        for (std::string& path : workspace.files(ending, "")) paths.insert(std::move(path));
    }
    for (const auto& [uri, document] : workspace.documents) {
        if (!document.path().empty() && document.language() != Language::None)
            paths.insert(document.path());
    }
    for (const std::string& path : paths) {
        auto view = views.of_file(workspace, path);
        if (!view) continue;
        const LineIndex lines(*view->text, workspace.encoding);
        const std::string uri = workspace.uri_of(path);
        for (const Thing& thing : view->names.things) {
            if (!is_callable(thing) || !matches(thing.name, wanted)) continue;
            result.push_back(flat_symbol(
                thing, path.substr(path.rfind('/') + 1), location_json(uri, lines, thing.place)));
            if (result.size() >= kMaxSymbols) return result;
        }
    }
    return result;
}

// Everything between braces on several lines, comments of several lines, and imports.
Answer folding_ranges(const Query& query) {
    const auto view = query.view();
    const LineIndex& lines = query.document.lines();
    Json result = Json::array();
    const auto add = [&](uint32_t first, uint32_t last, const char* kind) {
        if (last <= first) return;
        Json range = {{"startLine", first}, {"endLine", last}};
        if (kind) range["kind"] = kind;
        result.push_back(std::move(range));
    };
    std::vector<uint32_t> open;
    uint32_t before = 0;                                   // the line of the last token
    std::optional<std::pair<uint32_t, uint32_t>> comment;  // its lines so far
    for (const ViewToken& token : view->tokens) {
        const uint32_t line = lines.line_of(token.place.begin);
        if (token.kind == TokenClass::Comment) {
            const bool continues = comment && comment->second + 1 == line;
            if (comment && !continues) add(comment->first, comment->second, "comment");
            comment = continues ? std::pair(comment->first, line) : std::pair(line, line);
            continue;
        }
        if (comment) add(comment->first, comment->second, "comment");
        comment.reset();
        const std::string_view text = view->source(token.place);
        if (text == "{") open.push_back(std::min(before, line));  // the line of its heading
        if (text == "}" && !open.empty()) {
            add(open.back(), line == 0 ? 0 : line - 1, nullptr);
            open.pop_back();
        }
        before = line;
    }
    if (comment) add(comment->first, comment->second, "comment");
    const auto& imports = view->module.imports;
    if (!imports.empty()) {
        add(lines.line_of(imports.front().span.begin),
            lines.line_of(imports.back().span.end),
            "imports");
    }
    return result;
}

Answer document_links(const Query& query) {
    const auto view = query.view();
    Json result = Json::array();
    for (const sknd::Import& import : view->module.imports) {
        for (const sknd::QualifiedName& name : import.modules) {
            const auto files =
                query.views.module(query.workspace, query.document.path(), name.text());
            if (files.empty() || files[0].uri.empty()) continue;
            result.push_back(
                {{"range", range_json(query.document.lines(), {name.span.begin, name.span.end})},
                 {"target", files[0].uri}});
        }
    }
    return result;
}

}  // namespace lemma::lsp
