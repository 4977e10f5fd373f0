// SPDX-License-Identifier: Apache-2.0
// Fragments, their parameters and types.
#include <algorithm>

#include "base/match.h"
#include "nnef1/syntax/parser_impl.h"

namespace lemma::nnef1 {

// fragment-definition ::= "fragment" IDENTIFIER [generic] "(" parameter+' ")" "->" "(" result+' ")"
//                         (body | ";")
void Parser::parse_fragment() {
    const Token keyword = advance();
    if (!fragments_enabled_) report_missing(span(keyword), "a fragment", kFragmentDefinitions);
    if (stage_ == Stage::End) {
        report(span(keyword), DiagKind::UnexpectedToken, "`fragment` after the graph")
            .note("fragments stand before the graph");
    } else {
        stage_ = Stage::Fragments;
    }
    Fragment fragment;
    fragment.name = parse_name("the name of the fragment");
    if (!panic_ && at(TokenKind::Less)) parse_generic(fragment);
    if (!panic_) {
        parse_declared("a parameter", [&] { fragment.params.push_back(parse_param()); });
    }
    fragment.arrow = peek().begin;
    if (!panic_) expect(TokenKind::Arrow);
    if (!panic_) {
        parse_declared("a result", [&] { fragment.results.push_back(parse_result()); });
    }
    if (panic_) {
        while (!at(TokenKind::EndOfFile) && !at(TokenKind::LBrace) && !at(TokenKind::Semicolon) &&
               !at_document_item()) {
            advance();
        }
        panic_ = fatal_;
    }
    if (at(TokenKind::LBrace)) {
        parse_body(fragment.body.emplace());
    } else if (!accept(TokenKind::Semicolon)) {
        const Token last = previous();
        report(span(last),
               DiagKind::UnexpectedToken,
               fmt::format("expected `{{` or `;`, found {}", found()))
            .note("`;` ends the declaration of an operation without a body")
            .fix({file_, last.end, last.end}, ";");
        if (!at_document_item()) panic_ = true;
    }
    fragment.span = span_from(keyword.begin);
    document_.fragments.push_back(std::move(fragment));
}

// generic-declaration ::= "<" "?" ["=" type-name] ">"
void Parser::parse_generic(Fragment& fragment) {
    const Token open = advance();
    GenericDecl generic;
    if (!expect(TokenKind::Question)) return;
    if (accept(TokenKind::Assign)) generic.default_type = parse_type_name("the name of a type");
    if (!panic_) expect(TokenKind::Greater);
    generic.span = span_from(open.begin);
    fragment.generic = generic;
}

// parameter ::= IDENTIFIER ":" type-spec ["=" literal-expr]
Param Parser::parse_param() {
    Param param;
    const uint32_t begin = peek().begin;
    param.name = parse_name("a parameter");
    if (!panic_) expect(TokenKind::Colon);
    param.type = parse_type();
    if (!panic_ && accept(TokenKind::Assign)) param.default_value = parse_default();
    if (!panic_ && !at(TokenKind::Comma) && !at(TokenKind::RParen)) {
        fail_expected(param.default_value ? "`,` or `)`" : "`=`, `,` or `)`");
    }
    param.span = span_from(begin);
    return param;
}

// result ::= IDENTIFIER ":" type-spec
Result Parser::parse_result() {
    Result result;
    const uint32_t begin = peek().begin;
    result.name = parse_name("a result");
    if (!panic_) expect(TokenKind::Colon);
    result.type = parse_type();
    if (!panic_ && at(TokenKind::Assign)) {
        fail_expected("`,` or `)`").note("a result has no default value");
    }
    result.span = span_from(begin);
    return result;
}

// ---- Types ------------------------------------------------------------------------------------

bool Parser::at_type_name(size_t ahead) const {
    const TokenKind kind = peek(ahead).kind;
    return (kind >= TokenKind::KwInteger && kind <= TokenKind::KwString) ||
           kind == TokenKind::Question;
}

// type-name ::= "integer" | "scalar" | "logical" | "string" | "?"
std::optional<TypeName> Parser::parse_type_name(std::string_view wanted) {
    switch (peek().kind) {
        case TokenKind::KwInteger:
            return advance(), TypeName::Integer;
        case TokenKind::KwScalar:
            return advance(), TypeName::Scalar;
        case TokenKind::KwLogical:
            return advance(), TypeName::Logical;
        case TokenKind::KwString:
            return advance(), TypeName::String;
        case TokenKind::Question:
            return advance(), TypeName::Generic;
        default:
            fail_expected(wanted).note(
                "the types are `integer`, `scalar`, `logical`, `string` and `?`");
            return std::nullopt;
    }
}

// type-spec ::= (type-name | tensor-type | tuple-type) ("[" "]")*
TypeId Parser::parse_type() {
    const uint32_t begin = peek().begin;
    TypeId type = parse_basic_type();
    while (!panic_ && accept(TokenKind::LBracket)) {
        if (!expect(TokenKind::RBracket)) break;
        type = add_type(span_from(begin), {ArrayType{type}}, type_depths_[type.value]);
    }
    return type;
}

// tensor-type ::= "tensor" "<" [type-name] ">"
// tuple-type ::= "(" type-spec ("," type-spec)+ ")"
TypeId Parser::parse_basic_type() {
    const Token first = peek();
    const auto add = [&](auto node, int depth_below = 0) {
        return add_type(span_from(first.begin), node, depth_below);
    };
    const Nest nest(*this);
    if (!nest.ok || panic_) return add(BadType{});
    if (accept(TokenKind::KwTensor)) {
        TensorType tensor;
        expect(TokenKind::Less);
        if (!panic_ && !at(TokenKind::Greater)) {
            tensor.item = parse_type_name("the type of the items, or `>`");
        }
        if (!panic_) expect(TokenKind::Greater);
        return panic_ ? add(BadType{}) : add(tensor);
    }
    if (accept(TokenKind::LParen)) {
        const size_t mark = open_types_.size();
        int depth = 0;
        parse_list(first, TokenKind::RParen, [&] {
            const TypeId item = parse_type();
            depth = std::max<int>(depth, type_depths_[item.value]);
            open_types_.push_back(item);
        });
        const Slice<TypeId> items = take_list(open_types_, mark);
        if (items.count < 2 && !panic_) {
            fail(span_from(first.begin), DiagKind::UnexpectedToken, "a tuple of one item")
                .note("a tuple has two items or more");
        }
        return panic_ ? add(BadType{}) : add(TupleType{items}, depth);
    }
    const std::optional<TypeName> name = parse_type_name("a type");
    return name ? add(PrimitiveType{*name}) : add(BadType{});
}

TypeId Parser::add_type(Span span, decltype(Type::node) node, int depth_below) {
    const bool fits = depth_below < max_depth_;
    if (!fits) too_deep(span, max_depth_);
    type_depths_.push_back(static_cast<uint16_t>(fits ? depth_below + 1 : 1));
    return nodes_.types.add({span, fits ? node : decltype(Type::node){}});
}

// ---- Defaults ---------------------------------------------------------------------------------

// literal-expr ::= LITERAL | "[" [literal-expr+'] "]" | "(" literal-expr ("," literal-expr)+ ")"
ExprId Parser::parse_default() {
    const bool enabled = std::exchange(operators_enabled_, true);  // no second report
    const ExprId value = parse_expr();
    operators_enabled_ = enabled;
    if (!panic_ && !is_literal(value)) {
        report(span_of(value), DiagKind::BadDefault, "a default that is not a literal")
            .note("a default is a literal, or an array or tuple of literals");
    }
    return value;
}

bool Parser::is_literal(ExprId id) const {
    const auto all = [&](Slice<ExprId> items) {
        return std::ranges::all_of(nodes_.items(items), [&](ExprId i) { return is_literal(i); });
    };
    return match(
        nodes_.exprs[id].node,
        [](const IntegerLiteral&) { return true; },
        [](const ScalarLiteral&) { return true; },
        [](const LogicalLiteral&) { return true; },
        [](const StringLiteral&) { return true; },
        [](const BadExpr&) { return true; },
        [&](const Array& array) { return all(array.items); },
        [&](const Tuple& tuple) { return all(tuple.items); },
        [](const auto&) { return false; });
}

}  // namespace lemma::nnef1
