// SPDX-License-Identifier: Apache-2.0
// show/scopes.h — the scopes in the names of operations: exporters write `/layer1/conv1/Conv`,
// SkriptND has paths of labels such as `layer1.conv1`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/program/program.h"

namespace lemma::show {

// Deeper scopes are part of the last name.
inline constexpr size_t kMaxScopes = 32;

// `/a/b/c` is a, b and c; so is `a.b.c`. Empty parts are left out.
std::vector<std::string> path_of(std::string_view name);

// Operations that follow one another: one of them, or several in a common scope.
struct ScopeItem {
    std::vector<ir::OpId> ops;
    std::string name;                // of the scope or the operation, inside the scopes around it
    std::vector<std::string> scope;  // from the outermost; empty: a single operation
};
// The items of a list inside a scope, in order.
std::vector<ScopeItem> scope_items(const ir::Program& program,
                                   const std::vector<ir::OpId>& ops,
                                   const std::vector<std::string>& around);

}  // namespace lemma::show
