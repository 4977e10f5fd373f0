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

// ---- Help ---------------------------------------------------------------------------------------

constexpr size_t kColumn = 34;  // column of the explanations

// `-v, --verbose`, `--max-errors=N`, or the name of a positional argument.
std::string left_side(const CLI::Option& option) {
    if (option.get_positional()) return option.get_option_text();
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    const std::string& value = option.get_option_text();
    const bool joined = value.empty() || value.starts_with("[=");
    const char* join = joined ? "" : option.get_lnames().empty() ? " " : "=";
    return fmt::format("{}{}{}", fmt::join(names, ", "), join, value);
}

std::string row(const std::string& left, const std::string& right) {
    return fmt::format("  {:<{}}{}\n", left, kColumn - 2, right);
}

// `checks models` in a list becomes `Checks models.` as a sentence.
std::string sentence(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] += 'A' - 'a';
    return text.ends_with('.') ? text : text + ".";
}

std::string usage_line(const CLI::App& app, const std::string& name) {
    std::string line = "Usage: " + name;
    if (!app.get_subcommands({}).empty()) return line + " COMMAND [OPTIONS] …\n";
    line += " [OPTIONS]";
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional()) line += " " + option->get_option_text();
    }
    return line + "\n";
}

std::string help_text(const CLI::App* app, const std::string& name, CLI::AppFormatMode) {
    std::string text = usage_line(*app, name) + "\n" + sentence(app->get_description()) + "\n";
    std::string positionals, options, commands;
    for (const CLI::Option* option : app->get_options()) {
        (option->get_positional() ? positionals : options) +=
            row(left_side(*option), option->get_description());
    }
    for (const CLI::App* command : app->get_subcommands({})) {
        commands += row(command->get_name(), command->get_description());
    }
    if (!positionals.empty()) text += "\n" + positionals;
    if (!commands.empty()) text += "\nCommands:\n" + commands;
    text += "\nOptions:\n" + options;
    if (!app->get_footer().empty()) text += "\n" + app->get_footer() + "\n";
    if (!commands.empty()) text += "\n`lemma COMMAND --help` explains a command.\n";
    return text;
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

// A line that names a command needs only that one: declaring all of them takes CLI11 a millisecond.
void declare(CLI::App& app, const Commands& commands, const std::string& named) {
    app.formatter(std::make_shared<CLI::FormatterLambda>(help_text));
    app.name("lemma");
    app.set_help_flag("-h,--help", "show this help");
    app.set_version_flag("--version", fmt::format("lemma {}", kVersion), "show the version");
    for (const auto& command : commands) {
        if (!named.empty() && command->name() != named) continue;
        CLI::App* sub = app.add_subcommand(command->name(), command->summary());
        sub->set_help_flag("-h,--help", "show this help");
        Arguments arguments(*sub);
        command->declare(arguments);
    }
}

// Empty if the line is valid. CLI11 reports by exceptions; only this function catches them.
std::optional<Outcome> parse(CLI::App& app, const std::vector<std::string>& args) {
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
        return Outcome{.status = model::kGood, .out = app.help()};
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

}  // namespace

void Arguments::words(const std::string& name,
                      std::vector<std::string>& values,
                      const std::string& text) {
    app_.add_option(name, values, text)->option_text(name + "…")->required();
}

void Arguments::optional_words(const std::string& name,
                               std::vector<std::string>& values,
                               const std::string& text) {
    app_.add_option(name, values, text)->option_text(fmt::format("[{}…]", name));
}

void Arguments::word(const std::string& name, std::string& value, const std::string& text) {
    app_.add_option(name, value, text)->option_text(name)->required();
}

void Arguments::text(const std::string& name,
                     std::string& value,
                     const std::string& placeholder,
                     const std::string& text) {
    app_.add_option(name, value, text)->option_text(placeholder);
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
        ->option_text("NAME=VALUE")
        ->allow_extra_args(false)
        ->check(CLI::Validator(validate, ""));
}

void Arguments::texts(const std::string& name,
                      std::vector<std::string>& values,
                      const std::string& placeholder,
                      const std::string& text) {
    app_.add_option(name, values, text)->option_text(placeholder)->allow_extra_args(false);
}

void Arguments::seed(const std::string& name,
                     std::optional<uint64_t>& value,
                     const std::string& text) {
    // Declared as a flag, so that the next word is not its value; CLI11 passes 1 for a bare flag.
    const auto accept = [&value](int64_t number) { value = static_cast<uint64_t>(number); };
    app_.add_flag_function(name, accept, text)->option_text("[=SEED]");
}

void Arguments::flag(const std::string& names, bool& value, const std::string& text) {
    app_.add_flag(names, value, text);
}

void Arguments::exclude(const std::string& one, const std::string& other) {
    app_.get_option(one)->excludes(app_.get_option(other));
}

void Arguments::need(const std::string& one, const std::string& other) {
    app_.get_option(one)->needs(app_.get_option(other));
}

void Arguments::remark(const std::string& text) { app_.footer(text); }

void Arguments::add_number(const std::string& name,
                           const std::function<void(int64_t)>& assign,
                           NumberRange range,
                           const std::string& text) {
    const auto accept = [assign](const std::string& word) { assign(*whole_number(word)); };
    const auto validate = [range](std::string& word) { return complaint_about(word, range); };
    app_.add_option_function<std::string>(name, accept, text)
        ->option_text("N")
        ->check(CLI::Validator(validate, ""));
}

void Arguments::add_choice(const std::string& name,
                           const std::function<void(size_t)>& assign,
                           const std::vector<std::string>& words,
                           const std::string& text) {
    const auto accept = [assign, words](const std::string& word) {
        assign(static_cast<size_t>(std::ranges::find(words, word) - words.begin()));
    };
    const auto validate = [words](std::string& word) { return complaint_about(word, words); };
    app_.add_option_function<std::string>(name, accept, text)
        ->option_text(fmt::format("{}", fmt::join(words, "|")))
        ->check(CLI::Validator(validate, ""));
}

Outcome run_line(const std::vector<std::string>& args,
                 const Commands& commands,
                 Terminal terminal,
                 std::istream& input) {
    const std::string named = args.empty() || args.front().starts_with("-") ? "" : args.front();
    const auto is_named = [&](const auto& command) { return command->name() == named; };
    if (!named.empty() && std::ranges::none_of(commands, is_named)) {
        return unknown_command(named, commands);
    }
    CLI::App app("Lemma checks, runs, converts and measures neural-network models.");
    declare(app, commands, named);
    if (const auto answer = parse(app, args)) return *answer;
    const auto subs = app.get_subcommands();
    if (subs.empty()) return unusable("no command given");
    for (const auto& command : commands) {
        if (command->name() == subs.front()->get_name()) return command->run(terminal, input);
    }
    return unusable("no command given");
}

}  // namespace lemma::driver
