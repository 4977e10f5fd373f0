// SPDX-License-Identifier: Apache-2.0
#include "tensor/archive/npz_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "tensor/archive/archive_write.h"
#include "tensor/files/file_io.h"
#include "tensor/files/npy_file.h"

namespace lemma::tensor {

namespace {

namespace fs = std::filesystem;

Tensor floats(std::vector<double> values) {
    Tensor tensor = *Tensor::zeros(DType::F32, {std::ssize(values)});
    for (size_t i = 0; i < values.size(); ++i) tensor.set_real(static_cast<int64_t>(i), values[i]);
    return tensor;
}

// NumPy 1.24: numpy.savez(file, x=numpy.float32([1, 2.5])). Its sizes are those of zip64.
const std::string kByNumpy(
    "PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00!\x00"
    "8\xee/r\x88\x00\x00\x00\x88\x00\x00"
    "\x00\x05\x00\x14\x00x.npy\x01\x00\x10\x00\x88\x00\x00\x00\x00\x00\x00\x00\x88\x00\x00"
    "\x00\x00\x00\x00\x00\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'sha"
    "pe': (2,), }                                                            \x0a\x00\x00"
    "\x80\x3f\x00\x00 @PK\x01\x02\x14\x03\x14\x00\x00\x00\x00\x00\x00\x00!\x00"
    "8\xee/r\x88"
    "\x00\x00\x00\x88\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01"
    "\x00\x00\x00\x00x.npyPK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00"
    "3\x00\x00\x00\xbf\x00"
    "\x00\x00\x00\x00",
    264);

class Npz : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-npz-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        path_ = (folder_ / "a.npz").string();
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string bytes() const { return *read_file(path_); }
    // An archive with these entries, deflated.
    void write_zip(const std::vector<std::pair<std::string, std::string>>& entries) {
        const std::string zip = (folder_ / "a.zip").string();
        auto writer = *ArchiveWriter::create(zip);
        for (const auto& [name, content] : entries) ASSERT_TRUE(writer.add(name, content));
        ASSERT_TRUE(writer.finish());
        fs::rename(zip, path_);
    }
    static std::string message(const Result<std::vector<NamedTensor>>& result) {
        return result ? "" : result.error().message;
    }

    fs::path folder_;
    std::string path_;
};

TEST_F(Npz, ReadsBackWhatItWrites) {
    // Names are no paths, and may be anything that a tensor is called.
    const std::vector<std::string> names = {"../up", "/conv/y:0", "folder/x", "x", "ä"};
    std::vector<NamedTensor> arrays;
    for (const std::string& name : names)
        arrays.push_back({name, floats({1, 2.5, static_cast<double>(name.size())})});
    const auto written = write_npz(path_, arrays);
    ASSERT_TRUE(written) << written.error().message;
    const auto read = read_tensors(path_, FileKind::Regular);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), names.size());
    for (size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ((*read)[i].name, names[i]);
        EXPECT_EQ((*read)[i].tensor.shape(), Shape{3});
        EXPECT_EQ((*read)[i].tensor.real(2), static_cast<double>(names[i].size()));
    }
    const std::string first = bytes();
    ASSERT_TRUE(write_npz(path_, arrays));
    EXPECT_EQ(bytes(), first);
}

TEST_F(Npz, ReadsDeflatedArrays) {
    Tensor zeros = *Tensor::zeros(DType::F32, {1000});
    write_zip({{"x.npy", *encode_npy(zeros)}});
    EXPECT_LT(bytes().size(), 1000);
    const auto read = read_tensors(path_, FileKind::Regular);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ((*read)[0].tensor.shape(), Shape{1000});
}

TEST_F(Npz, ReadsWhatNumpyWrites) {
    const auto read = decode_npz(kByNumpy, "a.npz");
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 1);
    EXPECT_EQ((*read)[0].name, "x");
    EXPECT_EQ((*read)[0].tensor.shape(), Shape{2});
    EXPECT_EQ((*read)[0].tensor.real(1), 2.5);
}

// Sizes of 64 bits may be anything.
TEST_F(Npz, WrongSizesAreErrors) {
    const std::string extra("\x01\x00\x10\x00", 4);  // of the local header, then two sizes
    const size_t at = kByNumpy.find(extra);
    ASSERT_NE(at, std::string::npos);
    for (const size_t size : {at + 4, at + 12}) {
        for (const char high : {'\x7f', '\xff'}) {
            std::string wrong = kByNumpy;
            wrong[size + 7] = high;
            const auto read = decode_npz(wrong, "a.npz");
            // The directory at the end has the sizes, too.
            if (!read) continue;
            EXPECT_EQ((*read)[0].tensor.real(1), 2.5);
        }
    }
    for (size_t i = 0; i < kByNumpy.size(); ++i) {
        std::string wrong = kByNumpy;
        wrong[i] = static_cast<char>(~wrong[i]);
        const auto read = decode_npz(wrong, "a.npz");
        if (!read || read->empty()) continue;
        EXPECT_EQ((*read)[0].tensor.size(), 2) << i;
    }
}

TEST_F(Npz, ContentDecidesWithoutAnEnding) {
    ASSERT_TRUE(write_npz(path_, std::vector<NamedTensor>{{"x", floats({1})}}));
    EXPECT_TRUE(decode_tensors(bytes(), "<stdin>"));
    EXPECT_TRUE(decode_tensors(*encode_npy(floats({1})), "<stdin>"));
    EXPECT_NE(message(decode_tensors("hello", "<stdin>")), "");
}

TEST_F(Npz, NamesWhatIsNoArray) {
    write_zip({{"notes.txt", "hello"}});
    EXPECT_NE(message(read_tensors(path_, FileKind::Regular)).find("`notes.txt` is no .npy file"),
              std::string::npos);
    write_zip({{"x.npy", "hello"}});
    EXPECT_NE(message(read_tensors(path_, FileKind::Regular)).find("`x.npy`: "), std::string::npos);
    EXPECT_NE(message(decode_npz("hello", "a.npz")).find("no .npz file"), std::string::npos);
}

TEST_F(Npz, RefusesEveryTruncation) {
    ASSERT_TRUE(write_npz(path_, std::vector<NamedTensor>{{"x", floats({1, 2})}}));
    const std::string whole = bytes();
    ASSERT_TRUE(decode_npz(whole, "a.npz"));
    for (size_t size = 0; size < whole.size(); ++size) {
        const auto read = decode_npz(whole.substr(0, size), "a.npz");
        // A cut in the directory at the end may leave the arrays intact.
        if (read) {
            for (const NamedTensor& array : *read) EXPECT_EQ(array.tensor.real(1), 2) << size;
        }
    }
    EXPECT_FALSE(decode_npz(whole.substr(0, 60), "a.npz"));
}

TEST_F(Npz, RefusesDamagedElements) {
    ASSERT_TRUE(write_npz(path_, std::vector<NamedTensor>{{"x", floats({1, 2})}}));
    std::string damaged = bytes();
    const size_t at = damaged.find("\x93NUMPY") + 128;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(decode_npz(damaged, "a.npz"));
}

TEST_F(Npz, ABombIsOverTheLimit) {
    write_zip({{"x.npy", *encode_npy(*Tensor::zeros(DType::F32, {100'000}))}});
    SourceLimits limits;
    limits.max_archive_bytes = 10'000;
    EXPECT_NE(
        message(decode_npz(bytes(), "a.npz", limits)).find("unpacks to more than 10000 bytes"),
        std::string::npos);
}

TEST_F(Npz, ANameOccursOnce) {
    const std::vector<NamedTensor> twice = {{"x", floats({1})}, {"x", floats({2})}};
    EXPECT_FALSE(write_npz(path_, twice));
    write_zip({{"x.npy", *encode_npy(floats({1}))}, {"x.npy", *encode_npy(floats({2}))}});
    EXPECT_NE(message(read_tensors(path_, FileKind::Regular)).find("occurs twice"),
              std::string::npos);
}

}  // namespace

}  // namespace lemma::tensor
