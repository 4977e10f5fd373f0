// sknd/syntax/characters.h — what each byte may begin, for the lexer.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lemma::sknd {

enum class CharClass : uint8_t { Bad, Space, LineEnd, Word, Digit, Quote, Tick, At, Hash, Punct };

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
    set("`", CharClass::Tick);
    set("@", CharClass::At);
    set("#", CharClass::Hash);
    set("()[]{},;:.~?|+-*/\\%<>=!&^", CharClass::Punct);
    return classes;
}
inline constexpr std::array<CharClass, 256> kClasses = make_classes();

constexpr CharClass class_of(char c) { return kClasses[static_cast<uint8_t>(c)]; }
constexpr bool is_digit(char c) { return class_of(c) == CharClass::Digit; }
constexpr bool is_word(char c) {
    const CharClass found = class_of(c);
    return found == CharClass::Word || found == CharClass::Digit;
}
constexpr bool is_space(char c) { return class_of(c) == CharClass::Space; }
constexpr bool is_line_end(char c) { return class_of(c) == CharClass::LineEnd; }
constexpr bool is_ascii(char c) { return static_cast<uint8_t>(c) < 0x80; }
// Neither a quote nor an escape, a line end or beyond ASCII.
constexpr std::array<bool, 256> make_plain_in_string() {
    std::array<bool, 256> plain{};
    for (size_t c = 0; c < 0x80; ++c) plain[c] = true;
    for (const char c : {'"', '\'', '\\', '\r', '\n'}) plain[static_cast<uint8_t>(c)] = false;
    return plain;
}
inline constexpr std::array<bool, 256> kPlainInString = make_plain_in_string();
constexpr bool is_plain_in_string(char c) { return kPlainInString[static_cast<uint8_t>(c)]; }

}  // namespace lemma::sknd
