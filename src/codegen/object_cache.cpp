// SPDX-License-Identifier: Apache-2.0
#include "codegen/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "base/open_file.h"
#include "base/sha256.h"

#define XXH_INLINE_ALL  // no library to load
#include <xxhash.h>

namespace lemma::codegen {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "LEMMAOB1";
constexpr const char* kObject = ".o";
constexpr const char* kUnfinished = ".part";
constexpr int64_t kMostObject = int64_t{64} << 20;
constexpr time_t kFresh = 3600;  // seconds until a use is recorded again

struct Header {
    std::array<char, 8> magic{};
    uint64_t key = 0;  // key of the object, so that a renamed file is detected
    uint64_t bytes = 0;
    uint64_t checksum = 0;
};

uint64_t sum_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;

    bool open() const { return descriptor_ >= 0; }
    int get() const { return descriptor_; }
    bool read(char* to, size_t bytes) const {
        while (bytes > 0) {
            const ssize_t got = ::read(descriptor_, to, bytes);
            if (got <= 0) return false;
            to += got;
            bytes -= static_cast<size_t>(got);
        }
        return true;
    }
    bool write(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t put = ::write(descriptor_, text.data(), text.size());
            if (put <= 0) return false;
            text.remove_prefix(static_cast<size_t>(put));
        }
        return true;
    }

private:
    int descriptor_;
};

std::string name_of(const ObjectKey& key) { return key.digest + kObject; }

// Only this user may write to files that become code.
bool is_private(const struct stat& info) {
    return info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

ObjectKey object_key(std::string_view kernel_text, std::string_view compiler) {
    return object_key(std::span(&kernel_text, 1), compiler);
}

// The number of its bytes ends the maker.
ObjectKey object_key(std::span<const std::string_view> parts, std::string_view maker) {
    Sha256 digest;
    digest.add(fmt::format("{}:{}", maker.size(), maker));
    for (const std::string_view part : parts) digest.add(part);
    return {digest.digits()};
}

std::string encode_entry(const ObjectKey& key, std::string_view object) {
    Header header;
    std::ranges::copy(kMagic, header.magic.begin());
    header.key = sum_of(key.digest);
    header.bytes = object.size();
    header.checksum = sum_of(object);
    std::string entry(reinterpret_cast<const char*>(&header), sizeof(Header));
    return entry.append(object);
}

std::optional<std::string_view> decode_entry(const ObjectKey& key, std::string_view entry) {
    Header header;
    if (entry.size() < sizeof(Header)) return std::nullopt;
    std::memcpy(&header, entry.data(), sizeof(Header));
    const std::string_view object = entry.substr(sizeof(Header));
    if (std::string_view(header.magic.data(), header.magic.size()) != kMagic) return std::nullopt;
    if (header.key != sum_of(key.digest) || header.bytes != object.size()) return std::nullopt;
    if (header.checksum != sum_of(object)) return std::nullopt;
    return object;
}

ObjectCache::ObjectCache(std::string folder, int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes), trouble_(open_folder()) {}

ObjectCache::~ObjectCache() {
    if (handle_ >= 0) ::close(handle_);
}

// The reason why the folder is unsafe for code; empty if it is safe.
std::string ObjectCache::open_folder() {
    std::error_code failed;
    fs::path path(folder_);
    if (!path.has_filename()) path = path.parent_path();  // `O_NOFOLLOW` checks the last part only
    if (!path.parent_path().empty()) fs::create_directories(path.parent_path(), failed);
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        return fmt::format("cannot make the folder `{}`: {}", folder_, file_trouble(errno));
    }
    handle_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (handle_ < 0) {
        const int error = errno;
        if (fs::is_symlink(path, failed))
            return fmt::format("`{}` is a symbolic link; name the folder itself", folder_);
        return error == ENOTDIR ? fmt::format("`{}` is not a folder", folder_)
                                : cannot_read(folder_, file_trouble(error)).error().message;
    }
    struct stat info{};
    if (::fstat(handle_, &info) != 0)
        return cannot_read(folder_, file_trouble(errno)).error().message;
    if (info.st_uid != ::geteuid()) return fmt::format("`{}` belongs to another user", folder_);
    if (!is_private(info)) return fmt::format("others can write to `{}`", folder_);
    return {};
}

std::optional<std::string> ObjectCache::find(const ObjectKey& key) {
    if (!trouble_.empty()) return std::nullopt;
    const std::string name = name_of(key);
    const File file(
        ::openat(handle_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.open()) {
        if (errno != ENOENT) ::unlinkat(handle_, name.c_str(), 0);
        return std::nullopt;
    }
    struct stat info{};
    std::string entry;
    const auto read = [&]() -> std::optional<std::string_view> {
        if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
        if (!is_private(info)) return std::nullopt;
        if (info.st_size > kMostObject + int64_t{sizeof(Header)}) return std::nullopt;
        entry.resize(static_cast<size_t>(info.st_size));
        if (!file.read(entry.data(), entry.size())) return std::nullopt;
        return decode_entry(key, entry);
    };
    const auto object = read();
    if (!object) {
        ::unlinkat(handle_, name.c_str(), 0);
        return std::nullopt;
    }
    // Eviction removes the least recently used objects first.
    if (::time(nullptr) - info.st_mtime > kFresh) ::futimens(file.get(), nullptr);
    return std::string(*object);
}

void ObjectCache::add(const ObjectKey& key, std::string_view object) {
    const auto size = static_cast<int64_t>(object.size() + sizeof(Header));
    if (!trouble_.empty() || size > most_bytes_ || std::ssize(object) > kMostObject) return;
    const std::string part = fmt::format("{}.{}-{}-{}{}",
                                         key.digest,
                                         ::getpid(),
                                         reinterpret_cast<uintptr_t>(this),
                                         ++added_,
                                         kUnfinished);
    bool whole = false;
    {
        const File file(
            ::openat(handle_, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file.open()) return;
        whole = file.write(encode_entry(key, object));
    }
    if (!whole || ::renameat(handle_, part.c_str(), handle_, name_of(key).c_str()) != 0) {
        ::unlinkat(handle_, part.c_str(), 0);
        return;
    }
    if (bytes_ < 0 || (bytes_ += size) > most_bytes_) trim();
}

void ObjectCache::trim() {
    if (!trouble_.empty()) return;
    const std::scoped_lock lock(trimming_);
    struct Entry {
        std::pair<time_t, long> used;
        int64_t bytes;
        std::string name;
    };
    // A separate handle: reading moves the position that a handle shares with its copies.
    const int again = ::openat(handle_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(again < 0 ? nullptr : ::fdopendir(again),
                                                     &::closedir);
    if (!folder) {
        if (again >= 0) ::close(again);
        return;
    }
    std::vector<Entry> entries;
    int64_t total = 0;
    const time_t now = ::time(nullptr);
    while (const dirent* const found = ::readdir(folder.get())) {
        const std::string name = found->d_name;
        struct stat info{};  // another process may have removed it
        if (::fstatat(handle_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (name.ends_with(kUnfinished) && now - info.st_mtime > kFresh) {
            ::unlinkat(handle_, name.c_str(), 0);
        } else if (name.ends_with(kObject)) {
            entries.push_back({{info.st_mtim.tv_sec, info.st_mtim.tv_nsec}, info.st_size, name});
            total += info.st_size;
        }
    }
    if (total > most_bytes_) {
        std::ranges::sort(entries, {}, &Entry::used);
        for (const Entry& entry : entries) {
            if (total <= most_bytes_ / 10 * 9) break;
            ::unlinkat(handle_, entry.name.c_str(), 0);
            total -= entry.bytes;
        }
    }
    bytes_ = total;
}

}  // namespace lemma::codegen
