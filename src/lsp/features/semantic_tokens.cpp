// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "lsp/features/requests.h"

namespace lemma::lsp {

namespace {

enum Kind : int {
    kNone = -1,
    kKeyword,
    kType,
    kNumber,
    kString,
    kComment,
    kOperator,
    kFunction,
    kNamespace,
    kProperty,
    kParameter,
    kVariable,
    kTypeParameter,
    kMacro,
    kClass,
};
constexpr const char* kKindNames[] = {"keyword",
                                      "type",
                                      "number",
                                      "string",
                                      "comment",
                                      "operator",
                                      "function",
                                      "namespace",
                                      "property",
                                      "parameter",
                                      "variable",
                                      "typeParameter",
                                      "macro",
                                      "class"};
enum Modifier : int { kDeclaration = 1, kReadonly = 2, kModification = 4, kDefaultLibrary = 8 };
constexpr const char* kModifierNames[] = {
    "declaration", "readonly", "modification", "defaultLibrary"};

int kind_of(NameKind kind) {
    switch (kind) {
        case NameKind::Operator:
            return kFunction;
        case NameKind::Graph:
            return kClass;
        case NameKind::Type:
            return kTypeParameter;
        case NameKind::Attribute:
            return kProperty;
        case NameKind::Input:
        case NameKind::Output:
            return kParameter;
        default:
            return kVariable;
    }
}

bool is_constant(NameKind kind) {
    return kind == NameKind::Constant || kind == NameKind::Helper || kind == NameKind::Extent;
}

int kind_of(TokenClass kind) {
    switch (kind) {
        case TokenClass::Keyword:
            return kKeyword;
        case TokenClass::Type:
            return kType;
        case TokenClass::Number:
            return kNumber;
        case TokenClass::String:
            return kString;
        case TokenClass::Comment:
            return kComment;
        case TokenClass::Operator:
            return kOperator;
        case TokenClass::Block:
            return kMacro;
        case TokenClass::Builtin:
            return kFunction;
        default:
            return kNone;
    }
}

struct Style {
    int kind = kNone;
    int modifiers = 0;
};

Style name_style(const Names& names, const Occurrence* occurrence) {
    if (!occurrence) return {};
    Style style;
    if (occurrence->thing >= 0) {
        const NameKind kind = names.things[static_cast<size_t>(occurrence->thing)].kind;
        style.kind = kind_of(kind);
        if (is_constant(kind)) style.modifiers |= kReadonly;
    } else {
        const External& external = names.externals[static_cast<size_t>(occurrence->external)];
        style.kind = external.op.empty()          ? kNamespace
                     : external.attribute.empty() ? kFunction
                                                  : kProperty;
        if (external.module.empty() && external.attribute.empty())
            style.modifiers |= kDefaultLibrary;
    }
    if (occurrence->declares) style.modifiers |= kDeclaration;
    if (occurrence->writes && !occurrence->declares) style.modifiers |= kModification;
    return style;
}

std::vector<uint32_t> tokens_in(const Query& query, TextSpan range) {
    const auto view = query.view();
    const LineIndex& lines = query.document.lines();
    const Encoding encoding = query.workspace.encoding;
    std::vector<uint32_t> data;
    Position last;
    for (const ViewToken& token : view->tokens) {
        if (token.place.end < range.begin) continue;
        if (token.place.begin > range.end || token.kind == TokenClass::End) break;
        Style style{kind_of(token.kind), 0};
        if (token.kind == TokenClass::Name || token.kind == TokenClass::Builtin) {
            const Occurrence* const found = view->names.at(token.place.end);
            const bool here = found && found->place.begin <= token.place.begin;
            const Style name = name_style(view->names, here ? found : nullptr);
            if (name.kind != kNone) style = name;
        }
        if (style.kind == kNone) continue;
        const Position begin = lines.position(token.place.begin);
        const bool same_line = begin.line == last.line;
        data.push_back(begin.line - last.line);
        data.push_back(same_line ? begin.character - last.character : begin.character);
        data.push_back(units(view->source(token.place), encoding));
        data.push_back(static_cast<uint32_t>(style.kind));
        data.push_back(static_cast<uint32_t>(style.modifiers));
        last = begin;
    }
    return data;
}

// One edit that makes the new numbers of the old ones; none if they are equal.
Json edits_between(const std::vector<uint32_t>& before, const std::vector<uint32_t>& after) {
    if (before == after) return Json::array();
    const auto [left, right] = std::ranges::mismatch(before, after);
    const auto begin = static_cast<size_t>(left - before.begin());
    const size_t most = std::min(before.size(), after.size()) - begin;
    size_t end = 0;
    while (end < most && before[before.size() - 1 - end] == after[after.size() - 1 - end]) ++end;
    const std::vector<uint32_t> data(right, after.end() - static_cast<std::ptrdiff_t>(end));
    return Json::array(
        {{{"start", begin}, {"deleteCount", before.size() - begin - end}, {"data", data}}});
}

}  // namespace

Json semantic_legend() { return {{"tokenTypes", kKindNames}, {"tokenModifiers", kModifierNames}}; }

const std::vector<uint32_t>* TokenResults::find(const std::string& uri,
                                                const std::string& id) const {
    const auto found = results_.find(uri);
    return found != results_.end() && found->second.id == id ? &found->second.data : nullptr;
}

std::string TokenResults::keep(const std::string& uri, std::vector<uint32_t> data) {
    if (results_.size() >= kMaxTexts && !results_.contains(uri)) results_.clear();
    Result& result = results_[uri];
    result = {std::to_string(next_++), std::move(data)};
    return result.id;
}

Answer semantic_tokens(const Query& query) {
    std::vector<uint32_t> data = tokens_in(query, {0, UINT32_MAX});
    Json answer = {{"data", data}};
    answer["resultId"] = query.tokens.keep(query.document.uri(), std::move(data));
    return answer;
}

// Answers with all tokens if the client has those of another text.
Answer semantic_tokens_delta(const Query& query) {
    const std::string& uri = query.document.uri();
    const auto* const before =
        query.tokens.find(uri, text_of(member(query.params, "previousResultId")));
    if (!before) return semantic_tokens(query);
    std::vector<uint32_t> data = tokens_in(query, {0, UINT32_MAX});
    Json answer = {{"edits", edits_between(*before, data)}};
    answer["resultId"] = query.tokens.keep(uri, std::move(data));
    return answer;
}

Answer semantic_tokens_range(const Query& query) {
    return Json{{"data", tokens_in(query, query.range())}};
}

}  // namespace lemma::lsp
