// SPDX-License-Identifier: Apache-2.0
// Names, types, declarations, left sides, and the statements of @dtype, @using and @assert.
#include "sknd/syntax/parser_impl.h"

namespace lemma::sknd {
namespace {

// Whether this token shows that the keyword before it was meant as a name.
bool may_follow_name(TokenKind kind) {
    switch (kind) {
        case TokenKind::Colon:
        case TokenKind::Assign:
        case TokenKind::ColonAssign:
        case TokenKind::Comma:
        case TokenKind::Semicolon:
        case TokenKind::Dot:
        case TokenKind::DotDot:
        case TokenKind::Less:
        case TokenKind::Arrow:
        case TokenKind::LParen:
        case TokenKind::RParen:
        case TokenKind::LBracket:
        case TokenKind::RBracket:
        case TokenKind::LBrace:
            return true;
        default:
            return false;
    }
}

}  // namespace

// ---- Names ------------------------------------------------------------------------------------

// IDENTIFIER that is not a keyword. `is` and `in` are names in expressions only.
Name Parser::parse_name(std::string_view wanted) {
    const bool keyword = is_keyword(peek().kind) || at_contextual_keyword();
    if (at(TokenKind::Identifier) && !keyword) return name_of(advance());
    if (keyword && may_follow_name(peek(1).kind)) {
        report(span(peek()),
               DiagKind::ReservedName,
               fmt::format("`{}` is a keyword; choose another name", text(peek())));
        return name_of(advance());
    }
    fail_expected(wanted);
    return {.text = "", .span = span(peek())};
}

// qualified-identifier ::= IDENTIFIER ("." IDENTIFIER)*
QualifiedName Parser::parse_qualified_name(std::string_view wanted) {
    QualifiedName name;
    const uint32_t begin = peek().begin;
    do {
        name.parts.push_back(parse_name(wanted));
    } while (!panic_ && accept(TokenKind::Dot));
    name.span = span_from(begin);
    return name;
}

// ---- Types ------------------------------------------------------------------------------------

bool Parser::at_type_name(size_t ahead) const {
    const TokenKind kind = peek(ahead).kind;
    return kind == TokenKind::Identifier || (kind >= TokenKind::KwType && kind <= TokenKind::KwStr);
}

// type-expr ::= type-name | IDENTIFIER
// type-name ::= "type" | "arith" | "num" | "int" | "real" | "bool" | "str"
Name Parser::parse_type_name() {
    if (at_type_name()) return name_of(advance());
    fail_expected("a type");
    return {.text = "", .span = span(peek())};
}

// qualifier ::= "static" | "dynamic"
Qualifier Parser::parse_qualifier() {
    if (accept(TokenKind::KwStatic)) return Qualifier::Static;
    if (accept(TokenKind::KwDynamic)) return Qualifier::Dynamic;
    return Qualifier::None;
}

// type-spec ::= [qualifier] ["optional"] [qualifier] type-expr
//               ["^" "(" rvalue-expr ")"] [shape-spec] [pack-spec]
// shape-spec ::= "[" extent*' "]"
TypeSpec Parser::parse_type() {
    TypeSpec type;
    const uint32_t begin = peek().begin;
    type.qualifier = parse_qualifier();
    type.optional = accept(TokenKind::KwOptional);
    if (type.qualifier == Qualifier::None) type.qualifier = parse_qualifier();
    type.base = parse_type_name();
    if (accept(TokenKind::Caret)) {
        const Token open = peek();
        if (expect(TokenKind::LParen)) {
            type.rank = parse_expr();
            close(open, TokenKind::RParen, false);
        }
    }
    if (at(TokenKind::LBracket) && !panic_) {
        const Token open = advance();
        std::vector<ExtentSpec> shape;
        parse_list(
            open, TokenKind::RBracket, Trailing::No, [&] { shape.push_back(parse_extent()); });
        type.shape = std::move(shape);
        type.shape_span = span_from(open.begin);
    }
    if (at(TokenKind::DotDot) && !panic_) type.pack = parse_pack();
    type.span = span_from(begin);
    return type;
}

// extent ::= [".."] [qualifier] (rvalue-expr | "~") ["|" rvalue-expr] [pack-spec]
// The bound may also follow the pack (`~ ..(3)|10`).
ExtentSpec Parser::parse_extent() {
    ExtentSpec extent;
    const uint32_t begin = peek().begin;
    extent.spread = accept(TokenKind::DotDot);
    extent.qualifier = parse_qualifier();
    extent.extent = at(TokenKind::Tilde) ? add(span(advance()), Omitted{}) : parse_expr();
    if (accept(TokenKind::Bar)) extent.bound = parse_expr();
    if (at(TokenKind::DotDot) && !panic_) extent.pack = parse_pack();
    if (!extent.bound && accept(TokenKind::Bar)) extent.bound = parse_expr();
    extent.span = span_from(begin);
    return extent;
}

// pack-spec ::= ".." ["(" [qualifier] rvalue-expr ["|" rvalue-expr] ")"]
PackSpec Parser::parse_pack() {
    PackSpec pack;
    const Token dots = advance();
    if (at(TokenKind::LParen)) {
        const Token open = advance();
        pack.qualifier = parse_qualifier();
        pack.length = parse_expr();
        if (accept(TokenKind::Bar)) pack.bound = parse_expr();
        close(open, TokenKind::RParen, false);
    }
    pack.span = span_from(dots.begin);
    return pack;
}

// ---- Declarations -----------------------------------------------------------------------------

// dtype-definition ::= IDENTIFIER ":" type-name ["=" type-name] ";"
DtypeDecl Parser::parse_dtype() {
    DtypeDecl decl;
    const uint32_t begin = peek().begin;
    decl.name = parse_name("the name of a type");
    expect(TokenKind::Colon);
    decl.base = parse_type_name();
    if (accept(TokenKind::Assign)) decl.fallback = parse_type_name();
    end_statement();
    decl.span = span_from(begin);
    return decl;
}

// param-definition ::= IDENTIFIER ":" type-spec ["=" rvalue-expr ("," loop-bound)*] ";"
ParamDecl Parser::parse_param() {
    ParamDecl param;
    const uint32_t begin = peek().begin;
    param.name = parse_name("a name");
    expect(TokenKind::Colon);
    param.type = parse_type();
    if (accept(TokenKind::Assign)) {
        param.value = parse_expr();
        while (!panic_ && accept(TokenKind::Comma)) param.bounds.push_back(parse_bound());
    }
    end_statement();
    param.span = span_from(begin);
    return param;
}

// loop-bound ::= IDENTIFIER "<" rvalue-expr
LoopBound Parser::parse_bound() {
    LoopBound bound;
    const uint32_t begin = peek().begin;
    bound.index = parse_name("an index bound such as `i < n`");
    expect(TokenKind::Less);
    bound.bound = parse_expr();
    bound.span = span_from(begin);
    return bound;
}

// ---- Left sides -------------------------------------------------------------------------------

// lvalue-expr ::= lvalue-item | "[" lvalue-item+' "]"
LValue Parser::parse_lvalue() {
    LValue lvalue;
    const uint32_t begin = peek().begin;
    if (at(TokenKind::LBracket)) {
        const Token open = advance();
        lvalue.list = true;
        if (at(TokenKind::RBracket)) fail_expected("a name");
        parse_list(open, TokenKind::RBracket, Trailing::No, [&] {
            lvalue.items.push_back(parse_lvalue_item());
        });
    } else {
        lvalue.items.push_back(parse_lvalue_item());
    }
    lvalue.span = span_from(begin);
    return lvalue;
}

// lvalue-item ::= target [pack-spec] | "(" target+' ")" [pack-spec] | "~"
LValueItem Parser::parse_lvalue_item() {
    LValueItem item;
    const uint32_t begin = peek().begin;
    if (accept(TokenKind::Tilde)) {
        item.omitted = true;
    } else if (at(TokenKind::LParen)) {
        const Token open = advance();
        item.zip = true;
        if (at(TokenKind::RParen)) fail_expected("a name");
        parse_list(
            open, TokenKind::RParen, Trailing::No, [&] { item.targets.push_back(parse_target()); });
    } else {
        item.targets.push_back(parse_target());
    }
    if (at(TokenKind::DotDot) && !panic_) item.pack = parse_pack();
    item.span = span_from(begin);
    return item;
}

// target ::= IDENTIFIER [":" type-spec]
LValueItem::Target Parser::parse_target() {
    LValueItem::Target target;
    target.name = parse_name("a name");
    if (accept(TokenKind::Colon)) target.type = parse_type();
    return target;
}

// ---- @using and @assert -----------------------------------------------------------------------

// using ::= lvalue-expr "=" rvalue-expr ";"
UsingStmt Parser::parse_using() {
    UsingStmt stmt;
    const uint32_t begin = peek().begin;
    stmt.lhs = parse_lvalue();
    expect(TokenKind::Assign);
    stmt.rhs = parse_expr();
    end_statement();
    stmt.span = span_from(begin);
    return stmt;
}

// assertion ::= rvalue-expr [":" STRING+ ("," printed)*] ";"
AssertStmt Parser::parse_assert() {
    AssertStmt stmt;
    const uint32_t begin = peek().begin;
    stmt.condition = parse_expr();
    if (accept(TokenKind::Colon) && !panic_) {
        if (at(TokenKind::String)) {
            stmt.message = parse_string();
        } else {
            fail_expected("a message in quotes");
        }
        while (!panic_ && accept(TokenKind::Comma)) stmt.printed.push_back(parse_printed());
    }
    end_statement();
    stmt.span = span_from(begin);
    return stmt;
}

// printed ::= [(STRING | IDENTIFIER) ":"] rvalue-expr
AssertStmt::Printed Parser::parse_printed() {
    AssertStmt::Printed printed;
    if (at(TokenKind::Colon, 1)) {
        if (at(TokenKind::String)) printed.label = parse_label();
        if (at(TokenKind::Identifier)) printed.label = text(advance());
        accept(TokenKind::Colon);
    }
    printed.value = parse_expr();
    return printed;
}

}  // namespace lemma::sknd
