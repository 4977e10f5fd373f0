// SPDX-License-Identifier: Apache-2.0
// Hostile documents and data files: each gets a diagnostic quickly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "driver/driver.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

std::string repeated(std::string_view text, size_t count) {
    std::string result;
    result.reserve(text.size() * count);
    for (size_t i = 0; i < count; ++i) result += text;
    return result;
}

// A temporary folder for each test.
class Nnef1Hostile : public ::testing::Test {
protected:
    void SetUp() override {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() / fmt::format("lemma_hostile_{}", test->name());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string& name, std::string_view bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }
    Outcome lemma(const std::string& command) const {
        std::istringstream none;
        return run({command, "--brief", folder_.string()}, {}, none);
    }
    void expect_refused(std::string_view text) const {
        const Outcome outcome = lemma("check");
        EXPECT_EQ(outcome.status, model::kWrong) << outcome.err.substr(0, 500);
        EXPECT_NE(outcome.err.find(text), std::string::npos)
            << "wanted: " << text << "\nfound: " << outcome.err.substr(0, 500);
        EXPECT_LT(outcome.err.size(), 10'000U);
    }
    // A complete document.
    void refuses(std::string_view document, std::string_view text) const {
        write("graph.nnef", document);
        expect_refused(text);
    }
    // The body of a graph with the input `x` of shape [2, 3].
    void refuses_body(const std::string& body, std::string_view text) const {
        refuses_body("", body, text);
    }
    void refuses_body(const std::string& fragments,
                      const std::string& body,
                      std::string_view text) const {
        refuses(document(fragments, body), text);
    }
    static std::string document(const std::string& fragments, const std::string& body) {
        return fmt::format(
            "version 1.0;\n"
            "extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
            "{}\ngraph g( x ) -> ( y )\n{{\nx = external(shape = [2, 3]);\n{}\n}}\n",
            fragments,
            body);
    }

    fs::path folder_;
};

// ---- Data files ---------------------------------------------------------------------------------

struct Header {
    std::string magic = "N\xEF";
    uint8_t major = 1, minor = 0;
    uint32_t length = 24, rank = 2;
    std::vector<uint32_t> extents = {2, 3};
    uint32_t bits = 32, item = 0;
};

std::string bytes_of(const Header& header, size_t data) {
    std::string bytes = header.magic;
    bytes += static_cast<char>(header.major);
    bytes += static_cast<char>(header.minor);
    const auto add = [&](uint32_t number) {
        for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift);
    };
    add(header.length);
    add(header.rank);
    for (size_t i = 0; i < 8; ++i) add(i < header.extents.size() ? header.extents[i] : 0);
    add(header.bits);
    add(header.item);
    bytes.resize(128, '\0');
    return bytes + std::string(data, '\0');
}

class Nnef1HostileData : public Nnef1Hostile {
protected:
    void refuses_data(std::string_view bytes, std::string_view text) const {
        write("graph.nnef",
              document("", "w = variable(shape = [2, 3], label = 'w');\ny = add(x, w);"));
        write("w.dat", bytes);
        expect_refused(text);
    }
};

TEST_F(Nnef1HostileData, HeadersThatLie) {
    refuses_data(bytes_of({}, 23), "it has 151 bytes, but header and data need 152");
    refuses_data(bytes_of({.length = 23}, 24), "it claims 23 bytes of data");
    refuses_data(bytes_of({.magic = "XX"}, 24), "it does not begin with the bytes 4E EF");
    refuses_data(bytes_of({.major = 2}, 24), "it has version 2.0 of the format");
    refuses_data(bytes_of({.rank = 9}, 24), "it has rank 9");
    refuses_data(bytes_of({}, 24).substr(0, 100), "it has 100 bytes, but a header has 128");
    refuses_data("", "it has 0 bytes, but a header has 128");
}

TEST_F(Nnef1HostileData, ProductsThatOverflow) {
    constexpr uint32_t kGiga = 1U << 30;
    refuses_data(bytes_of({.length = 0, .rank = 3, .extents = {kGiga, kGiga, 4}}, 0),
                 "of shape [1073741824, 1073741824, 4] is too large");
    refuses_data(bytes_of({.length = 0, .extents = {kGiga, kGiga / 2}}, 0),
                 "it claims 0 bytes of data");
}

TEST_F(Nnef1HostileData, ClaimsNeedNoMemory) {
    refuses_data(bytes_of({.length = 4294967292, .rank = 1, .extents = {1073741823}}, 0),
                 "it has 128 bytes, but header and data need 4294967420");
}

TEST_F(Nnef1HostileData, WidthsThatNoItemHas) {
    refuses_data(bytes_of({.length = 0, .bits = 0}, 0), "its items are 0-bit float");
    refuses_data(bytes_of({.length = 6, .bits = 7}, 6), "its items are 7-bit float");
    refuses_data(bytes_of({.length = 0, .bits = 65, .item = 2}, 0), "65-bit");
}

// Items of three bits are valid codes, not garbage.
TEST_F(Nnef1HostileData, OddWidthsAreRead) {
    write("graph.nnef", document("", "w = variable(shape = [2, 3], label = 'w');\ny = add(x, w);"));
    write("graph.quant", "\"w\": linear_quantize(min = 0.0, max = 7.0, bits = 3);\n");
    write("w.dat", bytes_of({.length = 3, .bits = 3, .item = 2}, 3));
    EXPECT_EQ(lemma("check").status, model::kGood);
    write("w.dat", bytes_of({.length = 12, .bits = 16}, 12));
    EXPECT_EQ(lemma("check").status, model::kGood);
    write("w.dat", bytes_of({}, 24) + "trailer");
    EXPECT_NE(lemma("check").err.find("7 bytes follow its data"), std::string::npos);
}

// ---- Numbers and shapes -------------------------------------------------------------------------

TEST_F(Nnef1Hostile, RanksBeyondEight) {
    refuses_body("w = variable(shape = [1, 1, 1, 1, 1, 1, 1, 1, 1], label = 'w');\ny = copy(x);",
                 "`variable` of rank 9, expected at most 8");
    refuses_body("y = unsqueeze(x, axes = [0, 1, 2, 3, 4, 5, 6]);",
                 "the result of `unsqueeze` has rank 9, expected at most 8");
}

TEST_F(Nnef1Hostile, VolumesBeyondMemory) {
    refuses_body("c = constant(shape = [2147483647, 2147483647], value = [1.0]);\ny = copy(x);",
                 "`constant` has more bytes than 64 bits can count");
    write("graph.nnef",
          document("", "c = constant(shape = [2147483647, 9999], value = [1.0]);\ny = copy(c);"));
    std::istringstream none;
    const Outcome outcome = run({"run", "--brief", "--random-inputs", folder_.string()}, {}, none);
    EXPECT_EQ(outcome.status, model::kWrong);
    EXPECT_NE(outcome.err.find("graph.nnef:8:5: error: `copy` fails: a tensor of shape "
                               "[2147483647, 9999] is too large"),
              std::string::npos)
        << outcome.err;
}

TEST_F(Nnef1Hostile, IntegersKeepTheirValue) {
    write("w.dat", bytes_of({.length = 4, .rank = 1, .extents = {1}}, 4));
    refuses_body("w = variable(shape = [4294967297], label = 'w');\ny = copy(x);",
                 "it has the shape [1], expected [4294967297]");
    refuses_body("w = variable(shape = [2147483648], label = 'w');\ny = copy(x);",
                 "it has the shape [1], expected [2147483648]");
    refuses_body("w = variable(shape = [99999999999999999999], label = 'w');\ny = copy(x);",
                 "integer `99999999999999999999` does not fit 64 bits");
}

// ---- Depth and growth ---------------------------------------------------------------------------

TEST_F(Nnef1Hostile, NestingIsLimited) {
    const auto nested = [&](std::string_view open, std::string_view close, size_t depth) {
        refuses_body("y = " + repeated(open, depth) + "x" + repeated(close, depth) + ";",
                     "nesting is deeper than 256 levels");
    };
    nested("(", ")", 10'000);
    nested("(", ")", 200'000);
    nested("[", "]", 100'000);
    nested("-", "", 100'000);
    nested("relu(", ")", 20'000);
    refuses_body("y = " + repeated("x + ", 50'000) + "x;", "nesting is deeper than 1000 levels");
    refuses_body("y = " + repeated("x if true else ", 50'000) + "x;", "nesting is deeper");
}

TEST_F(Nnef1Hostile, RecursionIsLimited) {
    refuses_body("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(x); }",
                 "y = f(x);",
                 "fragments are nested in more than 200 levels");
    refuses_body("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(f(x)); }",
                 "y = f(x);",
                 "fragments are nested in more than 200 levels");
}

TEST_F(Nnef1Hostile, DoublingIsLimited) {
    std::string fragments =
        "fragment f0( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n";
    for (int i = 1; i <= 26; ++i) {
        fragments += fmt::format(
            "fragment f{0}( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = f{1}(f{1}(x)); "
            "}}\n",
            i,
            i - 1);
    }
    refuses_body(fragments, "y = f26(x);", "expanding the graph takes too much work");
}

TEST_F(Nnef1Hostile, RepetitionsAreLimited) {
    refuses_body("w = variable(shape = [1] * 1000000000, label = 'w');\ny = copy(x);",
                 "an array or a string would be too long");
    refuses_body("w = variable(shape = [1] * (-1), label = 'w');\ny = copy(x);",
                 "a sequence is repeated -1 times");
    refuses_body("w = variable(shape = [1], label = 'w' * 1000000000);\ny = copy(x);",
                 "an array or a string would be too long");
}

// ---- Expressions --------------------------------------------------------------------------------

TEST_F(Nnef1Hostile, ExpressionsWithoutValue) {
    refuses_body("w = variable(shape = [4 / 0], label = 'w');\ny = copy(x);",
                 "4 is divided by zero");
    refuses_body("w = variable(shape = [(1, 2)[7]], label = 'w');\ny = copy(x);",
                 "index 7 of a tuple of 2 items");
    refuses_body("[y, z] = [relu(x)];", "an array of 2 names");
    refuses_body("w = variable(shape = [integer('%s%s%s')], label = 'w');\ny = copy(x);",
                 "the string '%s%s%s' is no integer literal");
    refuses_body(
        "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) "
        "{ y = x * scalar(integer('%p%n')); }",
        "y = f(x);",
        "the string '%p%n' is no integer literal");
}

// ---- Bytes --------------------------------------------------------------------------------------

TEST_F(Nnef1Hostile, BytesThatAreNoText) {
    const std::string graph = "graph g( x ) -> ( y ) { x = external(shape = [1]); y = copy(x); }";
    refuses("\x01 1.0;\n" + graph, "unexpected character `<01>`");
    refuses("version 1.0;\n\x07 g( x ) -> ( y ) { y = copy(x); }", "unexpected character `<07>`");
    refuses(std::string("version 1.0;\n" + graph + std::string("\0 garbage", 9)),
            "unexpected character `<00>`");
    refuses("version 1.0;\ngraph g( x ) -> ( y\xFF ) { y = copy(x); }",
            "unexpected character `<ff>`");
    refuses_body("w = variable(shape = [1], label = 'a\xFF');\ny = copy(x);",
                 "byte 0xff in this string is not UTF-8 text");
    refuses_body("w = variable(shape = [1], label = 'a);\ny = copy(x);",
                 "this string is not closed on its line");
    write("graph.nnef", "\xEF\xBB\xBFversion 1.0;\n" + graph);
    const Outcome mark = lemma("check");
    EXPECT_EQ(mark.status, model::kGood);
    EXPECT_NE(mark.err.find("the file begins with a byte order mark"), std::string::npos);
}

TEST_F(Nnef1Hostile, LabelsThatLeaveTheModel) {
    for (const char* label :
         {"../../x", "/etc/x", "a/../../x", "a//b", "./x", "a\\\\..\\\\x", "..", "", "a/"}) {
        const std::string body =
            fmt::format("w = variable(shape = [1], label = '{}');\ny = copy(x);", label);
        refuses_body(body, "label");
    }
}

TEST_F(Nnef1Hostile, LongNamesAreCutInMessages) {
    const std::string name(10'000'000, 'a');
    write("graph.nnef", document("", name + " = relu(x);\ny = copy(" + name + ");"));
    EXPECT_EQ(lemma("check").status, model::kGood);
    refuses_body("y = " + name + "(x);", "no operation `aaaa");
}

}  // namespace

}  // namespace lemma::driver
