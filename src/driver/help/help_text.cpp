// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "diag/utf8.h"
#include "diag/wrap.h"
#include "driver/help/page.h"

namespace lemma::driver {

namespace {

constexpr size_t kColumn = 34;      // column of the explanations
constexpr size_t kNarrow = 64;      // below this width, explanations have their own lines
constexpr size_t kMostWidth = 120;  // longer lines are hard to read

// The text in lines that begin at column `indent`; the first one begins where the caller is.
std::string filled(std::string text, size_t indent, size_t width) {
    std::ranges::replace(text, '\n', ' ');
    const std::string lines = diag::wrapped(text, {.columns = width - indent});
    std::string result;
    for (const char c : lines) {
        result += c;
        if (c == '\n') result.append(indent, ' ');
    }
    return result;
}

std::string row(const std::string& left, const std::string& right, size_t width) {
    const size_t column = width < kNarrow ? 8 : kColumn;
    std::string line = "  " + left;
    const size_t used = diag::printable_columns(line);
    if (used + 2 > column) {
        line += "\n" + std::string(column, ' ');
    } else {
        line += std::string(column - used, ' ');
    }
    return line + filled(right, column, width) + "\n";
}

std::string paragraph(const std::string& text, size_t width) {
    return "\n" + filled(text, 0, width) + "\n";
}

size_t line_width(size_t width) { return std::clamp<size_t>(width, 40, kMostWidth); }

std::string options_text(const std::vector<ArgumentPage>& arguments, size_t width) {
    std::string text;
    for (const std::string& group : groups_of(arguments)) {
        std::string rows;
        for (const ArgumentPage& argument : arguments) {
            if (argument.group != group || argument.names.empty()) continue;
            rows += row(left_side(argument), argument.text, width);
        }
        if (!rows.empty()) text += "\n" + group + ":\n" + rows;
    }
    return text;
}

}  // namespace

std::string help_text(const ProgramPage& program, size_t width) {
    width = line_width(width);
    std::string text = "Usage: lemma COMMAND [OPTIONS] …\n";
    text += paragraph(sentence(program.summary), width);
    for (const std::string& group : groups_of(program.commands)) {
        text += "\n" + group + ":\n";
        for (const CommandPage& command : program.commands) {
            if (command.group == group) text += row(command.name, command.summary, width);
        }
    }
    text += options_text(program.arguments, width);
    return text + "\n`lemma COMMAND --help` explains a command.\n";
}

std::string help_text(const CommandPage& page, size_t width) {
    width = line_width(width);
    std::string text = "Usage: lemma " + synopsis(page) + "\n";
    text += paragraph(sentence(page.summary), width);
    std::string positionals;
    for (const ArgumentPage& argument : page.arguments) {
        if (argument.names.empty()) positionals += row(argument.value, argument.text, width);
    }
    if (!positionals.empty()) text += "\n" + positionals;
    text += options_text(page.arguments, width);
    for (const std::string& remark : page.remarks) text += paragraph(remark, width);
    if (!page.examples.empty()) text += "\nExamples:\n";
    for (const Example& example : page.examples) {
        text += fmt::format("  {}\n      {}\n", example.line, filled(example.text, 6, width));
    }
    return text;
}

}  // namespace lemma::driver
