// SPDX-License-Identifier: Apache-2.0
// ops/markdown.h — a page per operator and an index, for docs/operators.
#pragma once

#include <string>
#include <vector>

#include "ops/library.h"

namespace lemma::ops {

struct Page {
    std::string path;  // `nn/conv.md`, below the folder of the index
    std::string text;
};
// README.md, the index, comes first. The same library always gives the same pages.
std::vector<Page> markdown_pages(const std::vector<ModuleText>& modules);

}  // namespace lemma::ops
