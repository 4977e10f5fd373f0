// SPDX-License-Identifier: Apache-2.0
// Tokens, messages, recovery and limits of the parser.
#include <algorithm>

#include "nnef1/syntax/parser_impl.h"

namespace lemma::nnef1 {
namespace {

constexpr size_t kMaxReserved = 4'000'000;
constexpr size_t kChunk = 4096;   // tokens to read at a time
constexpr size_t kLookahead = 8;  // upper bound of the lookahead of `peek`

bool ends_statement(TokenKind kind) {
    return kind == TokenKind::Semicolon || kind == TokenKind::LBrace || kind == TokenKind::RBrace;
}

}  // namespace

Parser::Parser(const diag::SourceMap& sources,
               diag::FileId file,
               const ParseOptions& options,
               Diagnostics& diag)
    : Base(sources, file, std::min(options.limits.max_depth, UINT16_MAX - 1), diag),
      options_(options),
      max_expr_depth_(std::min(options.limits.max_expr_depth, UINT16_MAX - 1)),
      stream_(sources, file, options.dialect, diag, options.limits.max_tokens) {
    document_.file = file;
    const bool everything = tract() || options.kind == DocumentKind::Library;
    operators_enabled_ = fragments_enabled_ = everything;
    // Nearly always at most one expression per six bytes. Reserving avoids moves as the store
    // grows.
    const size_t expected = std::min(text_.size() / 6, kMaxReserved) + 1;
    nodes_.reserve(expected);
    expr_depths_.reserve(expected);
    read_tokens();
    read_statement();
}

// Widens the window.
void Parser::read_tokens() {
    stream_.read(kChunk);
    cursor_.tokens = stream_.tokens().data();
    cursor_.last = stream_.tokens().size() - 1;
    const bool complete = cursor_.tokens[cursor_.last].kind == TokenKind::EndOfFile;
    in_sight_ = complete ? SIZE_MAX : cursor_.last - std::min(cursor_.last, kLookahead);
}

// Moves the window at the beginning of a statement, so that it contains the whole statement.
// Lookahead then finds its end, and the errors of the lexer in it are known in advance.
void Parser::read_statement() {
    if (cursor_.pos < statement_end_ || in_sight_ == SIZE_MAX) return;
    stream_.drop(cursor_.pos);
    dropped_ += cursor_.pos;
    cursor_.pos = 0;
    statement_end_ = 0;
    for (size_t searched = 0; statement_end_ == 0 && in_sight_ != SIZE_MAX;) {
        read_tokens();
        const size_t end = std::min(in_sight_, cursor_.last);
        for (size_t i = end; i > searched && statement_end_ == 0; --i) {
            if (ends_statement(cursor_.tokens[i].kind)) statement_end_ = i;
        }
        searched = std::max(searched, end);
    }
}

// ---- Names ------------------------------------------------------------------------------------

// The text between the quotes, with escapes resolved. The last byte of the token is a quote.
std::string_view Parser::unescaped(const Token& token) {
    std::string_view inner = text(token);
    inner.remove_prefix(token.kind == TokenKind::QuotedIdentifier ? 2 : 1);
    inner.remove_suffix(1);
    if (!token.escaped) return inner;
    std::string result;
    for (size_t i = 0; i < inner.size(); ++i) {
        if (inner[i] == '\\' && i + 1 < inner.size()) ++i;
        result += inner[i];
    }
    return nodes_.keep(std::move(result));
}

std::string_view Parser::name_text(const Token& token) {
    return token.kind == TokenKind::QuotedIdentifier ? unescaped(token) : text(token);
}

// Takes a name. Reports a keyword in its place, and uses it as the name.
Name Parser::parse_name(std::string_view wanted) {
    if (at_name()) {
        const Token& token = advance();
        return {name_text(token), span(token)};
    }
    if (is_keyword(peek().kind)) {
        report(span(peek()),
               DiagKind::ReservedName,
               fmt::format("`{}` is a keyword, expected {}", text(peek()), wanted));
        const Token& token = advance();
        return {text(token), span(token)};
    }
    fail_expected(wanted);
    return {{}, {file_, peek().begin, peek().begin}};
}

// ---- Messages ---------------------------------------------------------------------------------

// An error in the strict dialect; the others only mention it.
diag::Report Parser::report_by_dialect(Span span, DiagKind kind, std::string message) {
    return strict() ? diag_.error(span, kind, std::move(message))
                    : diag_.warning(span, kind, std::move(message));
}

diag::Report Parser::fail_expected(std::string_view wanted) {
    diag::Report result = Base::fail_expected(wanted);
    if (at_word("and")) result.did_you_mean(span(peek()), "&&");
    if (at_word("or")) result.did_you_mean(span(peek()), "||");
    return result;
}

// The current token, worded for a message.
std::string Parser::found() const {
    switch (peek().kind) {
        case TokenKind::EndOfFile:
        case TokenKind::Bad:
        case TokenKind::String:
        case TokenKind::FreeText:
            return std::string(describe(peek().kind));
        default:
            return fmt::format("`{}`", shown(span(peek())));
    }
}

diag::Report Parser::fail_unclosed(const Token& open, TokenKind closer) {
    const uint32_t place = previous().end;
    const bool end = at(TokenKind::Semicolon);
    diag::Report report = Base::fail_unclosed(open, closer);
    if (end) report.fix({file_, place, place}, std::string(describe(closer).substr(1, 1)));
    return report;
}

void Parser::fail_empty(std::string_view what) {
    fail(span(peek()), DiagKind::UnexpectedToken, fmt::format("expected {}, found `)`", what))
        .note("a list in parentheses has at least one item");
}

// Reported once, because editing one line enables the syntax.
void Parser::report_missing(Span span, std::string_view what, std::string_view extension) {
    if (panic_) return;
    (extension == kOperatorExpressions ? operators_enabled_ : fragments_enabled_) = true;
    const bool first = !document_.version.span.valid();
    const uint32_t place = first ? 0 : document_.version.span.end;
    const std::string line = fmt::format("extension {};", extension);
    std::string message = fmt::format("{} without the extension `{}`", what, extension);
    report_by_dialect(span, DiagKind::MissingExtension, std::move(message))
        .note(fmt::format("write `{}` below the version", line))
        .fix({file_, place, place}, first ? line + "\n" : "\n" + line);
}

// ---- Recovery ---------------------------------------------------------------------------------

// Whether the current token may begin another statement or end the body.
bool Parser::statement_may_start() const {
    if (at(TokenKind::RBrace) || at(TokenKind::EndOfFile) || at_document_item()) return true;
    if (!peek().line_start) return false;
    return at_name() || at(TokenKind::LBracket) || at(TokenKind::LParen) || at(TokenKind::String) ||
           is_keyword(peek().kind);
}

// Whether a fragment or graph begins here; otherwise the keyword was meant as a name.
bool Parser::at_definition() const {
    if (!at(TokenKind::KwFragment) && !at(TokenKind::KwGraph)) return false;
    if (at_name(1) && (at(TokenKind::LParen, 2) || at(TokenKind::Less, 2))) return true;
    const TokenKind before = previous().kind;
    if (!peek().line_start && before != TokenKind::RBrace && before != TokenKind::Semicolon) {
        return false;
    }
    return at_name(1) || is_keyword(peek(1).kind);
}

bool Parser::at_document_item() const {
    if (at(TokenKind::KwExtension) || at(TokenKind::KwVersion)) {
        return peek().line_start && !at(TokenKind::Assign, 1) && !at(TokenKind::Comma, 1);
    }
    return at_definition();
}

// Skips past the next `;`, or to the brace that closes the body, and ends the panic.
void Parser::skip_statement() {
    while (!at(TokenKind::EndOfFile) && !at(TokenKind::RBrace) && !at_definition()) {
        if (advance().kind == TokenKind::Semicolon) break;
    }
    panic_ = fatal_;
}

void Parser::skip_to_document_item() {
    while (!at(TokenKind::EndOfFile) && !at_document_item()) advance();
    panic_ = false;
    fatal_ = false;
}

// Skips to the comma or bracket that ends the current item, if there is one, and ends the panic.
void Parser::skip_in_list(TokenKind closer) {
    int depth = 0;
    for (; !at(TokenKind::EndOfFile) && !at(TokenKind::Semicolon); advance()) {
        const TokenKind kind = peek().kind;
        if (kind == TokenKind::LBrace || at_definition()) return;
        if (depth == 0 && (kind == TokenKind::Comma || kind == closer)) {
            panic_ = false;
            return;
        }
        if (opens(kind)) ++depth;
        if (closes(kind) && depth-- == 0) return;
    }
}

// ---- Nodes ------------------------------------------------------------------------------------

ExprId Parser::add_too_deep(Span span) {
    too_deep(span, max_expr_depth_);
    return add_leaf(span, BadExpr{});
}

}  // namespace lemma::nnef1
