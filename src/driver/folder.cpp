// SPDX-License-Identifier: Apache-2.0
#include "driver/folder.h"

#include <algorithm>
#include <system_error>

namespace lemma::driver {

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> entries;
    std::error_code failed;
    std::filesystem::directory_iterator entry(folder, failed);
    for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
        entries.push_back(entry->path());
    }
    std::ranges::sort(entries);
    return entries;
}

}  // namespace lemma::driver
