// loop/ir/lowest_read.h — where the items of a kernel that are still to come read a buffer, so that
// what lies before can be let go while the kernel goes on.
#pragma once

#include <optional>

#include "loop/ir/node.h"

namespace lemma::loop {

// No item from `first_item` on reads an element before this one. Empty if that is not known.
std::optional<int64_t> lowest_read(const Function& function, BufferId buffer, int64_t first_item);

}  // namespace lemma::loop
