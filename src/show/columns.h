// SPDX-License-Identifier: Apache-2.0
// show/columns.h — text in columns as wide as their content, or as wide as a limit allows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::show {

enum class Align { Left, Right };
// Where a cell that is too long gets its `…`.
enum class Cut { Never, End, Middle };

struct Column {
    Column(Align side, Cut where = Cut::Never, size_t narrowest = 0)
        : align(side), cut(where), least(narrowest) {}

    Align align;
    Cut cut;
    size_t least;  // columns that are left of a cell that is cut
};

inline constexpr size_t kNoLimit = SIZE_MAX;

class Columns {
public:
    explicit Columns(std::vector<Column> columns) : columns_(std::move(columns)) {}

    // Missing cells are empty.
    void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), ""}); }
    // A line across all columns.
    void add_rule() { rows_.emplace_back(); }
    // A line of its own, which does not widen the columns.
    void add_line(std::string line) { rows_.push_back({{}, std::move(line)}); }
    void drop(size_t column);
    // Never cut this column any more.
    void keep(size_t column) { columns_[column].cut = Cut::Never; }

    // Drops the last of these columns as long as the table is too wide, even with cut columns.
    struct Optional {
        size_t first, count;
    };
    void narrow(Optional columns, size_t limit);

    // The width without a limit.
    size_t width() const;
    // The lines, without trailing spaces. No line is longer than the limit: the widest columns that
    // may be cut get narrower; if that is not enough, the line ends in `…`.
    std::string text(size_t limit = kNoLimit) const;

private:
    struct Row {
        std::vector<std::string> cells;
        std::string line;
    };
    std::vector<size_t> natural_widths() const;
    std::vector<size_t> fitted_widths(size_t limit) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

// The text as printable characters in at most this many columns, with `…` where it was cut.
std::string cut_text(std::string_view text, size_t columns, Cut cut = Cut::End);

}  // namespace lemma::show
