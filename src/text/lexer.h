// SPDX-License-Identifier: Apache-2.0
// text/lexer.h — shared by the lexers of all text formats: a position in the text, tokens and
// comments in order, and messages about text that begins no token. A lexer never fails: it reports
// text that cannot be a token, makes it Kind::Bad, and continues after it.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "diag/utf8.h"
#include "text/characters.h"
#include "text/tokens.h"

namespace lemma::text {

inline constexpr size_t kMaxShownBytes = 40;  // of the source, quoted in a message

// A position in a text, with lookahead.
class Scanner {
protected:
    Scanner(std::string_view text, Span range, Diagnostics& diag)
        : text_(text.substr(0, range.end)), file_(range.file), pos_(range.begin), diag_(diag) {}

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
    Span span(uint32_t begin, uint32_t end) const { return {file_, begin, end}; }
    std::string shown(uint32_t begin, uint32_t end) const {
        return diag::shortened(diag::printable(text_.substr(begin, end - begin)), kMaxShownBytes);
    }

    bool skip_byte_order_mark() {
        if (pos_ != 0 || !text_.starts_with("\xEF\xBB\xBF")) return false;
        pos_ = 3;
        return true;
    }
    struct Number {
        uint32_t end = 0;
        bool real = false;  // with a point or an exponent
    };
    // digit+ ["." digit*] [("e" | "E") ["+" | "-"] digit+]
    Number number_at(uint32_t begin) const;
    // The first byte of the range that is not valid UTF-8; an invalid span if there is none.
    Span not_utf8(uint32_t begin, uint32_t end) const;
    std::string encoding_message(Span byte, std::string_view where) const {
        return fmt::format("byte 0x{:02x} in {} is not UTF-8 text",
                           static_cast<uint8_t>(text_[byte.begin]),
                           where);
    }

    std::string_view text_;
    const diag::FileId file_;
    uint32_t pos_;
    Diagnostics& diag_;
};

// `Kind` has EndOfFile and Bad.
template <class Kind>
class Lexer : protected Scanner {
public:
    Lexer(const diag::SourceMap& sources, Span range, size_t max_tokens, Diagnostics& diag)
        : Scanner(sources.text(range.file), range, diag), max_tokens_(max_tokens) {
        list_.file = range.file;
    }

protected:
    // Closes the token that began at pos_.
    void emit(Kind kind, uint32_t end, bool escaped = false) {
        list_.tokens.push_back({.kind = kind,
                                .line_start = line_start_,
                                .escaped = escaped,
                                .begin = pos_,
                                .end = end});
        line_start_ = false;
        pos_ = end;
    }
    void emit_end() {
        pos_ = size();
        line_start_ = true;
        emit(Kind::EndOfFile, pos_);
    }
    // Emits the two-character token if the second character fits, else the one-character token.
    void emit_pair(char second, Kind two, Kind one) {
        const bool fits = next() == second;
        emit(fits ? two : one, pos_ + (fits ? 2 : 1));
    }
    void add_comment(uint32_t end) {
        list_.comments.push_back({.begin = pos_, .end = end, .own_line = line_start_});
        pos_ = end;
    }

    diag::Report too_many_tokens() {
        return diag_.error(span(pos_, pos_),
                           DiagKind::TooLarge,
                           fmt::format("the file has more than {} tokens", max_tokens_));
    }
    // A run of bytes that begin no token: controls, NUL, everything beyond ASCII.
    diag::Report lex_bad_run(const CharTable& classes) {
        const uint32_t begin = pos_;
        emit(Kind::Bad, skip(pos_, [&](char c) {
                 return classes[static_cast<uint8_t>(c)] == CharClass::Bad;
             }));
        diag::Report report =
            diag_.error(span(begin, pos_),
                        DiagKind::BadCharacter,
                        fmt::format("unexpected character `{}`", shown(begin, pos_)));
        if (!is_ascii(text_[begin])) {
            report.note("names are written in ASCII letters, digits and `_`");
        }
        return report;
    }
    // Text like an operator, of this many characters, that the language lacks.
    void lex_no_operator(uint32_t size, std::string_view instead) {
        const Span place = span(pos_, pos_ + size);
        diag_
            .error(place,
                   DiagKind::BadCharacter,
                   fmt::format("`{}` is not an operator", text_.substr(pos_, size)))
            .did_you_mean(place, instead);
        emit(Kind::Bad, pos_ + size);
    }
    // Reports the last token if it is an integer that does not fit. The token stays, for its place.
    void check_integer(uint64_t most) {
        const Token<Kind>& token = list_.tokens.back();
        if (token.end - token.begin <= 18) return;
        uint64_t value = 0;
        const char* const text = text_.data();
        const auto read = std::from_chars(text + token.begin, text + token.end, value);
        if (read.ec == std::errc{} && value <= most) return;
        diag_.error(
            span(token.begin, token.end),
            DiagKind::IntRange,
            fmt::format("integer `{}` does not fit 64 bits", shown(token.begin, token.end)));
    }

    size_t max_tokens_;
    TokenList<Kind> list_;
    bool line_start_ = true;
    bool open_single_ = false;  // no ' closes a string from here to the end of the text
    bool open_double_ = false;  // the same for "
};

// By character: its token, if that does not depend on the next character; Bad for all others.
template <class Kind>
using SingleKinds = std::array<Kind, 256>;
template <class Kind>
constexpr SingleKinds<Kind> single_kinds(std::initializer_list<std::pair<char, Kind>> characters) {
    SingleKinds<Kind> kinds{};
    kinds.fill(Kind::Bad);
    for (const auto& [c, kind] : characters) kinds[static_cast<uint8_t>(c)] = kind;
    return kinds;
}

}  // namespace lemma::text
