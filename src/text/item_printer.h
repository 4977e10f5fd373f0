// SPDX-License-Identifier: Apache-2.0
// text/item_printer.h — shared by the printers of all text formats: items on their own lines, with
// the comments before, inside and after them and the blank lines between them.
#pragma once

#include <string_view>
#include <vector>

#include "text/comments.h"
#include "text/layout.h"

namespace lemma::text {

class ItemPrinter {
protected:
    ItemPrinter(const std::vector<Comment>& comments,
                diag::FileId file,
                const diag::SourceMap& sources,
                size_t max_columns)
        : comments_(comments, file, sources), out_(max_columns) {}

    // The gap between an item and the one before it, if neither is a comment.
    enum class Gap : uint8_t {
        Keep,  // a blank line if there was one
        None,
        Blank,
    };
    enum class Previous : uint8_t { Nothing, Brace, Comment, Item };

    // Begins a line for an item, after the comments before it and inside it (except in `blocks`).
    void begin_item(TextRange item, Gap gap, const std::vector<TextRange>& blocks = {});
    // After an item: the comment on its line, with at most one separator between.
    void end_item(uint32_t end, char separator = '\0');
    // Each comment on its own line.
    void own_lines(const std::vector<Comment>& comments, Gap gap);
    void begin_line(uint32_t begin, Gap gap);
    void comment_behind(uint32_t offset, char separator = '\0');

    // `{ … }` over several lines; `inner` is the range between the braces.
    template <class Body>
    void braces(TextRange inner, Gap gap, Body body) {
        out_.text("{");
        comment_behind(inner.begin);
        previous_ = Previous::Brace;
        out_.nest([&] {
            body();
            own_lines(comments_.take_before(inner.end), gap);
        });
        out_.hard_line();
        out_.text("}");
    }

    Comments comments_;
    Layout out_;
    Previous previous_ = Previous::Nothing;
    uint32_t last_end_ = 0;  // the end of the last written line in the source
};

}  // namespace lemma::text
