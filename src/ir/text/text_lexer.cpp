// SPDX-License-Identifier: Apache-2.0
#include "ir/text/text_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ir/text/text_words.h"
#include "text/lexer.h"

namespace lemma::ir {

namespace {

// Longer signs first.
constexpr std::array<std::string_view, 37> kSigns = {
    "**", "+=", "*=", "&=", "|=", ":=", "==", "!=", "<=", ">=", "<>", "&&", "||",
    "..", "+",  "-",  "*",  "/",  "\\", "%",  "<",  ">",  "!",  "^",  "?",  ":",
    "=",  "|",  "(",  ")",  "[",  "]",  "{",  "}",  ",",  ";",  "~"};

using text::is_digit;
using text::is_letter;

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

class Lexer : text::Scanner {
public:
    Lexer(diag::FileId file, std::string_view text, Diagnostics& diag)
        : Scanner(text, {file, 0, static_cast<uint32_t>(text.size())}, diag) {}

    std::vector<TextToken> run() {
        while (!failed_ && pos_ < size()) step();
        depth_ = 0;
        add(TextKind::Newline, size());
        add(TextKind::End, size());
        return std::move(tokens_);
    }

private:
    char peek(uint32_t ahead = 0) const { return next(ahead); }

    void add(TextKind kind, uint32_t begin, std::string value = {}) {
        if (kind == TextKind::Newline && depth_ > 0) return;
        tokens_.push_back({kind, begin, pos_, text_.substr(begin, pos_ - begin), std::move(value)});
    }

    void fail(uint32_t begin, DiagKind kind, std::string message) {
        diag_.error(span(begin, std::min(pos_ + 1, size())), kind, std::move(message));
        failed_ = true;
    }

    void step() {
        const uint32_t begin = pos_;
        const char c = peek();
        if (c == '\n') {
            ++pos_;
            add(TextKind::Newline, begin);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++pos_;
        } else if (c == '#') {
            while (pos_ < size() && peek() != '\n') ++pos_;
        } else if (is_letter(c)) {
            word();
        } else if (is_digit(c)) {
            number();
        } else if (c == '"') {
            if (auto value = string()) add(TextKind::String, begin, std::move(*value));
        } else if (c == '%' && (is_tensor_char(peek(1)) || peek(1) == '"')) {
            tensor();
        } else {
            sign();
        }
    }

    void word() {
        const uint32_t begin = pos_;
        while (is_letter(peek()) || is_digit(peek()) || (peek() == '.' && is_letter(peek(1))))
            ++pos_;
        add(TextKind::Word, begin);
    }

    // digits ['.' digits] [('e' | 'E') ['+' | '-'] digits]
    void number() {
        const uint32_t begin = pos_;
        bool real = false;
        const auto digits = [&] {
            while (is_digit(peek())) ++pos_;
        };
        digits();
        if (peek() == '.' && is_digit(peek(1))) {
            real = true;
            ++pos_;
            digits();
        }
        const uint32_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
        if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
            real = true;
            pos_ += sign;
            digits();
        }
        if (is_letter(peek())) return fail(begin, DiagKind::BadNumber, "a number with letters");
        add(real ? TextKind::Real : TextKind::Int, begin);
    }

    std::optional<std::string> string() {
        const uint32_t begin = pos_++;
        std::string value;
        while (peek() != '"') {
            if (pos_ >= size() || peek() == '\n') {
                fail(begin, DiagKind::UnclosedString, "this string is not closed");
                return std::nullopt;
            }
            if (peek() != '\\') {
                value += text_[pos_++];
            } else if (!escape(value)) {
                return std::nullopt;
            }
        }
        ++pos_;
        return value;
    }

    bool escape(std::string& value) {
        const uint32_t begin = pos_;
        const char c = peek(1);
        const int high = hex_digit(peek(2)), low = high < 0 ? -1 : hex_digit(peek(3));
        if (c == 'x' && low >= 0) {
            value += static_cast<char>(high * 16 + low);
            pos_ += 4;
            return true;
        }
        if (c != 'n' && c != 't' && c != '"' && c != '\\') {
            fail(begin, DiagKind::BadEscape, "an unknown escape in a string");
            return false;
        }
        value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
        pos_ += 2;
        return true;
    }

    // '%' (characters | string) ['~' digits]
    void tensor() {
        const uint32_t begin = pos_++;
        std::string name;
        if (peek() == '"') {
            auto value = string();
            if (!value) return;
            name = std::move(*value);
        } else {
            while (is_tensor_char(peek())) name += text_[pos_++];
        }
        if (peek() == '~' && is_digit(peek(1))) {
            ++pos_;
            while (is_digit(peek())) ++pos_;
        }
        add(TextKind::Tensor, begin, std::move(name));
    }

    void sign() {
        const uint32_t begin = pos_;
        const std::string_view rest = text_.substr(pos_);
        const auto sign =
            std::ranges::find_if(kSigns, [&](std::string_view s) { return rest.starts_with(s); });
        if (sign == kSigns.end())
            return fail(begin, DiagKind::BadCharacter, "a character that begins no token");
        pos_ += static_cast<uint32_t>(sign->size());
        if (*sign == "(" || *sign == "[") ++depth_;
        if (*sign == ")" || *sign == "]") depth_ = std::max(depth_ - 1, 0);
        add(TextKind::Sign, begin);
    }

    std::vector<TextToken> tokens_;
    int depth_ = 0;
    bool failed_ = false;
};

}  // namespace

std::vector<TextToken> lex_text(diag::FileId file, std::string_view text, Diagnostics& diag) {
    return Lexer(file, text, diag).run();
}

}  // namespace lemma::ir
