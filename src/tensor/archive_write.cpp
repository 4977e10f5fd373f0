#include "tensor/archive_write.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace lemma::tensor {

struct ArchiveWriter::Handle {
    archive* out = nullptr;
    std::string path;

    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { archive_write_free(out); }

    std::unexpected<Error> trouble() const {
        const char* const reason = archive_error_string(out);
        return std::unexpected(
            Error{fmt::format("cannot write `{}`: {}", path, reason ? reason : "unknown trouble")});
    }
};

ArchiveWriter::ArchiveWriter(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
ArchiveWriter::ArchiveWriter(ArchiveWriter&&) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&&) noexcept = default;
ArchiveWriter::~ArchiveWriter() = default;

Result<ArchiveWriter> ArchiveWriter::create(const std::string& path) {
    auto handle = std::make_unique<Handle>();
    handle->path = path;
    handle->out = archive_write_new();
    if (!handle->out) return std::unexpected(Error{"out of memory"});
    const bool zip = path.ends_with(".zip");
    int done = zip ? archive_write_set_format_zip(handle->out)
                   : archive_write_set_format_pax_restricted(handle->out);
    if (done == ARCHIVE_OK && !zip && !path.ends_with(".tar")) {
        done = archive_write_add_filter_gzip(handle->out);
        // The time of writing would make each archive another one.
        if (done == ARCHIVE_OK) done = archive_write_set_options(handle->out, "gzip:!timestamp");
    }
    if (done == ARCHIVE_OK) done = archive_write_open_filename(handle->out, path.c_str());
    if (done != ARCHIVE_OK) return handle->trouble();
    return ArchiveWriter(std::move(handle));
}

Result<void> ArchiveWriter::add(const std::string& name, std::string_view bytes) {
    const auto free_entry = [](archive_entry* entry) { archive_entry_free(entry); };
    const std::unique_ptr<archive_entry, decltype(free_entry)> entry(archive_entry_new(),
                                                                     free_entry);
    if (!entry) return std::unexpected(Error{"out of memory"});
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<int64_t>(bytes.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_mtime(entry.get(), 0, 0);
    if (archive_write_header(handle_->out, entry.get()) != ARCHIVE_OK) return handle_->trouble();
    while (!bytes.empty()) {
        const la_ssize_t count = archive_write_data(handle_->out, bytes.data(), bytes.size());
        if (count <= 0) return handle_->trouble();
        bytes.remove_prefix(static_cast<size_t>(count));
    }
    return {};
}

Result<void> ArchiveWriter::finish() {
    if (archive_write_close(handle_->out) != ARCHIVE_OK) return handle_->trouble();
    return {};
}

}  // namespace lemma::tensor
