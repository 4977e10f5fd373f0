// tensor/files/file_io.h — whole files and parts of them. Errors name the file and say what the
// system said.
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
using lemma::FileKind;

inline constexpr int64_t kMaxFileBytes = int64_t{1} << 36;

// A file that is open for reading. Nothing is read before it is asked for, except that a pipe is
// read to its end at once.
class InputFile {
public:
    static Result<InputFile> open(const std::string& path,
                                  FileKind kind = FileKind::Regular,
                                  int64_t max_bytes = kMaxFileBytes);

    const std::string& path() const { return path_; }
    int64_t size() const { return size_; }
    // As many bytes as there are, up to the given number.
    Result<std::string> read(int64_t begin, int64_t max_bytes) const;
    // All of `to`; a file that ends before is an error.
    Result<void> read_into(int64_t begin, std::span<std::byte> to) const;

private:
    InputFile() = default;

    std::string path_;
    FileHandle handle_;
    int64_t size_ = 0;
    std::string stream_;  // what came through a pipe
};

Result<std::string> read_file(const std::string& path,
                              FileKind kind = FileKind::Regular,
                              int64_t max_bytes = kMaxFileBytes);
// What is there already is replaced by a new file of that name.
Result<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace lemma::tensor
