// SPDX-License-Identifier: Apache-2.0
// loop/ir/groups.h — the rules of kernels for devices, whose items run in groups.
#pragma once

#include <string>

#include "loop/ir/node.h"

namespace lemma::loop {

// Whether the block has a barrier, or another statement that items do together, also inside of its
// statements.
bool has_barrier(const Block& block);

// What is wrong with the groups of a function; empty if nothing is. All items of a group must come
// to each of these statements: conditions and loops around it are the same for all of them.
std::string verify_groups(const Function& function);

}  // namespace lemma::loop
