// SPDX-License-Identifier: Apache-2.0
#include "tensor/archive/archive.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>

#include "base/checked.h"
#include "base/open_file.h"
#include "tensor/archive/libarchive.h"
#include "tensor/files/mapped_file.h"

namespace lemma::tensor {

namespace {

namespace fs = std::filesystem;

// The default limit: an archive may unpack to this many times its size, or to a gigabyte. Weights
// do not compress that well; an archive beyond the limit is a bomb.
constexpr int64_t kUsualRatio = 100;
constexpr int64_t kUsualBytes = int64_t{1} << 30;
// The kept part of a file that exceeds the memory limit: enough for the header of a tensor.
constexpr int64_t kHeadBytes = 256;

using Handle = std::unique_ptr<archive, decltype(LibArchive::archive_read_free)>;

struct Member {
    std::string path;     // in the archive, without `./`
    int64_t ordinal = 0;  // number of the entry
    int64_t bytes = 0;
    std::string kept;  // all of it, or the first kHeadBytes
};

// The entry's name without `.` parts and doubled slashes; empty if it leads out of the archive.
std::optional<std::string> clean_name(std::string_view name) {
    if (name.starts_with('/')) return std::nullopt;
    std::string clean;
    while (!name.empty()) {
        const size_t end = std::min(name.find('/'), name.size());
        const std::string_view part = name.substr(0, end);
        name.remove_prefix(std::min(end + 1, name.size()));
        if (part == "..") return std::nullopt;
        if (part.empty() || part == ".") continue;
        if (!clean.empty()) clean += '/';
        clean += part;
    }
    return clean;
}

// Files that an operating system adds to the user's files.
bool is_hidden(std::string_view name) {
    return name.starts_with('.') || name.find("/.") != std::string_view::npos ||
           name.starts_with("__MACOSX/");
}

// ---- Archives -----------------------------------------------------------------------------------

class Archive final : public ModelSource {
public:
    // With bytes, the path only appears in messages.
    Archive(const LibArchive& lib,
            std::string path,
            std::optional<std::string> bytes,
            const SourceLimits& limits,
            ArchiveNames names)
        : lib_(lib),
          path_(std::move(path)),
          bytes_(std::move(bytes)),
          limits_(limits),
          plain_(names == ArchiveNames::AsWritten) {}

    Result<void> index();

    Result<std::vector<std::string>> list() const override;
    bool has(const std::string& name) const override { return members_.contains(name); }
    Result<int64_t> size(const std::string& name) const override;
    Result<std::string> read(const std::string& name, int64_t first_bytes) const override;
    std::string path_of(const std::string& name) const override;

private:
    Result<Handle> open() const;
    // False at the end.
    Result<bool> next(const Handle& handle, archive_entry*& entry) const;
    Result<void> add(const Handle& handle, archive_entry* entry, int64_t ordinal);
    Result<void> check_headers(const Handle& handle, int64_t entries) const;
    Result<void> check_kind(archive_entry* entry, const std::string& name) const;
    Result<int64_t> unpack(const Handle& handle, int64_t memory, std::string& kept);
    Result<std::string> read_again(const Member& member, int64_t first_bytes) const;
    void strip_top_folder();
    std::unexpected<Error> trouble(const Handle& handle) const;
    std::unexpected<Error> refuse(std::string_view name, std::string_view what) const;
    std::unexpected<Error> over_limit(std::string_view what,
                                      int64_t limit,
                                      std::string_view unit,
                                      std::string_view flag) const;

    const LibArchive& lib_;
    std::string path_;
    std::optional<std::string> bytes_;
    SourceLimits limits_;
    bool plain_;  // names are no paths
    std::map<std::string, Member, std::less<>> members_;
    int64_t unpacked_ = 0;
    int64_t kept_ = 0;
};

std::unexpected<Error> Archive::trouble(const Handle& handle) const {
    const char* text = lib_.archive_error_string(handle.get());
    return cannot_read(path_,
                       fmt::format("the archive is damaged or of another format ({})",
                                   text ? text : "no reason given"));
}

std::unexpected<Error> Archive::refuse(std::string_view name, std::string_view what) const {
    return cannot_read(path_, fmt::format("the entry `{}` {}", name, what));
}

std::unexpected<Error> Archive::over_limit(std::string_view what,
                                           int64_t limit,
                                           std::string_view unit,
                                           std::string_view flag) const {
    return cannot_read(
        path_, fmt::format("{} more than {} {} ({} raises the limit)", what, limit, unit, flag));
}

Result<Handle> Archive::open() const {
    Handle handle(lib_.archive_read_new(), lib_.archive_read_free);
    if (!handle) return cannot_read(path_, "out of memory");
    lib_.archive_read_support_filter_gzip(handle.get());
    if (lib_.has_bzip2) lib_.archive_read_support_filter_bzip2(handle.get());
    if (lib_.has_xz) lib_.archive_read_support_filter_xz(handle.get());
    lib_.archive_read_support_format_tar(handle.get());
    lib_.archive_read_support_format_zip(handle.get());
    const int status =
        bytes_ ? lib_.archive_read_open_memory(handle.get(), bytes_->data(), bytes_->size())
               : lib_.archive_read_open_filename(handle.get(), path_.c_str(), 1 << 16);
    if (status != ARCHIVE_OK) return trouble(handle);
    // The last filter is none. The output of a middle filter would not count as unpacked.
    if (lib_.archive_filter_count(handle.get()) > 2) {
        return cannot_read(path_, "it is compressed more than once");
    }
    return handle;
}

Result<bool> Archive::next(const Handle& handle, archive_entry*& entry) const {
    const int status = lib_.archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF) return false;
    // Warnings concern things that we do not use, such as owners and times.
    if (status < ARCHIVE_WARN) return trouble(handle);
    return true;
}

Result<void> Archive::index() {
    if (limits_.max_archive_bytes == 0) {
        std::error_code ignored;
        const auto size = bytes_ ? bytes_->size() : fs::file_size(path_, ignored);
        const auto packed = static_cast<int64_t>(std::min<uintmax_t>(size, kUsualBytes << 10));
        limits_.max_archive_bytes = std::max(kUsualBytes, packed * kUsualRatio);
    }
    LEMMA_TRY(const Handle handle, open());
    archive_entry* entry = nullptr;
    for (int64_t ordinal = 0;; ++ordinal) {
        LEMMA_TRY(const bool more, next(handle, entry));
        if (!more) break;
        if (ordinal >= limits_.max_files) {
            return over_limit("it has", limits_.max_files, "entries", "--max-files");
        }
        LEMMA_TRY(check_headers(handle, ordinal));
        LEMMA_TRY(add(handle, entry, ordinal));
    }
    if (!plain_) strip_top_folder();
    return {};
}

// Names and other attributes are unpacked, too. An entry has a few blocks of them, rarely more.
Result<void> Archive::check_headers(const Handle& handle, int64_t entries) const {
    constexpr int64_t kUsualHeader = 4096;
    constexpr int64_t kMoreHeaders = int64_t{16} << 20;
    const int64_t bytes = lib_.archive_filter_bytes(handle.get(), 0);
    const auto room = checked_add(entries * kUsualHeader + kMoreHeaders, limits_.max_archive_bytes);
    if (!room || bytes <= *room) return {};
    return over_limit("it unpacks to", limits_.max_archive_bytes, "bytes", "--max-archive-bytes");
}

// A link names another entry or leads out of the archive; a model needs neither.
Result<void> Archive::check_kind(archive_entry* entry, const std::string& name) const {
    if (lib_.archive_entry_is_encrypted(entry) > 0) return refuse(name, "is encrypted");
    if (lib_.archive_entry_hardlink(entry)) return refuse(name, "is a link");
    const auto type = lib_.archive_entry_filetype(entry);
    if (type == AE_IFLNK) return refuse(name, "is a symbolic link");
    if (type != AE_IFREG && type != AE_IFDIR && type != 0) {
        return refuse(name, "is a device, pipe or socket");
    }
    if (lib_.archive_entry_size_is_set(entry) &&
        lib_.archive_entry_size(entry) > limits_.max_file_bytes) {
        return over_limit(
            fmt::format("`{}` has", name), limits_.max_file_bytes, "bytes", "--max-file-bytes");
    }
    return {};
}

Result<void> Archive::add(const Handle& handle, archive_entry* entry, int64_t ordinal) {
    const char* written = lib_.archive_entry_pathname_utf8(entry);
    if (!written) written = lib_.archive_entry_pathname(entry);
    if (!written) {
        return cannot_read(path_, fmt::format("the name of entry {} is damaged", ordinal));
    }
    const auto name = plain_ ? std::string(written) : clean_name(written);
    if (!name) return refuse(written, "leads out of the archive");
    LEMMA_TRY(check_kind(entry, *name));

    // Entries that are not kept are read as well: they may be damaged, and they count.
    const bool wanted = lib_.archive_entry_filetype(entry) != AE_IFDIR && !name->empty() &&
                        (plain_ || !is_hidden(*name));
    Member member = {.path = *name, .ordinal = ordinal};
    LEMMA_TRY(member.bytes, unpack(handle, wanted ? limits_.memory - kept_ : 0, member.kept));
    if (member.bytes > limits_.max_file_bytes) {
        return over_limit(
            fmt::format("`{}` has", *name), limits_.max_file_bytes, "bytes", "--max-file-bytes");
    }
    if (!wanted) return {};
    kept_ += static_cast<int64_t>(member.kept.size());
    if (!members_.emplace(*name, std::move(member)).second) return refuse(*name, "occurs twice");
    return {};
}

// Reads an entry to its end or to the limit; returns its size. Keeps the whole entry if it fits the
// memory limit, else its head.
Result<int64_t> Archive::unpack(const Handle& handle, int64_t memory, std::string& kept) {
    std::array<char, 1 << 16> buffer;
    int64_t total = 0;
    while (total <= limits_.max_file_bytes) {
        const la_ssize_t got = lib_.archive_read_data(handle.get(), buffer.data(), buffer.size());
        if (got == ARCHIVE_RETRY) continue;
        if (got < 0) return trouble(handle);
        if (got == 0) break;
        if (total + got <= memory) {
            kept.append(buffer.data(), static_cast<size_t>(got));
        } else {
            if (total < kHeadBytes) kept.append(buffer.data(), static_cast<size_t>(got));
            if (static_cast<int64_t>(kept.size()) > kHeadBytes) {
                kept.resize(static_cast<size_t>(kHeadBytes));
                kept.shrink_to_fit();
            }
        }
        total += got;
        unpacked_ += got;
        if (unpacked_ > limits_.max_archive_bytes) {
            return over_limit(
                "it unpacks to", limits_.max_archive_bytes, "bytes", "--max-archive-bytes");
        }
    }
    return total;
}

void Archive::strip_top_folder() {
    if (members_.empty()) return;
    const std::string& first = members_.begin()->first;
    const size_t slash = first.find('/');
    if (slash == std::string::npos) return;
    const std::string top = first.substr(0, slash + 1);
    for (const auto& [name, member] : members_) {
        if (!name.starts_with(top)) return;
    }
    std::map<std::string, Member, std::less<>> stripped;
    for (auto& [name, member] : members_)
        stripped.emplace(name.substr(top.size()), std::move(member));
    members_ = std::move(stripped);
}

Result<std::vector<std::string>> Archive::list() const {
    std::vector<std::string> names;
    for (const auto& [name, member] : members_) names.push_back(name);
    return names;
}

std::string Archive::path_of(const std::string& name) const {
    const auto member = members_.find(name);
    return path_ + "/" + (member == members_.end() ? name : member->second.path);
}

Result<int64_t> Archive::size(const std::string& name) const {
    const auto member = members_.find(name);
    if (member == members_.end()) return cannot_read(path_of(name), file_trouble(ENOENT));
    return member->second.bytes;
}

Result<std::string> Archive::read(const std::string& name, int64_t first_bytes) const {
    const auto found = members_.find(name);
    if (found == members_.end()) return cannot_read(path_of(name), file_trouble(ENOENT));
    const Member& member = found->second;
    const int64_t wanted = std::clamp<int64_t>(first_bytes, 0, member.bytes);
    if (wanted <= static_cast<int64_t>(member.kept.size())) {
        return member.kept.substr(0, static_cast<size_t>(wanted));
    }
    return read_again(member, wanted);
}

// The archive may have changed since it was opened; the result is any text that is not longer.
Result<std::string> Archive::read_again(const Member& member, int64_t first_bytes) const {
    LEMMA_TRY(const Handle handle, open());
    archive_entry* entry = nullptr;
    for (int64_t ordinal = 0; ordinal <= member.ordinal; ++ordinal) {
        LEMMA_TRY(const bool more, next(handle, entry));
        if (!more) return cannot_read(path_, "it was changed meanwhile");
    }
    std::string bytes(static_cast<size_t>(first_bytes), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
        const la_ssize_t got =
            lib_.archive_read_data(handle.get(), bytes.data() + done, bytes.size() - done);
        if (got == ARCHIVE_RETRY) continue;
        if (got < 0) return trouble(handle);
        if (got == 0) return cannot_read(path_, "it was changed meanwhile");
        done += static_cast<size_t>(got);
    }
    return bytes;
}

Result<std::shared_ptr<const ModelSource>> open_indexed(std::string path,
                                                        std::optional<std::string> bytes,
                                                        const SourceLimits& limits,
                                                        ArchiveNames names) {
    LEMMA_TRY(const LibArchive* const lib, load_libarchive());
    const auto archive =
        std::make_shared<Archive>(*lib, std::move(path), std::move(bytes), limits, names);
    LEMMA_TRY(archive->index());
    return archive;
}

// ---- Folders ------------------------------------------------------------------------------------

// A name that stays inside the folder.
bool is_plain_name(std::string_view name) {
    const auto clean = clean_name(name);
    return clean && *clean == name && !name.empty();
}

class Folder final : public ModelSource {
public:
    Folder(std::string folder, FolderDepth depth, const SourceLimits& limits)
        : folder_(std::move(folder)), depth_(depth), limits_(limits) {}

    Result<std::vector<std::string>> list() const override;
    bool has(const std::string& name) const override;
    Result<int64_t> size(const std::string& name) const override;
    Result<std::string> read(const std::string& name, int64_t first_bytes) const override;
    std::string path_of(const std::string& name) const override {
        return folder_ == "." ? name : (folder_ / name).string();
    }

private:
    Result<OpenedFile> open(const std::string& name) const;

    fs::path folder_;
    FolderDepth depth_;
    SourceLimits limits_;
};

// Links to files count as files. Links to folders are not followed, because they may form cycles.
Result<std::vector<std::string>> Folder::list() const {
    std::vector<std::string> names;
    std::error_code error;
    fs::recursive_directory_iterator entry(
        folder_, fs::directory_options::skip_permission_denied, error);
    int64_t seen = 0;
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        if (++seen > limits_.max_files) {
            return cannot_read(
                folder_.string(),
                fmt::format("it has more than {} files (--max-files raises the limit)",
                            limits_.max_files));
        }
        std::error_code ignored;
        const bool hidden = entry->path().filename().string().starts_with('.');
        if (entry->is_directory(ignored)) {
            if (hidden || depth_ == FolderDepth::Flat) entry.disable_recursion_pending();
        } else if (!hidden) {
            names.push_back(entry->path().lexically_relative(folder_).generic_string());
        }
    }
    if (error) {
        return cannot_read(folder_.string(), file_trouble(error.value()));
    }
    std::ranges::sort(names);
    return names;
}

bool Folder::has(const std::string& name) const {
    if (!is_plain_name(name)) return false;
    std::error_code error;
    const fs::file_type type = fs::status(folder_ / name, error).type();
    // A name that no file can have is missing; a file in a folder without permission is not.
    return type != fs::file_type::not_found && error != std::errc::filename_too_long &&
           error != std::errc::not_a_directory;
}

Result<OpenedFile> Folder::open(const std::string& name) const {
    const std::string path = path_of(name);
    if (!is_plain_name(name)) return cannot_read(path, file_trouble(ENOENT));
    LEMMA_TRY(OpenedFile file, open_file(path, FileKind::Regular, INT64_MAX));
    if (file.size <= limits_.max_file_bytes) return file;
    return cannot_read(path,
                       fmt::format("it has more than {} bytes (--max-file-bytes raises the limit)",
                                   limits_.max_file_bytes));
}

Result<int64_t> Folder::size(const std::string& name) const {
    LEMMA_TRY(const OpenedFile file, open(name));
    return file.size;
}

Result<std::string> Folder::read(const std::string& name, int64_t first_bytes) const {
    LEMMA_TRY(const OpenedFile file, open(name));
    std::string bytes(static_cast<size_t>(std::clamp<int64_t>(first_bytes, 0, file.size)), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::read(file.handle.get(), bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path_of(name), file_trouble(errno));
        if (got == 0) break;
        done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace

Result<SharedBytes> ModelSource::share_all(const std::string& name) const {
    LEMMA_TRY(const int64_t bytes, size(name));
    LEMMA_TRY(std::string all, read(name, bytes));
    return share(std::move(all));
}

Result<std::string> ModelSource::read_all(const std::string& name, int64_t max_bytes) const {
    LEMMA_TRY(const int64_t bytes, size(name));
    if (bytes <= max_bytes) return read(name, bytes);
    return cannot_read(path_of(name), fmt::format("it has more than {} bytes", max_bytes));
}

std::shared_ptr<const ModelSource> open_folder(std::string folder,
                                               FolderDepth depth,
                                               const SourceLimits& limits) {
    return std::make_shared<Folder>(std::move(folder), depth, limits);
}

bool is_archive_name(std::string_view path) {
    constexpr std::array<std::string_view, 8> kEndings = {
        ".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz", ".zip"};
    return std::ranges::any_of(kEndings, [&](auto ending) { return path.ends_with(ending); });
}

Result<std::shared_ptr<const ModelSource>> open_archive(const std::string& path,
                                                        const SourceLimits& limits) {
    // A pipe cannot be read twice, and a device need not end.
    LEMMA_TRY(open_file(path, FileKind::Regular, INT64_MAX));
    return open_indexed(path, std::nullopt, limits, ArchiveNames::OfModel);
}

Result<std::shared_ptr<const ModelSource>> open_archive_bytes(std::string bytes,
                                                              std::string name,
                                                              const SourceLimits& limits,
                                                              ArchiveNames names) {
    return open_indexed(std::move(name), std::move(bytes), limits, names);
}

}  // namespace lemma::tensor
