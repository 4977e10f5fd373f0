// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "diag/diagnostic.h"

namespace lemma::diag {
namespace {

// Distances count quarters of an edit; a wrong case costs less than a wrong letter.
constexpr int kEdit = 4;
constexpr int kCase = 1;
// Longer names get no suggestion, which bounds the cost of a comparison.
constexpr size_t kMaxLength = 100;

using Row = std::array<int, kMaxLength + 1>;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

int substitution_cost(char a, char b) {
    if (a == b) return 0;
    return lower(a) == lower(b) ? kCase : kEdit;
}

// Optimal string alignment of two names: edits, and swaps of neighbours without further edits.
// Computes only the cells within the limit; all others hold limit + 1.
class Alignment {
public:
    Alignment(std::string_view a, std::string_view b, int limit)
        : a_(a), b_(b), over_(limit + 1), band_(static_cast<size_t>(limit / kEdit)) {}

    // At most limit + 1.
    int distance() {
        const size_t gap = std::max(a_.size(), b_.size()) - std::min(a_.size(), b_.size());
        if (gap > band_) return over_;
        for (Row& row : rows_) row.fill(over_);
        for (size_t j = 0; j <= std::min(b_.size(), band_); ++j) {
            rows_[0][j] = static_cast<int>(j) * kEdit;
        }
        int previous_best = 0;
        for (size_t i = 1; i <= a_.size(); ++i) {
            const int best = fill_row(i);
            // A swap spans two rows, so two hopeless rows are needed to give up.
            if (best == over_ && previous_best == over_) return over_;
            previous_best = best;
        }
        return rows_[a_.size() % 3][b_.size()];
    }

private:
    // The distances of a's first `i` letters to each prefix of b; returns the least.
    int fill_row(size_t i) {
        const Row& previous = rows_[(i + 2) % 3];
        const Row& before_swap = rows_[(i + 1) % 3];
        Row& row = rows_[i % 3];
        row.fill(over_);
        if (i <= band_) row[0] = static_cast<int>(i) * kEdit;
        int best = row[0];
        const size_t last = std::min(b_.size(), i + band_);
        for (size_t j = std::max<size_t>(i, band_ + 1) - band_; j <= last; ++j) {
            int cost = previous[j - 1] + substitution_cost(a_[i - 1], b_[j - 1]);
            cost = std::min({cost, previous[j] + kEdit, row[j - 1] + kEdit});
            const bool swap = i > 1 && j > 1 && a_[i - 1] == b_[j - 2] && a_[i - 2] == b_[j - 1];
            if (swap) cost = std::min(cost, before_swap[j - 2] + kEdit);
            row[j] = std::min(cost, over_);
            best = std::min(best, row[j]);
        }
        return best;
    }

    std::string_view a_, b_;
    int over_;
    size_t band_;
    std::array<Row, 3> rows_;  // the prefixes of a with i, i - 1 and i - 2 letters, at i % 3
};

}  // namespace

namespace {

// `conv` for `convolution`, `output` for `out`: one is a prefix of the other.
std::string_view longest_beginning(std::string_view name,
                                   const std::vector<std::string_view>& candidates) {
    constexpr size_t kFewest = 3;  // fewest letters for a suggestion
    std::string_view best;
    size_t common = kFewest - 1;
    for (const std::string_view candidate : candidates) {
        const size_t shorter = std::min(name.size(), candidate.size());
        const bool same = name.substr(0, shorter) == candidate.substr(0, shorter);
        if (!same || shorter <= common || candidate == name) continue;
        best = candidate;
        common = shorter;
    }
    return best;
}

}  // namespace

std::string_view nearest_name(std::string_view name,
                              const std::vector<std::string_view>& candidates) {
    if (name.empty() || name.size() > kMaxLength) return {};
    // A third of the length, in quarters: one slip in three letters, or any number of wrong cases.
    int limit = static_cast<int>(name.size()) * kEdit / 3;
    std::string_view nearest;
    for (const std::string_view candidate : candidates) {
        if (candidate.empty() || candidate.size() > kMaxLength || candidate == name) continue;
        const int found = Alignment(name, candidate, limit).distance();
        if (found > limit) continue;
        nearest = candidate;
        limit = found - 1;  // a later one must be closer
    }
    return nearest.empty() ? longest_beginning(name, candidates) : nearest;
}

}  // namespace lemma::diag
