#include "nnef1/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "diag/utf8.h"
#include "nnef1/syntax/characters.h"

namespace lemma::nnef1 {
namespace {

constexpr size_t kMaxShownBytes = 40;  // of a word quoted in a message

constexpr std::array<TokenKind, 256> make_single_kinds() {
    std::array<TokenKind, 256> kinds{};
    kinds.fill(TokenKind::Bad);
    const auto set = [&](char c, TokenKind kind) { kinds[static_cast<uint8_t>(c)] = kind; };
    set('(', TokenKind::LParen);
    set(')', TokenKind::RParen);
    set('[', TokenKind::LBracket);
    set(']', TokenKind::RBracket);
    set('{', TokenKind::LBrace);
    set('}', TokenKind::RBrace);
    set(',', TokenKind::Comma);
    set(';', TokenKind::Semicolon);
    set(':', TokenKind::Colon);
    set('?', TokenKind::Question);
    set('+', TokenKind::Plus);
    set('^', TokenKind::Caret);
    return kinds;
}
constexpr std::array<TokenKind, 256> kSingleKinds = make_single_kinds();

// The token that this character is, whatever follows; Bad for all others.
TokenKind single_kind(char c) { return kSingleKinds[static_cast<uint8_t>(c)]; }

}  // namespace

class TokenStream::Lexer {
public:
    Lexer(const diag::SourceMap& sources,
          diag::FileId file,
          Dialect dialect,
          size_t max_tokens,
          Diagnostics& diag)
        : text_(sources.text(file)), dialect_(dialect), max_tokens_(max_tokens), diag_(diag) {
        list_.file = file;
        skip_byte_order_mark();
    }
    // Reads so many tokens, or all that are left.
    void read(size_t count);
    void drop(size_t count) {
        list_.tokens.erase(list_.tokens.begin(),
                           list_.tokens.begin() + static_cast<ptrdiff_t>(count));
        dropped_ += count;
    }
    TokenList& list() { return list_; }

private:
    void skip_byte_order_mark();
    // Blanks, words and brackets are lexed in one loop; what is rarer stays out of its way.
    void lex_token();
    void lex_word();
    [[gnu::noinline]] void lex_tract_word(uint32_t end);
    void lex_free_text();
    [[gnu::noinline]] void lex_number();
    void check_integer();
    void bad_number();
    [[gnu::noinline]] void lex_comment();
    [[gnu::noinline]] void lex_punctuation();
    void lex_foreign_comment();
    bool closes_type() const;
    void lex_bad_run();
    void lex_no_operator(uint32_t size, std::string_view instead);
    [[gnu::noinline]] void lex_string(TokenKind kind, uint32_t open);
    void unclosed_string(uint32_t open, uint32_t line_end);
    void check_escape(uint32_t backslash, char quote);
    void check_characters(uint32_t begin, uint32_t end);

    uint32_t size() const { return static_cast<uint32_t>(text_.size()); }
    char at(uint32_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
    char next(uint32_t ahead = 1) const { return at(pos_ + ahead); }
    template <class Predicate>
    uint32_t skip(uint32_t offset, Predicate belongs) const {
        const char* const text = text_.data();
        const uint32_t end = size();
        while (offset < end && belongs(text[offset])) ++offset;
        return offset;
    }
    Span span(uint32_t begin, uint32_t end) const { return {list_.file, begin, end}; }
    std::string shown(uint32_t begin, uint32_t end) const {
        return diag::shortened(diag::printable(text_.substr(begin, end - begin)), kMaxShownBytes);
    }
    TokenKind last_kind() const {
        return list_.tokens.empty() ? TokenKind::Semicolon : list_.tokens.back().kind;
    }
    // Closes the token that began at pos_.
    void emit(TokenKind kind, uint32_t end, bool escaped = false) {
        list_.tokens.push_back({.kind = kind,
                                .line_start = line_start_,
                                .escaped = escaped,
                                .begin = pos_,
                                .end = end});
        line_start_ = false;
        pos_ = end;
    }

    std::string_view text_;
    Dialect dialect_;
    uint32_t pos_ = 0;
    size_t dropped_ = 0;
    size_t max_tokens_;
    Diagnostics& diag_;
    TokenList list_;
    bool line_start_ = true;
    bool open_single_ = false;  // no ' closes a string from here to the end of the text
    bool open_double_ = false;  // the same for "
};

void TokenStream::Lexer::read(size_t count) {
    if (last_kind() == TokenKind::EndOfFile) return;
    const size_t size_before = list_.tokens.size();
    const size_t wanted = size_before + std::min(count, SIZE_MAX - size_before);
    // A token takes three bytes and more, but for the shortest texts.
    const size_t expected = size_before + std::min(count, (text_.size() - pos_) / 3) + 4;
    if (list_.tokens.capacity() < expected) {
        list_.tokens.reserve(std::max(expected, 2 * list_.tokens.capacity()));
    }
    while (pos_ < text_.size()) {
        if (list_.tokens.size() >= wanted) return;
        lex_token();
        if (dropped_ + list_.tokens.size() <= max_tokens_) continue;
        diag_.error(span(pos_, pos_),
                    DiagKind::TooLarge,
                    fmt::format("the file has more than {} tokens", max_tokens_));
        break;
    }
    pos_ = size();
    line_start_ = true;
    emit(TokenKind::EndOfFile, size());
}

void TokenStream::Lexer::skip_byte_order_mark() {
    if (!text_.starts_with("\xEF\xBB\xBF")) return;
    diag_.warning(span(0, 3), DiagKind::NonStandard, "the file begins with a byte order mark")
        .note("other tools refuse it: save the file as plain ASCII text");
    pos_ = 3;
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
        case CharClass::Bad:
            return lex_bad_run();
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

// Tract: `extension tract_assert S >= 0;` means what it wants to behind the name.
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
    uint32_t end = skip(pos_, is_digit);
    bool real = false;
    if (at(end) == '.') {
        real = true;
        end = skip(end + 1, is_digit);
    }
    if (at(end) == 'e' || at(end) == 'E') {
        const bool sign = at(end + 1) == '+' || at(end + 1) == '-';
        const uint32_t digits = end + 1 + (sign ? 1 : 0);
        if (is_digit(at(digits))) {
            real = true;
            end = skip(digits, is_digit);
        }
    }
    if (is_word(at(end)) || at(end) == '.') return bad_number();
    emit(real ? TokenKind::Scalar : TokenKind::Integer, end);
    if (!real) check_integer();
}

// Reports an integer, just emitted, that does not fit. The token stays: its place is right.
void TokenStream::Lexer::check_integer() {
    const Token& token = list_.tokens.back();
    if (token.end - token.begin <= 18) return;
    uint64_t value = 0;
    const char* end = text_.data() + token.end;
    const bool fits = std::from_chars(text_.data() + token.begin, end, value).ec == std::errc{};
    const size_t count = list_.tokens.size();
    const bool minus = count > 1 && list_.tokens[count - 2].kind == TokenKind::Minus;
    if (fits && value <= uint64_t{INT64_MAX} + (minus ? 1 : 0)) return;
    diag_.error(span(token.begin, token.end),
                DiagKind::IntRange,
                fmt::format("integer `{}` does not fit 64 bits", shown(token.begin, token.end)));
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
    for (uint32_t i = pos_; i < end; ++i) {
        if (static_cast<uint8_t>(text_[i]) < 0x80) continue;
        const diag::Character character = diag::character_at(text_, i);
        i += character.size - 1u;
        if (character.valid) continue;
        diag_.warning(span(i, i + 1),
                      DiagKind::BadEncoding,
                      fmt::format("byte 0x{:02x} in this comment is not UTF-8 text",
                                  static_cast<uint8_t>(text_[i])));
        break;
    }
    list_.comments.push_back({.begin = pos_, .end = end, .own_line = line_start_});
    pos_ = end;
    line_start_ = true;  // a form feed ends the comment, but not the line
}

// A run of bytes that begin no token: controls, NUL, anything beyond ASCII.
void TokenStream::Lexer::lex_bad_run() {
    const uint32_t end = skip(pos_, [](char c) { return class_of(c) == CharClass::Bad; });
    diag::Report report = diag_.error(span(pos_, end),
                                      DiagKind::BadCharacter,
                                      fmt::format("unexpected character `{}`", shown(pos_, end)));
    if (static_cast<uint8_t>(text_[pos_]) >= 0x80) {
        report.note("names are written in ASCII letters, digits and `_`");
    } else if (text_[pos_] == '%') {
        report.note("there is no remainder: `a - a / b * b` is it for integers");
    }
    emit(TokenKind::Bad, end);
}

// Something like an operator, of that many characters, that the language does not have.
void TokenStream::Lexer::lex_no_operator(uint32_t size, std::string_view instead) {
    diag_
        .error(span(pos_, pos_ + size),
               DiagKind::BadCharacter,
               fmt::format("`{}` is not an operator", text_.substr(pos_, size)))
        .did_you_mean(span(pos_, pos_ + size), instead);
    emit(TokenKind::Bad, pos_ + size);
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

// Whether a `>` here ends a type: `x: tensor<scalar>=1.0` has no `>=`, which no type can precede.
bool TokenStream::Lexer::closes_type() const {
    const TokenKind last = last_kind();
    return (last >= TokenKind::KwInteger && last <= TokenKind::KwString) ||
           last == TokenKind::Question || last == TokenKind::Less;
}

void TokenStream::Lexer::lex_punctuation() {
    // The token of two characters if the second one fits, else the one of the first.
    const auto pair = [&](char second, TokenKind two, TokenKind one) {
        next() == second ? emit(two, pos_ + 2) : emit(one, pos_ + 1);
    };
    const auto single = [&](TokenKind kind) { emit(kind, pos_ + 1); };
    switch (text_[pos_]) {
        case '*':
            return next() == '*' ? lex_no_operator(2, "^") : single(TokenKind::Star);
        case '/':
            if (next() == '/' || next() == '*') return lex_foreign_comment();
            return single(TokenKind::Slash);
        case '-':
            return pair('>', TokenKind::Arrow, TokenKind::Minus);
        case '<':
            return pair('=', TokenKind::LessEqual, TokenKind::Less);
        case '>':
            if (closes_type()) return single(TokenKind::Greater);
            return pair('=', TokenKind::GreaterEqual, TokenKind::Greater);
        case '=':
            return pair('=', TokenKind::EqualEqual, TokenKind::Assign);
        case '!':
            return pair('=', TokenKind::NotEqual, TokenKind::Bang);
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
            return lex_bad_run();
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

// What in a string is not printable ASCII: an error of the strict dialect; others warn.
void TokenStream::Lexer::check_characters(uint32_t begin, uint32_t end) {
    bool reported = false;
    for (uint32_t i = begin; i < end;) {
        const diag::Character character = diag::character_at(text_, i);
        const Span where = span(i, i + character.size);
        i = where.end;
        if (!character.valid) {
            diag_.error(where,
                        DiagKind::BadEncoding,
                        fmt::format("byte 0x{:02x} in this string is not UTF-8 text",
                                    static_cast<uint8_t>(text_[where.begin])));
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
