// SPDX-License-Identifier: Apache-2.0
// Operators, conditions, comprehensions.
#include <array>

#include "nnef1/syntax/parser_impl.h"

namespace lemma::nnef1 {
namespace {

// From lowest to highest (3.3.3); the operators of a level are left-associative.
enum Level : int { kIn, kLogical, kCompare, kSum, kProduct, kPower, kNone };

struct Operator {
    BinaryOp op{};
    int level = -1;
};

constexpr std::array<Operator, 256> make_operators() {
    std::array<Operator, 256> table{};
    const auto set = [&](TokenKind kind, BinaryOp op, int level) {
        table[static_cast<uint8_t>(kind)] = {op, level};
    };
    set(TokenKind::KwIn, BinaryOp::In, kIn);
    set(TokenKind::AndAnd, BinaryOp::And, kLogical);
    set(TokenKind::OrOr, BinaryOp::Or, kLogical);
    set(TokenKind::Less, BinaryOp::Less, kCompare);
    set(TokenKind::LessEqual, BinaryOp::LessEqual, kCompare);
    set(TokenKind::Greater, BinaryOp::Greater, kCompare);
    set(TokenKind::GreaterEqual, BinaryOp::GreaterEqual, kCompare);
    set(TokenKind::EqualEqual, BinaryOp::Equal, kCompare);
    set(TokenKind::NotEqual, BinaryOp::NotEqual, kCompare);
    set(TokenKind::Plus, BinaryOp::Add, kSum);
    set(TokenKind::Minus, BinaryOp::Sub, kSum);
    set(TokenKind::Star, BinaryOp::Mul, kProduct);
    set(TokenKind::Slash, BinaryOp::Div, kProduct);
    set(TokenKind::Caret, BinaryOp::Pow, kPower);
    return table;
}
constexpr std::array<Operator, 256> kOperators = make_operators();

Operator operator_of(TokenKind kind) { return kOperators[static_cast<uint8_t>(kind)]; }

}  // namespace

// rvalue-expr ::= binary-expr ["if" rvalue-expr "else" rvalue-expr]
ExprId Parser::parse_expr() {
    if (at_lone_operand() && !panic_) return parse_primary();
    const Nest nest(*this);
    if (!nest.ok || panic_) return bad_expr();
    const std::optional<Token> outer = std::exchange(open_sign_, std::nullopt);
    ExprId expr = parse_binary(kIn);
    if (!panic_ && at(TokenKind::KwIf)) expr = parse_if_else(expr);
    open_sign_ = outer;
    return expr;
}

// A literal or name without operators, as nearly all operands of a flat graph are.
bool Parser::at_lone_operand() const {
    switch (peek().kind) {
        case TokenKind::Identifier:
        case TokenKind::Integer:
        case TokenKind::Scalar:
        case TokenKind::String:
            break;
        default:
            return false;
    }
    switch (cursor_.tokens[cursor_.pos + 1].kind) {  // EndOfFile does not get here
        case TokenKind::Comma:
        case TokenKind::RParen:
        case TokenKind::RBracket:
        case TokenKind::Semicolon:
            return true;
        default:
            return false;
    }
}

ExprId Parser::parse_if_else(ExprId consequent) {
    need_operators(span(peek()), "`if … else`");
    warn_open_sign(false);
    advance();
    const ExprId condition = parse_expr();
    if (!panic_ && !accept(TokenKind::KwElse)) {
        fail_expected("`else`").note("a condition has two branches: `a if c else b`");
    }
    const ExprId alternative = parse_expr();
    return add(span_from(consequent),
               IfElse{consequent, condition, alternative},
               {consequent, condition, alternative});
}

// Takes operators of `min_level` and above.
ExprId Parser::parse_binary(int min_level) {
    ExprId lhs = parse_unary();
    std::optional<TokenKind> logical;  // the last `&&` or `||` of this chain
    while (!panic_) {
        const Token token = peek();
        const Operator binary = operator_of(token.kind);
        if (binary.level < min_level) break;
        if (!operators_enabled_)
            need_operators(span(token), fmt::format("operator `{}`", text(token)));
        warn_open_sign(binary.level >= kProduct);
        if (binary.level == kLogical) warn_mixed(token, logical);
        advance();
        const ExprId rhs = parse_binary(binary.level + 1);
        lhs = add(span_from(lhs),
                  Binary{.op = binary.op, .op_begin = token.begin, .lhs = lhs, .rhs = rhs},
                  {lhs, rhs});
    }
    return lhs;
}

// `&&` and `||` have the same level in NNEF 1.0, but two levels in nearly every other language.
void Parser::warn_mixed(const Token& op, std::optional<TokenKind>& earlier) {
    if (earlier && *earlier != op.kind) {
        diag_
            .warning(span(op),
                     DiagKind::MixedLogical,
                     fmt::format(
                         "{} behind {} without parentheses", describe(op.kind), describe(*earlier)))
            .note("they have the same precedence and are taken from left to right");
    }
    earlier = op.kind;
}

// Khronos' tools take everything after a sign as its operand: `-a + b` is -(a + b). A product has
// the same value either way.
void Parser::warn_open_sign(bool product) {
    if (!open_sign_ || tract()) return;
    const bool minus = open_sign_->kind == TokenKind::Minus;
    if (minus && product) return;
    diag_
        .warning(span(*open_sign_),
                 DiagKind::UnaryPrecedence,
                 fmt::format("{} is applied to the next operand only; other tools apply it to all "
                             "that follows",
                             describe(open_sign_->kind)))
        .note("parentheses make it read the same everywhere");
    open_sign_.reset();
}

bool Parser::at_number(size_t ahead) const {
    const Token& token = peek(ahead);
    if (token.kind == TokenKind::Integer || token.kind == TokenKind::Scalar) return true;
    return tract() && token.kind == TokenKind::Identifier && text(token) == "inf" &&
           !at(TokenKind::LParen, ahead + 1) && !at(TokenKind::Assign, ahead + 1);
}

// unary-expr ::= ("+" | "-" | "!") unary-expr | postfix-expr ["^" …]
// Binds tighter than binary operators other than `^`: -2^2 is -4.
ExprId Parser::parse_unary() {
    const Token token = peek();
    const bool sign = token.kind == TokenKind::Minus || token.kind == TokenKind::Plus;
    if (!sign && token.kind != TokenKind::Bang) return parse_postfix();
    // The sign of a number belongs to it, if nothing binds tighter.
    const bool literal = token.kind == TokenKind::Minus && at_number(1) &&
                         !at(TokenKind::Caret, 2) && !at(TokenKind::LBracket, 2);
    if (literal) {
        const ExprId number = parse_number();
        open_sign_ = token;
        return number;
    }
    if (!operators_enabled_) need_operators(span(token), fmt::format("operator `{}`", text(token)));
    const Nest nest(*this);
    if (!nest.ok) return bad_expr();
    advance();
    const UnaryOp op = token.kind == TokenKind::Minus  ? UnaryOp::Minus
                       : token.kind == TokenKind::Plus ? UnaryOp::Plus
                                                       : UnaryOp::Not;
    const ExprId operand = parse_binary(kPower);
    if (op != UnaryOp::Plus) open_sign_ = token;  // Khronos' tools have no `+x`
    return add(span_from(token.begin), Unary{op, operand}, {operand});
}

// "for" IDENTIFIER "in" rvalue-expr ("," …)* ["if" rvalue-expr] "yield" rvalue-expr "]"
ExprId Parser::parse_comprehension(const Token& open) {
    const Nest nest(*this);  // the range of an iterator does not pass parse_expr
    if (!nest.ok) return bad_expr();
    need_operators(span(peek()), "a comprehension");
    advance();
    const size_t mark = open_iterators_.size();
    int depth = 0;
    do {
        Iterator iterator;
        iterator.name = parse_name("the name of an iterator");
        if (!panic_) expect(TokenKind::KwIn);
        // Without `if`, which belongs to the comprehension.
        const std::optional<Token> outer = std::exchange(open_sign_, std::nullopt);
        iterator.range = panic_ ? bad_expr() : parse_binary(kIn);
        open_sign_ = outer;
        depth = std::max(depth, depth_of(iterator.range));
        open_iterators_.push_back(iterator);
    } while (!panic_ && accept(TokenKind::Comma));
    Comprehension node;
    node.iterators = take_list(open_iterators_, mark);
    if (!panic_ && accept(TokenKind::KwIf)) node.condition = parse_expr();
    if (!panic_ && !accept(TokenKind::KwYield)) {
        fail_expected("`yield`").note(
            "a comprehension is written `[for x in xs if condition yield value]`");
    }
    node.value = parse_expr();
    if (!panic_) close(open, TokenKind::RBracket, false);
    depth = std::max({depth, depth_of(node.condition), depth_of(node.value)});
    return add(span_from(open.begin), node, depth);
}

}  // namespace lemma::nnef1
