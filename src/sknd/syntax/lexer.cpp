// SPDX-License-Identifier: Apache-2.0
#include "sknd/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sknd/syntax/keywords.h"
#include "text/lexer.h"

namespace lemma::sknd {
namespace {

using text::CharClass;
using text::is_ascii;
using text::is_digit;
using text::is_line_end;
using text::is_space;
using text::is_word;

constexpr text::CharTable make_classes() {
    text::CharTable table = text::char_table("()[]{},;:.~?|+-*/\\%<>=!&^");
    text::set_class(table, "`", CharClass::Tick);
    text::set_class(table, "@", CharClass::At);
    return table;
}
constexpr text::CharTable kClasses = make_classes();
constexpr CharClass class_of(char c) { return kClasses[static_cast<uint8_t>(c)]; }

constexpr auto kSingleKinds = text::single_kinds<TokenKind>({{'(', TokenKind::LParen},
                                                             {')', TokenKind::RParen},
                                                             {'[', TokenKind::LBracket},
                                                             {']', TokenKind::RBracket},
                                                             {'{', TokenKind::LBrace},
                                                             {'}', TokenKind::RBrace},
                                                             {',', TokenKind::Comma},
                                                             {';', TokenKind::Semicolon},
                                                             {'~', TokenKind::Tilde},
                                                             {'/', TokenKind::Slash},
                                                             {'\\', TokenKind::Backslash},
                                                             {'%', TokenKind::Percent},
                                                             {'^', TokenKind::Caret}});

// The token of this character, if it does not depend on the next one; otherwise Bad.
TokenKind single_kind(char c) { return kSingleKinds[static_cast<uint8_t>(c)]; }

// Not a quote, escape or line end, and ASCII.
constexpr std::array<bool, 256> make_plain_in_string() {
    std::array<bool, 256> plain{};
    for (size_t c = 0; c < 0x80; ++c) plain[c] = true;
    for (const char c : {'"', '\'', '\\', '\r', '\n'}) plain[static_cast<uint8_t>(c)] = false;
    return plain;
}
constexpr std::array<bool, 256> kPlainInString = make_plain_in_string();
constexpr bool is_plain_in_string(char c) { return kPlainInString[static_cast<uint8_t>(c)]; }

// Eight at a time, because a third of a text is indentation.
uint32_t skip_blanks(const char* text, uint32_t offset, uint32_t end) {
    constexpr std::string_view kBlanks = "        ";
    while (offset + kBlanks.size() <= end &&
           std::memcmp(text + offset, kBlanks.data(), kBlanks.size()) == 0) {
        offset += static_cast<uint32_t>(kBlanks.size());
    }
    while (offset < end && is_space(text[offset])) ++offset;
    return offset;
}

class Lexer : text::Lexer<TokenKind> {
public:
    using text::Lexer<TokenKind>::Lexer;
    TokenList run(std::span<const TextRange> skipped);

private:
    void lex_until(uint32_t end);
    void lex_common(uint32_t end);
    [[gnu::noinline]] void lex_rare();
    [[gnu::noinline]] void lex_number();
    [[gnu::noinline]] void lex_string();
    [[gnu::noinline]] void lex_builtin();
    [[gnu::noinline]] void lex_block();
    [[gnu::noinline]] void lex_comment();
    [[gnu::noinline]] void lex_punctuation();
    void lex_less();
    void lex_greater();
    void bad_number();
    bool swallowed_next(uint32_t close, uint32_t line_end) const;
    void unclosed_string(uint32_t line_end, Span suspect);
    void check_encoding(uint32_t begin, uint32_t end, std::string_view where);

    Span first_long_string_;  // the opening quote of the first string that spans lines
};

TokenList Lexer::run(std::span<const TextRange> skipped) {
    size_t bytes = size() - pos_;
    for (const TextRange& range : skipped) bytes -= range.end - range.begin;
    list_.tokens.reserve(std::min<size_t>(bytes / 3 + 2, max_tokens_));
    skip_byte_order_mark();
    for (const TextRange& range : skipped) {
        lex_until(range.begin);
        line_start_ = true;
        pos_ = range.end;
    }
    lex_until(size());
    emit_end();
    return std::move(list_);
}

// Stops for good at the maximum number of tokens.
void Lexer::lex_until(uint32_t end) {
    while (pos_ < end) {
        lex_common(end);
        if (pos_ < end && list_.tokens.size() <= max_tokens_) lex_rare();
        if (list_.tokens.size() <= max_tokens_) continue;
        too_many_tokens().note("split the file into modules");
        pos_ = size();
        max_tokens_ = SIZE_MAX;  // once is enough
    }
}

// Lexes blanks, words and single-character punctuation, which are most of a text. The loop keeps
// its position in a local variable and stops at anything else.
void Lexer::lex_common(uint32_t end) {
    const char* const text = text_.data();
    const uint32_t size = this->size();
    uint32_t pos = pos_;
    bool line_start = line_start_;
    size_t left = max_tokens_ - list_.tokens.size();
    while (pos < end) {
        const uint32_t begin = pos++;
        const CharClass found = class_of(text[begin]);
        TokenKind kind = single_kind(text[begin]);
        if (found == CharClass::Space) {
            if (pos < size && is_space(text[pos])) pos = skip_blanks(text, pos, size);
            continue;
        }
        if (found == CharClass::LineEnd) {
            line_start = true;
            continue;
        }
        if (found == CharClass::Word) {
            while (pos < size && is_word(text[pos])) ++pos;
            kind = word_kind({text + begin, pos - begin});
        }
        if (kind == TokenKind::Bad) {
            pos = begin;
            break;
        }
        list_.tokens.push_back(
            {.kind = kind, .line_start = line_start, .begin = begin, .end = pos});
        line_start = false;
        if (left-- == 0) break;  // one more than allowed
    }
    pos_ = pos;
    line_start_ = line_start;
}

// A token, or text between tokens, that lex_common does not handle.
void Lexer::lex_rare() {
    switch (class_of(text_[pos_])) {
        case CharClass::Digit:
            return lex_number();
        case CharClass::Quote:
            return lex_string();
        case CharClass::Tick:
            return lex_builtin();
        case CharClass::At:
            return lex_block();
        case CharClass::Hash:
            return lex_comment();
        case CharClass::Punct:
            return lex_punctuation();
        case CharClass::Bad:
            lex_bad_run(kClasses);
            return;
        case CharClass::Space:
        case CharClass::LineEnd:
        case CharClass::Word:
            return;  // lex_common handles these
    }
}

// INTEGER ::= digit+
// REAL ::= digit+ "." digit* [exponent] | digit+ exponent
// exponent ::= ("e" | "E") ["+" | "-"] digit+
void Lexer::lex_number() {
    const uint32_t digits_end = skip(pos_, is_digit);
    if (at(digits_end) == '.' && at(digits_end + 1) == '.') {
        const std::string digits = shown(pos_, digits_end);
        diag_
            .error(span(pos_, digits_end + 1),
                   DiagKind::BadNumber,
                   fmt::format("`{}.` is a real number, which `.` cannot follow", digits))
            .note(fmt::format("insert a space: `{} ..(n)`", digits))
            .fix(span(digits_end, digits_end), " ");
        return emit(TokenKind::Integer, digits_end);
    }
    const auto [end, real] = number_at(pos_);
    if (is_word(at(end)) || (at(end) == '.' && at(end + 1) != '.')) return bad_number();
    emit(real ? TokenKind::Real : TokenKind::Integer, end);
    if (!real) check_integer(INT64_MAX);
}

void Lexer::bad_number() {
    uint32_t end = pos_;
    while (is_word(at(end)) || (at(end) == '.' && at(end + 1) != '.')) ++end;
    diag_.error(span(pos_, end),
                DiagKind::BadNumber,
                fmt::format("`{}` is not a number", shown(pos_, end)));
    emit(TokenKind::Bad, end);
}

// STRING ::= "'" character* "'" | '"' character* '"', where a backslash escapes the next character
void Lexer::lex_string() {
    const char quote = text_[pos_];
    bool& open = quote == '"' ? open_double_ : open_single_;
    bool ascii = true;
    uint32_t line_end = 0;  // of the first line
    uint32_t i = pos_ + 1;
    for (;; ++i) {
        i = skip(i, is_plain_in_string);
        if (i >= text_.size() || text_[i] == quote) break;
        if (!is_ascii(text_[i])) ascii = false;
        if (is_line_end(text_[i]) && line_end == 0) {
            line_end = i;
            if (open) break;
        }
        if (text_[i] == '\\') ++i;
    }
    if (line_end == 0) line_end = std::min(i, size());
    if (at(i) != quote) {
        open = true;
        return unclosed_string(line_end, first_long_string_);
    }
    if (swallowed_next(i, line_end)) return unclosed_string(line_end, Span{});
    if (line_end < i && !first_long_string_.valid()) first_long_string_ = span(pos_, pos_ + 1);
    if (!ascii) check_encoding(pos_, i, "this string");
    emit(TokenKind::String, i + 1);
}

// Whether a string of several lines ends right before a word or a quote. Its own closing quote is
// then missing, and the quote that seems to close it opens the next string.
bool Lexer::swallowed_next(uint32_t close, uint32_t line_end) const {
    const char behind = at(close + 1);
    return line_end < close && (is_word(behind) || class_of(behind) == CharClass::Quote);
}

void Lexer::unclosed_string(uint32_t line_end, Span suspect) {
    diag::Report report =
        diag_.error(span(pos_, pos_ + 1), DiagKind::UnclosedString, "this string is never closed");
    if (suspect.valid()) report.note(suspect, "or is the end of this string missing?");
    emit(TokenKind::Bad, line_end);
}

// BUILTIN ::= "`" IDENTIFIER "`"
void Lexer::lex_builtin() {
    const uint32_t end = skip(pos_ + 1, is_word);
    if (end > pos_ + 1 && at(end) == '`') return emit(TokenKind::Builtin, end + 1);
    diag_
        .error(
            span(pos_, end), DiagKind::BadCharacter, "expected a function name between back-ticks")
        .note("a built-in function is written `` `sin`(x) ``");
    emit(TokenKind::Bad, end);
}

// BLOCK ::= "@" IDENTIFIER
void Lexer::lex_block() {
    const uint32_t end = skip(pos_ + 1, is_word);
    if (end > pos_ + 1) return emit(TokenKind::Block, end);
    diag_.error(span(pos_, end), DiagKind::BadCharacter, "expected the name of a block behind `@`")
        .note("a block is written without a space: `@input`");
    emit(TokenKind::Bad, end);
}

void Lexer::lex_comment() {
    uint8_t bits = 0;
    const uint32_t end = skip(pos_, [&](char c) {
        if (is_line_end(c)) return false;
        bits |= static_cast<uint8_t>(c);
        return true;
    });
    if (!is_ascii(static_cast<char>(bits))) check_encoding(pos_, end, "this comment");
    add_comment(end);
}

void Lexer::check_encoding(uint32_t begin, uint32_t end, std::string_view where) {
    const Span byte = not_utf8(begin, end);
    if (byte.valid()) diag_.error(byte, DiagKind::BadEncoding, encoding_message(byte, where));
}

// Punctuation of one or more characters.
void Lexer::lex_punctuation() {
    switch (text_[pos_]) {
        case ':':
            return emit_pair('=', TokenKind::ColonAssign, TokenKind::Colon);
        case '?':
            return emit_pair('?', TokenKind::QuestionQuestion, TokenKind::Question);
        case '+':
            return emit_pair('=', TokenKind::PlusAssign, TokenKind::Plus);
        case '-':
            return emit_pair('>', TokenKind::Arrow, TokenKind::Minus);
        case '<':
            return lex_less();
        case '>':
            return lex_greater();
        case '.':
            if (next() == '.' && next(2) == '.') return emit(TokenKind::Ellipsis, pos_ + 3);
            return emit_pair('.', TokenKind::DotDot, TokenKind::Dot);
        case '|':
            if (next() == '=') return emit(TokenKind::OrAssign, pos_ + 2);
            return emit_pair('|', TokenKind::OrOr, TokenKind::Bar);
        case '*':
            if (next() == '=') return emit(TokenKind::StarAssign, pos_ + 2);
            return emit_pair('*', TokenKind::StarStar, TokenKind::Star);
        case '&':
            if (next() == '=') return emit(TokenKind::AndAssign, pos_ + 2);
            if (next() == '&') return emit(TokenKind::AndAnd, pos_ + 2);
            return lex_no_operator(1, "&&");
        case '=':
            if (next() == '=' && next(2) == '=') return lex_no_operator(3, "==");
            if (next() == '>') return emit(TokenKind::Implies, pos_ + 2);
            return emit_pair('=', TokenKind::EqualEqual, TokenKind::Assign);
        case '!':
            if (next() == '=' && next(2) == '=') return lex_no_operator(3, "!=");
            return emit_pair('=', TokenKind::NotEqual, TokenKind::Bang);
        default:
            lex_bad_run(kClasses);
    }
}

void Lexer::lex_less() {
    switch (next()) {
        case '?':
            if (next(2) == '=') return emit(TokenKind::MinAssign, pos_ + 3);
            return emit(TokenKind::Min, pos_ + 2);
        case '<':
            return emit(TokenKind::Min, pos_ + 2);
        case '=':
            return emit(TokenKind::LessEqual, pos_ + 2);
        case '-':
            return emit(TokenKind::Substitute, pos_ + 2);
        case '>':
            return emit(TokenKind::Remap, pos_ + 2);
        default:
            return emit(TokenKind::Less, pos_ + 1);
    }
}

void Lexer::lex_greater() {
    switch (next()) {
        case '?':
            if (next(2) == '=') return emit(TokenKind::MaxAssign, pos_ + 3);
            return emit(TokenKind::Max, pos_ + 2);
        case '>':
            return emit(TokenKind::Max, pos_ + 2);
        case '=':
            return emit(TokenKind::GreaterEqual, pos_ + 2);
        default:
            return emit(TokenKind::Greater, pos_ + 1);
    }
}

}  // namespace

TokenList lex(const diag::SourceMap& sources,
              diag::FileId file,
              Diagnostics& diag,
              size_t max_tokens,
              std::span<const TextRange> skipped) {
    const auto size = static_cast<uint32_t>(sources.text(file).size());
    return Lexer(sources, {file, 0, size}, max_tokens, diag).run(skipped);
}

TokenList lex_range(const diag::SourceMap& sources, Span range, Diagnostics& diag) {
    return Lexer(sources, range, SIZE_MAX, diag).run({});
}

}  // namespace lemma::sknd
