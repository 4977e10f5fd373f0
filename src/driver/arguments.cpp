// SPDX-License-Identifier: Apache-2.0
#include "driver/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>

#include "base/version.h"
#include "diag/diagnostic.h"
#include "driver/commands/command.h"

namespace lemma::driver {

namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

// ---- Values -------------------------------------------------------------------------------------

std::optional<int64_t> whole_number(const std::string& text) {
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    return number;
}

// Empty if the text is valid, as CLI11 expects from a validator.
std::string complaint_about(const std::string& text, NumberRange range) {
    const auto number = whole_number(text);
    if (number && *number >= range.low && *number <= range.high) return "";
    if (range.high == kAnyNumber) {
        return fmt::format("`{}` is not a number from {} on", text, range.low);
    }
    return fmt::format("`{}` is not a number from {} to {}", text, range.low, range.high);
}

std::string complaint_about(const std::string& text, const std::vector<std::string>& words) {
    if (std::ranges::find(words, text) != words.end()) return "";
    return fmt::format("`{}` is not one of {}", text, fmt::join(words, ", "));
}

// ---- Bad usage ----------------------------------------------------------------------------------

Outcome unusable(const std::string& message, const std::string& command = "") {
    const std::string help = command.empty() ? "lemma --help" : "lemma " + command + " --help";
    return {.status = model::kUnusable, .err = fmt::format("lemma: {}\ntry `{}`\n", message, help)};
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
    const std::string_view nearest =
        diag::nearest_name(word, {candidates.begin(), candidates.end()});
    return nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest);
}

Outcome unknown_command(const std::string& word, const Commands& commands) {
    std::vector<std::string> names;
    for (const auto& command : commands) names.push_back(command->name());
    return unusable(fmt::format("unknown command `{}`{}", word, did_you_mean(word, names)));
}

std::string unexpected_argument(const CLI::App& app, const std::string& argument) {
    if (!argument.starts_with("-")) return fmt::format("unexpected argument `{}`", argument);
    const std::string option = argument.substr(0, argument.find('='));
    std::vector<std::string> names;
    for (const CLI::Option* known : app.get_options()) {
        for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
    }
    return fmt::format("unknown option `{}`{}", option, did_you_mean(option, names));
}

// ---- The line -----------------------------------------------------------------------------------

constexpr const char* kSummary = "Lemma checks, runs, converts and measures neural-network models.";
constexpr const char* kGeneral = "General";

// A line as CLI11 knows it, and as the help shows it.
struct Line {
    CLI::App app{kSummary};
    ProgramPage page{.summary = kSummary, .arguments = {}, .commands = {}};
    bool quiet = false;
};

void declare_general(CLI::App& app, std::vector<ArgumentPage>& page) {
    const auto flag = [&](const char* small, const char* large, const char* text) {
        page.push_back({.names = {small, large},
                        .value = {},
                        .text = text,
                        .group = kGeneral,
                        .choices = {},
                        .repeated = false});
        return fmt::format("{},{}", small, large);
    };
    app.set_help_flag(flag("-h", "--help", "show this help"));
    app.set_version_flag(flag("-V", "--version", "show the version"),
                         fmt::format("lemma {}", kVersion));
}

void declare_quiet(CLI::App& app, CommandPage& page, bool& quiet) {
    Arguments arguments(app, page);
    arguments.group(kGeneral);
    arguments.flag("-q,--quiet", quiet, "no progress; no warnings and notes if all goes well");
}

// A line that names a command needs only that one: declaring all of them takes CLI11 a millisecond.
void declare(Line& line, const Commands& commands, const std::string& named) {
    line.app.name("lemma");
    declare_general(line.app, line.page.arguments);
    for (const auto& command : commands) {
        if (!named.empty() && command->name() != named) continue;
        CLI::App* const sub = line.app.add_subcommand(command->name(), command->summary());
        CommandPage& page = line.page.commands.emplace_back();
        page.name = command->name();
        page.summary = command->summary();
        page.group = command->group();
        Arguments arguments(*sub, page);
        command->declare(arguments);
        declare_quiet(*sub, page, line.quiet);
        declare_general(*sub, page.arguments);
    }
}

std::string help_of(const Line& line, const CLI::App& chosen, size_t width) {
    for (const CommandPage& page : line.page.commands) {
        if (page.name == chosen.get_name()) return help_text(page, width);
    }
    return help_text(line.page, width);
}

// Empty if the line is valid. CLI11 reports by exceptions; only this function catches them.
std::optional<Outcome> parse(Line& line, const std::vector<std::string>& args, size_t width) {
    CLI::App& app = line.app;
    const auto chosen = [&] {
        const auto subs = app.get_subcommands();
        return subs.empty() ? &app : subs.front();
    };
    const auto complain = [&](const std::string& message) {
        return unusable(message, chosen() == &app ? "" : chosen()->get_name());
    };
    try {
        std::vector<std::string> reversed(args.rbegin(),
                                          args.rend());  // CLI11 wants the last one first
        app.parse(reversed);
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        return Outcome{.status = model::kGood, .out = help_of(line, *chosen(), width), .err = {}};
    } catch (const CLI::CallForVersion& version) {
        return Outcome{.status = model::kGood, .out = std::string(version.what()) + "\n"};
    } catch (const CLI::ExtrasError& error) {
        const auto rest = app.remaining(true);
        if (rest.empty()) return complain(error.what());
        return complain(unexpected_argument(*chosen(), rest.front()));
    } catch (const CLI::ParseError& error) {
        return complain(error.what());
    }
}

// The word that names the command, if there is one.
std::string named_command(const std::vector<std::string>& args) {
    return args.empty() || args.front().starts_with("-") ? "" : args.front();
}

// Before the line is read, because it need not be complete.
std::optional<Outcome> explained(const Line& line, const std::vector<std::string>& args) {
    for (const CommandPage& page : line.page.commands) {
        for (const Topic& topic : page.topics) {
            const auto one = std::ranges::find(args, topic.option + "=" + topic.value);
            const std::vector<std::string> two = {topic.option, topic.value};
            if (one == args.end() && std::ranges::search(args, two).empty()) continue;
            return Outcome{.status = model::kGood, .out = topic.text(), .err = {}};
        }
    }
    return std::nullopt;
}

std::optional<Outcome> read_line(Line& line,
                                 const Commands& commands,
                                 const std::vector<std::string>& args,
                                 size_t width) {
    const std::string named = named_command(args);
    const auto is_named = [&](const auto& command) { return command->name() == named; };
    if (!named.empty() && std::ranges::none_of(commands, is_named)) {
        return unknown_command(named, commands);
    }
    declare(line, commands, named);
    if (auto answer = explained(line, args)) return answer;
    if (auto answer = parse(line, args, width)) return answer;
    if (line.app.get_subcommands().empty()) return unusable("no command given");
    return std::nullopt;
}

bool asks_for_json(const CLI::App& command) {
    const CLI::Option* const json = command.get_option_no_throw("--json");
    return json && json->count() > 0;
}

}  // namespace

ArgumentPage& Arguments::add(const std::string& names,
                             const std::string& value,
                             const std::string& text) {
    ArgumentPage& page = page_.arguments.emplace_back();
    page.value = value;
    page.text = text;
    page.group = group_;
    for (size_t begin = 0; begin < names.size();) {
        const size_t end = std::min(names.find(',', begin), names.size());
        page.names.push_back(names.substr(begin, end - begin));
        begin = end + 1;
    }
    return page;
}

void Arguments::words(const std::string& name,
                      std::vector<std::string>& values,
                      const std::string& text) {
    app_.add_option(name, values, text)->required();
    add("", name + "…", text).repeated = true;
}

void Arguments::optional_words(const std::string& name,
                               std::vector<std::string>& values,
                               const std::string& text) {
    app_.add_option(name, values, text);
    add("", fmt::format("[{}…]", name), text).repeated = true;
}

void Arguments::word(const std::string& name, std::string& value, const std::string& text) {
    app_.add_option(name, value, text)->required();
    add("", name, text);
}

void Arguments::optional_word(const std::string& name,
                              std::string& value,
                              const std::string& text) {
    app_.add_option(name, value, text);
    add("", fmt::format("[{}]", name), text);
}

void Arguments::choice_word(const std::string& name,
                            std::string& value,
                            const std::vector<std::string>& words,
                            const std::string& text) {
    const auto validate = [words](std::string& word) { return complaint_about(word, words); };
    app_.add_option(name, value, text)->required()->check(CLI::Validator(validate, ""));
    add("", fmt::format("{}", fmt::join(words, "|")), text).choices = words;
}

void Arguments::text(const std::string& name,
                     std::string& value,
                     const std::string& placeholder,
                     const std::string& text) {
    app_.add_option(name, value, text);
    add(name, placeholder, text);
}

void Arguments::pairs(const std::string& name,
                      std::vector<std::string>& values,
                      const std::string& text) {
    const auto validate = [](std::string& word) {
        const size_t middle = word.find('=');
        const bool good = middle != std::string::npos && middle > 0;
        return good ? "" : fmt::format("`{}` is not of the form NAME=VALUE", word);
    };
    app_.add_option(name, values, text)
        ->allow_extra_args(false)
        ->check(CLI::Validator(validate, ""));
    add(name, "NAME=VALUE", text).repeated = true;
}

void Arguments::texts(const std::string& name,
                      std::vector<std::string>& values,
                      const std::string& placeholder,
                      const std::string& text) {
    app_.add_option(name, values, text)->allow_extra_args(false);
    add(name, placeholder, text).repeated = true;
}

void Arguments::seed(const std::string& name,
                     std::optional<uint64_t>& value,
                     const std::string& text) {
    // Declared as a flag, so that the next word is not its value; CLI11 passes 1 for a bare flag.
    const auto accept = [&value](int64_t number) { value = static_cast<uint64_t>(number); };
    app_.add_flag_function(name, accept, text);
    add(name, "[=SEED]", text);
}

void Arguments::optional_text(const std::string& name,
                              std::string& value,
                              const std::string& placeholder,
                              const std::string& text) {
    // As for seeds; CLI11 passes `true` (kGiven) for a bare flag.
    app_.add_flag(name, value, text);
    add(name, "[=" + placeholder + "]", text);
}

void Arguments::flag(const std::string& names, bool& value, const std::string& text) {
    app_.add_flag(names, value, text);
    add(names, "", text);
}

void Arguments::exclude(const std::string& one, const std::string& other) {
    app_.get_option(one)->excludes(app_.get_option(other));
}

void Arguments::need(const std::string& one, const std::string& other) {
    app_.get_option(one)->needs(app_.get_option(other));
}

void Arguments::remark(const std::string& text) { page_.remarks.push_back(text); }

void Arguments::suggest(const std::vector<std::string>& words) {
    page_.arguments.back().choices = words;
}

void Arguments::topic(const std::string& option,
                      const std::string& value,
                      std::string (*explain)()) {
    page_.topics.push_back({option, value, explain});
}

void Arguments::example(const std::string& line, const std::string& text) {
    page_.examples.push_back({line, text});
}

void Arguments::add_number(const std::string& name,
                           const std::function<void(int64_t)>& assign,
                           NumberRange range,
                           const std::string& text) {
    const auto accept = [assign](const std::string& word) { assign(*whole_number(word)); };
    const auto validate = [range](std::string& word) { return complaint_about(word, range); };
    app_.add_option_function<std::string>(name, accept, text)->check(CLI::Validator(validate, ""));
    add(name, "N", text);
}

void Arguments::numbers(const std::string& name,
                        std::vector<int>& values,
                        NumberRange range,
                        const std::string& text) {
    const auto accept = [&values](const std::string& word) {
        values.clear();
        for (const std::string& part : CLI::detail::split(word, ',')) {
            values.push_back(static_cast<int>(*whole_number(part)));
        }
    };
    const auto validate = [range](std::string& word) {
        for (std::string& part : CLI::detail::split(word, ',')) {
            if (std::string complaint = complaint_about(part, range); !complaint.empty()) {
                return complaint;
            }
        }
        return std::string();
    };
    app_.add_option_function<std::string>(name, accept, text)->check(CLI::Validator(validate, ""));
    add(name, "N,…", text);
}

void Arguments::add_choice(const std::string& name,
                           const std::function<void(size_t)>& assign,
                           const std::vector<std::string>& words,
                           const std::string& text) {
    const auto accept = [assign, words](const std::string& word) {
        assign(static_cast<size_t>(std::ranges::find(words, word) - words.begin()));
    };
    const auto validate = [words](std::string& word) { return complaint_about(word, words); };
    app_.add_option_function<std::string>(name, accept, text)->check(CLI::Validator(validate, ""));
    add(name, fmt::format("{}", fmt::join(words, "|")), text).choices = words;
}

ProgramPage program_page() {
    Line line;
    declare(line, all_commands(), "");
    return std::move(line.page);
}

std::optional<Outcome> check_line(const std::vector<std::string>& args) {
    Line line;
    return read_line(line, all_commands(), args, Terminal{}.width);
}

Outcome run_line(const std::vector<std::string>& args,
                 const Commands& commands,
                 Terminal terminal,
                 std::istream& input) {
    Line line;
    if (auto answer = read_line(line, commands, args, terminal.width)) return std::move(*answer);
    const CLI::App& chosen = *line.app.get_subcommands().front();
    if (line.quiet || asks_for_json(chosen)) terminal.progress = {};
    terminal.quiet = line.quiet;
    for (const auto& command : commands) {
        if (command->name() != chosen.get_name()) continue;
        Outcome outcome = command->run(terminal, input);
        if (line.quiet && outcome.status == model::kGood) outcome.err.clear();
        return outcome;
    }
    return unusable("no command given");
}

}  // namespace lemma::driver
