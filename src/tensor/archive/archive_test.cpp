// SPDX-License-Identifier: Apache-2.0
#include "tensor/archive/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

namespace lemma::tensor {

namespace {

namespace fs = std::filesystem;

enum class Packing { Tar, Tgz, Tbz2, Txz, Zip };

struct Entry {
    std::string name;
    std::string bytes;
    unsigned type = AE_IFREG;
    std::string target = {};  // of a link
};

la_ssize_t append(archive*, void* text, const void* bytes, size_t size) {
    static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
}

void write(archive* out, const Entry& item) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, item.name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(item.bytes.size()));
    archive_entry_set_filetype(entry, item.type);
    archive_entry_set_perm(entry, 0644);
    if (item.type == AE_IFLNK) archive_entry_set_symlink(entry, item.target.c_str());
    if (item.type == AE_IFREG && !item.target.empty()) {
        archive_entry_set_hardlink(entry, item.target.c_str());
    }
    EXPECT_GE(archive_write_header(out, entry), ARCHIVE_WARN) << archive_error_string(out);
    archive_write_data(out, item.bytes.data(), item.bytes.size());
    archive_entry_free(entry);
}

std::string packed(Packing packing, const std::vector<Entry>& entries, const char* options = "") {
    std::string bytes;
    archive* out = archive_write_new();
    if (packing == Packing::Zip) archive_write_set_format_zip(out);
    if (packing != Packing::Zip) archive_write_set_format_pax_restricted(out);
    if (packing == Packing::Tgz) archive_write_add_filter_gzip(out);
    if (packing == Packing::Tbz2) archive_write_add_filter_bzip2(out);
    if (packing == Packing::Txz) archive_write_add_filter_xz(out);
    archive_write_set_options(out, options);
    archive_write_set_bytes_in_last_block(out, 1);
    archive_write_open(out, &bytes, nullptr, append, nullptr);
    for (const Entry& entry : entries) write(out, entry);
    archive_write_close(out);
    archive_write_free(out);
    return bytes;
}

// The bytes in one of the compressions, without an archive.
std::string compressed(Packing packing, const std::string& content) {
    std::string bytes;
    archive* out = archive_write_new();
    archive_write_set_format_raw(out);
    if (packing == Packing::Tgz) archive_write_add_filter_gzip(out);
    if (packing == Packing::Tbz2) archive_write_add_filter_bzip2(out);
    if (packing == Packing::Txz) archive_write_add_filter_xz(out);
    archive_write_set_bytes_in_last_block(out, 1);
    archive_write_open(out, &bytes, nullptr, append, nullptr);
    write(out, {"content", content});
    archive_write_close(out);
    archive_write_free(out);
    return bytes;
}

std::string error_of(const std::string& bytes, const SourceLimits& limits = {}) {
    const auto source = open_archive_bytes(bytes, "net.tar", limits);
    return source ? "no error" : source.error().message;
}

bool has_text(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::vector<Entry> kModel = {{"main.sknd", "graph"},
                                   {"blocks/conv.sknd", "operator"},
                                   {"main.G.w.dat", std::string(100'000, 'w')}};

class EachPacking : public ::testing::TestWithParam<Packing> {};
INSTANTIATE_TEST_SUITE_P(
    Archive,
    EachPacking,
    ::testing::Values(Packing::Tar, Packing::Tgz, Packing::Tbz2, Packing::Txz, Packing::Zip));

TEST_P(EachPacking, ListsAndReads) {
    const auto source = open_archive_bytes(packed(GetParam(), kModel), "net.tar").value();
    EXPECT_EQ(*source->list(),
              (std::vector<std::string>{"blocks/conv.sknd", "main.G.w.dat", "main.sknd"}));
    EXPECT_TRUE(source->has("main.sknd"));
    EXPECT_FALSE(source->has("conv.sknd"));
    EXPECT_FALSE(source->has("blocks"));
    EXPECT_EQ(*source->read_all("blocks/conv.sknd", 100), "operator");
    EXPECT_EQ(*source->read("main.G.w.dat", 3), "www");
    EXPECT_EQ(*source->size("main.G.w.dat"), 100'000);
    EXPECT_EQ(source->path_of("main.sknd"), "net.tar/main.sknd");
    EXPECT_FALSE(source->read("other.dat", 3));
    EXPECT_FALSE(source->read_all("main.G.w.dat", 99'999));
}

TEST_P(EachPacking, ReadsAgainWhatDoesNotFitTheMemory) {
    const auto source =
        open_archive_bytes(packed(GetParam(), kModel), "net.tar", {.memory = 10}).value();
    EXPECT_EQ(*source->read("main.G.w.dat", 200), std::string(200, 'w'));
    EXPECT_EQ(*source->read_all("main.G.w.dat", 1 << 20), kModel[2].bytes);
    EXPECT_EQ(*source->read_all("blocks/conv.sknd", 100), "operator");
}

TEST_P(EachPacking, NamesBeginInsideOfOneTopFolder) {
    const auto source = open_archive_bytes(packed(GetParam(),
                                                  {{"net/", "", AE_IFDIR},
                                                   {"net/main.sknd", "graph"},
                                                   {"net/a/b.sknd", "b"},
                                                   {"net/.DS_Store", "x"},
                                                   {"__MACOSX/net/._main.sknd", "x"}}),
                                           "net.tgz")
                            .value();
    EXPECT_EQ(*source->list(), (std::vector<std::string>{"a/b.sknd", "main.sknd"}));
    EXPECT_EQ(*source->read_all("main.sknd", 100), "graph");
    EXPECT_EQ(source->path_of("main.sknd"), "net.tgz/net/main.sknd");
}

TEST_P(EachPacking, RefusesNamesThatLeadOut) {
    for (const char* name : {"../main.sknd", "a/../../main.sknd", "..", "/etc/passwd"}) {
        const std::string error = error_of(packed(GetParam(), {{name, "x"}}));
        EXPECT_TRUE(has_text(error, "leads out of the archive")) << name << ": " << error;
    }
}

TEST_P(EachPacking, RefusesLinks) {
    const std::string error =
        error_of(packed(GetParam(), {{"main.sknd", "", AE_IFLNK, "/etc/passwd"}}));
    EXPECT_EQ(error, "cannot read `net.tar`: the entry `main.sknd` is a symbolic link");
}

TEST_P(EachPacking, RefusesTheSameNameTwice) {
    const std::string error =
        error_of(packed(GetParam(), {{"main.sknd", "1"}, {"./main.sknd", "2"}}));
    EXPECT_TRUE(has_text(error, "`main.sknd` occurs twice")) << error;
}

TEST_P(EachPacking, LimitsNameTheirFlags) {
    const std::string bytes = packed(GetParam(), kModel);
    EXPECT_TRUE(has_text(error_of(bytes, {.max_files = 2}), "--max-files"));
    EXPECT_TRUE(has_text(error_of(bytes, {.max_file_bytes = 99'999}), "--max-file-bytes"));
    EXPECT_TRUE(has_text(error_of(bytes, {.max_archive_bytes = 99'999}), "--max-archive-bytes"));
    EXPECT_EQ(error_of(bytes, {.max_files = 3, .max_archive_bytes = 100'013}), "no error");
}

TEST_P(EachPacking, NoTruncationGoesUnnoticedOrCrashes) {
    const std::string bytes = packed(GetParam(), kModel);
    for (size_t size = 0; size < bytes.size(); size += std::max<size_t>(1, bytes.size() / 97)) {
        const auto source = open_archive_bytes(bytes.substr(0, size), "net.tar");
        // A tar may lack its end marker, but no part of a file.
        if (source && (*source)->has("main.G.w.dat")) {
            EXPECT_EQ(*(*source)->read_all("main.G.w.dat", 1 << 20), kModel[2].bytes) << size;
        }
    }
}

TEST_P(EachPacking, NoSpoiltByteCrashes) {
    const std::string bytes = packed(GetParam(), {{"main.sknd", "graph"}, {"w.dat", "data"}});
    for (size_t at = 0; at < std::min<size_t>(bytes.size(), 1600); ++at) {
        std::string spoilt = bytes;
        spoilt[at] = static_cast<char>(spoilt[at] ^ 0x55);
        const auto source = open_archive_bytes(spoilt, "net.tar");
        if (source && (*source)->has("main.sknd")) (*source)->read_all("main.sknd", 1000).value();
    }
}

TEST(Archive, RefusesHardLinksAndDevices) {
    EXPECT_TRUE(has_text(
        error_of(packed(Packing::Tar, {{"a.sknd", "x"}, {"main.sknd", "", AE_IFREG, "a.sknd"}})),
        "`main.sknd` is a link"));
    EXPECT_TRUE(has_text(error_of(packed(Packing::Tar, {{"w.dat", "", AE_IFIFO}})),
                         "`w.dat` is a device, pipe or socket"));
}

TEST(Archive, StopsUnpackingABomb) {
    const std::string zeros(2 << 20, '\0');
    std::vector<Entry> entries(3, {"", zeros});
    for (size_t i = 0; i < entries.size(); ++i) entries[i].name = std::string(1, char('a' + i));
    for (const Packing packing : {Packing::Zip, Packing::Tbz2, Packing::Txz}) {
        const std::string bytes = packed(packing, entries);
        EXPECT_LT(bytes.size(), zeros.size() / 100);
        const std::string error = error_of(bytes, {.max_archive_bytes = 5 << 20});
        EXPECT_TRUE(has_text(error, "it unpacks to more than 5242880 bytes")) << error;
    }
}

TEST(Archive, CountsTheNamesOfFiles) {
    std::vector<Entry> entries(22, {"", "x"});
    for (size_t i = 0; i < entries.size(); ++i) {
        entries[i].name = fmt::format("{}{}", i, std::string(900'000, 'a'));
    }
    const std::string bytes = packed(Packing::Tgz, entries);
    EXPECT_LT(bytes.size(), 1 << 20);
    const std::string error = error_of(bytes, {.max_archive_bytes = 1 << 20});
    EXPECT_TRUE(has_text(error, "it unpacks to more than 1048576 bytes")) << error.substr(0, 200);
}

TEST(Archive, RefusesToBeCompressedTwice) {
    const std::string inner = packed(Packing::Tgz, {{"main.sknd", "graph"}});
    for (const Packing packing : {Packing::Tgz, Packing::Tbz2, Packing::Txz}) {
        const std::string error = error_of(compressed(packing, inner));
        EXPECT_EQ(error, "cannot read `net.tar`: it is compressed more than once");
    }
}

TEST(Archive, RefusesEncryption) {
    std::string bytes = packed(Packing::Zip, {{"main.sknd", "graph"}}, "zip:compression=store");
    // The flag for encryption, in the local header and in the central directory.
    bytes[6] |= 1;
    const size_t directory = bytes.find("PK\x01\x02");
    ASSERT_NE(directory, std::string::npos);
    bytes[directory + 8] |= 1;
    EXPECT_TRUE(has_text(error_of(bytes), "is encrypted")) << error_of(bytes);
}

TEST(Archive, RefusesOtherFormats) {
    for (const std::string& bytes :
         {std::string(), std::string("graph main"), std::string(5000, 'x')}) {
        EXPECT_TRUE(has_text(error_of(bytes), "damaged or of another format")) << error_of(bytes);
    }
    EXPECT_FALSE(open_archive("/no/such/net.tar"));
    EXPECT_FALSE(open_archive("/dev/null"));
    EXPECT_FALSE(open_archive("/"));
}

TEST(Archive, IsKnownByItsName) {
    EXPECT_TRUE(is_archive_name("a/net.tar"));
    EXPECT_TRUE(is_archive_name("net.tar.gz"));
    EXPECT_TRUE(is_archive_name("net.tgz"));
    EXPECT_TRUE(is_archive_name("net.tar.bz2"));
    EXPECT_TRUE(is_archive_name("net.tar.xz"));
    EXPECT_TRUE(is_archive_name("net.zip"));
    EXPECT_FALSE(is_archive_name("net.gz"));
    EXPECT_FALSE(is_archive_name("net.sknd"));
}

class FolderSource : public ::testing::Test {
protected:
    void SetUp() override {
        fs::remove_all(folder_);
        put("main.sknd", "graph");
        put("blocks/conv.sknd", "operator");
        put("blocks/deep/w.dat", "data");
        put(".git/config", "x");
        put("../lemma_archive_test_outside.dat", "secret");
    }
    void TearDown() override {
        fs::remove_all(folder_);
        fs::remove(folder_.string() + "_outside.dat");
    }
    void put(const std::string& name, const std::string& text) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text;
    }
    const fs::path folder_ = fs::path(::testing::TempDir()) / "lemma_archive_test";
};

TEST_F(FolderSource, ListsAndReads) {
    const auto source = open_folder(folder_.string(), FolderDepth::Deep);
    EXPECT_EQ(*source->list(),
              (std::vector<std::string>{"blocks/conv.sknd", "blocks/deep/w.dat", "main.sknd"}));
    EXPECT_EQ(*source->read("blocks/deep/w.dat", 2), "da");
    EXPECT_EQ(*source->read_all("main.sknd", 100), "graph");
    EXPECT_EQ(*source->size("main.sknd"), 5);
    EXPECT_EQ(source->path_of("main.sknd"), (folder_ / "main.sknd").string());
    const auto flat = open_folder(folder_.string(), FolderDepth::Flat);
    EXPECT_EQ(*flat->list(), std::vector<std::string>{"main.sknd"});
    EXPECT_TRUE(flat->has("blocks/deep/w.dat"));
}

TEST_F(FolderSource, NoNameLeadsOut) {
    const auto source = open_folder(folder_.string(), FolderDepth::Deep);
    for (const char* name : {"../lemma_archive_test_outside.dat",
                             "blocks/../../lemma_archive_test_outside.dat",
                             "/etc/passwd",
                             "./main.sknd",
                             "blocks//conv.sknd",
                             ""}) {
        EXPECT_FALSE(source->has(name)) << name;
        EXPECT_FALSE(source->read(name, 10)) << name;
    }
    EXPECT_FALSE(source->has(std::string(5000, 'x')));
    EXPECT_FALSE(source->has("main.sknd/w.dat"));
}

TEST_F(FolderSource, LimitsNameTheirFlags) {
    const auto source =
        open_folder(folder_.string(), FolderDepth::Deep, {.max_files = 2, .max_file_bytes = 4});
    EXPECT_TRUE(has_text(source->list().error().message, "--max-files"));
    EXPECT_TRUE(has_text(source->read("main.sknd", 1).error().message, "--max-file-bytes"));
}

TEST_F(FolderSource, ReadsFilesOnly) {
    const auto source = open_folder(folder_.string(), FolderDepth::Deep);
    EXPECT_TRUE(has_text(source->read("blocks", 1).error().message, "is a folder"));
    fs::create_symlink("/dev/zero", folder_ / "zero.dat");
    EXPECT_TRUE(has_text(source->read("zero.dat", 1).error().message, "not a regular file"));
    fs::create_directory_symlink(folder_, folder_ / "circle");
    EXPECT_TRUE(source->list());
}

}  // namespace

}  // namespace lemma::tensor
