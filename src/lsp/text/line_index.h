// SPDX-License-Identifier: Apache-2.0
// lsp/text/line_index.h — positions of the protocol (line, and units of the negotiated encoding) as
// byte offsets, and back. Lines end with LF, CR or CRLF.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lemma::lsp {

enum class Encoding : uint8_t { Utf8, Utf16, Utf32 };

struct Position {
    uint32_t line = 0;
    uint32_t character = 0;
    friend bool operator==(const Position&, const Position&) = default;
    friend auto operator<=>(const Position&, const Position&) = default;
};

struct TextSpan {
    uint32_t begin = 0;
    uint32_t end = 0;
};

class LineIndex {
public:
    // The text must outlive it. Its size is less than 4 GiB.
    LineIndex(std::string_view text, Encoding encoding);

    // A line after the last one means the end of the text, a character after the end of its line
    // the end of the line. A position inside of a character means its beginning.
    uint32_t offset(Position position) const;
    Position position(uint32_t offset) const;

    size_t line_count() const { return begins_.size(); }
    // Without its end.
    TextSpan line(uint32_t number) const;
    uint32_t line_of(uint32_t offset) const;

private:
    std::string_view text_;
    Encoding encoding_;
    std::vector<uint32_t> begins_;
};

// The length of a text in units of the encoding.
uint32_t units(std::string_view text, Encoding encoding);

}  // namespace lemma::lsp
