// SPDX-License-Identifier: Apache-2.0
#include "diag/excerpt.h"

#include <algorithm>

#include "diag/utf8.h"

namespace lemma::diag {
namespace {

constexpr size_t kMinColumns = 20;
constexpr std::string_view kCut = "…";  // takes one column

// The columns of a character; at least 1, so that a run of combining marks ends, too.
size_t cost(std::string_view line, size_t offset, Character character) {
    return std::max<size_t>(1, glyph(line, offset, character).columns);
}

}  // namespace

Excerpt::Excerpt(std::string_view line, Mark mark, size_t max_columns) : line_(line), mark_(mark) {
    mark_.begin = std::min(mark_.begin, line.size());
    mark_.end = std::clamp(mark_.end, mark_.begin, line.size());
    begin_ = end_ = mark_.begin;
    // Two columns for the ellipses at both cuts.
    size_t room = std::max(max_columns, kMinColumns) - 2;
    // The mark first (only the beginning of a long one), then equal parts left and right, then the
    // remaining columns on either side.
    room -= grow_right(mark_.end, room / 2);
    room -= grow_left(room / 2);
    room -= grow_right(line.size(), room);
    grow_left(room);
}

// Extends the excerpt to the right, up to `target`; returns the columns used.
size_t Excerpt::grow_right(size_t target, size_t columns) {
    size_t used = 0;
    while (end_ < target) {
        const Character next = character_at(line_, end_);
        const size_t needed = cost(line_, end_, next);
        if (used + needed > columns) break;
        used += needed;
        end_ += next.size;
    }
    return used;
}

// Extends the excerpt to the left; returns the columns used.
size_t Excerpt::grow_left(size_t columns) {
    size_t used = 0;
    while (begin_ > 0) {
        const Character next = character_before(line_, begin_);
        const size_t needed = cost(line_, begin_ - next.size, next);
        if (used + needed > columns) break;
        used += needed;
        begin_ -= next.size;
    }
    return used;
}

std::string Excerpt::text() const {
    std::string out;
    if (begin_ > 0) out += kCut;
    out += printable(line_.substr(begin_, end_ - begin_));
    if (end_ < line_.size()) out += kCut;
    return out;
}

size_t Excerpt::column(size_t offset) const {
    const size_t cut = begin_ > 0 ? 1 : 0;
    return cut + printable_columns(line_.substr(begin_, offset - begin_));
}

std::string Excerpt::caret() const {
    const size_t shown_end = std::max(std::min(mark_.end, end_), mark_.begin);
    const size_t columns = printable_columns(line_.substr(mark_.begin, shown_end - mark_.begin));
    return "^" + std::string(std::max<size_t>(1, columns) - 1, '~');
}

}  // namespace lemma::diag
