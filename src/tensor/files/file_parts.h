// tensor/files/file_parts.h — writes a file whose parts lie here and there in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lemma::tensor {

struct FilePart {
    int64_t begin = 0;  // its place in the file
    std::string_view bytes;
};
// In the order of their places, which do not overlap; what is between them is zero. What is there
// already is replaced by a new file of that name.
Result<void> write_file_parts(const std::string& path, std::span<const FilePart> parts);

}  // namespace lemma::tensor
