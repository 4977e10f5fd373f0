// SPDX-License-Identifier: Apache-2.0
// base/open_file.h — how Lemma opens files to read them, and the words for errors of files. No
// call here waits for a pipe that nobody writes to, and none reads without an end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace lemma {

enum class FileKind : uint8_t {
    Regular,  // files of a model, a test case or a cache
    Any,      // files named by the user; pipes and devices are allowed
};

// Upper bound for pipes and devices, which need not end; more is an error.
inline constexpr int64_t kMaxStreamBytes = int64_t{1} << 30;

class FileHandle {
public:
    FileHandle() = default;
    explicit FileHandle(int handle) : handle_(handle) {}
    FileHandle(FileHandle&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
    FileHandle& operator=(FileHandle&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~FileHandle();

    bool valid() const { return handle_ >= 0; }
    int get() const { return handle_; }

private:
    int handle_ = -1;
};

struct OpenedFile {
    FileHandle handle;
    bool regular = true;
    int64_t size = 0;  // size of a regular file
};

// Errors name the file and the reason: missing, a folder, not permitted, of the wrong kind, too
// large.
Result<OpenedFile> open_file(const std::string& path, FileKind kind, int64_t max_bytes);
// The rest of a pipe or device that open_file opened.
Result<std::string> read_stream(const FileHandle& handle,
                                const std::string& path,
                                int64_t max_bytes);
// The whole content of a file of any kind.
Result<std::string> read_whole(const std::string& path, FileKind kind, int64_t max_bytes);

// "cannot read `path`: reason", of the kind Unreadable.
std::unexpected<Error> cannot_read(std::string_view path, std::string_view reason);
// "cannot write `path`: reason", of the kind Unwritable.
std::unexpected<Error> cannot_write(std::string_view path, std::string_view reason);
// The reason in words, for a value of errno.
std::string file_trouble(int error);

}  // namespace lemma
