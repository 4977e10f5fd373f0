// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "tensor/files/file_parts.h"

namespace lemma::tensor {

namespace {

constexpr int64_t kChunkBytes = int64_t{1} << 30;  // one system call transfers at most 2 GiB

}  // namespace

Result<InputFile> InputFile::open(const std::string& path, FileKind kind, int64_t max_bytes) {
    LEMMA_TRY(OpenedFile opened, open_file(path, kind, max_bytes));
    InputFile file;
    file.path_ = path;
    file.size_ = opened.size;
    if (opened.regular) {
        file.handle_ = std::move(opened.handle);
        return file;
    }
    LEMMA_TRY(file.stream_, read_stream(opened.handle, path, max_bytes));
    file.size_ = static_cast<int64_t>(file.stream_.size());
    return file;
}

Result<std::string> InputFile::read(int64_t begin, int64_t max_bytes) const {
    const int64_t length = std::clamp<int64_t>(size_ - begin, 0, max_bytes);
    std::string bytes;
    try {
        bytes.resize(static_cast<size_t>(length));
    } catch (const std::bad_alloc&) {
        return cannot_read(path_, fmt::format("there is no memory for {} bytes", length));
    }
    LEMMA_TRY(read_into(begin, std::as_writable_bytes(std::span(bytes))));
    return bytes;
}

Result<void> InputFile::read_into(int64_t begin, std::span<std::byte> to) const {
    const auto wanted = static_cast<int64_t>(to.size());
    if (begin < 0 || begin > size_ || wanted > size_ - begin) {
        return cannot_read(path_, "it ends too early");
    }
    if (to.empty()) return {};
    if (!handle_.valid()) {
        std::memcpy(to.data(), stream_.data() + begin, to.size());
        return {};
    }
    for (int64_t done = 0; done < wanted;) {
        const auto ask = static_cast<size_t>(std::min(wanted - done, kChunkBytes));
        const ssize_t got = ::pread(handle_.get(), to.data() + done, ask, begin + done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path_, file_trouble(errno));
        if (got == 0) return cannot_read(path_, "it became shorter while it was read");
        done += got;
    }
    return {};
}

Result<std::string> read_file(const std::string& path, FileKind kind, int64_t max_bytes) {
    LEMMA_TRY(const InputFile file, InputFile::open(path, kind, max_bytes));
    return file.read(0, file.size());
}

namespace {

// Removes the name of an existing file and returns its permissions. A process that has mapped the
// old file keeps its bytes, so a model can be written over itself.
std::optional<mode_t> step_aside(const std::string& path) {
    std::error_code failed;
    const std::filesystem::path real = std::filesystem::canonical(path, failed);
    struct stat status = {};
    if (failed || ::lstat(real.c_str(), &status) != 0) return std::nullopt;
    const bool alone = S_ISREG(status.st_mode) && status.st_nlink == 1;
    if (!alone || status.st_uid != ::geteuid() || ::access(real.c_str(), W_OK) != 0)
        return std::nullopt;
    if (::unlink(real.c_str()) != 0) return std::nullopt;
    return status.st_mode & 07777;
}

}  // namespace

Result<void> make_folder(const std::string& path) {
    std::error_code failed;
    std::filesystem::create_directories(path, failed);
    if (!failed) return {};
    const bool blocked = failed == std::errc::not_a_directory || failed == std::errc::file_exists;
    return std::unexpected(Error{
        fmt::format("cannot make the folder `{}`: {}",
                    path,
                    blocked ? "a file has the name of a folder" : file_trouble(failed.value())),
        ErrorKind::Unwritable});
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
    return write_file_parts(path, std::array{FilePart{0, bytes}});
}

Result<void> write_file_parts(const std::string& path, std::span<const FilePart> parts) {
    const auto trouble = [&] { return cannot_write(path, file_trouble(errno)); };
    const auto mode = step_aside(path);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file) return trouble();
    if (mode && ::fchmod(::fileno(file), *mode) != 0) errno = 0;  // as far as possible
    const auto write = [&](const FilePart& part) {
        // Seeking past the end leaves zeros. Offset 0 needs no seek, so pipes work.
        return (part.begin == 0 || ::fseeko(file, part.begin, SEEK_SET) == 0) &&
               std::fwrite(part.bytes.data(), 1, part.bytes.size(), file) == part.bytes.size();
    };
    if (!std::ranges::all_of(parts, write)) {
        auto error = trouble();
        std::fclose(file);
        return error;
    }
    if (std::fclose(file) != 0) return trouble();
    return {};
}

}  // namespace lemma::tensor
