// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "diag/utf8.h"
#include "driver/arguments.h"
#include "driver/help/page.h"

namespace lemma::driver {

namespace {

std::vector<std::string> words_of(std::string line) {
    // The part that is lemma: without pipes and redirections.
    line = line.substr(0, line.find_first_of("|<>"));
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

const CommandPage& page_of(const ProgramPage& program, const std::string& name) {
    return *std::ranges::find(program.commands, name, &CommandPage::name);
}

TEST(Help, EveryCommandHasAnExampleAndEachIsAValidLine) {
    for (const CommandPage& page : program_page().commands) {
        EXPECT_FALSE(page.examples.empty()) << page.name;
        for (const Example& example : page.examples) {
            std::vector<std::string> words = words_of(example.line);
            ASSERT_GE(words.size(), 2) << example.line;
            EXPECT_EQ(words[0], "lemma") << example.line;
            EXPECT_EQ(words[1], page.name) << example.line;
            words.erase(words.begin());
            const auto complaint = check_line(words);
            EXPECT_FALSE(complaint) << example.line << "\n" << complaint->err;
        }
    }
}

TEST(Help, EveryArgumentHasATextAndAGroup) {
    for (const CommandPage& page : program_page().commands) {
        std::set<std::string> names;
        for (const ArgumentPage& argument : page.arguments) {
            EXPECT_FALSE(argument.text.empty()) << page.name << " " << left_side(argument);
            EXPECT_FALSE(argument.group.empty()) << page.name << " " << left_side(argument);
            for (const std::string& name : argument.names)
                EXPECT_TRUE(names.insert(name).second) << page.name << " " << name;
        }
        for (const char* const name : {"-h", "--help", "-V", "--version", "-q", "--quiet"})
            EXPECT_TRUE(names.contains(name)) << page.name << " " << name;
    }
}

TEST(Help, FitsTheWidthOfTheTerminal) {
    const ProgramPage program = program_page();
    for (const size_t width : {50, 80, 120}) {
        std::istringstream lines(help_text(page_of(program, "run"), width));
        for (std::string line; std::getline(lines, line);) {
            // An example is one line.
            if (line.starts_with("  lemma ")) continue;
            EXPECT_LE(diag::printable_columns(line), width) << line;
        }
    }
    EXPECT_NE(help_text(program, 50), help_text(program, 120));
}

TEST(Help, KnowsWhatAValueIs) {
    const auto kind = [](const std::string& value) {
        ArgumentPage argument;
        argument.names = {"--x"};
        argument.value = value;
        return value_kind(argument);
    };
    EXPECT_EQ(kind(""), ValueKind::Nothing);
    EXPECT_EQ(kind("N"), ValueKind::Text);
    EXPECT_EQ(kind("[NAME=]FILE"), ValueKind::File);
    EXPECT_EQ(kind("DIR"), ValueKind::Folder);
    EXPECT_EQ(kind("MODEL…"), ValueKind::Model);
    EXPECT_EQ(kind("[COMMAND]"), ValueKind::Command);
}

TEST(Help, ManualPagesHaveNoTextThatRoffWouldObey) {
    ArgumentPage odd;
    odd.names = {"--odd"};
    odd.text = ".so /etc/passwd\n.sy rm";
    odd.group = "A\\B";
    CommandPage page{.name = "x", .summary = "'s \\n", .arguments = {odd}};
    const std::string text = manual_page({}, page);
    EXPECT_EQ(text.find("\n.s"), std::string::npos) << text;
    EXPECT_NE(text.find("A\\eB"), std::string::npos) << text;
    EXPECT_NE(text.find("\\(aqs \\en"), std::string::npos) << text;
}

TEST(Help, QuietKeepsNotesOfGoodRunsBack) {
    const auto run_with = [](const std::vector<std::string>& args, bool& told) {
        std::istringstream input("import layout\ngraph G {}\n");
        Terminal terminal;
        terminal.progress = [&](const std::string&) { told = true; };
        return run(args, terminal, input);
    };
    bool told = false;
    const Outcome loud = run_with({"fmt", "-"}, told);
    ASSERT_EQ(loud.status, model::kGood) << loud.err;
    EXPECT_NE(loud.err.find("added the missing"), std::string::npos);
    const Outcome quiet = run_with({"fmt", "-q", "-"}, told);
    EXPECT_EQ(quiet.err, "");
    EXPECT_EQ(quiet.out, loud.out);
    EXPECT_NE(run_with({"check", "-q", "no-such-file.onnx"}, told).err, "");
}

}  // namespace

}  // namespace lemma::driver
