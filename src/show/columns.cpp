// SPDX-License-Identifier: Apache-2.0
#include "show/columns.h"

#include <algorithm>

#include "diag/utf8.h"

namespace lemma::show {

namespace {

constexpr size_t kGap = 2;  // spaces between columns

std::string rule(size_t columns) {
    std::string line;
    for (size_t i = 0; i < columns; ++i) line += "─";
    return line + "\n";
}

}  // namespace

std::string Columns::text() const {
    std::vector<size_t> widths(align_.size());
    for (const auto& row : rows_) {
        for (size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], diag::printable_columns(row[i]));
        }
    }
    size_t total = widths.empty() ? 0 : kGap * (widths.size() - 1);
    for (const size_t width : widths) total += width;

    std::string text;
    for (const auto& row : rows_) {
        if (row.empty()) {
            text += rule(total);
            continue;
        }
        std::string line;
        for (size_t i = 0; i < row.size(); ++i) {
            const std::string cell = diag::printable(row[i]);
            const std::string fill(widths[i] - diag::printable_columns(row[i]), ' ');
            if (i > 0) line.append(kGap, ' ');
            line += align_[i] == Align::Left ? cell + fill : fill + cell;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

}  // namespace lemma::show
