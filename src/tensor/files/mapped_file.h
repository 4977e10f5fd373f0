// SPDX-License-Identifier: Apache-2.0
// tensor/files/mapped_file.h — memory-mapped files. Pages are loaded on access and dropped when
// memory is short, so files may be larger than memory. A part is held before it is used
// (docs/decisions/files-that-change.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tensor/files/file_io.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

SharedBytes share(std::string bytes);
// A part of the bytes; it keeps all of them alive. The part must lie inside.
SharedBytes share_part(const SharedBytes& bytes, size_t begin, size_t length);

// Maps a file. Accessing a page of a file that has become shorter kills the process, so hold a part
// before you read it. A pipe is read to its end.
Result<SharedBytes> map_file(const std::string& path,
                             FileKind kind = FileKind::Regular,
                             int64_t max_bytes = kMaxFileBytes);

// Copies a part of a mapped file into private memory; later changes of the file do not affect it.
// An error if the file has become shorter. Does nothing for other bytes.
Result<void> hold_bytes(std::string_view bytes);
// Releases the pages of a mapped file that lie inside. They must be held again before the next use.
// Does nothing for other bytes.
void drop_pages(std::string_view bytes);

}  // namespace lemma::tensor
