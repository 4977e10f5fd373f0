// text/comments.h — the comments of a text, handed out to a printer in the order of the text, each
// exactly once; and what else the printer asks about the source: blank lines and the places of `;`
// and `{`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "diag/source.h"
#include "text/tokens.h"

namespace lemma::text {

class Comments {
public:
    // A tree that was not parsed has no source: no comments, no blank lines.
    Comments(const std::vector<Comment>& comments,
             diag::FileId file,
             const diag::SourceMap& sources);

    bool has_source() const { return !text_.empty(); }

    // The comments left over that begin before `offset`.
    std::vector<Comment> take_before(uint32_t offset);
    std::vector<Comment> take_rest() { return take_before(UINT32_MAX); }
    // The comments left over inside a statement, save those inside its blocks, given in order.
    std::vector<Comment> take_inside(TextRange statement, const std::vector<TextRange>& blocks);
    // The comment that follows on the same line, if nothing stands between but one separator.
    std::optional<Comment> take_behind(uint32_t offset, char separator = '\0');
    // Whether one is left over that begins before `offset`.
    bool any_before(uint32_t offset) const;

    // The comment from `#` on, without the white space behind it.
    std::string_view text(const Comment& comment) const;

    bool blank_line_between(uint32_t begin, uint32_t end) const;
    // The offset behind the `;` that closes a statement, or where the statement ends without one.
    uint32_t behind_semicolon(uint32_t end) const;
    // The offset behind the first `{` from here on, or `begin` if there is none.
    uint32_t behind_brace(uint32_t begin) const;

private:
    uint32_t skip_blanks(uint32_t offset) const;
    // The first offset from here on that is neither white space nor inside a comment.
    uint32_t skip_space(uint32_t offset) const;
    size_t first_from(uint32_t offset) const;

    std::string_view text_;
    const std::vector<Comment>& comments_;
    std::vector<bool> taken_;
    size_t next_ = 0;  // every comment before it is taken
};

}  // namespace lemma::text
