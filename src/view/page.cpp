// SPDX-License-Identifier: Apache-2.0
#include "view/page.h"

#include <fmt/format.h>

#include "view/document.h"

namespace lemma::view {

namespace {

constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"lemma-document\">";
constexpr std::string_view kEnd = "</script>";

// In JSON, `<` occurs in strings only, where an escape means the same.
std::string escaped(const std::string& json) {
    std::string text;
    text.reserve(json.size() + json.size() / 64);
    for (const char c : json) {
        if (c == '<') {
            text += "\\u003c";
        } else {
            text += c;
        }
    }
    return text;
}

}  // namespace

Result<void> viewer_exists() {
    if (!kViewerPage.empty()) return {};
    return std::unexpected(
        Error{"this build of Lemma has no viewer: build it with `npm` installed and "
              "`-DLEMMA_VIEWER=ON`; `lemma view --json` prints the document"});
}

std::string page_with(std::string page, const Json& document) {
    const std::string block = fmt::format("{}{}{}", kBegin, escaped(compact_text(document)), kEnd);
    // In the place that the page keeps for it, or before its first script.
    const size_t place = page.find(kBegin);
    const size_t end = place == std::string::npos ? place : page.find(kEnd, place);
    if (end != std::string::npos) return page.replace(place, end + kEnd.size() - place, block);
    const size_t script = page.find("<script");
    return page.insert(script == std::string::npos ? page.size() : script, block);
}

Result<std::string> offline_page(const Json& document) {
    LEMMA_TRY(viewer_exists());
    return page_with(std::string(kViewerPage), document);
}

}  // namespace lemma::view
