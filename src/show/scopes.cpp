// SPDX-License-Identifier: Apache-2.0
#include "show/scopes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "show/table.h"

namespace lemma::show {

namespace {

using Path = std::vector<std::string>;

// How many scopes of the path are those around it. The last part is the operation's own.
size_t shared_scopes(const Path& path, const Path& around) {
    size_t count = 0;
    while (count + 1 < path.size() && count < around.size() && path[count] == around[count])
        ++count;
    return count;
}

std::string joined(const Path& path, size_t from) {
    return fmt::format(
        "{}", fmt::join(path.begin() + static_cast<std::ptrdiff_t>(from), path.end(), "/"));
}

}  // namespace

std::vector<std::string> path_of(std::string_view name) {
    const char separator = name.find('/') != std::string_view::npos ? '/' : '.';
    Path path;
    while (!name.empty()) {
        size_t end = std::min(name.find(separator), name.size());
        if (path.size() == kMaxScopes) end = name.size();
        if (end > 0) path.emplace_back(name.substr(0, end));
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return path;
}

std::vector<ScopeItem> scope_items(const ir::Program& program,
                                   const std::vector<ir::OpId>& ops,
                                   const std::vector<std::string>& around) {
    std::vector<Path> paths;
    for (const ir::OpId id : ops)
        paths.push_back(path_of(shown_name(program, program.operations[id])));
    std::vector<ScopeItem> items;
    for (size_t first = 0; first < ops.size();) {
        const size_t depth = shared_scopes(paths[first], around);
        // The scopes that this operation shares with the next ones.
        size_t shared = paths[first].empty() ? 0 : paths[first].size() - 1, last = first + 1;
        for (; last < ops.size(); ++last) {
            const size_t both = std::min(shared, shared_scopes(paths[last], paths[first]));
            if (both <= depth) break;
            shared = both;
        }
        ScopeItem item;
        item.ops.assign(ops.begin() + static_cast<std::ptrdiff_t>(first),
                        ops.begin() + static_cast<std::ptrdiff_t>(last));
        if (last - first > 1) {
            item.scope.assign(paths[first].begin(),
                              paths[first].begin() + static_cast<std::ptrdiff_t>(shared));
            item.name = joined(item.scope, depth);
        } else {
            item.name = joined(paths[first], depth);
        }
        items.push_back(std::move(item));
        first = last;
    }
    return items;
}

}  // namespace lemma::show
