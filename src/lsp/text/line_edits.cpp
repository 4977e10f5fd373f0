// SPDX-License-Identifier: Apache-2.0
#include "lsp/text/line_edits.h"

#include <algorithm>
#include <cstdint>

namespace lemma::lsp {

namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

// Pairs of equal lines, as many as possible in order. Nothing if that would take long.
std::vector<std::pair<size_t, size_t>> common_lines(const Lines& a, const Lines& b) {
    constexpr size_t kMaxWork = 4'000'000;
    std::vector<std::pair<size_t, size_t>> pairs;
    if (a.empty() || b.empty() || a.size() > kMaxWork / b.size()) return pairs;
    const size_t width = b.size() + 1;
    std::vector<uint32_t> length((a.size() + 1) * width);  // of the best choice from (i, j) on
    for (size_t i = a.size(); i-- > 0;) {
        for (size_t j = b.size(); j-- > 0;) {
            length[i * width + j] =
                a[i] == b[j] ? length[(i + 1) * width + j + 1] + 1
                             : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
        }
    }
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j])
            pairs.emplace_back(i++, j++);
        else if (length[(i + 1) * width + j] >= length[i * width + j + 1])
            ++i;
        else
            ++j;
    }
    return pairs;
}

}  // namespace

std::vector<LineEdit> line_edits(std::string_view old_text, std::string_view new_text) {
    const Lines a = lines_of(old_text);
    const Lines b = lines_of(new_text);
    const bool crlf = old_text.find("\r\n") != std::string_view::npos;
    size_t first = 0;
    while (first < a.size() && first < b.size() && a[first] == b[first]) ++first;
    size_t last = 0;
    while (last < a.size() - first && last < b.size() - first &&
           a[a.size() - 1 - last] == b[b.size() - 1 - last])
        ++last;
    const Lines inner_a(a.begin() + static_cast<ptrdiff_t>(first),
                        a.end() - static_cast<ptrdiff_t>(last));
    const Lines inner_b(b.begin() + static_cast<ptrdiff_t>(first),
                        b.end() - static_cast<ptrdiff_t>(last));
    auto pairs = common_lines(inner_a, inner_b);
    pairs.emplace_back(inner_a.size(), inner_b.size());
    std::vector<LineEdit> edits;
    size_t i = 0;
    size_t j = 0;
    for (const auto& [next_i, next_j] : pairs) {
        if (next_i > i || next_j > j) {
            LineEdit edit{.begin = first + i, .end = first + next_i};
            for (; j < next_j; ++j) {
                edit.text += inner_b[j];
                edit.text += crlf ? "\r\n" : "\n";
            }
            edits.push_back(std::move(edit));
        }
        i = next_i + 1;
        j = next_j + 1;
    }
    // A last line without an end gets one.
    const bool closed = old_text.empty() || old_text.ends_with('\n');
    if (!closed && edits.empty() && !a.empty() && new_text.ends_with('\n'))
        edits.push_back({a.size() - 1, a.size(), std::string(b.back()) + (crlf ? "\r\n" : "\n")});
    return edits;
}

}  // namespace lemma::lsp
