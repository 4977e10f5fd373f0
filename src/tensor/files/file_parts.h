// SPDX-License-Identifier: Apache-2.0
// tensor/files/file_parts.h — writes a file from parts that are scattered in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lemma::tensor {

struct FilePart {
    int64_t begin = 0;  // offset in the file
    std::string_view bytes;
};
// The parts are sorted by offset and do not overlap; gaps become zeros. Replaces an existing file
// by a new one.
Result<void> write_file_parts(const std::string& path, std::span<const FilePart> parts);

}  // namespace lemma::tensor
