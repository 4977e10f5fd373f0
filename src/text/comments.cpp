// SPDX-License-Identifier: Apache-2.0
#include "text/comments.h"

#include <algorithm>

#include "text/characters.h"

namespace lemma::text {

Comments::Comments(const std::vector<Comment>& comments,
                   diag::FileId file,
                   const diag::SourceMap& sources)
    : comments_(comments) {
    if (file.valid() && file.value < sources.size()) {
        text_ = sources.text(file);
        taken_.resize(comments_.size());
    } else {
        next_ = comments_.size();  // their text is not available
    }
}

std::vector<Comment> Comments::take_before(uint32_t offset) {
    std::vector<Comment> result;
    for (; next_ < comments_.size() && comments_[next_].begin < offset; ++next_) {
        if (!taken_[next_]) result.push_back(comments_[next_]);
    }
    return result;
}

std::vector<Comment> Comments::take_inside(TextRange statement,
                                           const std::vector<TextRange>& blocks) {
    std::vector<Comment> result;
    uint32_t begin = statement.begin;
    const auto take_up_to = [&](uint32_t end) {
        for (size_t i = first_from(begin); i < comments_.size() && comments_[i].begin < end; ++i) {
            if (!taken_[i]) result.push_back(comments_[i]);
            taken_[i] = true;
        }
    };
    for (const TextRange& block : blocks) {
        take_up_to(block.begin);
        begin = block.end;
    }
    take_up_to(statement.end);
    return result;
}

bool Comments::any_before(uint32_t offset) const {
    for (size_t i = next_; i < comments_.size() && comments_[i].begin < offset; ++i) {
        if (!taken_[i]) return true;
    }
    return false;
}

std::optional<Comment> Comments::take_behind(uint32_t offset, char separator) {
    offset = skip_blanks(offset);
    if (separator != '\0' && offset < text_.size() && text_[offset] == separator) {
        offset = skip_blanks(offset + 1);
    }
    const size_t i = first_from(offset);
    if (i >= comments_.size() || comments_[i].begin != offset || taken_[i]) return std::nullopt;
    if (comments_[i].own_line) return std::nullopt;
    taken_[i] = true;
    return comments_[i];
}

uint32_t Comments::skip_blanks(uint32_t offset) const {
    while (offset < text_.size() && is_space(text_[offset])) ++offset;
    return offset;
}

std::string_view Comments::text(const Comment& comment) const {
    std::string_view text = text_.substr(comment.begin, comment.end - comment.begin);
    while (!text.empty() && (is_space(text.back()) || is_line_end(text.back())))
        text.remove_suffix(1);
    return text;
}

bool Comments::blank_line_between(uint32_t begin, uint32_t end) const {
    int lines = 0;
    for (size_t i = begin; i < end && i < text_.size(); ++i) {
        if (text_[i] == '\r' && i + 1 < end && text_[i + 1] == '\n') continue;  // CRLF is one
        if (is_line_end(text_[i])) {
            if (++lines == 2) return true;
        } else if (!is_space(text_[i])) {
            lines = 0;
        }
    }
    return false;
}

uint32_t Comments::behind_semicolon(uint32_t end) const {
    if (end > 0 && end <= text_.size() && text_[end - 1] == ';') return end;
    const uint32_t next = skip_space(end);
    return next < text_.size() && text_[next] == ';' ? next + 1 : end;
}

uint32_t Comments::behind_brace(uint32_t begin) const {
    for (uint32_t i = skip_space(begin); i < text_.size(); i = skip_space(i + 1)) {
        if (text_[i] == '{') return i + 1;
    }
    return begin;
}

uint32_t Comments::skip_space(uint32_t offset) const {
    while (offset < text_.size()) {
        if (text_[offset] == '#') {
            while (offset < text_.size() && !is_line_end(text_[offset])) ++offset;
        } else if (is_space(text_[offset]) || is_line_end(text_[offset])) {
            ++offset;
        } else {
            break;
        }
    }
    return offset;
}

size_t Comments::first_from(uint32_t offset) const {
    // Statements come in order, so the wanted comment is near the first remaining one.
    const auto before = [&](const Comment& c) { return c.begin < offset; };
    const auto from = comments_.begin() + static_cast<std::ptrdiff_t>(next_);
    return static_cast<size_t>(std::partition_point(from, comments_.end(), before) -
                               comments_.begin());
}

}  // namespace lemma::text
