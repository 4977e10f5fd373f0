// SPDX-License-Identifier: Apache-2.0
// driver/folder.h — what is in a folder.
#pragma once

#include <filesystem>
#include <vector>

namespace lemma::driver {

// The paths of files and folders in it, sorted; none if it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace lemma::driver
