// SPDX-License-Identifier: Apache-2.0
// text/comments.h — gives the comments of a text to a printer, in order and each exactly once. It
// also answers questions about the source: blank lines, and the places of `;` and `{`.
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
    // A tree that was not parsed has no source, so no comments and no blank lines.
    Comments(const std::vector<Comment>& comments,
             diag::FileId file,
             const diag::SourceMap& sources);

    bool has_source() const { return !text_.empty(); }

    // The remaining comments that begin before `offset`.
    std::vector<Comment> take_before(uint32_t offset);
    std::vector<Comment> take_rest() { return take_before(UINT32_MAX); }
    // The remaining comments inside a statement, except those inside its blocks, which are sorted.
    std::vector<Comment> take_inside(TextRange statement, const std::vector<TextRange>& blocks);
    // The comment that follows on the same line, with at most one separator between.
    std::optional<Comment> take_behind(uint32_t offset, char separator = '\0');
    // Whether a remaining comment begins before `offset`.
    bool any_before(uint32_t offset) const;

    // The comment from `#` on, without trailing white space.
    std::string_view text(const Comment& comment) const;

    bool blank_line_between(uint32_t begin, uint32_t end) const;
    // The offset after the `;` that closes a statement, or the end of a statement without one.
    uint32_t behind_semicolon(uint32_t end) const;
    // The offset after the first `{` from here on, or `begin` if there is none.
    uint32_t behind_brace(uint32_t begin) const;

private:
    uint32_t skip_blanks(uint32_t offset) const;
    // The first offset from here on that is neither white space nor in a comment.
    uint32_t skip_space(uint32_t offset) const;
    size_t first_from(uint32_t offset) const;

    std::string_view text_;
    const std::vector<Comment>& comments_;
    std::vector<bool> taken_;
    size_t next_ = 0;  // all comments before it are taken
};

}  // namespace lemma::text
