// SPDX-License-Identifier: Apache-2.0
#include "text/item_printer.h"

namespace lemma::text {

void ItemPrinter::begin_item(TextRange item, Gap gap, const std::vector<TextRange>& blocks) {
    own_lines(comments_.take_before(item.begin), gap);
    begin_line(item.begin, gap);
    for (const Comment& comment : comments_.take_inside(item, blocks)) {
        out_.text(comments_.text(comment));
        out_.hard_line();
    }
}

void ItemPrinter::end_item(uint32_t end, char separator) {
    last_end_ = end;
    comment_behind(end, separator);
    previous_ = Previous::Item;
}

void ItemPrinter::own_lines(const std::vector<Comment>& comments, Gap gap) {
    for (const Comment& comment : comments) {
        begin_line(comment.begin, gap);
        out_.text(comments_.text(comment));
        last_end_ = comment.end;
        previous_ = Previous::Comment;
    }
}

void ItemPrinter::begin_line(uint32_t begin, Gap gap) {
    if (previous_ == Previous::Nothing) return;
    out_.hard_line();
    if (previous_ == Previous::Brace) return;
    const bool keep = gap == Gap::Keep || previous_ == Previous::Comment;
    const bool blank = keep ? comments_.blank_line_between(last_end_, begin) : gap == Gap::Blank;
    if (blank) out_.hard_line();
}

void ItemPrinter::comment_behind(uint32_t offset, char separator) {
    const std::optional<Comment> comment = comments_.take_behind(offset, separator);
    if (!comment) return;
    out_.aside("  ");
    out_.aside(comments_.text(*comment));
    last_end_ = comment->end;
}

}  // namespace lemma::text
