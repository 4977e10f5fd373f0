// SPDX-License-Identifier: Apache-2.0
// Bytes as an archive: opens, lists and reads every file. This must end without a fault, and the
// parts of a file must agree with the whole.
#include "tensor/archive/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include "base/check.h"
#include "seeds.h"

namespace {

using namespace lemma;
using namespace lemma::tensor;

constexpr SourceLimits kLimits = {
    .max_files = 100, .max_file_bytes = 1 << 20, .max_archive_bytes = 1 << 22, .memory = 1 << 10};

la_ssize_t append(archive*, void* text, const void* bytes, size_t size) {
    static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
}

void add_entry(archive* out, std::mt19937& random) {
    constexpr const char* kNames[] = {"main.sknd", "w/a.dat", "top/b.dat", "../up", "./a//b", "w"};
    const std::string bytes(random() % 3000, static_cast<char>('a' + random() % 26));
    const bool link = random() % 8 == 0;
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, kNames[random() % std::size(kNames)]);
    archive_entry_set_filetype(entry, link ? AE_IFLNK : random() % 8 ? AE_IFREG : AE_IFDIR);
    if (link) archive_entry_set_symlink(entry, "main.sknd");
    archive_entry_set_size(entry, link ? 0 : static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_perm(entry, 0644);
    if (archive_write_header(out, entry) >= ARCHIVE_WARN && !link) {
        archive_write_data(out, bytes.data(), bytes.size());
    }
    archive_entry_free(entry);
}

void check_file(const ModelSource& source, const std::string& name) {
    const auto size = source.size(name);
    LEMMA_CHECK(size && source.has(name));
    const auto begin = source.read(name, 300);
    const auto all = source.read_all(name, kLimits.max_file_bytes);
    LEMMA_CHECK(begin.has_value() == all.has_value() || *size > 300);
    if (!all) return;
    LEMMA_CHECK(static_cast<int64_t>(all->size()) == *size);
    LEMMA_CHECK(begin && all->starts_with(*begin));
}

}  // namespace

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    std::string bytes;
    archive* out = archive_write_new();
    const uint32_t packing = random() % 5;
    if (packing == 0) archive_write_set_format_zip(out);
    if (packing != 0) archive_write_set_format_pax_restricted(out);
    if (packing == 1) archive_write_add_filter_gzip(out);
    if (packing == 2) archive_write_add_filter_bzip2(out);
    if (packing == 3) archive_write_add_filter_xz(out);
    archive_write_set_bytes_in_last_block(out, 1);
    archive_write_open(out, &bytes, nullptr, append, nullptr);
    for (uint32_t count = random() % 4; count-- > 0;) add_entry(out, random);
    archive_write_close(out);
    archive_write_free(out);
    return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto source =
        open_archive_bytes({reinterpret_cast<const char*>(data), size}, "net.tgz", kLimits);
    if (!source) return 0;
    const auto names = (*source)->list();
    LEMMA_CHECK(names);
    for (const std::string& name : *names) check_file(**source, name);
    return 0;
}
