// SPDX-License-Identifier: Apache-2.0
// lsp/workspace/document.h — a text that the client has open, and its edits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lsp/text/line_index.h"

namespace lemma::lsp {

enum class Language : uint8_t { None, SkriptND, Nnef1 };

// By the ending of the name, else by the client's id of the language, else by the text.
Language language_of_document(std::string_view uri, std::string_view id, std::string_view text);

using SharedText = std::shared_ptr<const std::string>;
// Open texts by their paths: they take precedence over files.
using Buffers = std::map<std::string, SharedText, std::less<>>;

// One change of a text. Without a range it replaces the whole text.
struct Edit {
    std::optional<Position> begin, end;
    std::string text;
};

class Document {
public:
    Document(
        std::string uri, Language language, int64_t version, std::string text, Encoding encoding);

    const std::string& uri() const { return uri_; }
    // Empty if it is no file.
    const std::string& path() const { return path_; }
    Language language() const { return language_; }
    int64_t version() const { return version_; }
    // Counts the changes, whatever the versions of the client are.
    uint64_t revision() const { return revision_; }
    // Analyses until now are out of date, although the text is the same: a text that it depends on
    // has changed.
    void outdate() { ++revision_; }
    const std::string& text() const { return *text_; }
    const SharedText& shared_text() const { return text_; }
    const LineIndex& lines() const;
    Encoding encoding() const { return encoding_; }

    // Applies the edits one after the other. False, without a change, if the text would be larger
    // than `max_bytes`.
    bool apply(const std::vector<Edit>& edits, int64_t version, size_t max_bytes);

private:
    std::string uri_;
    std::string path_;
    Language language_;
    int64_t version_;
    uint64_t revision_ = 0;
    Encoding encoding_;
    SharedText text_;
    mutable std::optional<LineIndex> lines_;
};

}  // namespace lemma::lsp
