// text/item_printer.h — what the printers of all text formats share: items on lines of their own,
// with the comments before, inside and behind them and the blank lines between them.
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

    // What stands between an item and the one before it, when neither is a comment.
    enum class Gap : uint8_t {
        Keep,  // a blank line if there was one
        None,
        Blank,
    };
    enum class Previous : uint8_t { Nothing, Brace, Comment, Item };

    // A line for an item, behind the comments before it and those inside it (`blocks` excepted).
    void begin_item(TextRange item, Gap gap, const std::vector<TextRange>& blocks = {});
    // Behind an item: the comment on its line; one separator may stand between them.
    void end_item(uint32_t end, char separator = '\0');
    // Each comment on a line of its own.
    void own_lines(const std::vector<Comment>& comments, Gap gap);
    void begin_line(uint32_t begin, Gap gap);
    void comment_behind(uint32_t offset, char separator = '\0');

    // `{ … }` over several lines; `inner` is what lies between the braces.
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
    uint32_t last_end_ = 0;  // where the last line written ends in the source
};

}  // namespace lemma::text
