// nnef1/syntax/printer_comments.h — hands out the comments of a document in the order of the text,
// as the printer passes by.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "diag/source.h"
#include "nnef1/syntax/ast.h"

namespace lemma::nnef1 {

class Comments {
public:
    // Without the source text there are no comments.
    Comments(const std::vector<Comment>& comments, std::string_view text)
        : comments_(comments), text_(text), next_(text.empty() ? comments.size() : 0) {}

    // Those that begin before the offset and were not taken yet.
    std::vector<Comment> take_before(uint32_t offset);
    bool any_before(uint32_t offset) const {
        return next_ < comments_.size() && comments_[next_].begin < offset;
    }
    // The comment that ends the line of what ends there; one separator may stand between them.
    std::optional<Comment> take_behind(uint32_t offset, char separator = '\0');

    std::string_view text(const Comment& comment) const;
    bool blank_line_between(uint32_t begin, uint32_t end) const;

private:
    uint32_t skip_blanks(uint32_t offset) const;

    const std::vector<Comment>& comments_;
    std::string_view text_;
    size_t next_;
};

}  // namespace lemma::nnef1
