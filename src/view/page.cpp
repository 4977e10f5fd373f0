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

Result<std::string> offline_page(const Json& document) {
    if (kViewerPage.empty()) {
        return std::unexpected(
            Error{"this build of Lemma has no viewer: build it with `npm` installed and "
                  "`-DLEMMA_VIEWER=ON`; `lemma view --json` prints the document"});
    }
    const std::string block = fmt::format("{}{}{}", kBegin, escaped(compact_text(document)), kEnd);
    std::string page(kViewerPage);
    // In the place that the page keeps for it, or before its first script.
    const size_t place = page.find(kBegin);
    if (place != std::string::npos) {
        const size_t end = page.find(kEnd, place) + kEnd.size();
        return page.replace(place, end - place, block);
    }
    const size_t script = page.find("<script");
    return page.insert(script == std::string::npos ? page.size() : script, block);
}

std::string security_policy() {
    return fmt::format(
        "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; "
        "worker-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
        kViewerScripts.empty() ? "'none'" : kViewerScripts);
}

}  // namespace lemma::view
