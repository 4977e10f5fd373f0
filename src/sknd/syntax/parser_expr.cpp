// SPDX-License-Identifier: Apache-2.0
// Operators of expressions, from the weakest (`??`) to the strongest (unary and `**`). The notes on
// SkriptND have the table of levels, "Precedence and associativity".
#include <array>
#include <utility>

#include "sknd/syntax/parser_impl.h"

namespace lemma::sknd {
namespace {

enum Level : int {
    kNoOperator = 0,
    kImplies,
    kLogical,
    kComparison,
    kMinMax,
    kSum,
    kProduct,
    kPower,
};

struct Operator {
    int level = kNoOperator;
    std::optional<BinaryOp> binary;  // none for `:=`, which is for folds only
    std::optional<FoldOp> fold;
    bool cumulative = false;
};

constexpr std::array<Operator, 256> make_operators() {
    std::array<Operator, 256> table{};
    const auto set = [&](TokenKind kind, Operator op) { table[static_cast<size_t>(kind)] = op; };
    set(TokenKind::Implies, {kImplies, BinaryOp::Implies, {}});
    set(TokenKind::AndAnd, {kLogical, BinaryOp::And, FoldOp::All, true});
    set(TokenKind::OrOr, {kLogical, BinaryOp::Or, FoldOp::Any, true});
    set(TokenKind::Caret, {kLogical, BinaryOp::Xor, {}});
    set(TokenKind::Less, {kComparison, BinaryOp::Less, FoldOp::Less});
    set(TokenKind::LessEqual, {kComparison, BinaryOp::LessEqual, FoldOp::LessEqual});
    set(TokenKind::Greater, {kComparison, BinaryOp::Greater, FoldOp::Greater});
    set(TokenKind::GreaterEqual, {kComparison, BinaryOp::GreaterEqual, FoldOp::GreaterEqual});
    set(TokenKind::EqualEqual, {kComparison, BinaryOp::Equal, FoldOp::Equal});
    set(TokenKind::NotEqual, {kComparison, BinaryOp::NotEqual, FoldOp::NotEqual});
    set(TokenKind::ColonAssign, {kComparison, {}, FoldOp::Uniform});
    set(TokenKind::Min, {kMinMax, BinaryOp::Min, FoldOp::Min, true});
    set(TokenKind::Max, {kMinMax, BinaryOp::Max, FoldOp::Max, true});
    set(TokenKind::Plus, {kSum, BinaryOp::Add, FoldOp::Sum, true});
    set(TokenKind::Minus, {kSum, BinaryOp::Sub, {}});
    set(TokenKind::Star, {kProduct, BinaryOp::Mul, FoldOp::Product, true});
    set(TokenKind::Slash, {kProduct, BinaryOp::Div, {}});
    set(TokenKind::Backslash, {kProduct, BinaryOp::CeilDiv, {}});
    set(TokenKind::Percent, {kProduct, BinaryOp::Mod, {}});
    set(TokenKind::StarStar, {kPower, BinaryOp::Pow, {}});
    return table;
}
constexpr std::array<Operator, 256> kOperators = make_operators();

constexpr std::array<bool, 256> make_expression_ends() {
    std::array<bool, 256> table{};
    for (const TokenKind kind : {TokenKind::Comma,
                                 TokenKind::Semicolon,
                                 TokenKind::RParen,
                                 TokenKind::RBracket,
                                 TokenKind::RBrace,
                                 TokenKind::DotDot,
                                 TokenKind::EndOfFile}) {
        table[static_cast<size_t>(kind)] = true;
    }
    return table;
}
// No expression continues with these.
constexpr std::array<bool, 256> kExpressionEnds = make_expression_ends();

// `word` is the text of an identifier: `is` and `in` are operators where an operator is expected.
constexpr Operator kIs = {kComparison, BinaryOp::Is, {}};
constexpr Operator kIn = {kComparison, BinaryOp::In, {}};
const Operator& operator_of(TokenKind kind, std::string_view word) {
    if (kind == TokenKind::Identifier && word == "is") return kIs;
    if (kind == TokenKind::Identifier && word == "in") return kIn;
    return kOperators[static_cast<size_t>(kind)];
}

bool is_prefix(TokenKind kind) {
    return kind == TokenKind::Plus || kind == TokenKind::Minus || kind == TokenKind::Bang ||
           kind == TokenKind::Question;
}

bool is_fold_end(TokenKind kind) {
    return kind == TokenKind::DotDot || kind == TokenKind::Ellipsis;
}

}  // namespace

// rvalue-expr ::= (select-expr | guard) ["??" rvalue-expr]
ExprId Parser::parse_expr(Guards guards) {
    const Nest nest(*this);
    if (!nest.ok || panic_) return bad_expr();
    if (at_lone_operand()) return parse_primary();
    const Guards outer = std::exchange(guards_, guards);
    ExprId expr = at(TokenKind::Bar) && guards == Guards::Allowed ? parse_guard() : parse_select();
    if (!panic_ && accept(TokenKind::QuestionQuestion)) {
        const ExprId fallback = parse_expr(guards);
        expr = add(span_from(expr), Coalesce{.value = expr, .fallback = fallback});
    }
    guards_ = outer;
    return expr;
}

// Most expressions are one name or number. They need no check at every level of the grammar.
bool Parser::at_lone_operand() const {
    return (at(TokenKind::Identifier) || at(TokenKind::Integer)) &&
           kExpressionEnds[static_cast<size_t>(peek(1).kind)];
}

// select-expr ::= binary-expr ["?" rvalue-expr [":" rvalue-expr]]
ExprId Parser::parse_select() {
    const ExprId condition = parse_binary(kImplies);
    if (panic_ || !accept(TokenKind::Question)) return condition;
    Select select{.condition = condition, .consequent = parse_expr(guards_), .alternative = {}};
    if (!panic_ && accept(TokenKind::Colon)) select.alternative = parse_expr(guards_);
    return add(span_from(condition), select);
}

// binary-expr ::= unary-expr | binary-expr binary-op binary-expr
//               | binary-expr fold-op (".." | "...")
// Takes operators of `min_level` and above. All associate to the left. A fold takes everything to
// its left at its level; operators of its level or below may follow it.
ExprId Parser::parse_binary(int min_level) {
    ExprId lhs = parse_unary();
    int max_level = kPower;
    std::optional<TokenKind> logical;
    while (!panic_) {
        if (at(TokenKind::Substitute)) return parse_no_substitution(lhs);
        const Operator& op = operator_of(peek().kind, text(peek()));
        if (op.level == kNoOperator || op.level < min_level) return lhs;
        if (!op.binary && !is_fold_end(peek(1).kind)) return lhs;  // `:=` of a formula
        if (op.level > max_level) {
            fail(span(peek()),
                 DiagKind::UnexpectedToken,
                 fmt::format("{} binds more tightly than the fold before it", found()))
                .note("put the fold in parentheses");
            return lhs;
        }
        const Token token = advance();
        if (op.level == kLogical) warn_mixed(token, logical);
        if (is_fold_end(peek().kind)) {
            lhs = parse_fold(lhs, token);
            max_level = op.level;
            continue;
        }
        const ExprId rhs = parse_binary(op.level + 1);
        lhs = add(span_from(lhs),
                  Binary{.op = *op.binary, .lhs = lhs, .rhs = rhs, .op_span = span(token)});
        max_level = kPower;
    }
    return lhs;
}

// fold-expr ::= rvalue-expr (fold-op ".." | cumulation-op "..."); called after the operator
ExprId Parser::parse_fold(ExprId operand, const Token& token) {
    const Operator& op = operator_of(token.kind, text(token));
    const bool cumulative = advance().kind == TokenKind::Ellipsis;
    if (!op.fold || (cumulative && !op.cumulative)) {
        report(span(token),
               DiagKind::BadFold,
               cumulative && op.fold ? fmt::format("`{}` has no cumulative fold", text(token))
                                     : fmt::format("`{}` cannot fold a pack", text(token)));
        return add(span_from(operand), BadExpr{});
    }
    return add(
        span_from(operand),
        Fold{.op = *op.fold, .operand = operand, .cumulative = cumulative, .op_span = span(token)});
}

// Warns at the first operator that differs from the earlier ones of its chain.
void Parser::warn_mixed(const Token& op, std::optional<TokenKind>& earlier) {
    if (earlier && *earlier != op.kind && *earlier != TokenKind::Bad) {
        diag_
            .warning(
                span(op),
                DiagKind::MixedLogical,
                fmt::format("`{}` behind {} without parentheses", text(op), describe(*earlier)))
            .note("`&&`, `||` and `^` bind equally and are taken from left to right");
        earlier = TokenKind::Bad;  // once is enough
    }
    if (!earlier) earlier = op.kind;
}

// `a<-1` reads as a substitution. Without an index before it, a comparison was meant.
ExprId Parser::parse_no_substitution(ExprId lhs) {
    const Token arrow = peek();
    report(span(arrow), DiagKind::UnexpectedToken, "`<-` replaces items and needs `x[i]` before it")
        .note("to compare with a negative value, write `< -`")
        .fix(span(arrow), "< -");
    advance();
    parse_expr(guards_);
    return add(span_from(lhs), BadExpr{});
}

// unary-expr ::= ("+" | "-" | "!" | "?")* power-expr
ExprId Parser::parse_unary() {
    const size_t first = cursor_.pos;
    while (is_prefix(peek().kind) && !panic_) advance();
    const size_t end = cursor_.pos;
    if (first == end) return parse_power();
    const Nest nest(*this);
    if (!nest.ok) return bad_expr();
    ExprId expr = parse_power();
    for (size_t i = end; i-- > first && !fatal_;) {
        const Token& op = cursor_.tokens[i];
        const Span whole = span_from(op.begin);
        switch (op.kind) {
            case TokenKind::Plus:
                expr = add(whole, Unary{UnaryOp::Plus, expr});
                break;
            case TokenKind::Minus:
                expr = add(whole, Unary{UnaryOp::Minus, expr});
                break;
            case TokenKind::Bang:
                expr = add(whole, Unary{UnaryOp::Not, expr});
                break;
            default:
                expr = add(whole, NullTest{expr});
                break;
        }
    }
    return expr;
}

// power-expr ::= operand ("**" (unary-expr | operand))*
// Associates to the left, and binds tighter than a prefix before it: -2 ** 2 is -4.
ExprId Parser::parse_power() {
    ExprId lhs = parse_operand();
    while (!panic_ && at(TokenKind::StarStar)) {
        const Token op = advance();
        if (is_fold_end(peek().kind)) {
            lhs = parse_fold(lhs, op);
            continue;
        }
        const ExprId rhs = is_prefix(peek().kind) ? parse_unary() : parse_operand();
        lhs = add(span_from(lhs),
                  Binary{.op = BinaryOp::Pow, .lhs = lhs, .rhs = rhs, .op_span = span(op)});
    }
    return lhs;
}

}  // namespace lemma::sknd
