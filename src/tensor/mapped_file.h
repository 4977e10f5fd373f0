// tensor/mapped_file.h — the bytes of a file where they are: its pages come into memory when they
// are looked at, and go when memory is short, so that the size of a file is no limit.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tensor/file_io.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

SharedBytes share(std::string bytes);
// A part of them; it keeps them all. The part lies inside.
SharedBytes share_part(const SharedBytes& bytes, size_t begin, size_t length);

// The file must be left alone as long as its bytes are used: the system stops programs that look at
// pages of a file that became shorter (files that Lemma itself writes are new ones, see
// write_file).
enum class FileKind { Regular, Any };  // pipes are read to their end; or refused
Result<SharedBytes> map_file(const std::string& path,
                             FileKind kind = FileKind::Any,
                             int64_t max_bytes = kMaxFileBytes);

// Lets go of the pages of a mapped file that lie inside; they come again when they are looked at.
// Nothing happens to other bytes.
void drop_pages(std::string_view bytes);

}  // namespace lemma::tensor
