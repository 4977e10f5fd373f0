// SPDX-License-Identifier: Apache-2.0
// diag/utf8.h — characters of arbitrary bytes: decoding that never fails, widths on a terminal, and
// text that is safe to print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lemma::diag {

struct Character {
    char32_t code = 0;  // the byte itself if not valid
    uint8_t size = 1;   // in bytes; 1 if not valid
    bool valid = true;  // false: this byte is not part of UTF-8 text
};

// The character that begins at `offset`, which must lie inside the text.
Character character_at(std::string_view text, size_t offset);
// The character that ends at `offset`, which must not be 0.
Character character_before(std::string_view text, size_t offset);

// A stretch of text walked from left to right, character by character.
struct Walk {
    size_t offset = 0;      // after the last character that ends at or before the target
    size_t characters = 0;  // number of characters passed; an invalid byte counts as one
};
Walk walk(std::string_view text, size_t from, size_t target);

// The printed form of a character: the character itself, four spaces for a tab, or a visible escape
// (`<1b>`, `<80>`, `<U+202E>`) for control characters and invalid bytes.
struct Glyph {
    std::string text;
    size_t columns = 1;  // 2 for wide East Asian characters, 0 for combining marks
};
Glyph glyph(std::string_view text, size_t offset, Character character);

// A whole text, safe to print on one line.
std::string printable(std::string_view text);
// The width of printable(text) in columns.
size_t printable_columns(std::string_view text);

// The text, or its beginning and `…` if it is longer than `max_bytes`; cuts between characters.
std::string shortened(std::string text, size_t max_bytes);

}  // namespace lemma::diag
