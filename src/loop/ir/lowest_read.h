// SPDX-License-Identifier: Apache-2.0
// loop/ir/lowest_read.h — the lowest element that the remaining items of a kernel read. Pages
// before it can be released while the kernel runs.
#pragma once

#include <optional>

#include "loop/ir/node.h"

namespace lemma::loop {

// A lower bound of the elements that items from `first_item` on read. Empty if unknown.
std::optional<int64_t> lowest_read(const Function& function, BufferId buffer, int64_t first_item);

}  // namespace lemma::loop
