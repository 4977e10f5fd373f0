// SPDX-License-Identifier: Apache-2.0
// driver/arguments.h — the arguments of a command: declaration, reading, help and errors. Only
// arguments.cpp includes the command line library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/driver.h"
#include "driver/help/page.h"

namespace CLI {
class App;
}

namespace lemma::driver {

class Command;

struct NumberRange {
    int64_t low;
    int64_t high;
};
inline constexpr int64_t kAnyNumber = INT64_MAX;

template <class T>
using Choices = std::vector<std::pair<std::string, T>>;

// Declares the arguments of a command; reading the line assigns them. Help, completion and manual
// pages come from the same declarations.
class Arguments {
public:
    Arguments(CLI::App& app, CommandPage& page) : app_(app), page_(page) {}

    // While it lives, options are declared in a group, a heading of the help such as `Input`.
    class Group {
    public:
        Group(Arguments& arguments, std::string name)
            : arguments_(arguments), outer_(std::exchange(arguments.group_, std::move(name))) {}
        ~Group() { arguments_.group_ = std::move(outer_); }
        Group(const Group&) = delete;
        Group& operator=(const Group&) = delete;

    private:
        Arguments& arguments_;
        std::string outer_;
    };
    // For all options that follow, outside of a `Group`.
    void group(const std::string& name) { group_ = name; }

    // One or more words, such as `MODEL…`.
    void words(const std::string& name, std::vector<std::string>& values, const std::string& text);
    // Any number of words, such as `[NAME…]`.
    void optional_words(const std::string& name,
                        std::vector<std::string>& values,
                        const std::string& text);
    void word(const std::string& name, std::string& value, const std::string& text);
    void optional_word(const std::string& name, std::string& value, const std::string& text);
    // One of several words, such as `bash|zsh|fish`; `name` is for messages.
    void choice_word(const std::string& name,
                     std::string& value,
                     const std::vector<std::string>& words,
                     const std::string& text);
    // `--graph=NAME`, and repeatable `-a NAME=VALUE`.
    void text(const std::string& name,
              std::string& value,
              const std::string& placeholder,
              const std::string& text);
    void pairs(const std::string& name, std::vector<std::string>& values, const std::string& text);
    // Repeatable, as `-i FILE`.
    void texts(const std::string& name,
               std::vector<std::string>& values,
               const std::string& placeholder,
               const std::string& text);
    // `--random-inputs`, or with a seed `--random-inputs=7`; the default seed is 1.
    void seed(const std::string& name, std::optional<uint64_t>& value, const std::string& text);
    // `--times`, or with a value `--times=FILE`; without one it is kGiven.
    static constexpr const char* kGiven = "true";
    void optional_text(const std::string& name,
                       std::string& value,
                       const std::string& placeholder,
                       const std::string& text);
    void flag(const std::string& names, bool& value, const std::string& text);
    template <class T>
    void number(const std::string& name, T& value, NumberRange range, const std::string& text) {
        add_number(name, [&value](int64_t n) { value = static_cast<T>(n); }, range, text);
    }
    // Several in one word, such as `--threads=1,2,4`.
    void numbers(const std::string& name,
                 std::vector<int>& values,
                 NumberRange range,
                 const std::string& text);
    // One of several words: `--color=auto|always|never`.
    template <class T>
    void choice(const std::string& name,
                T& value,
                const Choices<T>& choices,
                const std::string& text) {
        std::vector<std::string> names;
        for (const auto& [word, choice] : choices) names.push_back(word);
        add_choice(name, [&value, choices](size_t i) { value = choices[i].second; }, names, text);
    }
    // Two options that exclude each other.
    void exclude(const std::string& one, const std::string& other);
    // An option that requires another one.
    void need(const std::string& one, const std::string& other);
    // A paragraph below the options in the help.
    void remark(const std::string& text);
    // The last option offers these values, but takes others as well.
    void suggest(const std::vector<std::string>& words);
    // `--preprocess=help` prints this text, and the command does not run.
    void topic(const std::string& option, const std::string& value, std::string (*explain)());
    // A line that works, and what it does.
    void example(const std::string& line, const std::string& text);

private:
    void add_number(const std::string& name,
                    const std::function<void(int64_t)>& assign,
                    NumberRange range,
                    const std::string& text);
    void add_choice(const std::string& name,
                    const std::function<void(size_t)>& assign,
                    const std::vector<std::string>& words,
                    const std::string& text);
    ArgumentPage& add(const std::string& names, const std::string& value, const std::string& text);

    CLI::App& app_;
    CommandPage& page_;
    std::string group_ = "Options";
};

// All commands with their arguments.
ProgramPage program_page();
// The complaint about a line, or the answer to `--help` and `--version`; empty if it can run.
std::optional<Outcome> check_line(const std::vector<std::string>& args);

// Reads the line and runs its command; answers help, version and bad usage itself.
Outcome run_line(const std::vector<std::string>& args,
                 const std::vector<std::unique_ptr<Command>>& commands,
                 Terminal terminal,
                 std::istream& input);

}  // namespace lemma::driver
