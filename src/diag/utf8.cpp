// SPDX-License-Identifier: Apache-2.0
#include "diag/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"

namespace lemma::diag {
namespace {

struct CodeRange {
    char32_t first, last;
};

// Shown as escapes: control characters, and marks that change the direction or the lines of text.
constexpr std::array kUnsafe = {
    CodeRange{0x00, 0x1f},
    CodeRange{0x7f, 0x9f},
    CodeRange{0x61c, 0x61c},
    CodeRange{0x200b, 0x200f},
    CodeRange{0x2028, 0x202e},
    CodeRange{0x2060, 0x206f},
    CodeRange{0xfeff, 0xfeff},
    CodeRange{0xfff9, 0xfffb},
    CodeRange{0xe0000, 0xe007f},
};

constexpr std::array kCombining = {
    CodeRange{0x300, 0x36f},
    CodeRange{0x483, 0x489},
    CodeRange{0x1ab0, 0x1aff},
    CodeRange{0x1dc0, 0x1dff},
    CodeRange{0x20d0, 0x20ff},
    CodeRange{0xfe00, 0xfe0f},
    CodeRange{0xfe20, 0xfe2f},
};

// East Asian wide and full-width characters, and the emoji that terminals draw wide.
constexpr std::array kWide = {
    CodeRange{0x1100, 0x115f},
    CodeRange{0x2e80, 0x303e},
    CodeRange{0x3041, 0x33ff},
    CodeRange{0x3400, 0x4dbf},
    CodeRange{0x4e00, 0x9fff},
    CodeRange{0xa000, 0xa4cf},
    CodeRange{0xa960, 0xa97f},
    CodeRange{0xac00, 0xd7a3},
    CodeRange{0xf900, 0xfaff},
    CodeRange{0xfe30, 0xfe6f},
    CodeRange{0xff00, 0xff60},
    CodeRange{0xffe0, 0xffe6},
    CodeRange{0x1f300, 0x1f64f},
    CodeRange{0x1f680, 0x1f6ff},
    CodeRange{0x1f900, 0x1f9ff},
    CodeRange{0x20000, 0x3fffd},
};

template <size_t N>
bool in(const std::array<CodeRange, N>& ranges, char32_t code) {
    return std::any_of(ranges.begin(), ranges.end(), [code](CodeRange range) {
        return range.first <= code && code <= range.last;
    });
}

uint8_t byte_at(std::string_view text, size_t offset) { return static_cast<uint8_t>(text[offset]); }

bool is_continuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// The length of a character that begins with this byte; 0 if the byte cannot begin one.
uint8_t sequence_size(uint8_t lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead < 0xe0) return 2;
    if (lead >= 0xe0 && lead < 0xf0) return 3;
    if (lead >= 0xf0 && lead < 0xf5) return 4;
    return 0;
}

// An overlong encoding, a surrogate, or past the last code point.
bool is_malformed(char32_t code, uint8_t size) {
    if (size == 3) return code < 0x800 || (code >= 0xd800 && code <= 0xdfff);
    if (size == 4) return code < 0x10000 || code > 0x10ffff;
    return false;
}

// Whether eight bytes of ASCII follow. Most sources are ASCII, and lines may be very long.
bool is_ascii_word(std::string_view text, size_t offset) {
    uint64_t word;
    std::memcpy(&word, text.data() + offset, sizeof word);
    return (word & 0x8080808080808080u) == 0;
}

}  // namespace

Character character_at(std::string_view text, size_t offset) {
    LEMMA_CHECK(offset < text.size());
    const uint8_t lead = byte_at(text, offset);
    const Character invalid{.code = lead, .size = 1, .valid = false};
    const uint8_t size = sequence_size(lead);
    if (size == 1) return {.code = lead, .size = 1, .valid = true};
    if (size == 0 || text.size() - offset < size) return invalid;
    char32_t code = lead & (0x7fu >> size);
    for (uint8_t i = 1; i < size; ++i) {
        const uint8_t byte = byte_at(text, offset + i);
        if (!is_continuation(byte)) return invalid;
        code = (code << 6) | (byte & 0x3fu);
    }
    if (is_malformed(code, size)) return invalid;
    return {.code = code, .size = size, .valid = true};
}

Character character_before(std::string_view text, size_t offset) {
    LEMMA_CHECK(offset > 0 && offset <= text.size());
    for (size_t size = 1; size <= std::min<size_t>(4, offset); ++size) {
        const Character character = character_at(text.substr(0, offset), offset - size);
        if (character.valid && character.size == size) return character;
        if (!is_continuation(byte_at(text, offset - size))) break;
    }
    return {.code = byte_at(text, offset - 1), .size = 1, .valid = false};
}

Walk walk(std::string_view text, size_t from, size_t target) {
    LEMMA_CHECK(from <= target && target <= text.size());
    Walk walk{.offset = from, .characters = 0};
    while (walk.offset < target) {
        if (target - walk.offset >= 8 && is_ascii_word(text, walk.offset)) {
            walk.offset += 8;
            walk.characters += 8;
            continue;
        }
        const Character character = character_at(text, walk.offset);
        if (walk.offset + character.size > target) break;
        walk.offset += character.size;
        ++walk.characters;
    }
    return walk;
}

Glyph glyph(std::string_view text, size_t offset, Character character) {
    if (character.code == '\t') return {.text = "    ", .columns = 4};
    const auto code = static_cast<uint32_t>(character.code);
    std::string escape;
    if (!character.valid || code < 0x20 || code == 0x7f) {
        escape = fmt::format("<{:02x}>", code);
    } else if (in(kUnsafe, character.code)) {
        escape = fmt::format("<U+{:04X}>", code);
    }
    if (!escape.empty()) return {.text = escape, .columns = escape.size()};
    const std::string_view bytes = text.substr(offset, character.size);
    if (code < 0x80) return {.text = std::string(bytes), .columns = 1};
    const size_t columns = in(kWide, character.code) ? 2 : in(kCombining, character.code) ? 0 : 1;
    return {.text = std::string(bytes), .columns = columns};
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (size_t offset = 0; offset < text.size();) {
        const Character character = character_at(text, offset);
        out += glyph(text, offset, character).text;
        offset += character.size;
    }
    return out;
}

size_t printable_columns(std::string_view text) {
    size_t columns = 0;
    for (size_t offset = 0; offset < text.size();) {
        const Character character = character_at(text, offset);
        columns += glyph(text, offset, character).columns;
        offset += character.size;
    }
    return columns;
}

std::string shortened(std::string text, size_t max_bytes) {
    if (text.size() <= max_bytes) return text;
    // Step back, by at most three bytes, if the cut would split a character.
    size_t end = max_bytes;
    while (end > 0 && max_bytes - end < 3 && is_continuation(byte_at(text, end))) --end;
    text.resize(end);
    return text + "…";
}

}  // namespace lemma::diag
