// SPDX-License-Identifier: Apache-2.0
#include "base/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace lemma {

namespace {

std::unexpected<Error> too_large(const std::string& path, int64_t max_bytes) {
    return cannot_read(path, fmt::format("it has more than {} bytes", max_bytes));
}

constexpr int kForWriter = 2000;  // milliseconds to wait for a writer of a pipe
constexpr int kForEver = -1;

// Waits for more data of a pipe. False if the system cannot wait.
bool wait_for_more(int handle, int milliseconds) {
    pollfd wanted{handle, POLLIN, 0};
    while (::poll(&wanted, 1, milliseconds) < 0) {
        if (errno != EINTR) return false;
    }
    return true;
}

// Files of the system itself, such as those of /proc, have contents but report size 0.
Result<std::string> read_sizeless(const OpenedFile& file,
                                  const std::string& path,
                                  int64_t max_bytes) {
    char byte = 0;
    const ssize_t got = ::pread(file.handle.get(), &byte, 1, 0);
    if (got < 0) return cannot_read(path, file_trouble(errno));
    return got == 0 ? std::string() : read_stream(file.handle, path, max_bytes);
}

Result<std::string> read_regular(const OpenedFile& file, const std::string& path) {
    std::string bytes(static_cast<size_t>(file.size), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::read(file.handle.get(), bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path, file_trouble(errno));
        if (got == 0) return cannot_read(path, "it became shorter while it was read");
        done += static_cast<size_t>(got);
    }
    return bytes;
}

}  // namespace

FileHandle::~FileHandle() {
    if (handle_ >= 0) ::close(handle_);
}

std::unexpected<Error> cannot_read(std::string_view path, std::string_view reason) {
    return std::unexpected(
        Error{fmt::format("cannot read `{}`: {}", path, reason), ErrorKind::Unreadable});
}

std::unexpected<Error> cannot_write(std::string_view path, std::string_view reason) {
    return std::unexpected(
        Error{fmt::format("cannot write `{}`: {}", path, reason), ErrorKind::Unwritable});
}

std::string file_trouble(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return "there is no such file or folder";
        case EACCES:
        case EPERM:
            return "permission denied";
        case EISDIR:
            return "it is a folder";
        case ENAMETOOLONG:
            return "its name is too long";
        case ELOOP:
            return "its links go round in circles";
        default:
            return std::generic_category().message(error);
    }
}

Result<OpenedFile> open_file(const std::string& path, FileKind kind, int64_t max_bytes) {
    // The system would cut the name at the zero byte.
    if (path.contains('\0')) return cannot_read(path, file_trouble(ENOENT));
    OpenedFile file;
    file.handle = FileHandle(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    struct stat status = {};
    if (!file.handle.valid() || ::fstat(file.handle.get(), &status) != 0) {
        // A socket cannot be opened.
        return cannot_read(path, errno == ENXIO ? "it is not a regular file" : file_trouble(errno));
    }
    if (S_ISDIR(status.st_mode)) return cannot_read(path, file_trouble(EISDIR));
    file.regular = S_ISREG(status.st_mode);
    if (!file.regular && kind == FileKind::Regular)
        return cannot_read(path, "it is not a regular file");
    file.size = file.regular ? static_cast<int64_t>(status.st_size) : 0;
    if (file.size > max_bytes) return too_large(path, max_bytes);
    return file;
}

Result<std::string> read_stream(const FileHandle& handle,
                                const std::string& path,
                                int64_t max_bytes) {
    constexpr size_t kChunk = size_t{1} << 16;
    max_bytes = std::min(max_bytes, kMaxStreamBytes);
    std::string bytes;
    bool waited = false;
    while (true) {
        const size_t before = bytes.size();
        bytes.resize(before + kChunk);
        const ssize_t got = ::read(handle.get(), bytes.data() + before, kChunk);
        const int error = errno;
        bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
        if (got < 0 && error == EINTR) continue;
        if (got < 0 && error == EAGAIN && wait_for_more(handle.get(), kForEver)) continue;
        if (got < 0) return cannot_read(path, file_trouble(error));
        if (got == 0 && bytes.empty() && !std::exchange(waited, true)) {
            wait_for_more(handle.get(), kForWriter);
            continue;
        }
        if (got == 0 && bytes.empty())
            return cannot_read(path, "it is empty, or a pipe that nobody writes to");
        if (got == 0) return bytes;
        if (static_cast<int64_t>(bytes.size()) > max_bytes) {
            return cannot_read(path,
                               fmt::format("it is a pipe or device with more than {} bytes; save "
                                           "them to a file",
                                           max_bytes));
        }
    }
}

Result<std::string> read_whole(const std::string& path, FileKind kind, int64_t max_bytes) {
    LEMMA_TRY(const OpenedFile file, open_file(path, kind, max_bytes));
    try {
        if (!file.regular) return read_stream(file.handle, path, max_bytes);
        if (file.size == 0) return read_sizeless(file, path, max_bytes);
        return read_regular(file, path);
    } catch (const std::bad_alloc&) {
        return cannot_read(path, "there is no memory for it");
    }
}

}  // namespace lemma
