// SPDX-License-Identifier: Apache-2.0
#include "tensor/archive/archive_write.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tensor/archive/archive.h"

namespace lemma::tensor {

namespace {

std::string temporary(const std::string& name) {
    return (std::filesystem::path(testing::TempDir()) / name).string();
}

class ArchiveWrite : public testing::TestWithParam<std::string> {};

TEST_P(ArchiveWrite, ReadsBackWhatItWrote) {
    const std::string path = temporary("lemma_written" + GetParam());
    auto writer = ArchiveWriter::create(path);
    ASSERT_TRUE(writer) << writer.error().message;
    const std::string large(200'000, 'x');
    ASSERT_TRUE(writer->add("graph.nnef", "version 1.0;"));
    ASSERT_TRUE(writer->add("layer/w.dat", large));
    ASSERT_TRUE(writer->add("empty.dat", ""));
    ASSERT_TRUE(writer->finish());

    const auto source = open_archive(path);
    ASSERT_TRUE(source) << source.error().message;
    const auto names = (*source)->list();
    ASSERT_TRUE(names);
    EXPECT_EQ(*names, (std::vector<std::string>{"empty.dat", "graph.nnef", "layer/w.dat"}));
    EXPECT_EQ(*(*source)->read_all("layer/w.dat", 1 << 20), large);
    EXPECT_EQ(*(*source)->read_all("graph.nnef", 100), "version 1.0;");
    EXPECT_EQ(*(*source)->read_all("empty.dat", 100), "");
    std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(Endings, ArchiveWrite, testing::Values(".tar", ".tgz", ".tar.gz", ".zip"));

TEST(ArchiveWrite, TellsWhenTheFileCannotBeMade) {
    const auto writer = ArchiveWriter::create(temporary("no_such_folder/net.tgz"));
    ASSERT_FALSE(writer);
    EXPECT_NE(writer.error().message.find("no_such_folder"), std::string::npos);
}

}  // namespace

}  // namespace lemma::tensor
