// SPDX-License-Identifier: Apache-2.0
// tensor/files/file_io.h — whole files and parts of them. Errors name the file and the reason given
// by the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/open_file.h"
#include "base/result.h"

namespace lemma::tensor {

using lemma::cannot_read;
using lemma::cannot_write;
using lemma::FileKind;

inline constexpr int64_t kMaxFileBytes = int64_t{1} << 36;

// A file open for reading. It reads on demand, but a pipe is read to its end at once.
class InputFile {
public:
    static Result<InputFile> open(const std::string& path,
                                  FileKind kind = FileKind::Regular,
                                  int64_t max_bytes = kMaxFileBytes);

    const std::string& path() const { return path_; }
    int64_t size() const { return size_; }
    // Up to `max_bytes` bytes; fewer at the end of the file.
    Result<std::string> read(int64_t begin, int64_t max_bytes) const;
    // Fills all of `to`; an error if the file is too short.
    Result<void> read_into(int64_t begin, std::span<std::byte> to) const;

private:
    InputFile() = default;

    std::string path_;
    FileHandle handle_;
    int64_t size_ = 0;
    std::string stream_;  // the content of a pipe
};

Result<std::string> read_file(const std::string& path,
                              FileKind kind = FileKind::Regular,
                              int64_t max_bytes = kMaxFileBytes);
// Replaces an existing file by a new one.
Result<void> write_file(const std::string& path, std::string_view bytes);
// With the folders above it; one that is there already is fine.
Result<void> make_folder(const std::string& path);

}  // namespace lemma::tensor
