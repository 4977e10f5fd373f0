// SPDX-License-Identifier: Apache-2.0
#include "lsp/workspace/document.h"

#include <algorithm>
#include <utility>

#include "lsp/text/uri.h"
#include "model/format_text.h"

namespace lemma::lsp {

Language language_of_document(std::string_view uri, std::string_view id, std::string_view text) {
    if (uri.ends_with(".sknd")) return Language::SkriptND;
    if (uri.ends_with(".nnef")) return Language::Nnef1;
    if (uri.ends_with(".quant")) return Language::None;
    if (id == "skriptnd" || id == "sknd") return Language::SkriptND;
    if (id == "nnef" || id == "nnef1") return Language::Nnef1;
    if (uri.starts_with("file:")) return Language::None;
    return model::language_of(text) == model::TextLanguage::Nnef1 ? Language::Nnef1
                                                                  : Language::SkriptND;
}

Document::Document(
    std::string uri, Language language, int64_t version, std::string text, Encoding encoding)
    : uri_(std::move(uri)),
      path_(path_of_uri(uri_)),
      language_(language),
      version_(version),
      encoding_(encoding),
      text_(std::make_shared<const std::string>(std::move(text))) {}

const LineIndex& Document::lines() const {
    if (!lines_) lines_.emplace(*text_, encoding_);
    return *lines_;
}

bool Document::apply(const std::vector<Edit>& edits, int64_t version, size_t max_bytes) {
    std::string text = *text_;
    bool first = true;
    for (const Edit& edit : edits) {
        if (!edit.begin || !edit.end) {
            text = edit.text;
        } else {
            // Positions are those of the text after the edits before this one.
            const LineIndex index = first && lines_ ? *lines_ : LineIndex(text, encoding_);
            const uint32_t begin = index.offset(std::min(*edit.begin, *edit.end));
            const uint32_t end = index.offset(std::max(*edit.begin, *edit.end));
            if (text.size() - (end - begin) + edit.text.size() > max_bytes) return false;
            text.replace(begin, end - begin, edit.text);
        }
        first = false;
        if (text.size() > max_bytes) return false;
    }
    lines_.reset();
    text_ = std::make_shared<const std::string>(std::move(text));
    version_ = version;
    ++revision_;
    return true;
}

}  // namespace lemma::lsp
