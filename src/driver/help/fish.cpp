// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/help/page.h"

namespace lemma::driver {

namespace {

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') result += '\\';
        result += c;
    }
    return result + "'";
}

std::string words(const ArgumentPage& argument) {
    switch (value_kind(argument)) {
        case ValueKind::Choice:
            return fmt::format(" -x -a '{}'", fmt::join(argument.choices, " "));
        case ValueKind::File:
            return " -r -F";
        case ValueKind::Folder:
            return " -x -a '(__fish_complete_directories)'";
        case ValueKind::Model:
            return " -x -a '(__lemma_models)'";
        case ValueKind::Command:
            return " -x -a '$__lemma_commands'";
        case ValueKind::Text:
            return optional_value(argument) ? "" : " -x";
        case ValueKind::Nothing:
            break;
    }
    return "";
}

std::string line(const ArgumentPage& argument, const std::string& condition) {
    std::string text = "complete -c lemma -n " + condition;
    for (const std::string& name : argument.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    // A positional argument needs no option before it, so `-x` would be wrong.
    std::string values = words(argument);
    if (argument.names.empty()) {
        if (values.starts_with(" -x")) values.erase(0, 3);
        if (values.starts_with(" -r")) values.erase(0, 3);
        if (values.empty()) return "";
        return text + values + "\n";
    }
    return text + values + " -d " + quoted(argument.text) + "\n";
}

}  // namespace

std::string fish_completion(const ProgramPage& program) {
    std::string text = "# fish completion of lemma, made by `lemma completion fish`\n\n";
    std::vector<std::string> names;
    for (const CommandPage& command : program.commands) names.push_back(command.name);
    text += fmt::format("set -g __lemma_commands {}\n\n", fmt::join(names, " "));
    text += fmt::format(R"(function __lemma_models
    for name in (commandline -ct)*
        if test -d $name
            echo $name/
        else if string match -qr '\.({})$' -- $name
            echo $name
        end
    end
end

complete -c lemma -f
)",
                        fmt::join(kModelEndings, "|"));
    for (const ArgumentPage& argument : program.arguments)
        text += line(argument, "__fish_use_subcommand");
    for (const CommandPage& command : program.commands) {
        text += fmt::format("complete -c lemma -n __fish_use_subcommand -a {} -d {}\n",
                            command.name,
                            quoted(command.summary));
    }
    for (const CommandPage& command : program.commands) {
        text += "\n";
        for (const ArgumentPage& argument : command.arguments) {
            text += line(argument, fmt::format("'__fish_seen_subcommand_from {}'", command.name));
        }
    }
    return text;
}

}  // namespace lemma::driver
