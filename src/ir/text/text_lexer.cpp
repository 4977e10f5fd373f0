#include "ir/text/text_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ir/text/text_words.h"

namespace lemma::ir {

namespace {

// Longer signs first.
constexpr std::array<std::string_view, 37> kSigns = {
    "**", "+=", "*=", "&=", "|=", ":=", "==", "!=", "<=", ">=", "<>", "&&", "||",
    "..", "+",  "-",  "*",  "/",  "\\", "%",  "<",  ">",  "!",  "^",  "?",  ":",
    "=",  "|",  "(",  ")",  "[",  "]",  "{",  "}",  ",",  ";",  "~"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

class Lexer {
public:
    Lexer(diag::FileId file, std::string_view text, Diagnostics& diag)
        : file_(file), text_(text), diag_(diag) {}

    std::vector<TextToken> run() {
        while (!failed_ && at_ < text_.size()) step();
        depth_ = 0;
        add(TextKind::Newline, text_.size());
        add(TextKind::End, text_.size());
        return std::move(tokens_);
    }

private:
    char peek(size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    void add(TextKind kind, size_t begin, std::string value = {}) {
        if (kind == TextKind::Newline && depth_ > 0) return;
        tokens_.push_back({kind,
                           static_cast<uint32_t>(begin),
                           static_cast<uint32_t>(at_),
                           text_.substr(begin, at_ - begin),
                           std::move(value)});
    }

    void fail(size_t begin, DiagKind kind, std::string message) {
        const auto end = static_cast<uint32_t>(std::min(at_ + 1, text_.size()));
        diag_.error({file_, static_cast<uint32_t>(begin), end}, kind, std::move(message));
        failed_ = true;
    }

    void step() {
        const size_t begin = at_;
        const char c = peek();
        if (c == '\n') {
            ++at_;
            add(TextKind::Newline, begin);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++at_;
        } else if (c == '#') {
            while (at_ < text_.size() && peek() != '\n') ++at_;
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
        const size_t begin = at_;
        while (is_letter(peek()) || is_digit(peek()) || (peek() == '.' && is_letter(peek(1))))
            ++at_;
        add(TextKind::Word, begin);
    }

    // digits ['.' digits] [('e' | 'E') ['+' | '-'] digits]
    void number() {
        const size_t begin = at_;
        bool real = false;
        const auto digits = [&] {
            while (is_digit(peek())) ++at_;
        };
        digits();
        if (peek() == '.' && is_digit(peek(1))) {
            real = true;
            ++at_;
            digits();
        }
        const size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
        if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
            real = true;
            at_ += sign;
            digits();
        }
        if (is_letter(peek())) return fail(begin, DiagKind::BadNumber, "a number with letters");
        add(real ? TextKind::Real : TextKind::Int, begin);
    }

    std::optional<std::string> string() {
        const size_t begin = at_++;
        std::string value;
        while (peek() != '"') {
            if (at_ >= text_.size() || peek() == '\n') {
                fail(begin, DiagKind::UnclosedString, "this string is not closed");
                return std::nullopt;
            }
            if (peek() != '\\') {
                value += text_[at_++];
            } else if (!escape(value)) {
                return std::nullopt;
            }
        }
        ++at_;
        return value;
    }

    bool escape(std::string& value) {
        const size_t begin = at_;
        const char c = peek(1);
        const int high = hex_digit(peek(2)), low = high < 0 ? -1 : hex_digit(peek(3));
        if (c == 'x' && low >= 0) {
            value += static_cast<char>(high * 16 + low);
            at_ += 4;
            return true;
        }
        if (c != 'n' && c != 't' && c != '"' && c != '\\') {
            fail(begin, DiagKind::BadEscape, "an unknown escape in a string");
            return false;
        }
        value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
        at_ += 2;
        return true;
    }

    // '%' (characters | string) ['~' digits]
    void tensor() {
        const size_t begin = at_++;
        std::string name;
        if (peek() == '"') {
            auto value = string();
            if (!value) return;
            name = std::move(*value);
        } else {
            while (is_tensor_char(peek())) name += text_[at_++];
        }
        if (peek() == '~' && is_digit(peek(1))) {
            ++at_;
            while (is_digit(peek())) ++at_;
        }
        add(TextKind::Tensor, begin, std::move(name));
    }

    void sign() {
        const size_t begin = at_;
        const std::string_view rest = text_.substr(at_);
        const auto sign =
            std::ranges::find_if(kSigns, [&](std::string_view s) { return rest.starts_with(s); });
        if (sign == kSigns.end())
            return fail(begin, DiagKind::BadCharacter, "a character that begins no token");
        at_ += sign->size();
        if (*sign == "(" || *sign == "[") ++depth_;
        if (*sign == ")" || *sign == "]") depth_ = std::max(depth_ - 1, 0);
        add(TextKind::Sign, begin);
    }

    const diag::FileId file_;
    const std::string_view text_;
    Diagnostics& diag_;
    std::vector<TextToken> tokens_;
    size_t at_ = 0;
    int depth_ = 0;
    bool failed_ = false;
};

}  // namespace

std::vector<TextToken> lex_text(diag::FileId file, std::string_view text, Diagnostics& diag) {
    return Lexer(file, text, diag).run();
}

}  // namespace lemma::ir
