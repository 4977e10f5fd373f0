// SPDX-License-Identifier: Apache-2.0
#include "ops/definition_text.h"

#include <vector>

#include "sknd/print/printer.h"

namespace lemma::ops {

namespace {

using sknd::BlockKind;
using sknd::Definition;

// The definition with only this block.
Definition only(const Definition& definition, BlockKind kind) {
    Definition part;
    part.name = definition.name;
    part.span = definition.span;
    part.blocks.push_back(*definition.block(kind));
    part.usings = kind == BlockKind::Using ? definition.usings : part.usings;
    part.lowers = kind == BlockKind::Lower ? definition.lowers : part.lowers;
    part.composes = kind == BlockKind::Compose ? definition.composes : part.composes;
    part.updates = kind == BlockKind::Update ? definition.updates : part.updates;
    return part;
}

// The lines inside `operator x {` and `@block {`, without their indentation.
std::string inside_block(const std::string& text) {
    constexpr size_t kIndent = 8;
    std::vector<std::string> lines;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = text.find('\n', begin);
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    std::string inside;
    for (size_t i = 2; i + 2 < lines.size(); ++i) {
        inside += lines[i].size() > kIndent ? lines[i].substr(kIndent) : "";
        inside += '\n';
    }
    return inside;
}

}  // namespace

std::string DefinitionPrinter::print(Definition definition, Span comments_of) {
    scratch_.imports.clear();
    scratch_.definitions.assign(1, std::move(definition));
    scratch_.comments.clear();
    for (const auto& comment : module_.comments) {
        const bool inside = comments_of.valid() && comment.begin >= comments_of.begin &&
                            comment.end <= comments_of.end;
        if (inside) scratch_.comments.push_back(comment);
    }
    return sknd::print(scratch_, sources_);
}

std::string DefinitionPrinter::definition(const Definition& definition) {
    return print(definition, definition.span);
}

std::string DefinitionPrinter::block(const Definition& definition, BlockKind kind) {
    const sknd::BlockSpan* block = definition.block(kind);
    if (block == nullptr) return "";
    return inside_block(print(only(definition, kind), block->span));
}

std::string DefinitionPrinter::type(const sknd::ParamDecl& decl) {
    Definition part;
    part.name.text = "x";
    part.attribs.push_back(decl);
    part.attribs.back().value = {};
    part.attribs.back().bounds.clear();
    scratch_.imports.clear();
    scratch_.definitions.assign(1, std::move(part));
    scratch_.comments.clear();
    constexpr size_t kOneLine = 100'000;
    const std::string line =
        inside_block(sknd::print(scratch_, diag::SourceMap(), {.max_columns = kOneLine}));
    const size_t begin = decl.name.text.size() + 2;  // `name: `
    return line.substr(begin, line.rfind(';') - begin);
}

std::string DefinitionPrinter::expr(sknd::ExprId id) const { return sknd::print(module_, id); }

std::string DefinitionPrinter::message(sknd::ExprId id) const {
    const auto* literal = std::get_if<sknd::StringLiteral>(&module_.exprs[id].node);
    if (literal == nullptr) return expr(id);
    std::string text;
    for (const auto& part : literal->parts) {
        text += part.expr.valid() ? "{" + expr(part.expr) + "}" : part.text;
    }
    return text;
}

}  // namespace lemma::ops
