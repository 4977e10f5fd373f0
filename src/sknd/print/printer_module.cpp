// SPDX-License-Identifier: Apache-2.0
#include "sknd/print/printer.h"
#include "sknd/print/printer_impl.h"

namespace lemma::sknd {

// ---- Modules and definitions ----

std::string Printer::print_module() {
    for (const Import& item : module_.imports) import(item);
    for (const Definition& item : module_.definitions) definition(item);
    own_lines(comments_.take_rest(), Gap::Blank);
    if (previous_ != Previous::Nothing) out_.hard_line();
    return out_.take();
}

std::string Printer::print_expr(ExprId id) {
    flush_expr(id);
    return out_.take();
}

void Printer::import(const Import& import) {
    const TextRange extent = statement_extent(import.span);
    begin_item(extent, Gap::Keep);
    for (size_t i = 0; i < import.modules.size(); ++i) {
        if (i > 0) out_.hard_line();
        out_.text("import ");
        out_.text(import.modules[i].text());
        out_.text(";");
    }
    end_item(extent.end);
}

void Printer::definition(const Definition& definition) {
    const Span span = definition.span;
    const TextRange inner = inside_braces(span, definition.name.span.end);
    begin_item({span.begin, inner.begin}, Gap::Blank);
    if (definition.is_public) out_.text("public ");
    out_.text(definition.graph ? "graph " : "operator ");
    out_.text(definition.name.text);
    out_.text(" ");
    braces(inner, Gap::None, [&] {
        for (const BlockSpan& block : printed_blocks(definition)) {
            definition_block(definition, block);
        }
    });
    end_item(span.end);
}

void Printer::definition_block(const Definition& definition, const BlockSpan& block) {
    const Span span = block.span;
    const TextRange inner = inside_braces(span, block.keyword.end);
    begin_item({span.begin, inner.begin}, Gap::None);
    out_.text(block_name(block.kind));
    out_.text(" ");
    braces(inner, Gap::Keep, [&] { block_body(definition, block.kind); });
    end_item(span.end);
}

void Printer::block_body(const Definition& d, BlockKind kind) {
    const auto params = [&](const std::vector<ParamDecl>& decls) {
        statements(decls, [&](const ParamDecl& decl) { param_decl(decl); });
    };
    switch (kind) {
        case BlockKind::Dtype:
            return statements(d.dtypes, [&](const DtypeDecl& decl) { dtype_decl(decl); });
        case BlockKind::Attrib:
            return params(d.attribs);
        case BlockKind::Input:
            return params(d.inputs);
        case BlockKind::Constant:
            return params(d.constants);
        case BlockKind::Variable:
            return params(d.variables);
        case BlockKind::Output:
            return params(d.outputs);
        case BlockKind::Using:
            return statements(d.usings, [&](const UsingStmt& stmt) { using_stmt(stmt); });
        case BlockKind::Assert:
            return statements(d.asserts, [&](const AssertStmt& stmt) { assert_stmt(stmt); });
        case BlockKind::Lower:
            return statements(d.lowers, [&](const LowerStmt& stmt) { lower_stmt(stmt); });
        case BlockKind::Compose:
            return components(d.composes);
        case BlockKind::Update:
            return components(d.updates);
        case BlockKind::Quantize:
            return statements(d.quantizes, [&](const QuantizeStmt& stmt) { quantize_stmt(stmt); });
    }
}

std::vector<BlockSpan> printed_blocks(const Definition& d) {
    std::vector<BlockSpan> blocks = d.blocks;
    const auto add = [&](BlockKind kind, const auto& stmts) {
        if (!stmts.empty() && !d.block(kind))
            blocks.push_back({.kind = kind, .keyword = {}, .span = {}});
    };
    add(BlockKind::Dtype, d.dtypes);
    add(BlockKind::Attrib, d.attribs);
    add(BlockKind::Input, d.inputs);
    add(BlockKind::Using, d.usings);
    add(BlockKind::Constant, d.constants);
    add(BlockKind::Variable, d.variables);
    add(BlockKind::Output, d.outputs);
    add(BlockKind::Assert, d.asserts);
    add(BlockKind::Lower, d.lowers);
    add(BlockKind::Compose, d.composes);
    add(BlockKind::Update, d.updates);
    add(BlockKind::Quantize, d.quantizes);
    return blocks;
}

// ---- Places ----

TextRange Printer::statement_extent(Span span) const {
    if (!span.valid()) return {};
    return {span.begin, comments_.behind_semicolon(span.end)};
}

TextRange Printer::inside_braces(Span span, uint32_t head_end) const {
    if (!span.valid()) return {};
    return {comments_.behind_brace(head_end), span.end - 1};
}

// ---- The interface ----

std::string print(const Module& module, const diag::SourceMap& sources, PrintOptions options) {
    return Printer(module, sources, options).print_module();
}

std::string print(const Module& module, ExprId expr, Spelling spelling) {
    const PrintOptions on_one_line{.spelling = spelling, .max_columns = size_t{1} << 31};
    return Printer(module, diag::SourceMap(), on_one_line).print_expr(expr);
}

}  // namespace lemma::sknd
