#include "codegen/object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <vector>

#define XXH_INLINE_ALL  // no library to load
#include <xxhash.h>

namespace lemma::codegen {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "LEMMAOB1";
constexpr const char* kObject = ".o";
constexpr const char* kUnfinished = ".part";
constexpr int64_t kMostObject = int64_t{64} << 20;
constexpr time_t kFresh = 3600;  // seconds for which a use is not noted again

struct Header {
    std::array<char, 8> magic{};
    uint64_t key = 0;  // of the object, so that a renamed file is not taken for another one
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

// What is wrong with the folder as a place for code that will run.
std::string trouble_with(const std::string& folder) {
    std::error_code failed;
    const fs::path path(folder);
    if (!path.parent_path().empty()) fs::create_directories(path.parent_path(), failed);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return fmt::format("cannot make `{}`: {}", folder, std::strerror(errno));
    }
    struct stat info{};
    if (::stat(folder.c_str(), &info) != 0) {
        return fmt::format("cannot read `{}`: {}", folder, std::strerror(errno));
    }
    if (!S_ISDIR(info.st_mode)) return fmt::format("`{}` is not a folder", folder);
    if (info.st_uid != ::geteuid()) return fmt::format("`{}` belongs to another user", folder);
    if (info.st_mode & (S_IWGRP | S_IWOTH)) {
        return fmt::format("others can write to `{}`", folder);
    }
    return {};
}

}  // namespace

ObjectKey object_key(std::string_view kernel_text, std::string_view compiler) {
    const XXH128_hash_t seed = XXH3_128bits(compiler.data(), compiler.size());
    const XXH128_hash_t text =
        XXH3_128bits_withSeed(kernel_text.data(), kernel_text.size(), seed.low64);
    ObjectKey key;
    key.digest = fmt::format(
        "{:016x}{:016x}{:08x}", text.high64, text.low64, static_cast<uint32_t>(seed.high64));
    return key;
}

ObjectCache::ObjectCache(std::string folder, int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes), trouble_(trouble_with(folder_)) {}

std::string ObjectCache::path_of(const ObjectKey& key) const {
    return fmt::format("{}/{}{}", folder_, key.digest, kObject);
}

std::optional<std::string> ObjectCache::find(const ObjectKey& key) {
    if (!trouble_.empty()) return std::nullopt;
    const std::string path = path_of(key);
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.open()) return std::nullopt;
    struct stat info{};
    Header header;
    std::string object;
    const auto good = [&] {
        if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
        const auto size = static_cast<int64_t>(info.st_size) - int64_t{sizeof(Header)};
        if (size < 0 || size > kMostObject) return false;
        if (!file.read(reinterpret_cast<char*>(&header), sizeof(Header))) return false;
        if (std::string_view(header.magic.data(), header.magic.size()) != kMagic) return false;
        if (header.key != sum_of(key.digest)) return false;
        if (header.bytes != static_cast<uint64_t>(size)) return false;
        object.resize(static_cast<size_t>(size));
        return file.read(object.data(), object.size()) && header.checksum == sum_of(object);
    };
    if (!good()) {
        ::unlink(path.c_str());
        return std::nullopt;
    }
    // What was used last stays longest.
    if (::time(nullptr) - info.st_mtime > kFresh) ::futimens(file.get(), nullptr);
    return object;
}

void ObjectCache::add(const ObjectKey& key, std::string_view object) {
    const auto size = static_cast<int64_t>(object.size() + sizeof(Header));
    if (!trouble_.empty() || size > most_bytes_ || std::ssize(object) > kMostObject) return;
    Header header;
    std::ranges::copy(kMagic, header.magic.begin());
    header.key = sum_of(key.digest);
    header.bytes = object.size();
    header.checksum = sum_of(object);
    const std::string part = fmt::format("{}/{}.{}-{}-{}{}",
                                         folder_,
                                         key.digest,
                                         ::getpid(),
                                         reinterpret_cast<uintptr_t>(this),
                                         ++added_,
                                         kUnfinished);
    bool whole = false;
    {
        const File file(
            ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (!file.open()) return;
        const std::string_view head(reinterpret_cast<const char*>(&header), sizeof(Header));
        whole = file.write(head) && file.write(object);
    }
    if (!whole || ::rename(part.c_str(), path_of(key).c_str()) != 0) {
        ::unlink(part.c_str());
        return;
    }
    if (bytes_ < 0 || (bytes_ += size) > most_bytes_) trim();
}

void ObjectCache::trim() {
    if (!trouble_.empty()) return;
    const std::scoped_lock lock(trimming_);
    struct Entry {
        fs::file_time_type used;
        int64_t bytes;
        fs::path path;
    };
    std::vector<Entry> entries;
    int64_t total = 0;
    const auto now = fs::file_time_type::clock::now();
    std::error_code failed;
    for (auto it = fs::directory_iterator(folder_, failed); !failed && it != fs::end(it);
         it.increment(failed)) {
        const fs::path& path = it->path();
        std::error_code gone;  // by another process, meanwhile
        const auto used = it->last_write_time(gone);
        const auto bytes = static_cast<int64_t>(it->file_size(gone));
        if (gone) continue;
        if (path.extension() == kUnfinished && now - used > std::chrono::hours(1)) {
            fs::remove(path, gone);
        } else if (path.extension() == kObject) {
            entries.push_back({used, bytes, path});
            total += bytes;
        }
    }
    if (total > most_bytes_) {
        std::ranges::sort(entries, {}, &Entry::used);
        for (const Entry& entry : entries) {
            if (total <= most_bytes_ / 10 * 9) break;
            std::error_code gone;
            fs::remove(entry.path, gone);
            total -= entry.bytes;
        }
    }
    bytes_ = total;
}

}  // namespace lemma::codegen
