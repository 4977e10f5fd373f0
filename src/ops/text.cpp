// SPDX-License-Identifier: Apache-2.0
#include "ops/text.h"

#include <fmt/format.h>

#include "diag/wrap.h"
#include "ops/examples.h"
#include "show/columns.h"

namespace lemma::ops {

namespace {

constexpr size_t kColumns = 100;

std::string indented(const std::string& text, size_t columns) {
    std::string result;
    const std::string indent(columns, ' ');
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        result += line.empty() ? "\n" : indent + line + "\n";
        begin = end + 1;
    }
    return result;
}

// A heading and indented lines; empty without lines.
std::string section(const char* title, const std::string& lines) {
    return lines.empty() ? "" : fmt::format("\n{}\n{}", title, indented(lines, 4));
}

std::string params_text(const std::vector<ParamText>& params) {
    show::Columns columns({show::Align::Left, show::Align::Left, show::Align::Left});
    for (const ParamText& param : params) {
        columns.add({param.name, param.type, param.value.empty() ? "" : "= " + param.value});
    }
    return columns.text();
}

std::string asserts_text(const std::vector<AssertText>& asserts) {
    std::string text;
    for (const AssertText& one : asserts) {
        text += one.condition + "\n";
        if (!one.message.empty()) text += indented(one.message, 4);
    }
    return text;
}

std::string body_text(const OperatorText& op) {
    if (op.body != BodyKind::Intrinsic) return op.statements;
    return "no formula can express it; it is built in\n";
}

}  // namespace

std::string list_text(const std::vector<ModuleText>& modules) {
    std::string text;
    for (const ModuleText& module : modules) {
        if (!text.empty()) text += "\n";
        text += diag::wrapped(fmt::format("{} — {}", module.name, module.summary),
                              {.columns = kColumns, .indent = 4}) +
                "\n";
        for (const OperatorText& op : module.operators) {
            const std::string head = fmt::format("{} — {}", op.qualified(), op.summary);
            text += "\n" +
                    indented(diag::wrapped(head, {.columns = kColumns - 2, .indent = 2}) + "\n", 2);
            text += indented(call_text(op, kColumns - 8), 8);
        }
    }
    return text;
}

std::string operator_text(const OperatorText& op) {
    const std::string head =
        op.summary.empty() ? op.qualified() : fmt::format("{} — {}", op.qualified(), op.summary);
    std::string text = diag::wrapped(head, {.columns = kColumns, .indent = 4}) + "\n" + "\n";
    text += indented(call_text(op, kColumns - 4), 4);
    text += section("Types", params_text(op.types));
    text += section("Attributes", params_text(op.attributes));
    text += section("Inputs", params_text(op.inputs));
    text += section("Constants", params_text(op.constants));
    text += section("Variables", params_text(op.variables));
    text += section("Outputs", params_text(op.outputs));
    text += section("Helpers", op.helpers);
    text += section("Conditions", asserts_text(op.asserts));
    text += section(body_title(op.body), body_text(op));
    text += section("Updates", op.updates);
    const std::string module = op.module.empty() ? "" : fmt::format("module `{}`, ", op.module);
    text += fmt::format("\nFrom {}{}:{}\n", module, op.file, op.line);
    if (example_of(op.module, op.name) != nullptr) {
        text +=
            fmt::format("Example: lemma ops {} --examples=DIR && lemma test DIR\n", op.qualified());
    }
    return text;
}

}  // namespace lemma::ops
