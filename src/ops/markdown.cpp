// SPDX-License-Identifier: Apache-2.0
#include "ops/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diag/wrap.h"
#include "ops/examples.h"

namespace lemma::ops {

namespace {

constexpr size_t kColumns = 98;  // a dash takes three bytes, and some tools count bytes
constexpr const char* kGenerated =
    "<!-- Written by `lemma ops --markdown=docs/operators` from stdlib/ and examples/. -->\n";

// In a table `|` would end the cell, even in code.
std::string cell(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '|') result += '\\';
        result += c;
    }
    return result;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

// Escapes plain text for Markdown, except for code in it.
std::string escaped(const std::string& text) {
    std::string result;
    bool in_code = false;
    for (const char c : text) {
        if (c == '`') in_code = !in_code;
        const bool special = c == '*' || c == '_' || c == '<' || c == '\\';
        if (special && !in_code) result += '\\';
        result += c;
    }
    return result;
}

std::string table(const char* title, const char* value, const std::vector<ParamText>& params) {
    if (params.empty()) return "";
    const bool values =
        std::ranges::any_of(params, [](const ParamText& p) { return !p.value.empty(); });
    std::string text = values ? fmt::format("| {} | type | {} |\n|---|---|---|\n", title, value)
                              : fmt::format("| {} | type |\n|---|---|\n", title);
    for (const ParamText& param : params) {
        text += fmt::format("| {} | {} |", code(param.name), code(param.type));
        text += values ? fmt::format(" {} |\n", code(param.value)) : "\n";
    }
    return "\n" + text;
}

std::string conditions(const std::vector<AssertText>& asserts) {
    if (asserts.empty()) return "";
    std::string text = "\n## Conditions\n\n";
    for (const AssertText& one : asserts) {
        std::string item = fmt::format("- `{}`", one.condition);
        if (!one.message.empty()) item += " — " + escaped(one.message);
        text += diag::wrapped(item, {.columns = kColumns, .indent = 2, .markdown = true}) + "\n";
    }
    return text;
}

size_t count_cases(std::string_view test) {
    size_t count = test.starts_with("case ") ? 1 : 0;
    for (size_t at = 0; (at = test.find("\ncase ", at)) != std::string_view::npos; ++at) ++count;
    return count;
}

// The model and its test; operator_examples_test runs them.
std::string example(const OperatorText& op) {
    const OperatorExample* found = example_of(op.module, op.name);
    if (found == nullptr) return "";
    return fmt::format(
        "\n## Example\n\nThe model `{0}.sknd`:\n\n```sknd file={0}.sknd\n{1}```\n\n"
        "Its inputs and the numbers that come out, in `{0}.test`:\n\n"
        "```text file={0}.test\n{2}```\n\n"
        "```console\n$ lemma test {0}.test\n{3} passed, 0 failed\n```\n",
        op.name,
        found->model,
        found->test,
        count_cases(found->test));
}

// From docs/operators/nn/ to the root: two levels, and one for each part of the module's name.
std::string root_of(const std::string& module) {
    std::string path = "../../../";
    for (const char c : module) path += c == '.' ? "../" : "";
    return path;
}

std::string folder_of(const std::string& module) {
    std::string path = module;
    std::ranges::replace(path, '.', '/');
    return path;
}

std::string operator_page(const OperatorText& op) {
    std::string text = kGenerated;
    text += fmt::format(
        "# {}\n\n{}\n",
        escaped(op.qualified()),
        diag::wrapped(escaped(op.summary) + ".", {.columns = kColumns, .markdown = true}));
    text += fmt::format("\n```sknd\n{}\n```\n", call_text(op, kColumns));
    text += table("generic type", "default", op.types);
    text += table("attribute", "default", op.attributes);
    text += table("input", "default", op.inputs);
    text += table("constant", "value", op.constants);
    text += table("variable", "value", op.variables);
    text += table("output", "value", op.outputs);
    text += conditions(op.asserts);
    text += example(op);
    text += fmt::format("\n## Definition\n\n```sknd\n{}```\n", op.definition);
    if (op.body == BodyKind::Intrinsic) {
        text += "\nNo formula can express this operator; it is built in.\n";
    }
    text += fmt::format(
        "\nFrom [{}]({}{}), module `{}`.\n", op.file, root_of(op.module), op.file, op.module);
    return text;
}

std::string index_page(const std::vector<ModuleText>& modules) {
    std::string text = kGenerated;
    text +=
        "# Standard operators\n\n"
        "In calls, `?` marks what may be left out and `..` a pack.\n";
    for (const ModuleText& module : modules) {
        text += fmt::format(
            "\n## {}\n\n{}\n\n",
            escaped(module.name),
            diag::wrapped(escaped(module.summary) + ".", {.columns = kColumns, .markdown = true}));
        text += "| operator | what it does |\n|---|---|\n";
        for (const OperatorText& op : module.operators) {
            text += fmt::format("| [{}]({}/{}.md) | {} |\n",
                                escaped(op.qualified()),
                                folder_of(op.module),
                                op.name,
                                cell(escaped(op.summary)));
        }
    }
    return text;
}

}  // namespace

std::vector<Page> markdown_pages(const std::vector<ModuleText>& modules) {
    std::vector<Page> pages = {{"README.md", index_page(modules)}};
    for (const ModuleText& module : modules) {
        for (const OperatorText& op : module.operators) {
            pages.push_back(
                {fmt::format("{}/{}.md", folder_of(op.module), op.name), operator_page(op)});
        }
    }
    return pages;
}

}  // namespace lemma::ops
