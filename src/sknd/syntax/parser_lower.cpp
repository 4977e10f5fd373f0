// SPDX-License-Identifier: Apache-2.0
// The formulas of @lower.
#include "sknd/syntax/parser_impl.h"

namespace lemma::sknd {

// lowering ::= ["unroll" iter-count] [locals] tensor-access lowering-op rvalue-expr
//              ("," loop-bound)* ["|" rvalue-expr] ";"
// locals ::= (local ",")* | "with" local+' ":"
LowerStmt Parser::parse_lower() {
    LowerStmt stmt;
    const uint32_t begin = peek().begin;
    if (accept(TokenKind::KwUnroll)) stmt.unroll = parse_count();
    const bool target_follows = parse_locals(stmt);
    if (!target_follows || (at_bound() && !stmt.locals.empty())) {
        report_no_target(stmt);
        stmt.target = bad_expr();
        stmt.value = bad_expr();
        if (at_bound()) stmt.bounds.push_back(parse_bound());
    } else {
        parse_lower_target(stmt);
        stmt.value = parse_expr();
    }
    while (!panic_ && (accept(TokenKind::Comma) || (at_bound() && supply_comma()))) {
        stmt.bounds.push_back(parse_bound());
    }
    if (!panic_ && accept(TokenKind::Bar)) stmt.condition = parse_expr();
    end_statement();
    stmt.span = span_from(begin);
    return stmt;
}

bool Parser::at_bound() const { return at(TokenKind::Identifier) && at(TokenKind::Less, 1); }

// False if the statement ends after a local, where the target should follow.
bool Parser::parse_locals(LowerStmt& stmt) {
    if (accept(TokenKind::KwWith)) {
        do {
            stmt.locals.push_back(parse_local());
        } while (!panic_ && accept(TokenKind::Comma));
        return expect(TokenKind::Colon);
    }
    while (!panic_ && at(TokenKind::Identifier) && at(TokenKind::Assign, 1)) {
        stmt.locals.push_back(parse_local());
        if (!panic_ && !accept(TokenKind::Comma) && !supply_comma()) return false;
    }
    return true;
}

// Whether only a comma is missing at the end of the line. Parsing then continues as if it were
// there.
bool Parser::supply_comma() {
    if (!at(TokenKind::Identifier) || !peek().line_start) return false;
    const Token last = previous();
    report(span(last), DiagKind::UnexpectedToken, fmt::format("expected `,`, found {}", found()))
        .fix({module_.file, last.end, last.end}, ",");
    return true;
}

// If all left sides are plain names, the last one should be the target.
void Parser::report_no_target(const LowerStmt& stmt) {
    const bool ends = at(TokenKind::Semicolon) || at(TokenKind::Bar) || statement_may_start();
    const bool bounds = previous().kind == TokenKind::Comma;
    if (stmt.locals.empty() || (!ends && !bounds)) return;
    const Name& last = stmt.locals.back().name;
    report(last.span,
           DiagKind::BadLoweringTarget,
           fmt::format("`{}` is not an element of a tensor", last.text))
        .note(fmt::format("write `{0}[i..]`, or `{0}[]` if it has rank 0", last.text));
}

// local ::= IDENTIFIER "=" rvalue-expr
LowerStmt::Local Parser::parse_local() {
    LowerStmt::Local local;
    local.name = parse_name("a name");
    expect(TokenKind::Assign);
    local.value = parse_expr();
    return local;
}

// tensor-access lowering-op
void Parser::parse_lower_target(LowerStmt& stmt) {
    stmt.target = parse_operand(Substitutions::No);
    stmt.op_span = span(peek());
    if (panic_) return;
    stmt.op = parse_lower_op();
    const Expr& target = module_.exprs[stmt.target];
    if (std::holds_alternative<Access>(target.node)) return;
    if (std::holds_alternative<Index>(target.node)) return;  // the type check knows the rank
    if (std::holds_alternative<BadExpr>(target.node)) return;
    report(target.span, DiagKind::BadLoweringTarget, "the left side is not an element of a tensor")
        .note("write `y[i..]`, or `y[]` for a tensor of rank 0");
}

// lowering-op ::= "=" | "+=" | "*=" | "&=" | "|=" | "<=" | ">=" | ":=" | "<?=" | ">?="
LowerOp Parser::parse_lower_op() {
    const auto take = [&](LowerOp op) {
        advance();
        return op;
    };
    switch (peek().kind) {
        case TokenKind::Assign:
            return take(LowerOp::Assign);
        case TokenKind::PlusAssign:
            return take(LowerOp::Sum);
        case TokenKind::StarAssign:
            return take(LowerOp::Product);
        case TokenKind::AndAssign:
            return take(LowerOp::All);
        case TokenKind::OrAssign:
            return take(LowerOp::Any);
        case TokenKind::LessEqual:
        case TokenKind::MinAssign:
            return take(LowerOp::Min);
        case TokenKind::GreaterEqual:
        case TokenKind::MaxAssign:
            return take(LowerOp::Max);
        case TokenKind::ColonAssign:
            return take(LowerOp::Update);
        default:
            fail_expected("an assignment such as `=` or `+=`");
            return LowerOp::Assign;
    }
}

// iter-count ::= ".." "(" ([IDENTIFIER "->"] rvalue-expr | IDENTIFIER "->") ")"
IterCount Parser::parse_count() {
    IterCount count;
    const uint32_t begin = peek().begin;
    expect(TokenKind::DotDot);
    const Token open = peek();
    if (!expect(TokenKind::LParen)) return count;
    if (at(TokenKind::Arrow, 1)) {
        count.index = parse_name("a name");
        expect(TokenKind::Arrow);
        if (!at(TokenKind::RParen)) count.count = parse_expr();
    } else {
        count.count = parse_expr();
    }
    close(open, TokenKind::RParen, false);
    count.span = span_from(begin);
    return count;
}

}  // namespace lemma::sknd
