// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/version.h"
#include "diag/utf8.h"
#include "driver/help/page.h"

namespace lemma::driver {

namespace {

// Text for roff: its own characters escaped, code in backticks bold. Line breaks become spaces.
std::string roff(std::string_view text) {
    std::string result;
    bool code = false;
    for (size_t at = 0; at < text.size();) {
        const diag::Character c = diag::character_at(text, at);
        const char byte = text[at];
        at += c.size;
        if (byte == '`') {
            result += code ? "\\fR" : "\\fB";
            code = !code;
        } else if (byte == '\n') {
            result += ' ';
        } else if (byte == '\\') {
            result += "\\e";
        } else if (byte == '-') {
            result += "\\-";
        } else if (byte == '\'') {
            result += "\\(aq";
        } else if (byte == '"') {
            result += "\\(dq";
        } else if (byte == '^') {
            result += "\\(ha";
        } else if (byte == '~') {
            result += "\\(ti";
        } else if (c.code >= 0x80) {
            result += fmt::format("\\[u{:04X}]", static_cast<uint32_t>(c.code));
        } else {
            result += byte;
        }
    }
    if (code) result += "\\fR";
    // A point at the beginning of a line would be a request.
    return result.starts_with('.') ? "\\&" + result : result;
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

std::string header(const std::string& name, const std::string& summary) {
    return fmt::format(
        ".\\\" made by `lemma man`\n.TH {} 1 \"\" \"lemma {}\" \"User Commands\"\n.nh\n.ad l\n"
        ".SH NAME\n{} \\- {}\n",
        roff(upper(name)),
        kVersion,
        roff(name),
        roff(summary));
}

// `-o, --output=DIR`: names bold, the value in italics.
std::string option_head(const ArgumentPage& argument) {
    if (argument.names.empty()) return "\\fI" + roff(argument.value) + "\\fR";
    std::string text;
    for (const std::string& name : argument.names)
        text += (text.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
    if (argument.value.empty()) return text;
    if (!optional_value(argument)) text += argument.names.back().starts_with("--") ? "=" : " ";
    return text + "\\fI" + roff(argument.value) + "\\fR";
}

std::string entry(const std::string& head, const std::string& text) {
    return fmt::format(".TP\n{}\n{}\n", head, roff(sentence(text)));
}

std::string options(const std::vector<ArgumentPage>& arguments) {
    std::string text;
    for (const std::string& group : groups_of(arguments)) {
        std::string rows;
        for (const ArgumentPage& argument : arguments) {
            if (argument.group == group && !argument.names.empty())
                rows += entry(option_head(argument), argument.text);
        }
        if (!rows.empty()) text += fmt::format(".SS {}\n{}", roff(group), rows);
    }
    return text;
}

std::string exit_status() {
    std::string text = ".SH EXIT STATUS\n";
    for (const auto& [status, meaning] :
         {std::pair("0", "the model and the result are good"),
          std::pair("1", "the model or the result is wrong"),
          std::pair("2", "the command line is wrong, or a file cannot be read or written"),
          std::pair("3", "an internal fault of lemma")}) {
        text += entry(status, meaning);
    }
    return text;
}

std::string environment() {
    std::string text = ".SH ENVIRONMENT\n";
    for (const auto& [name, meaning] :
         {std::pair("NO_COLOR", "no colours, if it is set to any text"),
          std::pair("LEMMA_CACHE",
                    "the folder of the object cache; by default `$XDG_CACHE_HOME/lemma` or "
                    "`~/.cache/lemma`"),
          std::pair("LEMMA_TARGET", "the instruction set of compiled code, as for --target"),
          std::pair("LEMMA_JIT", "the file of the part that compiles, `lemma_jit.so`"),
          std::pair("LEMMA_SERVE", "the file of the server, `lemma_serve.so`")}) {
        text += entry(std::string("\\fB") + name + "\\fR", meaning);
    }
    return text;
}

std::string see_also(const ProgramPage& program, const std::string& own) {
    std::string text;
    if (!own.empty()) text += ".BR lemma (1)";
    for (const CommandPage& command : program.commands) {
        if (command.name == own) continue;
        text += fmt::format("{}.BR lemma\\-{} (1)", text.empty() ? "" : ",\n", roff(command.name));
    }
    return ".SH SEE ALSO\n" + text + "\n";
}

}  // namespace

std::string manual_page(const ProgramPage& program) {
    std::string text = header("lemma", "checks, runs, converts and measures neural-network models");
    text += ".SH SYNOPSIS\n.B lemma\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] \\&...\n";
    text +=
        ".SH DESCRIPTION\n" + roff(sentence(program.summary)) +
        "\nModels are files of NNEF 1.0, SkriptND (NNEF 2.0) or ONNX, found by their content.\n";
    text += ".SH COMMANDS\n";
    for (const std::string& group : groups_of(program.commands)) {
        text += fmt::format(".SS {}\n", roff(group));
        for (const CommandPage& command : program.commands) {
            if (command.group != group) continue;
            text +=
                entry(fmt::format("\\fBlemma\\-{}\\fR(1)", roff(command.name)), command.summary);
        }
    }
    text += ".SH OPTIONS\n" + options(program.arguments);
    return text + exit_status() + environment() + see_also(program, "");
}

std::string manual_page(const ProgramPage& program, const CommandPage& page) {
    std::string text = header("lemma-" + page.name, page.summary);
    text += fmt::format(".SH SYNOPSIS\n.B lemma {}\n[\\fIOPTIONS\\fR]", roff(page.name));
    std::string positionals;
    for (const ArgumentPage& argument : page.arguments) {
        if (!argument.names.empty()) continue;
        text += " \\fI" + roff(argument.value) + "\\fR";
        positionals += entry(option_head(argument), argument.text);
    }
    text += "\n.SH DESCRIPTION\n" + roff(sentence(page.summary)) + "\n";
    for (const std::string& remark : page.remarks) text += ".PP\n" + roff(remark) + "\n";
    if (!positionals.empty()) text += ".SH ARGUMENTS\n" + positionals;
    text += ".SH OPTIONS\n" + options(page.arguments);
    if (!page.examples.empty()) text += ".SH EXAMPLES\n";
    for (const Example& example : page.examples) {
        text += fmt::format(".PP\n{}\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n",
                            roff(sentence(example.text)),
                            roff(example.line));
    }
    return text + exit_status() + see_also(program, page.name);
}

}  // namespace lemma::driver
