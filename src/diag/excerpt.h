// SPDX-License-Identifier: Apache-2.0
// diag/excerpt.h — the part of a source line that fits on the screen around a caret. It reads only
// the part that it shows, even in a very long line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lemma::diag {

// Byte offsets of the marked part of a line.
struct Mark {
    size_t begin = 0;
    size_t end = 0;
};

class Excerpt {
public:
    // Cuts the line to at most `max_columns`. The beginning of the mark stays visible.
    Excerpt(std::string_view line, Mark mark, size_t max_columns);

    // The line as shown, with `…` where it is cut; safe to print.
    std::string text() const;
    // Whether the offset is shown, or directly follows the shown part.
    bool shows(size_t offset) const { return begin_ <= offset && offset <= end_; }
    // The number of columns left of a shown offset.
    size_t column(size_t offset) const;
    // Spaces and `^~~` under the mark, up to where the line is cut or ends.
    std::string indent() const { return std::string(column(mark_.begin), ' '); }
    std::string caret() const;

private:
    size_t grow_right(size_t target, size_t columns);
    size_t grow_left(size_t columns);

    std::string_view line_;
    Mark mark_;
    size_t begin_ = 0;  // the shown part
    size_t end_ = 0;
};

}  // namespace lemma::diag
