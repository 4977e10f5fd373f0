// SPDX-License-Identifier: Apache-2.0
#include "lsp/language/view.h"

#include <algorithm>

#include "nnef1/syntax/lexer.h"
#include "nnef1/syntax/parser.h"
#include "sknd/syntax/lexer.h"
#include "sknd/syntax/parser.h"

namespace lemma::lsp {

namespace {

TokenClass class_of(sknd::TokenKind kind) {
    using enum sknd::TokenKind;
    switch (kind) {
        case EndOfFile:
            return TokenClass::End;
        case Identifier:
            return TokenClass::Name;
        case Integer:
        case Real:
        case KwInf:
        case KwPi:
            return TokenClass::Number;
        case String:
            return TokenClass::String;
        case Block:
            return TokenClass::Block;
        case Builtin:
            return TokenClass::Builtin;
        case KwType:
        case KwArith:
        case KwNum:
        case KwInt:
        case KwReal:
        case KwBool:
        case KwStr:
            return TokenClass::Type;
        case Bad:
            return TokenClass::Punctuation;
        default:
            break;
    }
    if (sknd::is_keyword(kind)) return TokenClass::Keyword;
    return kind >= Tilde && kind != Question && kind != Bar ? TokenClass::Operator
                                                            : TokenClass::Punctuation;
}

TokenClass class_of(nnef1::TokenKind kind) {
    using enum nnef1::TokenKind;
    switch (kind) {
        case EndOfFile:
            return TokenClass::End;
        case Identifier:
        case QuotedIdentifier:
            return TokenClass::Name;
        case Integer:
        case Scalar:
            return TokenClass::Number;
        case String:
            return TokenClass::String;
        case KwTensor:
        case KwInteger:
        case KwScalar:
        case KwLogical:
        case KwString:
            return TokenClass::Type;
        case KwShapeOf:
        case KwLengthOf:
        case KwRangeOf:
            return TokenClass::Builtin;
        case Assign:
            return TokenClass::Operator;
        case Bad:
        case FreeText:
            return TokenClass::Punctuation;
        default:
            break;
    }
    if (nnef1::is_keyword(kind)) return TokenClass::Keyword;
    return kind >= Plus ? TokenClass::Operator : TokenClass::Punctuation;
}

template <class List>
std::vector<ViewToken> merged(const List& list) {
    std::vector<ViewToken> tokens;
    tokens.reserve(list.tokens.size() + list.comments.size());
    auto comment = list.comments.begin();
    for (const auto& token : list.tokens) {
        for (; comment != list.comments.end() && comment->begin < token.begin; ++comment)
            tokens.push_back({TokenClass::Comment, {comment->begin, comment->end}});
        tokens.push_back({class_of(token.kind), {token.begin, token.end}});
    }
    for (; comment != list.comments.end(); ++comment)
        tokens.insert(tokens.end() - 1, {TokenClass::Comment, {comment->begin, comment->end}});
    return tokens;
}

std::string_view first_word(const View& view) {
    for (const ViewToken& token : view.tokens) {
        if (token.kind != TokenClass::Comment) return view.source(token.place);
    }
    return "";
}

}  // namespace

std::shared_ptr<const View> make_view(SharedText text, Language language) {
    auto view = std::make_shared<View>();
    view->language = language;
    view->text = std::move(text);
    view->file = view->sources.add("text", *view->text);
    Diagnostics diag;
    if (language == Language::Nnef1) {
        view->tokens = merged(nnef1::lex(view->sources, view->file, nnef1::Dialect::Strict, diag));
        nnef1::ParseOptions options;
        if (first_word(*view) == "fragment") options.kind = nnef1::DocumentKind::Library;
        view->document = nnef1::parse_document(view->sources, view->file, options, diag);
        view->names = names_of(view->document);
    } else {
        view->tokens = merged(sknd::lex(view->sources, view->file, diag));
        view->module = sknd::parse_module(view->sources, view->file, {}, diag);
        view->names = names_of(view->module);
    }
    return view;
}

int View::definition_at(uint32_t offset) const {
    int found = -1;
    uint32_t begin = 0;
    for (const Thing& thing : names.things) {
        const bool callable = thing.kind == NameKind::Operator || thing.kind == NameKind::Graph;
        if (!callable || thing.whole.begin > offset || thing.whole.begin < begin) continue;
        found = thing.definition;
        begin = thing.whole.begin;
    }
    return found;
}

std::string View::comment_above(uint32_t offset) const {
    const auto next = std::ranges::lower_bound(
        tokens, offset, {}, [](const ViewToken& token) { return token.place.begin; });
    std::vector<std::string_view> lines;
    for (auto at = next; at != tokens.begin();) {
        --at;
        if (at->kind != TokenClass::Comment) break;
        const std::string_view between = source(TextSpan{at->place.end, offset});
        if (std::ranges::count(between, '\n') > 1) break;
        // A comment behind a statement is not about the next one.
        const bool behind =
            at != tokens.begin() &&
            source(TextSpan{std::prev(at)->place.end, at->place.begin}).find('\n') ==
                std::string_view::npos;
        if (behind && std::prev(at)->kind != TokenClass::Comment) break;
        std::string_view line = source(at->place);
        line.remove_prefix(std::min(line.find_first_not_of('#'), line.size()));
        if (line.starts_with(' ')) line.remove_prefix(1);
        lines.push_back(line.substr(0, line.find_last_not_of(" \t\r") + 1));
        offset = at->place.begin;
    }
    std::string comment;
    for (size_t i = lines.size(); i-- > 0;) {
        comment += lines[i];
        if (i > 0) comment += '\n';
    }
    return comment;
}

}  // namespace lemma::lsp
