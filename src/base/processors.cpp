// SPDX-License-Identifier: Apache-2.0
#include "base/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace lemma {

namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void take_smaller(std::optional<double>& quota, double time, double period) {
    if (!(time > 0) || !(period > 0)) return;
    quota = std::min(quota.value_or(HUGE_VAL), time / period);
}

// `max 100000` or `150000 100000`.
void add_version_2(const std::string& folder, std::optional<double>& quota) {
    std::istringstream text(text_of(folder + "/cpu.max"));
    double time = 0, period = 0;
    if (text >> time >> period) take_smaller(quota, time, period);
}

void add_version_1(const std::string& folder, std::optional<double>& quota) {
    std::istringstream time_text(text_of(folder + "/cpu.cfs_quota_us"));
    std::istringstream period_text(text_of(folder + "/cpu.cfs_period_us"));
    double time = 0, period = 0;
    if (time_text >> time && period_text >> period) take_smaller(quota, time, period);
}

// The group's folder and those around it, up to the mount. In a container, the path of the group
// may not be visible; then only the mount is left.
template <class Add>
void visit_folders(const std::string& mount, std::string_view path, const Add& add) {
    while (!path.empty() && path != "/") {
        add(mount + std::string(path));
        const size_t end = path.rfind('/');
        path = end == std::string_view::npos ? std::string_view() : path.substr(0, end);
    }
    add(mount);
}

bool has_cpu(std::string_view controllers) {
    return ("," + std::string(controllers) + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

std::optional<double> quota_of(std::string_view groups, const std::string& mount) {
    std::optional<double> quota;
    // Lines such as `0::/user.slice` (version 2) or `4:cpu,cpuacct:/jobs` (version 1).
    while (!groups.empty()) {
        const size_t end = std::min(groups.find('\n'), groups.size());
        const std::string_view line = groups.substr(0, end);
        groups.remove_prefix(std::min(end + 1, groups.size()));
        const size_t first = line.find(':');
        const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
        if (second == line.npos) continue;
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        const std::string_view path = line.substr(second + 1);
        if (controllers.empty()) {
            visit_folders(mount, path, [&](const auto& at) { add_version_2(at, quota); });
        } else if (has_cpu(controllers)) {
            for (const std::string& name : {std::string("cpu"), std::string(controllers)}) {
                visit_folders(
                    mount + "/" + name, path, [&](const auto& at) { add_version_1(at, quota); });
            }
        }
    }
    return quota;
}

int usable_processors() {
    int allowed = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) == 0) allowed = std::max(1, CPU_COUNT(&set));
    const auto quota = quota_of(text_of("/proc/self/cgroup"), "/sys/fs/cgroup");
    if (!quota) return allowed;
    return std::min(allowed, static_cast<int>(std::max(1.0, std::ceil(std::min(*quota, 1e6)))));
}

}  // namespace lemma
