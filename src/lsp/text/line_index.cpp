// SPDX-License-Identifier: Apache-2.0
#include "lsp/text/line_index.h"

#include <algorithm>

#include "diag/utf8.h"

namespace lemma::lsp {

namespace {

uint32_t units_of(const diag::Character& character, Encoding encoding) {
    switch (encoding) {
        case Encoding::Utf8:
            return character.size;
        case Encoding::Utf16:
            return character.valid && character.code > 0xffff ? 2 : 1;
        case Encoding::Utf32:
            return 1;
    }
    return 1;
}

}  // namespace

LineIndex::LineIndex(std::string_view text, Encoding encoding) : text_(text), encoding_(encoding) {
    begins_.push_back(0);
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\n' && text[i] != '\r') continue;
        if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
        begins_.push_back(static_cast<uint32_t>(i + 1));
    }
}

TextSpan LineIndex::line(uint32_t number) const {
    const uint32_t begin = begins_[number];
    uint32_t end =
        number + 1 < begins_.size() ? begins_[number + 1] : static_cast<uint32_t>(text_.size());
    if (number + 1 < begins_.size()) {
        if (end > begin && text_[end - 1] == '\n') --end;
        if (end > begin && text_[end - 1] == '\r') --end;
    }
    return {begin, end};
}

uint32_t LineIndex::line_of(uint32_t offset) const {
    const auto next = std::ranges::upper_bound(begins_, offset);
    return static_cast<uint32_t>(next - begins_.begin()) - 1;
}

uint32_t LineIndex::offset(Position position) const {
    if (position.line >= begins_.size()) return static_cast<uint32_t>(text_.size());
    const TextSpan line = this->line(position.line);
    uint32_t at = line.begin;
    uint32_t left = position.character;
    while (at < line.end && left > 0) {
        const diag::Character character = diag::character_at(text_, at);
        const uint32_t count = units_of(character, encoding_);
        if (count > left) break;
        left -= count;
        at += character.size;
    }
    return at;
}

Position LineIndex::position(uint32_t offset) const {
    const uint32_t number = line_of(std::min(offset, static_cast<uint32_t>(text_.size())));
    const TextSpan line = this->line(number);
    const uint32_t end = std::min(offset, line.end);
    return {number, units(text_.substr(line.begin, end - line.begin), encoding_)};
}

uint32_t units(std::string_view text, Encoding encoding) {
    uint32_t count = 0;
    for (size_t at = 0; at < text.size();) {
        const diag::Character character = diag::character_at(text, at);
        count += units_of(character, encoding);
        at += character.size;
    }
    return count;
}

}  // namespace lemma::lsp
