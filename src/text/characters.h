// SPDX-License-Identifier: Apache-2.0
// text/characters.h — the class of each byte, for the lexers of all text formats.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lemma::text {

// Tick and At begin tokens in SkriptND only.
enum class CharClass : uint8_t { Bad, Space, LineEnd, Word, Digit, Quote, Tick, At, Hash, Punct };
using CharTable = std::array<CharClass, 256>;

constexpr void set_class(CharTable& table, std::string_view characters, CharClass value) {
    for (const char c : characters) table[static_cast<uint8_t>(c)] = value;
}

// Letters, digits and blanks are common to all formats; operators and brackets are not.
constexpr CharTable char_table(std::string_view punctuation) {
    CharTable table{};
    set_class(table, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", CharClass::Word);
    set_class(table, "0123456789", CharClass::Digit);
    set_class(table, " \t\v\f", CharClass::Space);
    set_class(table, "\r\n", CharClass::LineEnd);
    set_class(table, "'\"", CharClass::Quote);
    set_class(table, "#", CharClass::Hash);
    set_class(table, punctuation, CharClass::Punct);
    return table;
}
inline constexpr CharTable kCommonClasses = char_table("");

constexpr CharClass common_class(char c) { return kCommonClasses[static_cast<uint8_t>(c)]; }
constexpr bool is_digit(char c) { return common_class(c) == CharClass::Digit; }
constexpr bool is_letter(char c) { return common_class(c) == CharClass::Word; }  // or `_`
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_space(char c) { return common_class(c) == CharClass::Space; }
constexpr bool is_line_end(char c) { return common_class(c) == CharClass::LineEnd; }
constexpr bool is_ascii(char c) { return static_cast<uint8_t>(c) < 0x80; }
constexpr bool is_printable(char c) { return c >= 0x20 && c < 0x7f; }

constexpr bool is_identifier(std::string_view text) {
    if (text.empty() || is_digit(text[0])) return false;
    for (const char c : text) {
        if (!is_word(c)) return false;
    }
    return true;
}

}  // namespace lemma::text
