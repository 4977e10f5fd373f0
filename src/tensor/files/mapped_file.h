// tensor/files/mapped_file.h — the bytes of a file where they are: its pages come into memory when
// they are looked at, and go when memory is short, so that the size of a file is no limit. What is
// used of them is held first (docs/decisions/files-that-change.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tensor/files/file_io.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

SharedBytes share(std::string bytes);
// A part of them; it keeps them all. The part lies inside.
SharedBytes share_part(const SharedBytes& bytes, size_t begin, size_t length);

// The system stops programs that look at pages of a file that became shorter: a part is held before
// anyone looks at it. A pipe is read to its end.
Result<SharedBytes> map_file(const std::string& path,
                             FileKind kind = FileKind::Regular,
                             int64_t max_bytes = kMaxFileBytes);

// Reads a part of a mapped file into memory of this program: from here on it stays what it is,
// whatever happens to the file. An error if the file became shorter. Other bytes are held anyway.
Result<void> hold_bytes(std::string_view bytes);
// Lets go of the pages of a mapped file that lie inside; they are held anew before they are used
// again. Nothing happens to other bytes.
void drop_pages(std::string_view bytes);

}  // namespace lemma::tensor
