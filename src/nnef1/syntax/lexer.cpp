// SPDX-License-Identifier: Apache-2.0
#include "nnef1/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "text/lexer.h"

namespace lemma::nnef1 {
namespace {

using text::CharClass;
using text::is_digit;
using text::is_line_end;
using text::is_printable;
using text::is_space;
using text::is_word;

constexpr text::CharTable kClasses = text::char_table("()[]{},;:.?|+-*/<>=!&^");
constexpr CharClass class_of(char c) { return kClasses[static_cast<uint8_t>(c)]; }
constexpr bool ends_comment(char c) { return is_line_end(c) || c == '\f'; }

constexpr auto kSingleKinds = text::single_kinds<TokenKind>({{'(', TokenKind::LParen},
                                                             {')', TokenKind::RParen},
                                                             {'[', TokenKind::LBracket},
                                                             {']', TokenKind::RBracket},
                                                             {'{', TokenKind::LBrace},
                                                             {'}', TokenKind::RBrace},
                                                             {',', TokenKind::Comma},
                                                             {';', TokenKind::Semicolon},
                                                             {':', TokenKind::Colon},
                                                             {'?', TokenKind::Question},
                                                             {'+', TokenKind::Plus},
                                                             {'^', TokenKind::Caret}});

// The token of this character, if it does not depend on the next one; otherwise Bad.
TokenKind single_kind(char c) { return kSingleKinds[static_cast<uint8_t>(c)]; }

}  // namespace

class TokenStream::Lexer : text::Lexer<TokenKind> {
public:
    Lexer(const diag::SourceMap& sources,
          diag::FileId file,
          Dialect dialect,
          size_t max_tokens,
          Diagnostics& diag)
        : text::Lexer<TokenKind>(sources,
                                 {file, 0, static_cast<uint32_t>(sources.text(file).size())},
                                 max_tokens,
                                 diag),
          dialect_(dialect) {
        if (!skip_byte_order_mark()) return;
        diag_.warning(span(0, 3), DiagKind::NonStandard, "the file begins with a byte order mark")
            .note("other tools refuse it: save the file as plain ASCII text");
    }
    // Reads this many tokens, or all remaining ones.
    void read(size_t count);
    void drop(size_t count) {
        list_.tokens.erase(list_.tokens.begin(),
                           list_.tokens.begin() + static_cast<ptrdiff_t>(count));
        dropped_ += count;
    }
    TokenList& list() { return list_; }

private:
    // One loop lexes blanks, words and brackets. Rarer tokens are handled outside of it.
    void lex_token();
    void lex_word();
    [[gnu::noinline]] void lex_tract_word(uint32_t end);
    void lex_free_text();
    [[gnu::noinline]] void lex_number();
    void bad_number();
    [[gnu::noinline]] void lex_comment();
    [[gnu::noinline]] void lex_punctuation();
    void lex_foreign_comment();
    bool closes_type() const;
    void lex_bad_character();
    [[gnu::noinline]] void lex_string(TokenKind kind, uint32_t open);
    void unclosed_string(uint32_t open, uint32_t line_end);
    void check_escape(uint32_t backslash, char quote);
    void check_characters(uint32_t begin, uint32_t end);

    TokenKind last_kind() const {
        return list_.tokens.empty() ? TokenKind::Semicolon : list_.tokens.back().kind;
    }

    Dialect dialect_;
    size_t dropped_ = 0;
};

void TokenStream::Lexer::read(size_t count) {
    if (last_kind() == TokenKind::EndOfFile) return;
    const size_t size_before = list_.tokens.size();
    const size_t wanted = size_before + std::min(count, SIZE_MAX - size_before);
    // A token takes three bytes or more, except in very short texts.
    const size_t expected = size_before + std::min(count, (text_.size() - pos_) / 3) + 4;
    if (list_.tokens.capacity() < expected) {
        list_.tokens.reserve(std::max(expected, 2 * list_.tokens.capacity()));
    }
    while (pos_ < text_.size()) {
        if (list_.tokens.size() >= wanted) return;
        lex_token();
        if (dropped_ + list_.tokens.size() <= max_tokens_) continue;
        too_many_tokens();
        break;
    }
    emit_end();
}

void TokenStream::Lexer::lex_token() {
    switch (class_of(text_[pos_])) {
        case CharClass::Space:
            pos_ = skip(pos_ + 1, is_space);
            return;
        case CharClass::LineEnd:
            line_start_ = true;
            ++pos_;
            return;
        case CharClass::Word:
            return lex_word();
        case CharClass::Digit:
            return lex_number();
        case CharClass::Quote:
            return lex_string(TokenKind::String, pos_);
        case CharClass::Hash:
            return lex_comment();
        case CharClass::Punct:
            if (const TokenKind kind = single_kind(text_[pos_]); kind != TokenKind::Bad) {
                return emit(kind, pos_ + 1);
            }
            return lex_punctuation();
        case CharClass::Tick:
        case CharClass::At:
        case CharClass::Bad:
            return lex_bad_character();
    }
}

void TokenStream::Lexer::lex_word() {
    const uint32_t end = skip(pos_ + 1, is_word);
    if (dialect_ == Dialect::Tract) return lex_tract_word(end);
    emit(word_kind({text_.data() + pos_, end - pos_}), end);
}

void TokenStream::Lexer::lex_tract_word(uint32_t end) {
    if (end == pos_ + 1 && text_[pos_] == 'i' && at(end) == '"') {
        return lex_string(TokenKind::QuotedIdentifier, end);
    }
    const std::string_view word = text_.substr(pos_, end - pos_);
    const bool free = last_kind() == TokenKind::KwExtension && !word.starts_with("KHR_");
    emit(word_kind(word), end);
    if (free) lex_free_text();
}

// Tract: text of any form may follow the name of an extension: `extension tract_assert S >= 0;`.
void TokenStream::Lexer::lex_free_text() {
    const auto blank = [](char c) {
        return class_of(c) == CharClass::Space || class_of(c) == CharClass::LineEnd;
    };
    pos_ = skip(pos_, blank);
    uint32_t end = skip(pos_, [](char c) { return c != ';' && c != '#'; });
    while (end > pos_ && blank(text_[end - 1])) --end;
    if (end > pos_) emit(TokenKind::FreeText, end);
}

// INTEGER ::= digit+
// SCALAR ::= digit+ "." digit* [exponent] | digit+ exponent
// exponent ::= ("e" | "E") ["+" | "-"] digit+
void TokenStream::Lexer::lex_number() {
    const bool minus = last_kind() == TokenKind::Minus;
    const auto [end, real] = number_at(pos_);
    if (is_word(at(end)) || at(end) == '.') return bad_number();
    emit(real ? TokenKind::Scalar : TokenKind::Integer, end);
    if (!real) check_integer(uint64_t{INT64_MAX} + (minus ? 1 : 0));
}

void TokenStream::Lexer::bad_number() {
    const uint32_t end = skip(pos_, [](char c) { return is_word(c) || c == '.'; });
    const bool version = last_kind() == TokenKind::KwVersion;
    diag::Report report = diag_.error(
        span(pos_, end),
        version ? DiagKind::BadVersion : DiagKind::BadNumber,
        fmt::format("`{}` is not a {}", shown(pos_, end), version ? "version" : "number"));
    if (version) {
        report.note("a version is two numbers with a dot between them: `version 1.0;`");
        const bool patch = text_.substr(pos_, end - pos_).starts_with("1.0.");
        if (patch) report.fix(span(pos_, end), "1.0");
    }
    emit(TokenKind::Bad, end);
}

void TokenStream::Lexer::lex_comment() {
    const uint32_t end = skip(pos_, [](char c) { return !ends_comment(c); });
    if (const Span byte = not_utf8(pos_, end); byte.valid()) {
        diag_.warning(byte, DiagKind::BadEncoding, encoding_message(byte, "this comment"));
    }
    add_comment(end);
    line_start_ = true;  // a form feed ends the comment, but not the line
}

void TokenStream::Lexer::lex_bad_character() {
    const bool percent = text_[pos_] == '%';
    auto report = lex_bad_run(kClasses);
    if (percent) report.note("there is no remainder: `a - a / b * b` is it for integers");
}

// `// …` and `/* …`, up to the end of the line.
void TokenStream::Lexer::lex_foreign_comment() {
    diag_
        .error(span(pos_, pos_ + 2),
               DiagKind::BadCharacter,
               fmt::format("`{}` does not begin a comment", text_.substr(pos_, 2)))
        .note("a comment begins with `#` and ends with the line");
    emit(TokenKind::Bad, skip(pos_, [](char c) { return !ends_comment(c); }));
}

// Whether a `>` here ends a type: `x: tensor<scalar>=1.0` has no `>=`, because `>=` cannot follow a
// type.
bool TokenStream::Lexer::closes_type() const {
    const TokenKind last = last_kind();
    return (last >= TokenKind::KwInteger && last <= TokenKind::KwString) ||
           last == TokenKind::Question || last == TokenKind::Less;
}

void TokenStream::Lexer::lex_punctuation() {
    const auto single = [&](TokenKind kind) { emit(kind, pos_ + 1); };
    switch (text_[pos_]) {
        case '*':
            return next() == '*' ? lex_no_operator(2, "^") : single(TokenKind::Star);
        case '/':
            if (next() == '/' || next() == '*') return lex_foreign_comment();
            return single(TokenKind::Slash);
        case '-':
            return emit_pair('>', TokenKind::Arrow, TokenKind::Minus);
        case '<':
            return emit_pair('=', TokenKind::LessEqual, TokenKind::Less);
        case '>':
            if (closes_type()) return single(TokenKind::Greater);
            return emit_pair('=', TokenKind::GreaterEqual, TokenKind::Greater);
        case '=':
            return emit_pair('=', TokenKind::EqualEqual, TokenKind::Assign);
        case '!':
            return emit_pair('=', TokenKind::NotEqual, TokenKind::Bang);
        case '&':
            return next() == '&' ? emit(TokenKind::AndAnd, pos_ + 2) : lex_no_operator(1, "&&");
        case '|':
            return next() == '|' ? emit(TokenKind::OrOr, pos_ + 2) : lex_no_operator(1, "||");
        case '.': {
            const uint32_t end = skip(pos_ + 1, [](char c) { return is_word(c) || c == '.'; });
            diag::Report report =
                diag_.error(span(pos_, end),
                            DiagKind::BadNumber,
                            fmt::format("`{}` is not a number", shown(pos_, end)));
            if (is_digit(next()))
                report.note("a digit stands before the point").fix(span(pos_, pos_), "0");
            return emit(TokenKind::Bad, end);
        }
        default:
            return lex_bad_character();
    }
}

// ---- Strings ----------------------------------------------------------------------------------

// STRING ::= "'" character* "'" | '"' character* '"'. Strict: printable ASCII, where a backslash
// escapes quotes and itself; Khronos: anything up to the quote; tract: a backslash escapes
// anything.
void TokenStream::Lexer::lex_string(TokenKind kind, uint32_t open) {
    const char quote = text_[open];
    bool& never_closed = quote == '"' ? open_double_ : open_single_;
    const bool one_line = dialect_ == Dialect::Strict;
    bool printable = true;
    bool escaped = false;
    uint32_t line_end = 0;  // of the first line
    uint32_t i = open + 1;
    for (; i < text_.size() && text_[i] != quote; ++i) {
        if (is_printable(text_[i]) && text_[i] != '\\') continue;
        if (is_line_end(text_[i]) && line_end == 0) {
            line_end = i;
            if (one_line || never_closed) break;
        }
        if (text_[i] != '\\') {
            printable = false;
        } else if (dialect_ != Dialect::Khronos) {
            escaped = true;
            if (!is_line_end(at(i + 1))) ++i;
        }
    }
    if (line_end == 0) line_end = std::min(i, size());
    if (at(i) != quote) {
        never_closed = !one_line;
        return unclosed_string(open, line_end);
    }
    if (escaped && dialect_ == Dialect::Strict) {
        for (uint32_t k = open + 1; k < i; ++k) {
            if (text_[k] == '\\') check_escape(k++, quote);
        }
    }
    if (!printable) check_characters(open + 1, i);
    emit(kind, i + 1, escaped);
}

void TokenStream::Lexer::unclosed_string(uint32_t open, uint32_t line_end) {
    auto report = diag_.error(span(open, open + 1),
                              DiagKind::UnclosedString,
                              dialect_ == Dialect::Strict ? "this string is not closed on its line"
                                                          : "this string is never closed");
    const char quote = text_[open];
    report.note(fmt::format("it begins with `{0}`, so it ends with `{0}`", quote));
    const char other = quote == '"' ? '\'' : '"';
    const size_t wrong = text_.substr(open, line_end - open).find(other);
    if (wrong != std::string_view::npos) {
        const auto place = open + static_cast<uint32_t>(wrong);
        report.fix(span(place, place + 1), std::string(1, quote));
    }
    emit(TokenKind::Bad, line_end);
}

void TokenStream::Lexer::check_escape(uint32_t backslash, char quote) {
    const char c = at(backslash + 1);
    if (c == quote || c == '\\') return;
    const uint32_t end =
        backslash + 1 + (c == '\0' ? 0u : diag::character_at(text_, backslash + 1).size);
    const std::string sequence = shown(backslash, end);
    diag::Report report = [&] {
        if (c != '\'' && c != '"') {
            return diag_.error(span(backslash, end),
                               DiagKind::BadEscape,
                               fmt::format("`{}` is not an escape sequence", sequence));
        }
        return diag_.warning(
            span(backslash, end),
            DiagKind::NonStandard,
            fmt::format("`{}` in a string between `{}` needs no backslash", sequence, quote));
    }();
    report.note(fmt::format("a backslash stands before `\\` and `{}` only", quote));
    const bool is_quote = c == '\'' || c == '"';
    is_quote ? report.fix(span(backslash, backslash + 1), "")
             : report.fix(span(backslash, backslash), "\\");
}

// Characters of a string that are not printable ASCII: an error in the strict dialect, otherwise a
// warning.
void TokenStream::Lexer::check_characters(uint32_t begin, uint32_t end) {
    bool reported = false;
    for (uint32_t i = begin; i < end;) {
        const diag::Character character = diag::character_at(text_, i);
        const Span where = span(i, i + character.size);
        i = where.end;
        if (!character.valid) {
            diag_.error(where, DiagKind::BadEncoding, encoding_message(where, "this string"));
            return;
        }
        if (is_printable(text_[where.begin]) || reported) continue;
        reported = true;
        std::string message = fmt::format("character `{}` in a string is not printable ASCII",
                                          shown(where.begin, where.end));
        dialect_ == Dialect::Strict
            ? diag_.error(where, DiagKind::BadCharacter, std::move(message))
            : diag_.warning(where, DiagKind::NonStandard, std::move(message));
    }
}

// ---- The stream -------------------------------------------------------------------------------

TokenStream::TokenStream(const diag::SourceMap& sources,
                         diag::FileId file,
                         Dialect dialect,
                         Diagnostics& diag,
                         size_t max_tokens)
    : lexer_(std::make_unique<Lexer>(sources, file, dialect, max_tokens, diag)) {}
TokenStream::~TokenStream() = default;

const std::vector<Token>& TokenStream::tokens() const { return lexer_->list().tokens; }
void TokenStream::read(size_t count) { lexer_->read(count); }
void TokenStream::drop(size_t count) { lexer_->drop(count); }
std::vector<Comment> TokenStream::take_comments() { return std::move(lexer_->list().comments); }

TokenList lex(const diag::SourceMap& sources,
              diag::FileId file,
              Dialect dialect,
              Diagnostics& diag,
              size_t max_tokens) {
    TokenStream::Lexer lexer(sources, file, dialect, max_tokens, diag);
    lexer.read(SIZE_MAX);
    return std::move(lexer.list());
}

}  // namespace lemma::nnef1
