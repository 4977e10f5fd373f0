// SPDX-License-Identifier: Apache-2.0
#include "show/columns.h"

#include <algorithm>
#include <numeric>

#include "diag/utf8.h"

namespace lemma::show {

namespace {

constexpr size_t kGap = 2;  // spaces between columns
constexpr const char* kDots = "…";

std::string rule(size_t columns) {
    std::string line;
    for (size_t i = 0; i < columns; ++i) line += "─";
    return line + "\n";
}

// The characters from the left, or from the right, that fit into the columns.
std::string fitting(std::string_view text, size_t columns, bool from_right) {
    const size_t most_bytes = 64 + 8 * columns;  // marks without a width could be endless
    std::string result;
    size_t begin = 0, end = text.size();
    while (begin < end && result.size() < most_bytes) {
        const diag::Character character =
            from_right ? diag::character_before(text, end) : diag::character_at(text, begin);
        const size_t offset = from_right ? end - character.size : begin;
        const diag::Glyph glyph = diag::glyph(text, offset, character);
        if (glyph.columns > columns) break;
        columns -= glyph.columns;
        if (from_right) {
            result.insert(0, glyph.text);
            end = offset;
        } else {
            result += glyph.text;
            begin += character.size;
        }
    }
    return result;
}

size_t total_width(const std::vector<size_t>& widths) {
    const size_t gaps = widths.empty() ? 0 : kGap * (widths.size() - 1);
    return std::accumulate(widths.begin(), widths.end(), gaps);
}

}  // namespace

std::string cut_text(std::string_view text, size_t columns, Cut cut) {
    if (diag::printable_columns(text) <= columns) return diag::printable(text);
    if (columns == 0) return "";
    const size_t right = cut == Cut::Middle ? (columns - 1) / 2 : 0;
    return fitting(text, columns - 1 - right, false) + kDots + fitting(text, right, true);
}

void Columns::drop(size_t column) {
    columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(column));
    for (Row& row : rows_) {
        if (row.cells.size() > column)
            row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(column));
    }
}

std::vector<size_t> Columns::natural_widths() const {
    std::vector<size_t> widths(columns_.size());
    for (const Row& row : rows_) {
        for (size_t i = 0; i < row.cells.size(); ++i) {
            widths[i] = std::max(widths[i], diag::printable_columns(row.cells[i]));
        }
    }
    return widths;
}

size_t Columns::width() const { return total_width(natural_widths()); }

void Columns::narrow(Optional columns, size_t limit) {
    for (; columns.count > 0 && total_width(fitted_widths(limit)) > limit; --columns.count) {
        drop(columns.first + columns.count - 1);
    }
}

std::vector<size_t> Columns::fitted_widths(size_t limit) const {
    std::vector<size_t> widths = natural_widths();
    for (size_t total = total_width(widths); total > limit; --total) {
        size_t widest = widths.size();
        for (size_t i = 0; i < widths.size(); ++i) {
            const bool can = columns_[i].cut != Cut::Never && widths[i] > columns_[i].least;
            if (can && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
        }
        if (widest == widths.size()) break;
        --widths[widest];
    }
    return widths;
}

std::string Columns::text(size_t limit) const {
    const std::vector<size_t> widths = fitted_widths(limit);
    std::string text;
    for (const Row& row : rows_) {
        if (row.cells.empty() && row.line.empty()) {
            text += rule(std::min(total_width(widths), limit));
            continue;
        }
        std::string line = row.line;
        for (size_t i = 0; i < row.cells.size(); ++i) {
            const std::string cell = cut_text(row.cells[i], widths[i], columns_[i].cut);
            const std::string fill(widths[i] - diag::printable_columns(cell), ' ');
            if (i > 0) line.append(kGap, ' ');
            line += columns_[i].align == Align::Left ? cell + fill : fill + cell;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += cut_text(line, limit) + "\n";
    }
    return text;
}

}  // namespace lemma::show
