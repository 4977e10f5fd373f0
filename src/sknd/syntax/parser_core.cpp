// SPDX-License-Identifier: Apache-2.0
// Tokens, messages, recovery and limits of the parser.
#include <algorithm>

#include "sknd/syntax/parser_impl.h"

namespace lemma::sknd {
Parser::Parser(const diag::SourceMap& sources,
               diag::FileId file,
               const ParseLimits& limits,
               Diagnostics& diag,
               Module earlier)
    : Base(sources, file, limits.max_depth, diag),
      sources_(sources),
      limits_(limits),
      module_(std::move(earlier)),
      earlier_definitions_(module_.definitions.size()),
      expr_depths_(module_.exprs.size()) {
    module_.file = file;
}

// ---- Where we are -----------------------------------------------------------------------------

// Whether a definition begins here; otherwise the keyword was meant as a name.
bool Parser::at_definition() const {
    const TokenKind before = previous().kind;
    if (!peek().line_start && before != TokenKind::RBrace && before != TokenKind::Semicolon) {
        return false;
    }
    const TokenKind behind = peek(1).kind;
    if (at(TokenKind::KwPublic)) {
        return behind == TokenKind::KwOperator || behind == TokenKind::KwGraph;
    }
    if (!at(TokenKind::KwOperator) && !at(TokenKind::KwGraph)) return false;
    return behind == TokenKind::Identifier || behind == TokenKind::LBrace || is_keyword(behind);
}

// Whether the statements of a body surely end here, with or without a closing brace.
bool Parser::at_body_end() const {
    return at(TokenKind::EndOfFile) || at(TokenKind::Block) || at_definition();
}

// ---- Messages ---------------------------------------------------------------------------------

// Syntax errors inside a format string are reported at the string.
diag::Report Parser::report(Span span, DiagKind kind, std::string message) {
    const bool syntax = kind == DiagKind::UnexpectedToken || kind == DiagKind::UnclosedBracket ||
                        kind == DiagKind::MisplacedItem;
    return Base::report(
        span, in_format_ && syntax ? DiagKind::BadFormat : kind, std::move(message));
}

// The current token, worded for a message.
std::string Parser::found() const {
    switch (peek().kind) {
        case TokenKind::EndOfFile:
            return in_format_ ? "`}`" : std::string(describe(TokenKind::EndOfFile));
        case TokenKind::Bad:
        case TokenKind::String:
        case TokenKind::Builtin:
            return std::string(describe(peek().kind));
        default:
            return fmt::format("`{}`", shown(span(peek())));
    }
}

// Fails if a token follows the expression that belongs in lists, shapes and indices only.
bool Parser::fail_misplaced() {
    if (at(TokenKind::DotDot)) {
        fail(span(peek()), DiagKind::MisplacedItem, "an expansion `..` cannot stand here")
            .note("items are expanded in lists, shapes and indices: `[x..]`");
        return true;
    }
    if (at(TokenKind::Colon)) {
        fail(span(peek()), DiagKind::MisplacedItem, "a range cannot stand here")
            .note("ranges stand in lists and indices: `[b:e]`, `x[b:e]`");
        return true;
    }
    return false;
}

// ---- Recovery ---------------------------------------------------------------------------------

// Whether the current token may begin another statement or end the body.
bool Parser::statement_may_start() const {
    if (at(TokenKind::RBrace) || at_body_end()) return true;
    if (!peek().line_start) return false;
    switch (peek().kind) {
        case TokenKind::Identifier:
        case TokenKind::Integer:
        case TokenKind::Real:
        case TokenKind::String:
        case TokenKind::Builtin:
        case TokenKind::LParen:
        case TokenKind::LBracket:
        case TokenKind::Tilde:
        case TokenKind::Bang:
        case TokenKind::Question:
            return true;
        default:
            return is_keyword(peek().kind);
    }
}

// Skips past the next `;`, or to the brace that closes the body, and ends the panic.
void Parser::skip_statement() {
    int opened = 0;
    while (!at_body_end()) {
        if (at(TokenKind::RBrace)) {
            if (opened > 0) {
                --opened;
            } else if (attribute_braces_ > 0) {
                --attribute_braces_;
            } else if (!at(TokenKind::LParen, 1)) {  // `}(` ends attributes
                brace_lost_ = true;
                break;
            }
        }
        if (at(TokenKind::LBrace)) ++opened;
        if (advance().kind == TokenKind::Semicolon && opened == 0) break;
    }
    if (at_body_end()) silent_pos_ = cursor_.pos;
    attribute_braces_ = 0;
    panic_ = fatal_;
}

void Parser::skip_to_definition() {
    while (!at(TokenKind::EndOfFile) && !at_definition()) advance();
    panic_ = false;
    fatal_ = false;
}

// Takes the `{` of a block or definition. If it is missing but the next token fits after it,
// parsing continues as if it were there.
Token Parser::open_body(bool fits) {
    if (at(TokenKind::LBrace)) return advance();
    const Token last = previous();
    report(span(last), DiagKind::UnexpectedToken, fmt::format("expected `{{`, found {}", found()))
        .fix({module_.file, last.end, last.end}, " {");
    if (!fits) panic_ = true;
    return {.kind = TokenKind::LBrace, .line_start = false, .begin = last.begin, .end = last.end};
}

// Takes the `}` of a body; false if it is missing.
bool Parser::close_body(const Token& open) {
    if (accept(TokenKind::RBrace)) return true;
    if (cursor_.pos != silent_pos_) {
        report(span(open), DiagKind::UnclosedBracket, "`{` is never closed")
            .note(span(previous()), "the last statement ends here")
            .note(span(peek()), fmt::format("expected `}}`, found {}", found()));
    }
    silent_pos_ = cursor_.pos;
    return false;
}

// ---- Nodes ------------------------------------------------------------------------------------

ExprId Parser::add_bad(Span span) {
    expr_depths_.push_back(1);
    return module_.exprs.emplace(span, BadExpr{});
}

// A placeholder without width for an expression that should begin at this token.
ExprId Parser::bad_expr() { return add({module_.file, peek().begin, peek().begin}, BadExpr{}); }

}  // namespace lemma::sknd
