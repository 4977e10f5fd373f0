// SPDX-License-Identifier: Apache-2.0
#include "tensor/archive/archive_write.h"

#include <fmt/format.h>

#include "base/open_file.h"
#include "tensor/archive/libarchive.h"
#include "tensor/archive/npz_file.h"

namespace lemma::tensor {

struct ArchiveWriter::Handle {
    const LibArchive& lib;
    archive* out;
    std::string path;

    Handle(const LibArchive& library, std::string name)
        : lib(library), out(lib.archive_write_new()), path(std::move(name)) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { lib.archive_write_free(out); }

    std::unexpected<Error> trouble() const {
        const char* const reason = lib.archive_error_string(out);
        return cannot_write(path, reason ? reason : "unknown trouble");
    }
};

ArchiveWriter::ArchiveWriter(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
ArchiveWriter::ArchiveWriter(ArchiveWriter&&) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&&) noexcept = default;
ArchiveWriter::~ArchiveWriter() = default;

Result<ArchiveWriter> ArchiveWriter::create(const std::string& path) {
    LEMMA_TRY(const LibArchive* const library, load_libarchive());
    const LibArchive& lib = *library;
    auto handle = std::make_unique<Handle>(lib, path);
    if (!handle->out) return std::unexpected(Error{"out of memory"});
    const bool npz = is_npz_name(path);
    const bool zip = npz || path.ends_with(".zip");
    int done = zip ? lib.archive_write_set_format_zip(handle->out)
                   : lib.archive_write_set_format_pax_restricted(handle->out);
    const bool bzip2 = path.ends_with("bz2");
    const bool xz = path.ends_with("xz");
    if (done == ARCHIVE_OK && bzip2) done = lib.archive_write_add_filter_bzip2(handle->out);
    if (done == ARCHIVE_OK && xz) done = lib.archive_write_add_filter_xz(handle->out);
    if (done == ARCHIVE_OK && !zip && !bzip2 && !xz && !path.ends_with(".tar")) {
        done = lib.archive_write_add_filter_gzip(handle->out);
        // A fixed time, so that the same files give the same archive.
        if (done == ARCHIVE_OK)
            done = lib.archive_write_set_options(handle->out, "gzip:!timestamp");
    }
    if (done == ARCHIVE_OK && npz)
        done = lib.archive_write_set_options(handle->out, "zip:compression=store");
    if (done == ARCHIVE_OK) done = lib.archive_write_open_filename(handle->out, path.c_str());
    if (done != ARCHIVE_OK) return handle->trouble();
    return ArchiveWriter(std::move(handle));
}

Result<void> ArchiveWriter::add(const std::string& name, std::string_view bytes) {
    const LibArchive& lib = handle_->lib;
    const std::unique_ptr<archive_entry, decltype(lib.archive_entry_free)> entry(
        lib.archive_entry_new(), lib.archive_entry_free);
    if (!entry) return std::unexpected(Error{"out of memory"});
    lib.archive_entry_set_pathname(entry.get(), name.c_str());
    lib.archive_entry_set_size(entry.get(), static_cast<int64_t>(bytes.size()));
    lib.archive_entry_set_filetype(entry.get(), AE_IFREG);
    lib.archive_entry_set_perm(entry.get(), 0644);
    lib.archive_entry_set_mtime(entry.get(), 0, 0);
    if (lib.archive_write_header(handle_->out, entry.get()) != ARCHIVE_OK)
        return handle_->trouble();
    while (!bytes.empty()) {
        const la_ssize_t count = lib.archive_write_data(handle_->out, bytes.data(), bytes.size());
        if (count <= 0) return handle_->trouble();
        bytes.remove_prefix(static_cast<size_t>(count));
    }
    return {};
}

Result<void> ArchiveWriter::finish() {
    if (handle_->lib.archive_write_close(handle_->out) != ARCHIVE_OK) return handle_->trouble();
    return {};
}

}  // namespace lemma::tensor
