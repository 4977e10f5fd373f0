// sknd/print/printer_comments.h — the comments of a module, handed out to the printer in the order
// of the text, each exactly once; and what else the printer asks about the source: blank lines and
// the places of `;` and `{`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "diag/source.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

// A range of byte offsets in the source.
struct Extent {
    uint32_t begin = 0;
    uint32_t end = 0;
};

class Comments {
public:
    // A module that was not parsed has no source: no comments, no blank lines.
    Comments(const Module& module, const diag::SourceMap& sources);

    bool has_source() const { return !text_.empty(); }

    // The comments left over that begin before `offset`.
    std::vector<Comment> take_before(uint32_t offset);
    std::vector<Comment> take_rest() { return take_before(UINT32_MAX); }
    // The comments left over inside a statement, save those inside its blocks, given in order.
    std::vector<Comment> take_inside(Extent statement, const std::vector<Extent>& blocks);
    // The comment that follows on the same line, if nothing stands between.
    std::optional<Comment> take_behind(uint32_t offset);

    // The comment from `#` on, without the white space behind it.
    std::string_view text(const Comment& comment) const;

    bool blank_line_between(uint32_t begin, uint32_t end) const;
    // The offset behind the `;` that closes a statement, or where the statement ends without one.
    uint32_t behind_semicolon(uint32_t end) const;
    // The offset behind the first `{` from here on, or `begin` if there is none.
    uint32_t behind_brace(uint32_t begin) const;

private:
    // The first offset from here on that is neither white space nor inside a comment.
    uint32_t skip_space(uint32_t offset) const;
    size_t first_from(uint32_t offset) const;

    std::string_view text_;
    const std::vector<Comment>& comments_;
    std::vector<bool> taken_;
    size_t next_ = 0;  // every comment before it is taken
};

}  // namespace lemma::sknd
