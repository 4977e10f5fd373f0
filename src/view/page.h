// SPDX-License-Identifier: Apache-2.0
// view/page.h — the web page that shows documents (viewer/), as part of the program.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "view/tree.h"

namespace lemma::view {

// The page, from `viewer/` (cmake/LemmaView.cmake); empty if Lemma was built without it.
extern const std::string_view kViewerPage;
// The sources of a Content-Security-Policy that let its scripts run: `'sha256-…' …`.
extern const std::string_view kViewerScripts;

// The page with the document inside, which needs no server. Nothing in the document can become
// markup: `<` is written as an escape. An error if Lemma was built without the page.
Result<std::string> offline_page(const Json& document);

// The headers' policy for the page and for an offline file.
std::string security_policy();

}  // namespace lemma::view
