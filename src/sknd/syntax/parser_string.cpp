// SPDX-License-Identifier: Apache-2.0
// String literals: joins neighbours, resolves escapes, parses formatted parts in place.
#include <algorithm>
#include <utility>

#include "diag/utf8.h"
#include "sknd/syntax/lexer.h"
#include "sknd/syntax/parser_impl.h"

namespace lemma::sknd {
namespace {

// Whether a character of a literal may have a special meaning.
bool is_special(char c) { return c == '\\' || c == '{' || c == '}' || c == '\r'; }

}  // namespace

// STRING+, joined to one literal
ExprId Parser::parse_string() {
    const uint32_t begin = peek().begin;
    const size_t first = cursor_.pos;
    StringLiteral literal;
    while (at(TokenKind::String) && !panic_) parse_literal(advance(), literal);
    // Only now, because formatted parts may contain other literals.
    literal.first_piece = static_cast<uint32_t>(module_.pieces.size());
    literal.piece_count = static_cast<uint32_t>(cursor_.pos - first);
    for (size_t i = first; i < cursor_.pos; ++i) {
        module_.pieces.push_back(text(cursor_.tokens[i]));
    }
    return add(span_from(begin), std::move(literal));
}

// STRING as a label: the text between the quotes, nothing formatted
std::string Parser::parse_label() {
    const Token token = advance();
    std::string label;
    for (uint32_t i = token.begin + 1; i + 1 < token.end; ++i) {
        if (text_[i] == '\\') {
            append_escape(++i, label);
        } else {
            label += text_[i];
        }
    }
    return label;
}

// Appends the text and the formatted expressions of one literal.
void Parser::parse_literal(const Token& literal, StringLiteral& result) {
    const uint32_t end = literal.end - 1;
    if (result.parts.empty()) {
        const auto formats = std::ranges::count(text(literal), '{');
        result.parts.reserve(2 * static_cast<size_t>(formats) + 1);
    }
    Run run;
    if (!result.parts.empty() && !result.parts.back().expr) {
        run.append(result.parts.back().text);
        result.parts.pop_back();
    }
    const auto flush = [&] {
        if (!run.empty()) result.parts.push_back({.text = take(run), .expr = {}});
    };
    for (uint32_t i = literal.begin + 1; i < end; ++i) {
        const uint32_t plain = i;
        while (i < end && !is_special(text_[i])) ++i;
        run.append(text_.substr(plain, i - plain));
        if (i == end) break;
        switch (text_[i]) {
            case '\\':
                append_escape(++i, run.made());
                break;
            case '{':
                flush();
                i = parse_format(i, end, result);
                break;
            case '}':
                report({module_.file, i, i + 1}, DiagKind::BadFormat, "`}` without `{`")
                    .note("a brace that is text is written `\\}`")
                    .fix({module_.file, i, i}, "\\");
                break;
            case '\r':  // a line end is one character in every file
                run.made() += '\n';
                if (text_[i + 1] == '\n') ++i;
                break;
        }
    }
    flush();
}

// The text so far. The module keeps it if the source does not contain it. `run` is empty
// afterwards.
std::string_view Parser::take(Run& run) {
    const Run taken = std::exchange(run, {});
    if (!taken.copied) return taken.plain;
    module_.made_texts.push_back(std::make_shared<const std::string>(taken.copy));
    return *module_.made_texts.back();
}

// Appends the character of an escape sequence.
void Parser::append_escape(uint32_t offset, std::string& result) {
    const char c = text_[offset];
    switch (c) {
        case 'n':
            result += '\n';
            return;
        case 't':
            result += '\t';
            return;
        case '\\':
        case '\'':
        case '"':
        case '{':
        case '}':
            result += c;
            return;
        default: {
            const uint32_t end = offset + diag::character_at(text_, offset).size;
            const std::string_view character = text_.substr(offset, end - offset);
            report({module_.file, offset - 1, end},
                   DiagKind::BadEscape,
                   fmt::format("unknown escape `\\{}`", diag::printable(character)))
                .note("known are `\\\\`, `\\'`, `\\\"`, `\\{`, `\\}`, `\\n` and `\\t`")
                .fix({module_.file, offset, offset}, "\\");
            result += c;
        }
    }
}

// "{" rvalue-expr "}" inside a literal that ends at `end`; returns the place of the last brace.
uint32_t Parser::parse_format(uint32_t open, uint32_t end, StringLiteral& result) {
    const uint32_t close = format_end(open, end);
    if (close == end) {
        report({module_.file, open, open + 1}, DiagKind::BadFormat, "`{` is not closed by `}`")
            .note("a brace that is text is written `\\{`")
            .fix({module_.file, open, open}, "\\");
        return end;
    }
    const Span inside = {module_.file, open + 1, close};
    if (sources_.text(inside).find_first_not_of(" \t\r\n") == std::string_view::npos) {
        report({module_.file, open, close + 1}, DiagKind::BadFormat, "nothing stands in `{}`")
            .note("braces that are text are written `\\{\\}`");
        return close;
    }
    result.parts.push_back({.text = "", .expr = parse_format_expr(inside)});
    return close;
}

// The brace that matches the one at `open`, or `end`. Braces nest; quotes hide them.
uint32_t Parser::format_end(uint32_t open, uint32_t end) const {
    int depth = 0;
    char quote = '\0';
    for (uint32_t i = open; i < end; ++i) {
        const char c = text_[i];
        if (quote != '\0') {
            if (c == quote) quote = '\0';
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '{') {
            ++depth;
        } else if (c == '}' && --depth == 0) {
            return i;
        }
    }
    return end;
}

// Parses the expression in place, with its own tokens.
ExprId Parser::parse_format_expr(Span range) {
    const TokenList list = lex_range(sources_, range, diag_);
    const Token before = {.begin = range.begin, .end = range.begin};
    const Cursor outer = std::exchange(cursor_,
                                       {.tokens = list.tokens.data(),
                                        .last = list.tokens.size() - 1,
                                        .pos = 0,
                                        .previous = before});
    const bool outer_format = std::exchange(in_format_, true);
    const ExprId expr = parse_expr();
    if (!at(TokenKind::EndOfFile) && !panic_ && !fail_misplaced()) fail_expected("`}`");
    cursor_ = outer;
    in_format_ = outer_format;
    panic_ = fatal_;
    return expr;
}

}  // namespace lemma::sknd
