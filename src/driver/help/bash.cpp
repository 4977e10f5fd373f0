// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/help/page.h"

namespace lemma::driver {

namespace {

constexpr const char* kBegin = R"(# bash completion of lemma, made by `lemma completion bash`

_lemma_files() {  # [ENDING…]: folders, and files with one of the endings or all files
    local name ending
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        if [[ -d $name || $# == 0 ]]; then
            COMPREPLY+=("$prefix$name")
            continue
        fi
        for ending; do
            [[ $name == *."$ending" ]] && COMPREPLY+=("$prefix$name") && break
        done
    done < <(compgen -f -- "$cur")
}

_lemma_words() {  # WORD…: those that begin with what is typed
    local word
    for word; do
        [[ $word == "$cur"* ]] && COMPREPLY+=("$prefix$word")
    done
    # An option that ends in `=` waits for its value.
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}

_lemma() {
    local IFS=$' \t\n' cur=${COMP_WORDS[COMP_CWORD]} option= joined= prefix= command= kind= i
    local -a options=() values=()
    COMPREPLY=()
    # Bash splits words at `=`, unless the user took it out of COMP_WORDBREAKS.
    if [[ $cur == --*=* ]]; then
        option=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=} joined=1
    else
        i=$((COMP_CWORD - 1))
        [[ $cur == = ]] && cur= i=$COMP_CWORD
        if [[ ${COMP_WORDS[i]} == = && $i -gt 0 ]]; then
            joined=1
            i=$((i - 1))
            [[ ${COMP_WORDS[i]} != -* && $i -gt 1 ]] && i=$((i - 1)) joined=  # -i NAME=FILE
            [[ ${COMP_WORDS[i]} == = && $i -gt 1 ]] && i=$((i - 1))  # --input=NAME=FILE
        fi
        option=${COMP_WORDS[i]}
    fi
    for ((i = 1; i < COMP_CWORD; ++i)); do
        [[ ${COMP_WORDS[i]} == -* ]] && continue
        command=${COMP_WORDS[i]}
        break
    done
)";

constexpr const char* kEnd = R"(
    if [[ -z $kind && $cur == -* ]]; then
        _lemma_words "${options[@]}"
        return
    fi
    case "${kind:-$positional}" in
        words) _lemma_words "${values[@]}" ;;
        commands) _lemma_words "${commands[@]}" ;;
        files) _lemma_files ;;
        folders)
            compopt -o filenames 2>/dev/null
            while IFS= read -r i; do COMPREPLY+=("$prefix$i"); done < <(compgen -d -- "$cur")
            ;;
        models) _lemma_files ENDINGS ;;
    esac
}

complete -F _lemma lemma
)";

const char* kind_word(ValueKind kind) {
    switch (kind) {
        case ValueKind::Choice:
            return "words";
        case ValueKind::File:
            return "files";
        case ValueKind::Folder:
            return "folders";
        case ValueKind::Model:
            return "models";
        case ValueKind::Command:
            return "commands";
        case ValueKind::Nothing:
        case ValueKind::Text:
            break;
    }
    return "nothing";
}

// The words of the options: `--engine=` waits for a value.
std::string option_words(const std::vector<ArgumentPage>& arguments) {
    std::vector<std::string> words;
    for (const ArgumentPage& argument : arguments) {
        for (const std::string& name : argument.names) {
            const bool waits = name.starts_with("--") && !argument.value.empty();
            words.push_back(waits && !optional_value(argument) ? name + "=" : name);
        }
    }
    return fmt::format("{}", fmt::join(words, " "));
}

// What comes after an option of the command, if it takes a value.
std::string value_cases(const CommandPage& page) {
    std::string cases;
    for (const ArgumentPage& argument : page.arguments) {
        if (argument.names.empty() || argument.value.empty()) continue;
        const ValueKind kind = value_kind(argument);
        std::string body = fmt::format("kind={}", kind_word(kind));
        if (kind == ValueKind::Choice)
            body += fmt::format(" values=({})", fmt::join(argument.choices, " "));
        if (optional_value(argument)) body = "[[ $joined ]] && " + body;
        cases += fmt::format("                {}) {} ;;\n", fmt::join(argument.names, " | "), body);
    }
    return cases;
}

std::string command_case(const CommandPage& page) {
    std::string text = fmt::format(
        "        {})\n            positional={}\n", page.name, kind_word(positional_kind(page)));
    for (const ArgumentPage& argument : page.arguments) {
        if (argument.names.empty() && !argument.choices.empty())
            text += fmt::format("            values=({})\n", fmt::join(argument.choices, " "));
    }
    text += fmt::format("            options=({})\n", option_words(page.arguments));
    const std::string cases = value_cases(page);
    if (!cases.empty()) text += "            case \"$option\" in\n" + cases + "            esac\n";
    return text + "            ;;\n";
}

}  // namespace

std::string bash_completion(const ProgramPage& program) {
    std::vector<std::string> names;
    for (const CommandPage& command : program.commands) names.push_back(command.name);
    std::string text = kBegin;
    text += fmt::format("    local positional=nothing\n    local -a commands=({})\n",
                        fmt::join(names, " "));
    text += "    case \"$command\" in\n";
    text += fmt::format(
        "        '')\n            positional=commands\n            options=({})\n"
        "            ;;\n",
        option_words(program.arguments));
    for (const CommandPage& command : program.commands) text += command_case(command);
    text += "    esac";
    std::string end = kEnd;
    constexpr std::string_view kPlace = "ENDINGS";
    return text + end.replace(end.find(kPlace),
                              kPlace.size(),
                              fmt::format("{}", fmt::join(kModelEndings, " ")));
}

}  // namespace lemma::driver
