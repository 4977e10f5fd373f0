// Tokens, messages, recovery and limits of the parser.
#include <algorithm>

#include "diag/utf8.h"
#include "sknd/syntax/parser_impl.h"

namespace lemma::sknd {
namespace {

constexpr size_t kMaxShownBytes = 40;

bool opens(TokenKind kind) {
    return kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace;
}
bool closes(TokenKind kind) {
    return kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace;
}

}  // namespace

Parser::Parser(const diag::SourceMap& sources,
               diag::FileId file,
               const ParseLimits& limits,
               Diagnostics& diag,
               Module earlier)
    : sources_(sources),
      text_(sources.text(file)),
      limits_(limits),
      diag_(diag),
      module_(std::move(earlier)),
      earlier_definitions_(module_.definitions.size()),
      expr_depths_(module_.exprs.size()) {
    module_.file = file;
}

// ---- Where we are -----------------------------------------------------------------------------

// Whether a definition begins here, as opposed to a keyword that someone took for a name.
bool Parser::at_definition() const {
    const TokenKind before = cursor_.previous.kind;
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

// Whether the statements of a body end here for sure, closing brace or not.
bool Parser::at_body_end() const {
    return at(TokenKind::EndOfFile) || at(TokenKind::Block) || at_definition();
}

// ---- Messages ---------------------------------------------------------------------------------

// Reports, and goes on parsing.
diag::Report Parser::report(Span span, DiagKind kind, std::string message) {
    if (panic_) return diag::Report(nullptr);
    const bool syntax = kind == DiagKind::UnexpectedToken || kind == DiagKind::UnclosedBracket ||
                        kind == DiagKind::MisplacedItem;
    if (in_format_ && syntax) kind = DiagKind::BadFormat;
    return diag_.error(span, kind, std::move(message));
}

// Reports, and gives up on the statement. Silent where the trouble is known already, to the lexer
// or from an earlier report on this statement.
diag::Report Parser::fail(Span span, DiagKind kind, std::string message) {
    if (at(TokenKind::Bad) || cursor_.previous.kind == TokenKind::Bad) panic_ = true;
    if (has_error()) panic_ = true;
    const diag::Report result = report(span, kind, std::move(message));
    panic_ = true;
    return result;
}

diag::Report Parser::fail_expected(std::string_view wanted) {
    return fail(span(peek()),
                DiagKind::UnexpectedToken,
                fmt::format("expected {}, found {}", wanted, found()));
}

std::string Parser::shown(Span span) const {
    const std::string_view whole = text(span);
    return diag::shortened(diag::printable(whole.substr(0, whole.find('\n'))), kMaxShownBytes);
}

// The token at hand in the words of a message.
std::string Parser::found() const {
    switch (peek().kind) {
        case TokenKind::EndOfFile:
            return in_format_ ? "`}`" : std::string(describe(TokenKind::EndOfFile));
        case TokenKind::Bad:
        case TokenKind::String:
        case TokenKind::Builtin:
            return std::string(describe(peek().kind));
        default:
            return fmt::format("`{}`", diag::shortened(std::string(text(peek())), kMaxShownBytes));
    }
}

// Fails if an expression is followed by what only stands in lists, shapes and indices.
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

bool Parser::expect(TokenKind kind) {
    if (accept(kind)) return true;
    fail_expected(describe(kind));
    return false;
}

// Takes the bracket that closes `open`; `list` tells that a comma could follow as well.
bool Parser::close(const Token& open, TokenKind closer, bool list) {
    if (accept(closer)) return true;
    if (panic_ || fail_misplaced()) return false;
    if (closer_follows(closer)) {
        fail_expected(list ? fmt::format("`,` or {}", describe(closer))
                           : std::string(describe(closer)));
    } else {
        fail(span(open),
             DiagKind::UnclosedBracket,
             fmt::format("{} is never closed", describe(open.kind)))
            .note(span(peek()), fmt::format("expected {}, found {}", describe(closer), found()));
    }
    return false;
}

// Whether that bracket closes the list at hand further on in this statement.
bool Parser::closer_follows(TokenKind closer) const {
    int depth = 0;
    for (size_t i = cursor_.pos; i < cursor_.last; ++i) {
        const TokenKind kind = cursor_.tokens[i].kind;
        if (kind == TokenKind::Semicolon || kind == TokenKind::Block) return false;
        if (opens(kind)) ++depth;
        if (closes(kind) && depth-- == 0) return kind == closer;
    }
    return false;
}

// Reports once, and gives up on the definition.
void Parser::too_deep(Span span, int limit) {
    report(span, DiagKind::TooDeep, fmt::format("nesting is deeper than {} levels", limit))
        .note("the limit is set by `--max-depth`");
    panic_ = true;
    fatal_ = true;
}

// ---- Recovery ---------------------------------------------------------------------------------

void Parser::begin_statement() {
    attribute_braces_ = 0;
    statement_errors_ = diag_.error_count();
}

// Takes the `;` of a statement. Where it is only forgotten, we go on as if it stood there.
void Parser::end_statement() {
    if (panic_ || accept(TokenKind::Semicolon)) return;
    const Token last = cursor_.previous;
    const bool next_line = statement_may_start();
    if (last.kind == TokenKind::Bad && next_line) return;  // an unclosed string took it along
    if (has_error() && next_line) return;
    if (fail_misplaced()) return;
    if (!next_line) {
        fail_expected("`;`");
        return;
    }
    report(span(last), DiagKind::MissingSemicolon, fmt::format("expected `;`, found {}", found()))
        .fix({module_.file, last.end, last.end}, ";");
}

// Whether the token at hand looks like the beginning of another statement or the end of the body.
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

// Skips behind the next `;`, or to the brace that closes the body, and ends the panic.
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

// Takes the `{` of a block or definition. Where it is missing before a token that fits behind it,
// we go on as if it stood there.
Token Parser::open_body(bool fits) {
    if (at(TokenKind::LBrace)) return advance();
    const Token last = cursor_.previous;
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
            .note(span(cursor_.previous), "the last statement ends here")
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

// A placeholder of no width for what should have begun at this token.
ExprId Parser::bad_expr() { return add({module_.file, peek().begin, peek().begin}, BadExpr{}); }

}  // namespace lemma::sknd
