// SPDX-License-Identifier: Apache-2.0
// driver/help/page.h — the declared arguments of a command as a value. The help text, the shell
// completions and the manual pages are all made from it, so none of them can disagree with the
// command line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lemma::driver {

struct ArgumentPage {
    std::vector<std::string> names;    // `-i`, `--input`; none: a positional argument
    std::string value;                 // `FILE`, `a|b`, `[=SEED]`, `MODEL…`; empty: a flag
    std::string text;                  // what it does
    std::string group;                 // the heading in the help
    std::vector<std::string> choices;  // all values, if they are known
    bool repeated = false;             // may be given several times
};

struct Example {
    std::string line;  // `lemma run net.onnx --random-inputs`
    std::string text;  // what it does
};

// A value of an option that asks for an explanation, as `--preprocess=help`.
struct Topic {
    std::string option;
    std::string value;
    std::string (*text)();
};

struct CommandPage {
    std::string name;
    std::string summary;
    std::string group;
    std::vector<ArgumentPage> arguments;
    std::vector<std::string> remarks;  // paragraphs below the options
    std::vector<Example> examples;
    std::vector<Topic> topics;
};

struct ProgramPage {
    std::string summary;
    std::vector<ArgumentPage> arguments;
    std::vector<CommandPage> commands;
};

// What a shell can offer as the value of an argument.
enum class ValueKind { Nothing, Text, Choice, File, Folder, Model, Command };
ValueKind value_kind(const ArgumentPage& argument);
// Whether the value may be left out, as in `--random-inputs[=SEED]`.
bool optional_value(const ArgumentPage& argument);
// The kind of a command's positional arguments; File if they differ.
ValueKind positional_kind(const CommandPage& page);
// The endings of model files and archives.
inline constexpr const char* kModelEndings[] = {
    "onnx", "sknd", "nnef", "tgz", "tar.gz", "tar.bz2", "tar.xz", "tar", "zip"};
// `checks models` as a sentence: `Checks models.`
std::string sentence(std::string text);
// The groups of arguments or commands, in the order in which they first appear; the general ones
// are last.
std::vector<std::string> ordered_groups(std::vector<std::string> groups);
template <class Items>
std::vector<std::string> groups_of(const Items& items) {
    std::vector<std::string> groups;
    for (const auto& item : items) groups.push_back(item.group);
    return ordered_groups(std::move(groups));
}
// `run [OPTIONS] MODEL`
std::string synopsis(const CommandPage& page);
// `-i, --input=FILE`, or the name of a positional argument.
std::string left_side(const ArgumentPage& argument);

// Texts for a terminal of this width in columns.
std::string help_text(const ProgramPage& program, size_t width);
std::string help_text(const CommandPage& page, size_t width);

// Scripts for the shells, to be installed or read by the user's start-up file.
std::string bash_completion(const ProgramPage& program);
std::string zsh_completion(const ProgramPage& program);
std::string fish_completion(const ProgramPage& program);

// Manual pages in roff, for `man`: lemma(1), and lemma-run(1) of a command.
std::string manual_page(const ProgramPage& program);
std::string manual_page(const ProgramPage& program, const CommandPage& page);

}  // namespace lemma::driver
