// SPDX-License-Identifier: Apache-2.0
// diag/source.h — the source texts of one run, with line tables made on first use. Look-ups update
// a cache, so a map belongs to one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diag/span.h"

namespace lemma::diag {

// One-based line and column; the column counts characters (code points; a byte that is not part of
// UTF-8 counts as one), not bytes.
struct LineColumn {
    uint32_t line = 1;
    uint32_t column = 1;
    friend bool operator==(const LineColumn&, const LineColumn&) = default;
};

class SourceMap {
public:
    // Takes over a text under the name that diagnostics print. At most 4 GiB - 2 bytes.
    FileId add(std::string name, std::string text);

    // A binary file: each line of the text is a path to a place in it, such as
    // `graph/node[12]:Conv "conv1"`. Spans of whole lines name those places.
    FileId add_paths(std::string name, std::string lines);
    bool is_binary(FileId file) const;

    const std::string& name(FileId file) const;
    // Keeps its address as long as the map lives.
    std::string_view text(FileId file) const;
    std::string_view text(Span span) const;

    // An offset inside a line end, or past the end of the text, means the end of the line's text.
    LineColumn place(FileId file, uint32_t offset) const;
    // The one-based line without its line end (LF, CR or CRLF), and the offset where it begins.
    std::string_view line(FileId file, uint32_t line) const;
    uint32_t line_begin(FileId file, uint32_t line) const;
    size_t size() const { return files_.size(); }

private:
    // The end of the last look-up. Continuing from there keeps many look-ups in one long line
    // cheap.
    struct Cursor {
        size_t line = SIZE_MAX;
        size_t offset = 0;
        uint32_t column = 1;
    };
    struct File {
        std::string name;
        std::string text;
        bool binary = false;
        mutable std::vector<uint32_t> line_begins;  // empty until the first look-up
        mutable Cursor cursor;
    };
    const File& file(FileId id) const;
    static const std::vector<uint32_t>& lines(const File& file);
    static size_t line_end(const File& file, size_t index);

    std::vector<std::unique_ptr<File>> files_;
};

inline constexpr uint64_t kMaxSourceBytes = uint64_t{256} << 20;

// The content of a file. The error names the file and the reason: missing, a folder, unreadable,
// over the limit.
Result<std::string> read_source(const std::string& path, uint64_t max_bytes = kMaxSourceBytes);

}  // namespace lemma::diag
