// SPDX-License-Identifier: Apache-2.0
#include "diag/source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace lemma::diag {
namespace {

// A temporary folder, removed at the end.
class TempFolder {
public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "lemma_XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~TempFolder() { std::filesystem::remove_all(path_); }
    std::string write(const std::string& name, const std::string& text) const {
        const std::string path = (path_ / name).string();
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

std::vector<std::string> lines_of(const std::string& text) {
    SourceMap sources;
    const FileId file = sources.add("t", text);
    const LineColumn end = sources.place(file, static_cast<uint32_t>(text.size()));
    std::vector<std::string> lines;
    for (uint32_t i = 1; i <= end.line; ++i) lines.emplace_back(sources.line(file, i));
    return lines;
}

TEST(SourceMap, TakesEachKindOfLineEndForOne) {
    const std::vector<std::string> three = {"a", "b", "c"};
    EXPECT_EQ(lines_of("a\nb\nc"), three);
    EXPECT_EQ(lines_of("a\rb\rc"), three);
    EXPECT_EQ(lines_of("a\r\nb\r\nc"), three);
    EXPECT_EQ(lines_of("a\r\nb\rc"), three);
    EXPECT_EQ(lines_of("\n\r\n\r"), (std::vector<std::string>{"", "", "", ""}));
    EXPECT_EQ(lines_of("\n\r"), (std::vector<std::string>{"", "", ""}));
    EXPECT_EQ(lines_of(""), std::vector<std::string>{""});
}

TEST(SourceMap, FindsPlacesByOffset) {
    SourceMap sources;
    const FileId file = sources.add("t", "ab\r\ncd\n");
    EXPECT_EQ(sources.place(file, 0), (LineColumn{1, 1}));
    EXPECT_EQ(sources.place(file, 1), (LineColumn{1, 2}));
    EXPECT_EQ(sources.place(file, 3), (LineColumn{1, 3})) << "inside the line end";
    EXPECT_EQ(sources.place(file, 4), (LineColumn{2, 1}));
    EXPECT_EQ(sources.place(file, 7), (LineColumn{3, 1})) << "the end of the file";
    EXPECT_EQ(sources.place(file, 70), (LineColumn{3, 1})) << "past the end of the file";
    EXPECT_EQ(sources.line_begin(file, 2), 4u);
}

TEST(SourceMap, CountsCodePointsInColumns) {
    SourceMap sources;
    const std::string text = "é漢🙂x";  // 2, 3, 4 and 1 bytes
    const FileId file = sources.add("t", text);
    EXPECT_EQ(sources.place(file, 2).column, 2u);
    EXPECT_EQ(sources.place(file, 5).column, 3u);
    EXPECT_EQ(sources.place(file, 7).column, 3u) << "inside a character";
    EXPECT_EQ(sources.place(file, 9).column, 4u);
    EXPECT_EQ(sources.place(file, 10).column, 5u);
}

TEST(SourceMap, CountsBytesThatAreNotUtf8AsOneColumnEach) {
    SourceMap sources;
    const FileId file = sources.add("t", "\x80\xff\xc3(\xed\xa0\x80x");
    EXPECT_EQ(sources.place(file, 7).column, 8u);
}

TEST(SourceMap, GivesTheSamePlaceInAnyOrderOfLookUps) {
    SourceMap sources;
    const FileId file = sources.add("t", "0123456789é0123456789\nzz");
    EXPECT_EQ(sources.place(file, 20), (LineColumn{1, 20}));
    EXPECT_EQ(sources.place(file, 11), (LineColumn{1, 11})) << "inside a character";
    EXPECT_EQ(sources.place(file, 12), (LineColumn{1, 12}));
    EXPECT_EQ(sources.place(file, 24), (LineColumn{2, 2}));
    EXPECT_EQ(sources.place(file, 20), (LineColumn{1, 20}));
}

TEST(SourceMap, KeepsTextsAtTheirAddress) {
    SourceMap sources;
    const FileId first = sources.add("a", "x");
    const char* address = sources.text(first).data();
    for (int i = 0; i < 100; ++i) sources.add("b", "y");
    EXPECT_EQ(sources.text(first).data(), address);
    EXPECT_EQ(sources.text(Span{first, 0, 1}), "x");
    EXPECT_EQ(sources.text(Span{}), "");
}

TEST(ReadSource, ReadsBytesAsTheyAre) {
    const TempFolder folder;
    const std::string text = std::string("a\r\n\0b", 5) + std::string(200'000, 'x');
    EXPECT_EQ(read_source(folder.write("f", text)).value(), text);
    EXPECT_EQ(read_source(folder.write("empty", "")).value(), "");
}

TEST(ReadSource, SaysWhatIsWrong) {
    const TempFolder folder;
    const std::string missing = folder.path() + "/missing";
    EXPECT_EQ(read_source(missing).error().message,
              "cannot read `" + missing + "`: there is no such file or folder");
    EXPECT_EQ(read_source(folder.path()).error().message,
              "cannot read `" + folder.path() + "`: it is a folder");
    const std::string large = folder.write("large", "12345");
    EXPECT_EQ(read_source(large, 4).error().message,
              "cannot read `" + large + "`: it has more than 4 bytes");
    EXPECT_TRUE(read_source(large, 5).has_value());
}

TEST(ReadSource, SaysThatAFileCannotBeRead) {
    const TempFolder folder;
    const std::string path = folder.write("secret", "x");
    chmod(path.c_str(), 0);
    // Root can read every readable file, but nobody can read unmapped memory.
    const bool root = geteuid() == 0;
    const std::string closed = root ? "/proc/self/mem" : path;
    const std::string reason = root ? "Input/output error" : "permission denied";
    const auto text = read_source(closed);
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().message, "cannot read `" + closed + "`: " + reason);
}

}  // namespace
}  // namespace lemma::diag
