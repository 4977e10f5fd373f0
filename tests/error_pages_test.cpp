// SPDX-License-Identifier: Apache-2.0
// The pages of docs/errors show an example and the output of `lemma check --brief` for it. This
// test checks every example.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "driver/driver.h"
#include "support/golden_file.h"

namespace lemma::testing {

namespace {

namespace fs = std::filesystem;

// Pages whose example needs other files or data, or is too long to print.
const std::set<std::string> kWithoutRun = {"bad-data",
                                           "bad-encoding",
                                           "graph-in-module",
                                           "import-cycle",
                                           "missing-data",
                                           "run-failed",
                                           "shadowed-module",
                                           "too-deep",
                                           "unreadable-file",
                                           "unused-data"};

const std::map<std::string, std::string> kOptions = {{"non-standard", "--dialect=khronos"}};

struct Block {
    std::string language;
    std::vector<std::string> lines;
};

// The fenced blocks of a page.
std::vector<Block> blocks_of(const fs::path& page) {
    std::vector<Block> blocks;
    bool inside = false;
    for (const std::string& line : split_lines(read_bytes(page))) {
        if (line.starts_with("```")) {
            if (!inside) blocks.push_back({line.substr(3), {}});
            inside = !inside;
        } else if (inside) {
            blocks.back().lines.push_back(line);
        }
    }
    return blocks;
}

struct Example {
    std::string file;                   // the file name in the messages
    std::vector<std::string> text;      // a whole file, or blocks of an operator
    std::vector<std::string> messages;  // including lines of the source
    bool whole = true;
};

// Empty for a page about a binary format.
std::optional<Example> example_of(const fs::path& page) {
    const std::vector<Block> blocks = blocks_of(page);
    if (blocks.size() < 2) return std::nullopt;
    const bool sknd = blocks[0].language == "sknd";
    if (!sknd && blocks[0].language != "nnef") return std::nullopt;
    Example example{sknd ? "main.sknd" : "graph.nnef", blocks[0].lines, blocks[1].lines};
    example.whole = std::ranges::none_of(
        example.text, [](const std::string& line) { return line.starts_with("@"); });
    return example;
}

// Messages about a fragment are one line too far down: the test puts an operator around it.
std::string moved_up(const std::string& line, const std::string& prefix) {
    std::istringstream rest(line.substr(prefix.size()));
    size_t number = 0;
    std::string tail;
    rest >> number;
    std::getline(rest, tail);
    return prefix + std::to_string(number - 1) + tail;
}

std::set<std::string> printed(const Example& example, const std::string& option) {
    const fs::path folder =
        fs::temp_directory_path() / ("lemma_error_page_" + std::to_string(getpid()));
    fs::create_directories(folder);
    std::string text;
    for (const std::string& line : example.text) text += line + "\n";
    if (!example.whole) text = "operator main {\n" + text + "}\n";
    const fs::path file = folder / example.file;
    write_bytes(file, text);
    std::vector<std::string> args = {"check", "--brief", file.string()};
    if (!example.whole) args.emplace_back("--module");
    if (!option.empty()) args.push_back(option);
    std::istringstream input;
    const driver::Outcome outcome = driver::run(args, {}, input);
    fs::remove_all(folder);

    std::set<std::string> lines;
    const std::string place = example.file + ":";
    for (std::string line : split_lines(outcome.out + outcome.err)) {
        const size_t begin = line.find(place);
        if (begin == std::string::npos) continue;
        line.erase(0, begin);
        lines.insert(example.whole ? line : moved_up(line, place));
    }
    return lines;
}

TEST(ErrorPages, ExamplesPrintTheirMessages) {
    size_t checked = 0;
    for (const auto& entry : fs::directory_iterator(LEMMA_ERRORS_DIR)) {
        const std::string kind = entry.path().stem().string();
        const std::optional<Example> example = example_of(entry.path());
        if (!example || kWithoutRun.contains(kind)) continue;
        const auto option = kOptions.find(kind);
        const auto lines = printed(*example, option == kOptions.end() ? "" : option->second);
        ASSERT_FALSE(example->messages.empty()) << kind;
        for (const std::string& message : example->messages) {
            EXPECT_TRUE(lines.contains(message)) << kind << " does not print\n" << message;
            EXPECT_TRUE(message.ends_with("[" + kind + "]")) << message;
        }
        ++checked;
    }
    EXPECT_GE(checked, 80U);
}

}  // namespace

}  // namespace lemma::testing
