// SPDX-License-Identifier: Apache-2.0
#include "ops/library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "ops/definition_text.h"
#include "sknd/modules/embedded.h"
#include "sknd/syntax/parser.h"

namespace lemma::ops {

namespace {

using sknd::Definition;
using sknd::Module;

// ---- Comments -----------------------------------------------------------------------------------

// The comment lines directly above `offset`, as one paragraph.
std::string comment_above(const Module& module, std::string_view text, uint32_t offset) {
    std::vector<std::string> lines;
    auto next = std::ranges::find_if(module.comments.rbegin(),
                                     module.comments.rend(),
                                     [&](const auto& c) { return c.begin < offset; });
    for (; next != module.comments.rend() && next->own_line; ++next) {
        const std::string_view between = text.substr(next->end, offset - next->end);
        const bool touches = between.find_first_not_of(" \t\r\n") == std::string_view::npos &&
                             std::ranges::count(between, '\n') <= 1;
        if (!touches) break;
        std::string_view line = text.substr(next->begin, next->end - next->begin);
        line.remove_prefix(std::min(line.find_first_not_of("# \t"), line.size()));
        line = line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
        lines.emplace_back(line);
        offset = next->begin;
    }
    std::ranges::reverse(lines);
    std::string paragraph = fmt::format("{}", fmt::join(lines, " "));
    if (paragraph.ends_with('.') && !paragraph.ends_with("..")) paragraph.pop_back();
    return paragraph;
}

// The comment at the beginning of the file.
std::string first_comment(const Module& module, std::string_view text) {
    if (module.comments.empty() || module.comments.front().begin != 0) return "";
    uint32_t end = module.comments.front().end;
    for (const auto& comment : module.comments) {
        const std::string_view between =
            text.substr(end, comment.begin - std::min(end, comment.begin));
        if (std::ranges::count(between, '\n') > 1) break;
        end = comment.end;
    }
    return comment_above(module, text, end);
}

// ---- Operators ----------------------------------------------------------------------------------

std::vector<ParamText> params(DefinitionPrinter& printer,
                              const std::vector<sknd::ParamDecl>& decls) {
    std::vector<ParamText> texts;
    for (const sknd::ParamDecl& decl : decls) {
        texts.push_back({.name = std::string(decl.name.text),
                         .type = printer.type(decl),
                         .value = decl.value.valid() ? printer.expr(decl.value) : "",
                         .optional = decl.type.optional,
                         .packed = decl.type.pack.has_value()});
    }
    return texts;
}

// A shape that is left to the composition is shown as `real[…]`.
std::vector<ParamText> outputs(DefinitionPrinter& printer, const Definition& definition) {
    std::vector<ParamText> texts = params(printer, definition.outputs);
    for (size_t i = 0; i < texts.size(); ++i) {
        const sknd::TypeSpec& type = definition.outputs[i].type;
        const size_t optional = type.optional ? std::string_view("optional ").size() : 0;
        if (!type.shape) texts[i].type.insert(optional + type.base.text.size(), "[…]");
    }
    return texts;
}

std::vector<ParamText> generic_types(const Definition& definition) {
    std::vector<ParamText> texts;
    for (const sknd::DtypeDecl& decl : definition.dtypes) {
        texts.push_back({.name = std::string(decl.name.text),
                         .type = std::string(decl.base.text),
                         .value = std::string(decl.fallback ? decl.fallback->text : "")});
    }
    return texts;
}

std::vector<AssertText> asserts(DefinitionPrinter& printer, const Definition& definition) {
    std::vector<AssertText> texts;
    for (const sknd::AssertStmt& stmt : definition.asserts) {
        texts.push_back({.condition = printer.expr(stmt.condition),
                         .message = stmt.message.valid() ? printer.message(stmt.message) : ""});
    }
    return texts;
}

OperatorText describe(const Definition& definition,
                      const diag::SourceMap& sources,
                      DefinitionPrinter& printer) {
    const Module& module = printer.module();
    OperatorText op;
    op.graph = definition.graph;
    op.name = definition.name.text;
    op.is_private = op.name.starts_with('_');
    op.summary = comment_above(module, sources.text(module.file), definition.span.begin);
    op.types = generic_types(definition);
    op.attributes = params(printer, definition.attribs);
    op.inputs = params(printer, definition.inputs);
    op.outputs = outputs(printer, definition);
    op.constants = params(printer, definition.constants);
    op.variables = params(printer, definition.variables);
    op.asserts = asserts(printer, definition);
    op.helpers = printer.block(definition, sknd::BlockKind::Using);
    op.updates = printer.block(definition, sknd::BlockKind::Update);
    const bool composed = definition.block(sknd::BlockKind::Compose) != nullptr;
    const bool lowered = definition.block(sknd::BlockKind::Lower) != nullptr;
    if (composed) op.body = BodyKind::Composition;
    if (lowered) op.body = BodyKind::Formula;
    op.statements =
        printer.block(definition, composed ? sknd::BlockKind::Compose : sknd::BlockKind::Lower);
    op.definition = printer.definition(definition);
    op.file = sources.name(module.file);
    op.line = sources.place(module.file, definition.span.begin).line;
    return op;
}

ModuleText describe(const Module& module, const std::string& name, diag::SourceMap& sources) {
    ModuleText text;
    text.name = name;
    text.file = sources.name(module.file);
    text.summary = first_comment(module, sources.text(module.file));
    DefinitionPrinter printer(module, sources);
    for (const Definition& definition : module.definitions) {
        text.operators.push_back(describe(definition, sources, printer));
        text.operators.back().module = name;
    }
    return text;
}

ModuleText describe(const sknd::EmbeddedFile& file, diag::SourceMap& sources) {
    Diagnostics diag;
    const diag::FileId id =
        sources.add(fmt::format("stdlib/{}", file.path), std::string(file.text));
    const Module module = sknd::parse_module(sources, id, {}, diag);
    LEMMA_CHECK(!diag.has_errors());
    return describe(module, std::string(file.module), sources);
}

// ---- Calls --------------------------------------------------------------------------------------

std::string mention(const ParamText& param) {
    return param.name + (param.packed ? ".." : "") + (param.optional ? "?" : "");
}

// Puts words side by side; further lines begin at the column of the first word.
class Filler {
public:
    explicit Filler(size_t columns) : columns_(columns) {}

    void add(const std::string& word) {
        text_ += word;
        column_ += word.size();
    }
    // Leaves `reserve` columns free after the list.
    void add_list(const char* open,
                  const std::vector<std::string>& words,
                  const char* close,
                  size_t reserve = 0) {
        add(open);
        const size_t indent = column_;
        for (size_t i = 0; i < words.size(); ++i) {
            const bool last = i + 1 == words.size();
            const std::string word = words[i] + (last ? close : ",");
            if (i > 0 && column_ + 1 + word.size() + (last ? reserve : 0) > columns_) {
                text_ += "\n" + std::string(indent, ' ');
                column_ = indent;
            } else if (i > 0) {
                add(" ");
            }
            add(word);
        }
        if (words.empty()) add(close);
    }
    std::string take() { return std::move(text_); }

private:
    size_t columns_;
    size_t column_ = 0;
    std::string text_;
};

}  // namespace

std::vector<ModuleText> standard_library() {
    diag::SourceMap sources;
    std::vector<ModuleText> modules;
    for (const sknd::EmbeddedFile& file : sknd::embedded_files()) {
        // These modules only serve the writer of ONNX.
        if (file.path.starts_with("to_onnx/")) continue;
        ModuleText text = describe(file, sources);
        if (modules.empty() || modules.back().name != text.name) {
            modules.push_back(std::move(text));
            continue;
        }
        std::ranges::move(text.operators, std::back_inserter(modules.back().operators));
    }
    return modules;
}

std::vector<ModuleText> listed_library(const std::vector<std::string>& names, bool all) {
    std::vector<ModuleText> modules = standard_library();
    std::erase_if(modules, [&](const ModuleText& module) {
        const size_t dot = module.name.find('.');
        if (dot == std::string::npos) return false;
        return std::ranges::none_of(names, [&](const std::string& name) {
            return name.starts_with(module.name.substr(0, dot));
        });
    });
    if (all) return modules;
    for (ModuleText& module : modules) {
        std::erase_if(module.operators, [](const OperatorText& op) { return op.is_private; });
    }
    return modules;
}

ModuleText describe_text(diag::SourceMap& sources, diag::FileId file, Diagnostics& diag) {
    const Module module = sknd::parse_module(sources, file, {}, diag);
    // The printer wants a complete tree.
    if (diag.has_errors()) return {};
    return describe(module, "", sources);
}

std::string call_text(const OperatorText& op, size_t columns) {
    const auto mentions = [](const std::vector<ParamText>& list) {
        std::vector<std::string> words;
        for (const ParamText& param : list) words.push_back(mention(param));
        return words;
    };
    std::vector<std::string> attributes;
    for (const ParamText& param : op.attributes) {
        attributes.push_back(param.value.empty() ? mention(param) : param.name + "=" + param.value);
    }
    Filler filler(columns);
    filler.add(fmt::format("{} = {}", fmt::join(mentions(op.outputs), ", "), op.qualified()));
    const std::vector<std::string> inputs = mentions(op.inputs);
    const size_t first_input = inputs.empty() ? 2 : inputs.front().size() + 2;
    if (!attributes.empty()) filler.add_list("{", attributes, "}", first_input);
    filler.add_list("(", inputs, ")");
    return filler.take();
}

const char* body_title(BodyKind body) {
    switch (body) {
        case BodyKind::Formula:
            return "Formula";
        case BodyKind::Composition:
            return "Composition";
        case BodyKind::Intrinsic:
            return "Intrinsic";
    }
    return "";
}

}  // namespace lemma::ops
