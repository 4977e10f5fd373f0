// nnef1/syntax/characters.h — what each byte may begin, for the lexer.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lemma::nnef1 {

enum class CharClass : uint8_t { Bad, Space, LineEnd, Word, Digit, Quote, Hash, Punct };

constexpr std::array<CharClass, 256> make_classes() {
    std::array<CharClass, 256> classes{};
    const auto set = [&](std::string_view characters, CharClass value) {
        for (const char c : characters) classes[static_cast<uint8_t>(c)] = value;
    };
    set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", CharClass::Word);
    set("0123456789", CharClass::Digit);
    set(" \t\v\f", CharClass::Space);
    set("\r\n", CharClass::LineEnd);
    set("'\"", CharClass::Quote);
    set("#", CharClass::Hash);
    set("()[]{},;:.?|+-*/<>=!&^", CharClass::Punct);
    return classes;
}
inline constexpr std::array<CharClass, 256> kClasses = make_classes();

constexpr CharClass class_of(char c) { return kClasses[static_cast<uint8_t>(c)]; }
constexpr bool is_digit(char c) { return class_of(c) == CharClass::Digit; }
constexpr bool is_word(char c) { return class_of(c) == CharClass::Word || is_digit(c); }
constexpr bool is_space(char c) { return class_of(c) == CharClass::Space; }
constexpr bool is_line_end(char c) { return class_of(c) == CharClass::LineEnd; }
constexpr bool is_printable(char c) { return c >= 0x20 && c < 0x7f; }
constexpr bool ends_comment(char c) { return is_line_end(c) || c == '\f'; }

constexpr bool is_identifier(std::string_view text) {
    if (text.empty() || is_digit(text[0])) return false;
    for (const char c : text) {
        if (!is_word(c)) return false;
    }
    return true;
}

}  // namespace lemma::nnef1
