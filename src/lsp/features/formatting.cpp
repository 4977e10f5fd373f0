// SPDX-License-Identifier: Apache-2.0
// Formatting with the layout of `lemma fmt`. A text with syntax errors stays as it is.
#include "lsp/features/requests.h"
#include "lsp/text/line_edits.h"
#include "model/format_text.h"

namespace lemma::lsp {

namespace {

struct LineRange {
    size_t first = 0;
    size_t last = SIZE_MAX;
};

Json edits_in(const Query& query, LineRange range) {
    model::Finding finding;
    model::FormatOptions options;
    if (query.document.language() == Language::Nnef1) options.language = model::TextLanguage::Nnef1;
    const std::string& text = query.document.text();
    const auto formatted = model::format_text("text", text, options, finding);
    Json edits = Json::array();
    if (!formatted) return edits;
    const LineIndex& lines = query.document.lines();
    for (const LineEdit& edit : line_edits(text, *formatted)) {
        const size_t last = edit.end > edit.begin ? edit.end - 1 : edit.begin;
        if (last < range.first || edit.begin > range.last) continue;
        const Position begin{static_cast<uint32_t>(edit.begin), 0};
        Position end{static_cast<uint32_t>(edit.end), 0};
        if (edit.end >= lines.line_count())
            end = lines.position(static_cast<uint32_t>(text.size()));
        edits.push_back({{"range", {{"start", to_json(begin)}, {"end", to_json(end)}}},
                         {"newText", edit.text}});
    }
    return edits;
}

// The line of the brace that the one before `offset` closes.
size_t opening_line(const View& view, const LineIndex& lines, uint32_t offset) {
    std::vector<size_t> open;
    for (const ViewToken& token : view.tokens) {
        if (token.place.begin >= offset) break;
        const std::string_view text = view.source(token.place);
        if (text == "{") open.push_back(lines.line_of(token.place.begin));
        if (text == "}" && !open.empty()) {
            const size_t line = open.back();
            open.pop_back();
            if (token.place.end >= offset) return line;
        }
    }
    return lines.line_of(offset);
}

}  // namespace

Answer formatting(const Query& query) { return edits_in(query, {}); }

Answer range_formatting(const Query& query) {
    const TextSpan range = query.range();
    const LineIndex& lines = query.document.lines();
    return edits_in(query, {lines.line_of(range.begin), lines.line_of(range.end)});
}

Answer on_type_formatting(const Query& query) {
    const uint32_t offset = query.offset();
    const LineIndex& lines = query.document.lines();
    const size_t line = lines.line_of(offset);
    if (text_of(member(query.params, "ch")) != "}") return edits_in(query, {line, line});
    return edits_in(query, {opening_line(*query.view(), lines, offset), line});
}

}  // namespace lemma::lsp
