// diag/excerpt.h — the part of a source line that fits on the screen around a caret. Never looks at
// more of the line than it shows, however long the line is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lemma::diag {

// Byte offsets in a line; what is marked by the caret.
struct Mark {
    size_t begin = 0;
    size_t end = 0;
};

class Excerpt {
public:
    // Cuts the line so that the beginning of the mark is shown, and what is shown takes at most
    // `max_columns`.
    Excerpt(std::string_view line, Mark mark, size_t max_columns);

    // The line as shown, with `…` where it is cut; safe to print.
    std::string text() const;
    // Is this offset shown, or right behind what is shown?
    bool shows(size_t offset) const { return begin_ <= offset && offset <= end_; }
    // The columns that are shown left of an offset that is shown.
    size_t column(size_t offset) const;
    // Spaces and `^~~` under the mark, up to where the line is cut or ends.
    std::string indent() const { return std::string(column(mark_.begin), ' '); }
    std::string caret() const;

private:
    size_t grow_right(size_t target, size_t columns);
    size_t grow_left(size_t columns);

    std::string_view line_;
    Mark mark_;
    size_t begin_ = 0;  // of the part shown
    size_t end_ = 0;
};

}  // namespace lemma::diag
