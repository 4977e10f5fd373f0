// SPDX-License-Identifier: Apache-2.0
// Text of a model must not reach the terminal unescaped: its characters could move the cursor,
// change the title of the window or hide other text.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "diag/utf8.h"
#include "driver/driver.h"
#include "onnx/test_model.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {
namespace {

namespace fs = std::filesystem;

const std::string kEvil =
    "a\x1b]0;pwn\x07\x1b[2J\xc2\x9b"
    "31m\xe2\x80\xaez";

std::string texts_tensor(const std::string& name, const std::string& text) {
    onnx::test::WireWriter message;
    message.put_int(1, 1);
    message.put_int(2, 8);
    message.put_bytes(6, text);
    message.put_bytes(8, name);
    return message.take();
}

class Evil : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-evil-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        model_ = (folder_ / "model.onnx").string();
    }
    void TearDown() override { fs::remove_all(folder_); }
    void write(const onnx::test::TestGraph& graph) const {
        ASSERT_TRUE(tensor::write_file(model_, onnx::test::model_bytes(graph)));
    }
    Outcome command(std::vector<std::string> arguments) const {
        arguments.push_back(model_);
        std::istringstream nothing;
        return run(arguments, {}, nothing);
    }
    // JSON has its own escapes, for fewer characters.
    static void expect_safe(const Outcome& outcome, bool json = false) {
        for (const std::string& text : {outcome.out, outcome.err}) {
            for (const char c : text) {
                ASSERT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f))
                    << text;
            }
            if (json) continue;
            EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
            EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << text;
        }
    }

    fs::path folder_;
    std::string model_;
};

TEST_F(Evil, NamesAreShownWithEscapes) {
    write({.inputs = {{kEvil, {2}}},
           .outputs = {{"y" + kEvil, {2}}},
           .nodes = {{"Relu", {kEvil}, {"y" + kEvil}}}});
    const Outcome shown = command({"run", "--random-inputs"});
    EXPECT_EQ(shown.status, model::kGood) << shown.err;
    EXPECT_TRUE(shown.out.starts_with("ya<1b>]0;pwn<07><1b>[2J<U+009B>31m<U+202E>z: f32[2]"))
        << shown.out;
    const std::vector<std::vector<std::string>> commands = {
        {"check", "-v"},
        {"check", "--profile=sonnx"},
        {"show"},
        {"show", "--dot"},
        {"show", "--text"},
        {"show", "--json"},
        {"show", "--level=primitive"},
        {"show", "--tree"},
        {"show", "--attributes"},
        {"show", "--svg"},
        {"verify", "--bisect", "--random-inputs"},
        {"run"},
        {"run", "-i", "q=r"},
        {"run", "--random-inputs"},
        {"run", "--random-inputs", "--json"}};
    for (const auto& arguments : commands) {
        const Outcome outcome = command(arguments);
        EXPECT_FALSE(outcome.out.empty() && outcome.err.empty()) << arguments[0];
        expect_safe(outcome, arguments.back() == "--json");
    }
}

TEST_F(Evil, DrawingsHaveNoMarkupOfTheModel) {
    const std::string evil = "\"/><script>alert(1)</script>&<!--";
    write({.inputs = {{evil, {2}}},
           .outputs = {{"y" + evil, {2}}},
           .nodes = {{"Relu", {evil}, {"y" + evil}}}});
    const Outcome shown = command({"show", "--svg"});
    EXPECT_EQ(shown.status, model::kGood) << shown.err;
    EXPECT_EQ(shown.out.find("<script"), std::string::npos);
    EXPECT_EQ(shown.out.find("<!--"), std::string::npos);
    EXPECT_NE(shown.out.find("&lt;script&gt;"), std::string::npos) << shown.out;
}

TEST_F(Evil, TablesFitTheTerminal) {
    const std::string name(300, 'n');
    write({.inputs = {{name, {2, 3, 4, 5, 6, 7, 8, 9}}},
           .outputs = {{"y" + name, {2, 3, 4, 5, 6, 7, 8, 9}}},
           .nodes = {{"Relu", {name}, {"y" + name}}}});
    for (const char* const option : {"--level=compound", "--attributes", "--tree"}) {
        for (const size_t width : {10, 30, 60, 80, 120, 400}) {
            std::istringstream nothing;
            const Outcome shown =
                run({"show", option, model_}, {.out = true, .width = width}, nothing);
            std::istringstream lines(shown.out);
            for (std::string line; std::getline(lines, line);)
                EXPECT_LE(diag::printable_columns(line), std::max<size_t>(width, 20)) << line;
        }
    }
}

TEST_F(Evil, TextsAreShownWithEscapes) {
    write({.inputs = {},
           .outputs = {{"y", {1}, 8}},
           .nodes = {{"Identity", {"t"}, {"y"}}},
           .initializers = {texts_tensor("t", kEvil)}});
    const Outcome shown = command({"run"});
    EXPECT_EQ(shown.out, "y: str[1]: 'a<1b>]0;pwn<07><1b>[2J<U+009B>31m<U+202E>z'\n") << shown.err;
    expect_safe(shown);
    expect_safe(command({"show", "--text"}));
}

TEST_F(Evil, DiagnosticsHaveEscapes) {
    write({.inputs = {{"x", {2}}}, .outputs = {{"y", {2}}}, .nodes = {{kEvil, {kEvil}, {"y"}}}});
    const std::vector<std::vector<std::string>> commands = {
        {"check"}, {"check", "--brief"}, {"run", "--random-inputs"}, {"show"}};
    for (const auto& arguments : commands) {
        const Outcome outcome = command(arguments);
        EXPECT_NE(outcome.status, model::kGood);
        expect_safe(outcome);
    }
}

TEST_F(Evil, PathsHaveEscapes) {
    model_ = (folder_ / (kEvil + ".sknd")).string();
    for (const char* const name : {"check", "run", "show", "bench", "fmt", "verify"}) {
        const Outcome outcome = command({name});
        EXPECT_EQ(outcome.status, model::kUnusable) << name;
        expect_safe(outcome);
    }
}

}  // namespace
}  // namespace lemma::driver
