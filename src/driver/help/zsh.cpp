// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/help/page.h"

namespace lemma::driver {

namespace {

// Inside single quotes, with these characters escaped for `_arguments`.
std::string quoted(const std::string& text, std::string_view escaped) {
    std::string result;
    for (const char c : text) {
        if (c == '\'') {
            result += "'\\''";
            continue;
        }
        if (c == '\\' || escaped.find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

std::string action(const ArgumentPage& argument) {
    switch (value_kind(argument)) {
        case ValueKind::Choice:
            return fmt::format("({})", fmt::join(argument.choices, " "));
        case ValueKind::File:
            return argument.value.find("NAME=") == std::string::npos ? "_files" : "_lemma_named";
        case ValueKind::Folder:
            return "_files -/";
        case ValueKind::Model:
            return fmt::format("_files -g \"*.({})(-.)\"", fmt::join(kModelEndings, "|"));
        case ValueKind::Command:
            return "_lemma_commands";
        case ValueKind::Nothing:
        case ValueKind::Text:
            break;
    }
    return " ";
}

// `'(-o --output)'{-o,--output=}'[write …]:DIR:_files -/'`
std::string option_spec(const ArgumentPage& argument) {
    std::vector<std::string> names = argument.names;
    std::string end = fmt::format("[{}]", quoted(argument.text, "[]"));
    if (!argument.value.empty()) {
        const bool optional = optional_value(argument);
        for (std::string& name : names) {
            if (name.starts_with("--")) name += optional ? "=-" : "=";
        }
        const std::string value = optional ? argument.value.substr(2) : argument.value;
        end += fmt::format("{}{}:{}", optional ? "::" : ":", quoted(value, ":"), action(argument));
    }
    const std::string before =
        argument.repeated ? "*" : fmt::format("({})", fmt::join(argument.names, " "));
    if (names.size() == 1) return fmt::format("'{}{}{}'", before, names[0], end);
    return fmt::format("'{}'{{{}}}'{}'", before, fmt::join(names, ","), end);
}

std::string positional_spec(const ArgumentPage& argument) {
    return fmt::format(
        "'{}:{}:{}'", argument.repeated ? "*" : "", quoted(argument.value, ":"), action(argument));
}

std::string specs(const std::vector<ArgumentPage>& arguments, const std::string& indent) {
    std::string text;
    for (const ArgumentPage& argument : arguments) {
        text += " \\\n" + indent +
                (argument.names.empty() ? positional_spec(argument) : option_spec(argument));
    }
    return text;
}

}  // namespace

std::string zsh_completion(const ProgramPage& program) {
    std::string text =
        "#compdef lemma\n"
        "# zsh completion of lemma, made by `lemma completion zsh`\n\n"
        "_lemma_commands() {\n    local -a commands=(\n";
    for (const CommandPage& command : program.commands) {
        text += fmt::format("        '{}:{}'\n", command.name, quoted(command.summary, ":"));
    }
    text +=
        "    )\n    _describe -t commands 'command' commands\n}\n\n"
        "_lemma_named() {  # NAME=FILE\n    compset -P '*='\n    _files\n}\n\n"
        "_lemma() {\n"
        "    local curcontext=\"$curcontext\" state line\n"
        "    local -A opt_args\n"
        "    _arguments -C";
    text += specs(program.arguments, "        ");
    text +=
        " \\\n        '1:COMMAND:_lemma_commands' \\\n        '*::ARGUMENT:->argument' && return\n"
        "    [[ $state == argument ]] || return\n"
        "    curcontext=\"${curcontext%:*}-$words[1]:\"\n"
        "    case $words[1] in\n";
    for (const CommandPage& command : program.commands) {
        text += fmt::format("        {})\n            _arguments{}\n            ;;\n",
                            command.name,
                            specs(command.arguments, "                "));
    }
    return text +
           "    esac\n}\n\n"
           "if [[ $funcstack[1] == _lemma ]]; then\n    _lemma \"$@\"\nelse\n    compdef _lemma "
           "lemma\nfi\n";
}

}  // namespace lemma::driver
