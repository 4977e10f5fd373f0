// SPDX-License-Identifier: Apache-2.0
#include "diag/source.h"

#include <algorithm>

#include "base/check.h"
#include "base/open_file.h"
#include "diag/utf8.h"

namespace lemma::diag {
namespace {

// Finds the next occurrence of a character at growing offsets; it reads each byte once.
class Finder {
public:
    Finder(std::string_view text, char wanted) : text_(text), wanted_(wanted) { find(0); }
    size_t at_or_behind(size_t offset) {
        if (found_ < offset) find(offset);
        return found_;
    }

private:
    void find(size_t offset) { found_ = std::min(text_.find(wanted_, offset), text_.size()); }

    std::string_view text_;
    char wanted_;
    size_t found_ = 0;
};

std::vector<uint32_t> find_line_begins(std::string_view text) {
    std::vector<uint32_t> begins = {0};
    Finder feeds(text, '\n');
    Finder returns(text, '\r');
    for (size_t offset = 0;;) {
        const size_t feed = feeds.at_or_behind(offset);
        const size_t carriage = returns.at_or_behind(offset);
        const size_t end = std::min(feed, carriage);
        if (end == text.size()) return begins;
        const bool crlf = feed < text.size() && feed == carriage + 1;
        offset = end + (crlf ? 2 : 1);
        begins.push_back(static_cast<uint32_t>(offset));
    }
}

}  // namespace

FileId SourceMap::add(std::string name, std::string text) {
    LEMMA_CHECK(text.size() < UINT32_MAX);
    auto file = std::make_unique<File>();
    file->name = std::move(name);
    file->text = std::move(text);
    files_.push_back(std::move(file));
    return make_id<FileId>(files_.size() - 1);
}

const SourceMap::File& SourceMap::file(FileId id) const {
    LEMMA_CHECK(id.value < files_.size());
    return *files_[id.value];
}

FileId SourceMap::add_paths(std::string name, std::string lines) {
    const FileId id = add(std::move(name), std::move(lines));
    files_.back()->binary = true;
    return id;
}

bool SourceMap::is_binary(FileId id) const { return file(id).binary; }

const std::string& SourceMap::name(FileId id) const { return file(id).name; }

std::string_view SourceMap::text(FileId id) const { return file(id).text; }

std::string_view SourceMap::text(Span span) const {
    if (!span.valid()) return {};
    const std::string_view whole = text(span.file);
    LEMMA_CHECK(span.begin <= span.end && span.end <= whole.size());
    return whole.substr(span.begin, span.end - span.begin);
}

const std::vector<uint32_t>& SourceMap::lines(const File& file) {
    if (file.line_begins.empty()) file.line_begins = find_line_begins(file.text);
    return file.line_begins;
}

// The offset after the text of a line, given by its zero-based index.
size_t SourceMap::line_end(const File& file, size_t index) {
    const std::vector<uint32_t>& begins = lines(file);
    if (index + 1 == begins.size()) return file.text.size();
    const size_t next = begins[index + 1];
    const bool crlf = next - begins[index] >= 2 && file.text.compare(next - 2, 2, "\r\n") == 0;
    return next - (crlf ? 2 : 1);
}

LineColumn SourceMap::place(FileId id, uint32_t offset) const {
    const File& source = file(id);
    const std::vector<uint32_t>& begins = lines(source);
    const auto behind = std::upper_bound(begins.begin(), begins.end(), offset);
    const auto index = static_cast<size_t>(behind - begins.begin()) - 1;
    const size_t target = std::min<size_t>(offset, line_end(source, index));

    Cursor& cursor = source.cursor;
    if (cursor.line != index || cursor.offset > target) cursor = {index, begins[index], 1};
    const Walk walked = walk(source.text, cursor.offset, target);
    cursor.offset = walked.offset;
    cursor.column += static_cast<uint32_t>(walked.characters);
    return {.line = static_cast<uint32_t>(index + 1), .column = cursor.column};
}

uint32_t SourceMap::line_begin(FileId id, uint32_t line) const {
    const std::vector<uint32_t>& begins = lines(file(id));
    LEMMA_CHECK(line >= 1 && line <= begins.size());
    return begins[line - 1];
}

std::string_view SourceMap::line(FileId id, uint32_t line) const {
    const size_t begin = line_begin(id, line);
    return text(id).substr(begin, line_end(file(id), line - 1) - begin);
}

Result<std::string> read_source(const std::string& path, uint64_t max_bytes) {
    return read_whole(path, FileKind::Any, static_cast<int64_t>(max_bytes));
}

}  // namespace lemma::diag
