// SPDX-License-Identifier: Apache-2.0
// Operands: literals, names, lists, subscripts, calls.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "nnef1/syntax/parser_impl.h"

namespace lemma::nnef1 {
namespace {

constexpr std::string_view kComprehensionForm =
    "a comprehension is written `[for x in xs if condition yield value]`";

// Numbers beyond the range of double become infinite or zero, for the caller to check.
double to_double(std::string_view text) {
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc{}) return value;
    return std::strtod(std::string(text).c_str(), nullptr);
}

}  // namespace

// postfix-expr ::= primary ("[" … "]")*
ExprId Parser::parse_postfix() {
    ExprId base = parse_primary();
    while (!panic_ && at(TokenKind::LBracket)) {
        if (peek().line_start && at_array_target()) break;
        base = parse_subscript(base);
    }
    return base;
}

// Whether `[…]` is followed by `=`: the next assignment, after a missing `;`.
bool Parser::at_array_target() const {
    int depth = 0;
    for (size_t i = cursor_.pos; i < cursor_.last; ++i) {
        const TokenKind kind = cursor_.tokens[i].kind;
        if (kind == TokenKind::Semicolon) break;
        if (kind == TokenKind::LBracket) ++depth;
        if (kind == TokenKind::RBracket && --depth == 0) {
            return cursor_.tokens[i + 1].kind == TokenKind::Assign;
        }
    }
    return false;
}

// subscript-expr ::= rvalue-expr "[" (rvalue-expr | [rvalue-expr] ":" [rvalue-expr]) "]"
ExprId Parser::parse_subscript(ExprId base) {
    need_operators(span(peek()), "a subscript");
    const Token open = advance();
    if (at(TokenKind::RBracket)) {
        fail_expected("an index or a range").note("a range is written `x[b:e]`, or `x[:]` for all");
        return base;
    }
    ExprId begin, end;
    if (!at(TokenKind::Colon)) begin = parse_expr();
    const bool range = !panic_ && accept(TokenKind::Colon);
    if (range && !at(TokenKind::RBracket)) {
        if (at(TokenKind::Colon)) {
            fail_expected("`]`").note("a range has two ends and no stride");
        } else {
            end = parse_expr();
        }
    }
    if (!panic_) {
        if (range && at(TokenKind::Colon)) {
            fail_expected("`]`").note("a range has two ends and no stride");
        } else {
            close(open, TokenKind::RBracket, false);
        }
    }
    if (!range) return add(span_from(base), Subscript{base, begin}, {base, begin});
    return add(span_from(base), SubscriptRange{base, begin, end}, {base, begin, end});
}

ExprId Parser::parse_primary() {
    switch (peek().kind) {
        case TokenKind::Identifier:
            if (at_number()) return parse_number();
            return parse_named();
        case TokenKind::QuotedIdentifier:
            return parse_named();
        case TokenKind::Integer:
        case TokenKind::Scalar:
            return parse_number();
        case TokenKind::String:
            return parse_string();
        case TokenKind::KwTrue:
        case TokenKind::KwFalse: {
            const Token& token = advance();
            return add_leaf(span(token), LogicalLiteral{token.kind == TokenKind::KwTrue});
        }
        case TokenKind::LParen:
            return parse_paren();
        case TokenKind::LBracket:
            return parse_array();
        case TokenKind::KwInteger:
        case TokenKind::KwScalar:
        case TokenKind::KwLogical:
        case TokenKind::KwString:
        case TokenKind::KwShapeOf:
        case TokenKind::KwLengthOf:
        case TokenKind::KwRangeOf:
            return parse_builtin();
        default:
            return parse_no_operand();
    }
}

ExprId Parser::parse_no_operand() {
    if (at(TokenKind::KwFor)) {
        fail_expected("an expression").note(std::string(kComprehensionForm));
    } else if (is_keyword(peek().kind) && !peek().line_start) {
        fail(span(peek()),
             DiagKind::ReservedName,
             fmt::format("`{}` is a keyword, expected an expression", text(peek())));
    } else {
        diag::Report result = fail_expected("an expression");
        const bool closer = at(TokenKind::RParen) || at(TokenKind::RBracket);
        if (closer && previous().kind == TokenKind::Comma) {
            result.note("no comma follows the last item").fix(span(previous()), "");
        }
    }
    return bad_expr();
}

// ---- Literals ---------------------------------------------------------------------------------

// ["-"] (INTEGER | SCALAR)
ExprId Parser::parse_number() {
    const uint32_t begin = peek().begin;
    const bool minus = accept(TokenKind::Minus);
    const Token& token = advance();
    const Span where = span_from(begin);
    const std::string_view digits = text(token);
    if (token.kind == TokenKind::Integer) {
        uint64_t magnitude = 0;  // 0 if it does not fit, which the lexer reported
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
        const uint64_t value = minus ? uint64_t{0} - magnitude : magnitude;
        return add_leaf(where, IntegerLiteral{static_cast<int64_t>(value)});
    }
    if (token.kind == TokenKind::Identifier) {
        const double infinity = std::numeric_limits<double>::infinity();
        return add_leaf(where, ScalarLiteral{minus ? -infinity : infinity});
    }
    const double value = to_double(digits);
    if (std::isinf(value)) {
        report(where,
               DiagKind::BadNumber,
               fmt::format("`{}` is beyond the range of real numbers", shown(span(token))));
    }
    return add_leaf(where, ScalarLiteral{minus ? -value : value});
}

ExprId Parser::parse_string() {
    const Token& token = advance();
    return add_leaf(span(token), StringLiteral{unescaped(token)});
}

// ---- Lists ------------------------------------------------------------------------------------

// paren-expr ::= "(" rvalue-expr ")"
// tuple-rvalue-expr ::= "(" rvalue-expr ("," rvalue-expr)+ ")"
ExprId Parser::parse_paren() {
    const Token open = advance();
    const ExprId first = parse_expr();
    if (panic_) return first;
    if (accept(TokenKind::RParen)) {
        need_operators(span_from(open.begin), "an expression in parentheses");
        return add(span_from(open.begin), Paren{first}, {first});
    }
    const size_t mark = open_exprs_.size();
    int depth = depth_of(first);
    open_exprs_.push_back(first);
    if (!accept(TokenKind::Comma)) {
        close(open, TokenKind::RParen, true);
    } else {
        parse_list(open, TokenKind::RParen, [&] {
            open_exprs_.push_back(parse_expr());
            depth = std::max(depth, depth_of(open_exprs_.back()));
        });
    }
    const Slice<ExprId> items = take_list(open_exprs_, mark);
    return add(span_from(open.begin), Tuple{.items = items, .parentheses = true}, depth);
}

// array-rvalue-expr ::= "[" [rvalue-expr ("," rvalue-expr)*] "]"
ExprId Parser::parse_array() {
    const Token open = advance();
    if (at(TokenKind::KwFor)) return parse_comprehension(open);
    const size_t mark = open_exprs_.size();
    int depth = 0;
    if (!accept(TokenKind::RBracket)) {
        parse_list(open, TokenKind::RBracket, [&] {
            open_exprs_.push_back(parse_expr());
            depth = std::max(depth, depth_of(open_exprs_.back()));
            if (!panic_ && at(TokenKind::KwFor)) {
                fail_expected("`,` or `]`").note(std::string(kComprehensionForm));
            }
        });
    }
    const Slice<ExprId> items = take_list(open_exprs_, mark);
    return add(span_from(open.begin), Array{items}, depth);
}

// ---- Calls ------------------------------------------------------------------------------------

// builtin-expr ::= builtin-name "(" rvalue-expr ")"
ExprId Parser::parse_builtin() {
    const Token name = advance();
    const auto function = [&] {
        switch (name.kind) {
            case TokenKind::KwShapeOf:
                return Builtin::ShapeOf;
            case TokenKind::KwLengthOf:
                return Builtin::LengthOf;
            case TokenKind::KwRangeOf:
                return Builtin::RangeOf;
            case TokenKind::KwInteger:
                return Builtin::Integer;
            case TokenKind::KwScalar:
                return Builtin::Scalar;
            case TokenKind::KwLogical:
                return Builtin::Logical;
            default:
                return Builtin::String;
        }
    }();
    if (!at(TokenKind::LParen)) {
        fail(span(name),
             DiagKind::ReservedName,
             fmt::format("`{}` is a keyword, expected an expression", text(name)))
            .note(fmt::format("the function is called with one argument: `{}(x)`", text(name)));
        return bad_expr();
    }
    if (!operators_enabled_) need_operators(span(name), fmt::format("function `{}`", text(name)));
    const Token open = advance();
    const ExprId argument = parse_expr();
    if (!panic_ && at(TokenKind::Comma)) {
        fail_expected("`)`").note(fmt::format("`{}` takes one argument", text(name)));
    } else if (!panic_ && at(TokenKind::Assign)) {
        fail_expected("`)`").note(fmt::format("the argument of `{}` has no name", text(name)));
    } else if (!panic_) {
        close(open, TokenKind::RParen, false);
    }
    return add(span_from(name.begin), BuiltinCall{function, argument}, {argument});
}

// IDENTIFIER, or invocation ::= IDENTIFIER ["<" type-name ">"] "(" argument+' ")"
ExprId Parser::parse_named() {
    const Token name = advance();
    const std::string_view text = name_text(name);
    std::optional<TypeName> type;
    if (at(TokenKind::Less) && at_type_argument()) type = parse_type_argument();
    if (panic_) return bad_expr();
    if (!at(TokenKind::LParen)) {
        if (!type) return add_leaf(span(name), Identifier{text});
        fail_expected("`(`");
        return bad_expr();
    }
    if (call_depth_ > 0) need_operators(span(name), "an invocation inside another one");
    const Token open = advance();
    const size_t mark = open_args_.size();
    int depth = 0;
    ++call_depth_;
    if (at(TokenKind::RParen) && !tract()) {
        fail_empty("an argument");
    } else if (!accept(TokenKind::RParen)) {
        parse_list(open, TokenKind::RParen, [&] {
            parse_argument();
            depth = std::max(depth, depth_of(open_args_.back().value));
        });
    }
    --call_depth_;
    const Slice<Argument> args = take_list(open_args_, mark);
    const InvocationId id = nodes_.invocations.emplace(text, args, type, name.end - name.begin);
    return add(span_from(name.begin), id, depth);
}

// argument ::= rvalue-expr | IDENTIFIER "=" rvalue-expr
void Parser::parse_argument() {
    Name name;
    if (at(TokenKind::Assign, 1) && (at_name() || is_keyword(peek().kind))) {
        name = parse_name("the name of a parameter");
        advance();
    }
    const ExprId value = parse_expr();
    open_args_.emplace_back(name.text, name.span, value);
}

// Whether `<` opens a type argument here instead of comparing.
bool Parser::at_type_argument() const {
    if (at_type_name(1) || at(TokenKind::KwTensor, 1)) return at(TokenKind::Greater, 2);
    if (at(TokenKind::Greater, 1)) return true;
    return at(TokenKind::Identifier, 1) && at(TokenKind::Greater, 2) && at(TokenKind::LParen, 3);
}

// "<" type-name ">"
std::optional<TypeName> Parser::parse_type_argument() {
    advance();
    const std::optional<TypeName> type = parse_type_name("the name of a type");
    if (!panic_) expect(TokenKind::Greater);
    return type;
}

}  // namespace lemma::nnef1
