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
// The Content-Security-Policy that it states for itself: its own scripts, and nothing from
// elsewhere.
extern const std::string_view kViewerPolicy;

// An error if Lemma was built without it.
Result<void> viewer_exists();

// The page with the document inside, which needs no server. Nothing in the document can become
// markup: `<` is written as an escape. An error if Lemma was built without the page.
Result<std::string> offline_page(const Json& document);

// The same with any page that has room for the document.
std::string page_with(std::string page, const Json& document);

}  // namespace lemma::view
