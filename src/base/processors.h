// SPDX-License-Identifier: Apache-2.0
// base/processors.h — how many processors this process may use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lemma {

// The processors of the affinity mask, at most the quota of the control groups (versions 1 and 2),
// rounded up; at least 1.
int usable_processors();

// The quota in processors, if there is one. `groups` is the text of /proc/self/cgroup, and `mount`
// the folder of the control groups. The smallest quota of a group and those around it counts.
std::optional<double> quota_of(std::string_view groups, const std::string& mount);

}  // namespace lemma
