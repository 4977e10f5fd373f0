// SPDX-License-Identifier: Apache-2.0
// @compose, @update and @quantize: assignments, operator calls, branches and loops.
#include <algorithm>

#include "sknd/syntax/parser_impl.h"

namespace lemma::sknd {
namespace {

// Whether this token continues an expression that began with an operator call.
bool continues_expr(TokenKind kind) {
    switch (kind) {
        case TokenKind::LBracket:
        case TokenKind::Dot:
        case TokenKind::DotDot:
        case TokenKind::Question:
        case TokenKind::QuestionQuestion:
        case TokenKind::ColonAssign:
            return true;
        default:
            return kind >= TokenKind::Plus && kind <= TokenKind::Max;
    }
}

}  // namespace

// component ::= lvalue-expr+' "=" region ";"
Component Parser::parse_component() {
    Component component;
    const uint32_t begin = peek().begin;
    if (at(TokenKind::KwYield)) return parse_stray_yield();
    do {
        component.results.push_back(parse_lvalue());
    } while (!panic_ && accept(TokenKind::Comma));
    expect(TokenKind::Assign);
    component.body = parse_region();
    end_statement();
    component.span = span_from(begin);
    return component;
}

// A `yield` outside of braces; those of its block may be incomplete.
Component Parser::parse_stray_yield() {
    const uint32_t begin = peek().begin;
    report(span(peek()), DiagKind::MisplacedYield, "`yield` outside of a block in braces");
    Block block;
    parse_yield(block);
    if (at(TokenKind::RBrace) && at(TokenKind::Semicolon, 1)) advance(), advance();
    Component component;
    component.span = span_from(begin);
    component.body = module_.regions.add({.span = component.span, .label = {}, .node = {}});
    return component;
}

// ---- Regions ----------------------------------------------------------------------------------

// region ::= [IDENTIFIER ":"] (invocation | rvalue-expr | block | branch-expr | loop-expr)
RegionId Parser::parse_region() {
    const Nest nest(*this);
    Region region;
    const uint32_t begin = peek().begin;
    if (nest.ok && !panic_) {
        if (at(TokenKind::Identifier) && at(TokenKind::Colon, 1)) {
            region.label = parse_name("a label");
            advance();
        }
        region.node = parse_region_node();
    }
    region.span = span_from(begin);
    return module_.regions.add(std::move(region));
}

Parser::RegionNode Parser::parse_region_node() {
    switch (peek().kind) {
        case TokenKind::LBrace:
            return parse_block_region(advance());
        case TokenKind::KwYield:
            return parse_block_region(open_body(true));
        case TokenKind::KwIf:
            return parse_branch();
        case TokenKind::KwWith:
        case TokenKind::KwFor:
        case TokenKind::KwWhile:
        case TokenKind::KwDo:
        case TokenKind::KwUnroll:
            return parse_loop();
        case TokenKind::Colon:
            fail(span(peek()), DiagKind::UnexpectedToken, "`:` without a label before it");
            return BadRegion{};
        default:
            break;
    }
    if (!at_invocation()) return Value{parse_expr()};
    Invocation invocation = parse_invocation();
    if (!panic_ && (continues_expr(peek().kind) || at_contextual_keyword())) {
        report_nested_call(invocation, span_from(invocation.callee.span.begin));
        panic_ = true;
    }
    return invocation;
}

// block ::= "{" component* yield "}"; called after the brace
Block Parser::parse_block_region(const Token& open) {
    Block block;
    const size_t errors = diag_.error_count();
    const auto statement = [&] {
        if (block.yield_span.valid()) report_late_yield(block);
        if (at(TokenKind::KwYield)) {
            parse_yield(block);
        } else {
            block.components.push_back(parse_component());
        }
    };
    const auto brace_missing = [&] { return block.yield_span.valid() && at(TokenKind::Semicolon); };
    if (!parse_body(open, statement, brace_missing)) {
        panic_ = true;
    } else if (!block.yield_span.valid() && diag_.error_count() == errors) {
        report(span(previous()), DiagKind::MisplacedYield, "this block has no `yield`")
            .note(span(open), "the block begins here");
    }
    return block;
}

void Parser::report_late_yield(const Block& block) {
    report(block.yield_span, DiagKind::MisplacedYield, "`yield` is not the last statement")
        .note("another statement follows");
}

// yield ::= "yield" rvalue-expr+' ";"
void Parser::parse_yield(Block& block) {
    const Token keyword = advance();
    block.yields.clear();
    do {
        block.yields.push_back(parse_expr());
    } while (!panic_ && accept(TokenKind::Comma));
    end_statement();
    block.yield_span = span_from(keyword.begin);
}

// branch-expr ::= "if" region "then" region ("elif" region "then" region)* "else" region
Branch Parser::parse_branch() {
    Branch branch;
    do {
        advance();
        Branch::Arm arm;
        arm.condition = parse_region();
        expect(TokenKind::KwThen);
        arm.consequent = parse_region();
        branch.arms.push_back(arm);
    } while (!panic_ && at(TokenKind::KwElif));
    expect(TokenKind::KwElse);
    branch.alternative = parse_region();
    return branch;
}

// loop-expr ::= ["with" carried+'] ["for" scan+'] ["while" region]
//               ("do" | "unroll") [iter-count] region ["while" region]
Loop Parser::parse_loop() {
    Loop loop;
    if (accept(TokenKind::KwWith)) {
        do {
            loop.carried.push_back(parse_carried());
        } while (!panic_ && accept(TokenKind::Comma));
    }
    if (!panic_ && accept(TokenKind::KwFor)) {
        do {
            loop.scans.push_back(parse_scan());
        } while (!panic_ && accept(TokenKind::Comma));
    }
    if (!panic_ && accept(TokenKind::KwWhile)) loop.pre_condition = parse_region();
    loop.do_span = span(peek());
    loop.unroll = at(TokenKind::KwUnroll);
    if (!accept(TokenKind::KwUnroll) && !accept(TokenKind::KwDo)) {
        fail_expected("`do` or `unroll`");
    }
    if (at(TokenKind::DotDot) && !panic_) loop.count = parse_count();
    loop.body = parse_region();
    if (!panic_ && accept(TokenKind::KwWhile)) loop.post_condition = parse_region();
    return loop;
}

// carried ::= IDENTIFIER [":" type-spec] "=" rvalue-expr
Loop::Carried Parser::parse_carried() {
    Loop::Carried carried;
    carried.name = parse_name("the name of a loop variable");
    if (accept(TokenKind::Colon)) carried.type = parse_type();
    expect(TokenKind::Assign);
    carried.initial = parse_expr();
    return carried;
}

// scan ::= IDENTIFIER ":" rvalue-expr
Loop::Scan Parser::parse_scan() {
    Loop::Scan scan;
    scan.name = parse_name("the name of a loop item");
    if (at_word("in")) {
        report(span(peek()), DiagKind::UnexpectedToken, "expected `:`, found `in`")
            .note("the items of a pack are scanned by `for x : xs`")
            .fix(span(peek()), ":");
        advance();
    } else {
        expect(TokenKind::Colon);
    }
    scan.pack = parse_expr();
    return scan;
}

// ---- Calls ------------------------------------------------------------------------------------

// The number of tokens of the qualified name at the current token.
size_t Parser::qualified_name_size() const {
    size_t size = 1;
    while (at(TokenKind::Dot, size) && at(TokenKind::Identifier, size + 1)) size += 2;
    return size;
}

// Whether `<real, T>` and then a call's `{` or `(` follow.
bool Parser::type_arguments_at(size_t ahead) const {
    if (!at(TokenKind::Less, ahead)) return false;
    do {
        if (!at_type_name(++ahead)) return false;
    } while (at(TokenKind::Comma, ++ahead));
    return at(TokenKind::Greater, ahead) &&
           (at(TokenKind::LParen, ahead + 1) || at(TokenKind::LBrace, ahead + 1));
}

// Whether a region begins here with an operator call. The name of a built-in function or generic
// type is one too, unless it is part of a larger expression (`abs(k) > 1`) or a cast (`T(x)`).
bool Parser::at_invocation() const {
    if (!at(TokenKind::Identifier)) return false;
    const size_t size = qualified_name_size();
    if (at(TokenKind::LBrace, size) || type_arguments_at(size)) return true;
    if (!at(TokenKind::LParen, size)) return false;
    if (size > 1) return true;
    return !is_generic(text(peek())) && !builtin_in_expression();
}

bool Parser::is_generic(std::string_view name) const {
    return std::ranges::find(generics_, name) != generics_.end();
}

// Whether the call here is one of a built-in function, followed by an operator.
bool Parser::builtin_in_expression() const {
    if (!is_builtin_function(text(peek()))) return false;
    int depth = 0;
    for (size_t i = cursor_.pos + 1; i < cursor_.last; ++i) {
        const TokenKind kind = cursor_.tokens[i].kind;
        if (kind == TokenKind::Semicolon) return false;
        if (kind == TokenKind::LParen) ++depth;
        if (kind == TokenKind::RParen && --depth == 0) {
            const Token& next = cursor_.tokens[i + 1];
            const bool word =
                next.kind == TokenKind::Identifier && (text(next) == "is" || text(next) == "in");
            return word || continues_expr(next.kind);
        }
    }
    return false;
}

// invocation ::= qualified-identifier ["<" type-expr+' ">"] ["{" attribute+' "}"] "(" argument*'
// ")"
Invocation Parser::parse_invocation() {
    Invocation call;
    call.callee = parse_qualified_name("an operator");
    const Token types = peek();
    if (at(TokenKind::Less)) {
        parse_type_arguments(call.types);
        call.types_span = span_from(types.begin);
    }
    if (at(TokenKind::LBrace) && !panic_) parse_attributes(call.attributes);
    const Token open = peek();
    if (!expect(TokenKind::LParen)) return call;
    parse_list(open, TokenKind::RParen, Trailing::No, [&] {
        if (at(TokenKind::Identifier) && at(TokenKind::Assign, 1)) {
            call.attributes.push_back(parse_late_attribute(call.callee));
        } else {
            call.arguments.push_back(parse_argument());
        }
    });
    call.arguments_span = span_from(open.begin);
    return call;
}

// `op(x, k=3)` as in other languages: reported, and treated as `op{k=3}(x)`.
AttributeArg Parser::parse_late_attribute(const QualifiedName& callee) {
    AttributeArg attribute = parse_attribute();
    report(attribute.name.span,
           DiagKind::UnexpectedToken,
           fmt::format("the attribute `{}` stands among the inputs", attribute.name.text))
        .note(fmt::format("attributes are given in braces, before the inputs: `{}{{{}}}(…)`",
                          callee.text(),
                          shown(attribute.span)));
    return attribute;
}

// argument ::= rvalue-expr | "~"
ExprId Parser::parse_argument() {
    return at(TokenKind::Tilde) ? add(span(advance()), Omitted{}) : parse_expr();
}

// "<" type-expr+' ">"
void Parser::parse_type_arguments(std::vector<Name>& types) {
    advance();
    do {
        types.push_back(parse_type_name());
    } while (!panic_ && accept(TokenKind::Comma));
    expect(TokenKind::Greater);
}

// "{" attribute+' [","] "}"
void Parser::parse_attributes(std::vector<AttributeArg>& attributes) {
    const Token open = advance();
    ++attribute_braces_;
    if (at(TokenKind::RBrace)) {
        report(span(peek()), DiagKind::UnexpectedToken, "expected an attribute, found `}`")
            .note("leave out braces without attributes");
    }
    parse_list(
        open, TokenKind::RBrace, Trailing::Comma, [&] { attributes.push_back(parse_attribute()); });
    if (!panic_) --attribute_braces_;
}

// attribute ::= IDENTIFIER "=" rvalue-expr
AttributeArg Parser::parse_attribute() {
    AttributeArg attribute;
    const uint32_t begin = peek().begin;
    attribute.name = parse_name("the name of an attribute");
    if (at(TokenKind::Colon)) {
        report(span(peek()), DiagKind::UnexpectedToken, "expected `=`, found `:`")
            .fix(span(peek()), "=");
        advance();
    } else {
        expect(TokenKind::Assign);
    }
    attribute.value = parse_expr();
    attribute.span = span_from(begin);
    return attribute;
}

// quantization ::= qualified-identifier ":" qualified-identifier
//                  ["<" type-expr+' ">"] ["{" attribute+' "}"] ";"
QuantizeStmt Parser::parse_quantize() {
    QuantizeStmt stmt;
    const uint32_t begin = peek().begin;
    stmt.tensor = parse_qualified_name("a tensor");
    expect(TokenKind::Colon);
    stmt.callee = parse_qualified_name("an operator");
    if (at(TokenKind::Less) && !panic_) parse_type_arguments(stmt.types);
    if (at(TokenKind::LBrace) && !panic_) parse_attributes(stmt.attributes);
    end_statement();
    stmt.span = span_from(begin);
    return stmt;
}

}  // namespace lemma::sknd
