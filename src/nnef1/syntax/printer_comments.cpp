#include "nnef1/syntax/printer_comments.h"

#include "nnef1/syntax/characters.h"

namespace lemma::nnef1 {

std::vector<Comment> Comments::take_before(uint32_t offset) {
    std::vector<Comment> result;
    for (; any_before(offset); ++next_) result.push_back(comments_[next_]);
    return result;
}

uint32_t Comments::skip_blanks(uint32_t offset) const {
    while (offset < text_.size() && class_of(text_[offset]) == CharClass::Space) ++offset;
    return offset;
}

std::optional<Comment> Comments::take_behind(uint32_t offset, char separator) {
    if (next_ >= comments_.size()) return std::nullopt;
    offset = skip_blanks(offset);
    if (separator != '\0' && offset < text_.size() && text_[offset] == separator) {
        offset = skip_blanks(offset + 1);
    }
    const Comment& comment = comments_[next_];
    if (comment.begin != offset || comment.own_line) return std::nullopt;
    ++next_;
    return comment;
}

std::string_view Comments::text(const Comment& comment) const {
    std::string_view text = text_.substr(comment.begin, comment.end - comment.begin);
    while (!text.empty() && class_of(text.back()) == CharClass::Space) text.remove_suffix(1);
    return text;
}

bool Comments::blank_line_between(uint32_t begin, uint32_t end) const {
    int lines = 0;
    for (size_t i = begin; i < end && i < text_.size(); ++i) {
        if (text_[i] == '\r' && i + 1 < end && text_[i + 1] == '\n') continue;  // CRLF is one
        if (is_line_end(text_[i])) {
            if (++lines == 2) return true;
        } else if (class_of(text_[i]) != CharClass::Space) {
            lines = 0;
        }
    }
    return false;
}

}  // namespace lemma::nnef1
