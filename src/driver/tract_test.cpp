// SPDX-License-Identifier: Apache-2.0
// Archives of tract: only the data files have the types.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "driver/driver.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

class TractData : public ::testing::Test {
protected:
    void SetUp() override {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() / fmt::format("lemma_tract_{}", test->name());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string& name, std::string_view bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }
    // A graph with one variable `w`, which is its result.
    void write_graph(std::string_view shape) const {
        write("graph.nnef",
              fmt::format("version 1.0;\nextension tract_registry tract_core;\n"
                          "graph g( x ) -> ( y )\n{{\n    x = external(shape = [1]);\n"
                          "    w = variable<scalar>(shape = {}, label = 'w');\n"
                          "    y = copy(w);\n}}\n",
                          shape));
    }
    Outcome lemma(const std::vector<std::string>& words) const {
        std::vector<std::string> args = words;
        args.insert(args.end(), {"--brief", "--dialect=tract", folder_.string()});
        std::istringstream none;
        return run(args, {}, none);
    }
    // The printed line about `y`, from its type on.
    std::string result() const {
        const Outcome outcome = lemma({"run", "--random-inputs"});
        EXPECT_EQ(outcome.status, model::kGood) << outcome.err;
        return outcome.out.substr(0, outcome.out.find('\n'));
    }

    fs::path folder_;
};

std::string words(std::initializer_list<uint32_t> numbers) {
    std::string bytes;
    for (const uint32_t number : numbers) {
        for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift);
    }
    return bytes;
}

std::string header(uint32_t length, std::vector<uint32_t> extents, uint32_t bits, uint32_t item) {
    std::string bytes = "N\xEF\x01";
    bytes += '\0';
    bytes += words({length, static_cast<uint32_t>(extents.size())});
    extents.resize(8, 0);
    for (const uint32_t extent : extents) bytes += words({extent});
    bytes += words({bits, item});
    bytes.resize(128, '\0');
    return bytes;
}

TEST_F(TractData, IntegersUnderCodesOfQuantisedItems) {
    write_graph("[3]");
    write("w.dat", header(24, {3}, 64, 3) + words({7, 0, 0xFFFFFFFF, 0xFFFFFFFF, 9, 0}));
    EXPECT_EQ(result(), "y: i64[3]: 7 -1 9");
}

TEST_F(TractData, LogicalsOfEightBits) {
    write_graph("[2]");
    write("w.dat", header(2, {2}, 8, 5) + std::string("\1\0", 2));
    EXPECT_EQ(result().substr(0, 10), "y: bool[2]");
}

// 32 items of 4 bits with a scale of 0.5 in 16 bits: (item - 8) / 2.
TEST_F(TractData, BlocksOfFourBits) {
    write_graph("[2, 16]");
    std::string block("\x00\x38", 2);
    for (int i = 0; i < 16; ++i) block += static_cast<char>(i << 4 | (15 - i));
    constexpr uint32_t kVendor = 0x5452U << 16;
    write("w.dat", header(18, {1, 32}, 0xFFFFFFFF, kVendor | 0x3040) + block);
    EXPECT_EQ(result(), "y: f32[2, 16], from -4 to 3.5, mean -0.25: 3.5 3 2.5 2 1.5 1 0.5 0 …");
    // The older order has adjacent items.
    write("w.dat", header(18, {1, 32}, 0xFFFFFFFF, kVendor | 0x2040) + block);
    EXPECT_EQ(result(), "y: f32[2, 16], from -4 to 3.5, mean -0.25: 3.5 -4 3 -3.5 2.5 -3 2 -2.5 …");
    write("w.dat", header(18, {1, 32}, 0xFFFFFFFF, kVendor | 0x1000) + block);
    const Outcome strings = lemma({"check"});
    EXPECT_EQ(strings.status, model::kWrong);
    EXPECT_NE(strings.err.find("its item type 0x1000 of tract is not supported"),
              std::string::npos);
    write("w.dat", (header(18, {1, 32}, 0xFFFFFFFF, kVendor | 0x3040) + block).substr(0, 140));
    const Outcome cut = lemma({"run", "--random-inputs"});
    EXPECT_EQ(cut.status, model::kUnusable);
    EXPECT_NE(cut.err.find("it has 12 bytes of blocks, but the shape [2, 16] needs 18"),
              std::string::npos)
        << cut.err;
}

TEST_F(TractData, WeightsInSafetensors) {
    write_graph("[2]");
    std::string head = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    while (head.size() % 8 != 0) head += ' ';
    const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
    write("model.safetensors",
          words({static_cast<uint32_t>(head.size()), 0}) + head + words({bits(1.5F), bits(-2.0F)}));
    EXPECT_EQ(result(), "y: f32[2], from -2 to 1.5, mean -0.25: 1.5 -2");
    write_graph("[3]");
    const Outcome other = lemma({"check"});
    EXPECT_EQ(other.status, model::kWrong);
    EXPECT_NE(other.err.find("it has the shape [2], expected [3]"), std::string::npos);
}

}  // namespace

}  // namespace lemma::driver
