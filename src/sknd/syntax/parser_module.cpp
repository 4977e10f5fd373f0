// SPDX-License-Identifier: Apache-2.0
// Imports, definitions and their blocks.
#include <algorithm>
#include <array>

#include "sknd/syntax/lexer.h"
#include "sknd/syntax/parser_impl.h"

namespace lemma::sknd {
namespace {

constexpr std::array kBlockKinds = {
    BlockKind::Dtype,
    BlockKind::Attrib,
    BlockKind::Input,
    BlockKind::Using,
    BlockKind::Constant,
    BlockKind::Variable,
    BlockKind::Output,
    BlockKind::Assert,
    BlockKind::Lower,
    BlockKind::Compose,
    BlockKind::Update,
    BlockKind::Quantize,
};

constexpr size_t kUsualBlocks = 8;  // no definition of the library has more

std::optional<BlockKind> block_kind(std::string_view name) {
    for (const BlockKind kind : kBlockKinds) {
        if (block_name(kind) == name) return kind;
    }
    return std::nullopt;
}

}  // namespace

Module parse_module(const diag::SourceMap& sources,
                    diag::FileId file,
                    const ParseLimits& limits,
                    Diagnostics& diag,
                    std::span<const TextRange> skipped) {
    return Parser(sources, file, limits, diag).parse(skipped);
}

void parse_more(const diag::SourceMap& sources,
                diag::FileId file,
                const ParseLimits& limits,
                Diagnostics& diag,
                std::span<const TextRange> skipped,
                Module& module) {
    const diag::FileId first = module.file;
    std::vector<Comment> comments = std::move(module.comments);
    module = Parser(sources, file, limits, diag, std::move(module)).parse(skipped);
    module.file = first;
    module.comments = std::move(comments);
}

// module ::= import* definition*
Module Parser::parse(std::span<const TextRange> skipped) {
    TokenList list = lex(sources_, module_.file, diag_, limits_.max_tokens, skipped);
    module_.comments = std::move(list.comments);
    cursor_ = {
        .tokens = list.tokens.data(), .last = list.tokens.size() - 1, .pos = 0, .previous = {}};
    // Fewer than one expression per two tokens. Reserving avoids moves as the store grows.
    const size_t expected = module_.exprs.size() + list.tokens.size() / 2;
    module_.exprs.reserve(expected);
    expr_depths_.reserve(expected);
    while (!at(TokenKind::EndOfFile) && !diag_.full()) {
        const size_t before = cursor_.pos;
        begin_statement();
        parse_item_of_module();
        if (panic_) skip_to_definition();
        if (cursor_.pos == before) advance();
    }
    return std::move(module_);
}

void Parser::parse_item_of_module() {
    switch (peek().kind) {
        case TokenKind::KwImport:
            return parse_import();
        case TokenKind::KwPublic:
        case TokenKind::KwOperator:
        case TokenKind::KwGraph:
            return parse_definition();
        default:
            if (brace_lost_) panic_ = true;
            fail_expected("`import`, `operator` or `graph`");
    }
}

// import ::= "import" qualified-identifier+' ";"
// The `;` may be missing at the end of a line (notes, resolution 16).
void Parser::parse_import() {
    const Token keyword = advance();
    if (module_.definitions.size() > earlier_definitions_) {
        report(span(keyword), DiagKind::LateImport, "`import` after the first definition")
            .note("imports stand at the beginning of the file");
    }
    Import import;
    if (peek().line_start) {
        fail(span(keyword), DiagKind::UnexpectedToken, "`import` without the name of a module");
    }
    do {
        import.modules.push_back(parse_qualified_name("the name of a module"));
    } while (!panic_ && accept(TokenKind::Comma));
    if (at(TokenKind::Semicolon) || !peek().line_start) end_statement();
    import.span = span_from(keyword.begin);
    if (panic_) {
        while (!at(TokenKind::EndOfFile) && !peek().line_start && !at(TokenKind::Semicolon)) {
            advance();
        }
        accept(TokenKind::Semicolon);
        panic_ = false;
        return;
    }
    module_.imports.push_back(std::move(import));
}

// `graph G(x) -> (y)` as in other languages: reported, and skipped.
void Parser::skip_parameters() {
    report(span(peek()), DiagKind::UnexpectedToken, "expected `{`, found `(`")
        .note(
            "inputs and outputs are declared in blocks: `@input { x: real[3]; }` and "
            "`@output { y: real[3]; }`");
    while (!at(TokenKind::LBrace) && !at(TokenKind::Block) && !at(TokenKind::EndOfFile) &&
           !at_definition()) {
        advance();
    }
}

// definition ::= ["public"] ("operator" | "graph") IDENTIFIER "{" block* "}"
void Parser::parse_definition() {
    Definition def;
    const Token first = peek();
    def.is_public = accept(TokenKind::KwPublic);
    if (!at(TokenKind::KwOperator) && !at(TokenKind::KwGraph)) {
        fail_expected("`operator` or `graph`");
        return;
    }
    def.graph = advance().kind == TokenKind::KwGraph;
    def.name = parse_name("a name");
    if (at(TokenKind::LParen) && !panic_) skip_parameters();
    if (at(TokenKind::LBrace)) panic_ = false;
    const Token open = open_body(at(TokenKind::Block) || at(TokenKind::RBrace));
    collect_generics();
    suspect_brace_.reset();
    brace_lost_ = false;
    while (!panic_ && !at(TokenKind::RBrace) && !at(TokenKind::EndOfFile) && !at_definition()) {
        begin_statement();
        if (at(TokenKind::Block)) {
            parse_block(def);
        } else {
            if (brace_lost_) panic_ = true;
            fail_expected("a block such as `@input`");
            skip_statement();
        }
    }
    if (!panic_ && !accept(TokenKind::RBrace)) report_unclosed_definition(open);
    def.span = span_from(first.begin);
    module_.definitions.push_back(std::move(def));
}

// A closing brace that is indented less than its block was meant for the definition. The block is
// then the unclosed part.
void Parser::report_unclosed_definition(const Token& open) {
    close_body(suspect_brace_.value_or(open));
}

uint32_t Parser::column(const Token& token) const {
    uint32_t begin = token.begin;
    while (begin > 0 && text_[begin - 1] != '\n' && text_[begin - 1] != '\r') --begin;
    return token.begin - begin;
}

// Collects the names that the @dtype block of the current definition declares, wherever it is. They
// make `T(x)` a cast.
void Parser::collect_generics() {
    generics_.clear();
    generics_broken_ = false;
    const Token* token = &peek();
    const Token* const end = cursor_.tokens + cursor_.last;
    const auto ends_definition = [&] {
        return (token->line_start || token[-1].kind == TokenKind::RBrace) &&
               (token->kind == TokenKind::KwOperator || token->kind == TokenKind::KwGraph);
    };
    for (; token != end && !ends_definition(); ++token) {
        if (token->kind != TokenKind::Block || text(*token) != "@dtype") continue;
        while (++token != end && token->kind != TokenKind::RBrace && !ends_definition()) {
            const TokenKind before = token[-1].kind;
            const bool first = before == TokenKind::LBrace || before == TokenKind::Semicolon ||
                               before == TokenKind::Block;
            if (first && token->kind == TokenKind::Identifier) generics_.push_back(text(*token));
        }
        return;
    }
}

// block ::= BLOCK "{" statement* "}"
void Parser::parse_block(Definition& def) {
    const Token keyword = advance();
    const std::optional<BlockKind> kind = block_kind(text(keyword));
    if (!kind) return parse_unknown_block(keyword);
    const BlockSpan* const earlier = def.block(*kind);
    if (earlier) {
        report(span(keyword),
               DiagKind::DuplicateBlock,
               fmt::format("`{}` is written twice", text(keyword)))
            .note(earlier->keyword, "the first one is here");
    }
    const Token open = open_body(!at(TokenKind::Semicolon) && !at_body_end());
    if (panic_) return skip_statement();
    parse_statements(*kind, open, def);
    if (*kind == BlockKind::Dtype && has_error()) generics_broken_ = true;
    if (!earlier) {
        if (def.blocks.empty()) def.blocks.reserve(kUsualBlocks);
        def.blocks.push_back(
            {.kind = *kind, .keyword = span(keyword), .span = span_from(keyword.begin)});
    }
    const Token close = previous();
    if (close.kind == TokenKind::RBrace && close.line_start && keyword.line_start &&
        column(close) < column(keyword)) {
        suspect_brace_ = open;
    }
}

void Parser::parse_statements(BlockKind kind, const Token& open, Definition& def) {
    const auto all = [&](auto& list, auto parse_one) {
        parse_body(open, [&] { list.push_back((this->*parse_one)()); });
    };
    in_lower_ = kind == BlockKind::Lower;
    switch (kind) {
        case BlockKind::Dtype:
            return all(def.dtypes, &Parser::parse_dtype);
        case BlockKind::Attrib:
            return all(def.attribs, &Parser::parse_param);
        case BlockKind::Input:
            return all(def.inputs, &Parser::parse_param);
        case BlockKind::Output:
            return all(def.outputs, &Parser::parse_param);
        case BlockKind::Constant:
            return all(def.constants, &Parser::parse_param);
        case BlockKind::Variable:
            return all(def.variables, &Parser::parse_param);
        case BlockKind::Using:
            return all(def.usings, &Parser::parse_using);
        case BlockKind::Assert:
            return all(def.asserts, &Parser::parse_assert);
        case BlockKind::Lower:
            return all(def.lowers, &Parser::parse_lower);
        case BlockKind::Compose:
            return all(def.composes, &Parser::parse_component);
        case BlockKind::Update:
            return all(def.updates, &Parser::parse_component);
        case BlockKind::Quantize:
            return all(def.quantizes, &Parser::parse_quantize);
    }
}

// Reports the block and skips its braces.
void Parser::parse_unknown_block(const Token& keyword) {
    std::vector<std::string_view> names;
    for (const BlockKind kind : kBlockKinds) names.push_back(block_name(kind));
    report(span(keyword), DiagKind::UnknownBlock, fmt::format("no block `{}`", text(keyword)))
        .did_you_mean(span(keyword), diag::nearest_name(text(keyword), names));
    if (!accept(TokenKind::LBrace)) return skip_statement();
    for (int depth = 1; depth > 0 && !at_body_end();) {
        const TokenKind kind = advance().kind;
        if (kind == TokenKind::LBrace) ++depth;
        if (kind == TokenKind::RBrace) --depth;
    }
}

}  // namespace lemma::sknd
