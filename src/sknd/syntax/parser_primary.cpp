// SPDX-License-Identifier: Apache-2.0
// Operands of expressions: literals, parentheses, lists, indexing, members, casts and calls.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "sknd/syntax/parser_impl.h"

namespace lemma::sknd {

const std::vector<std::string_view>& builtin_functions() {
    static const std::vector<std::string_view> kFunctions = {
        "abs",  "sign", "sqrt", "exp",   "log",   "sin",   "cos", "tan",   "asin",  "acos", "atan",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "round", "floor", "ceil", "frac"};
    return kFunctions;
}

bool is_builtin_function(std::string_view name) {
    return std::ranges::find(builtin_functions(), name) != builtin_functions().end();
}

// operand ::= primary (index | "." member)*
ExprId Parser::parse_operand(Substitutions substitutions) {
    ExprId expr = parse_primary();
    while (!panic_) {
        if (at(TokenKind::LBracket)) {
            if (substitutions == Substitutions::Allowed && at_list_assignment()) break;
            expr = parse_index(expr, substitutions);
        } else if (at(TokenKind::Dot)) {
            expr = parse_member(expr);
        } else {
            break;
        }
    }
    return expr;
}

// primary ::= literal | "(" rvalue-expr ")" | list-expr | cast-expr | builtin-expr | IDENTIFIER
ExprId Parser::parse_primary() {
    if (panic_) return bad_expr();
    switch (peek().kind) {
        case TokenKind::Integer:
            return parse_integer();
        case TokenKind::Real:
            return parse_real();
        case TokenKind::String:
            return parse_string();
        case TokenKind::KwTrue:
            return add(span(advance()), BoolLiteral{true});
        case TokenKind::KwFalse:
            return add(span(advance()), BoolLiteral{false});
        case TokenKind::KwInf:
            return add(span(advance()), InfLiteral{});
        case TokenKind::KwPi:
            return add(span(advance()), PiLiteral{});
        case TokenKind::LParen:
            return parse_paren();
        case TokenKind::LBracket:
            return parse_list_expr();
        case TokenKind::Identifier:
            return parse_named();
        case TokenKind::Builtin: {
            const Token token = advance();
            const std::string_view quoted = text(token);
            return parse_builtin_call(
                {.text = quoted.substr(1, quoted.size() - 2), .span = span(token)});
        }
        case TokenKind::Bad: {  // reported by the lexer
            const Token token = advance();
            panic_ = !peek().line_start;
            return add(span(token), BadExpr{});
        }
        case TokenKind::Bar:
            report(span(peek()), DiagKind::MisplacedItem, "a guard `|i|` cannot stand here")
                .note("a guard is a whole index of a tensor in `@lower`: `x[|i - 1|,]`")
                .note("the absolute value of a number is `abs`, a function in backquotes");
            return parse_guard();
        case TokenKind::KwIf:
        case TokenKind::KwFor:
        case TokenKind::KwWith:
            fail_expected("an expression").note("in an expression, use `c ? a : b`");
            return bad_expr();
        default:
            break;
    }
    if (at_type_name() && at(TokenKind::LParen, 1)) return parse_cast(advance());
    fail_expected("an expression");
    return bad_expr();
}

// ---- Literals ---------------------------------------------------------------------------------

ExprId Parser::parse_integer() {
    const Token token = advance();
    const std::string_view digits = text(token);
    int64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc{}) return add(span(token), BadExpr{});  // reported by the lexer
    return add(span(token), IntLiteral{value});
}

ExprId Parser::parse_real() {
    const Token token = advance();
    const std::string_view digits = text(token);
    double value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // 0 or inf
    if (result.ec != std::errc{}) value = std::strtod(std::string(digits).c_str(), nullptr);
    if (!std::isfinite(value)) {
        report(span(token), DiagKind::BadNumber, fmt::format("`{}` is too large", digits))
            .note("infinity is written `inf`");
        return add(span(token), BadExpr{});
    }
    return add(span(token), RealLiteral{.value = value, .text = digits});
}

// ---- Parentheses and lists --------------------------------------------------------------------

// paren-expr ::= "(" rvalue-expr ")"
ExprId Parser::parse_paren() {
    const bool may_zip = cursor_.pos == zip_pos_;
    const Token open = advance();
    const ExprId inner = parse_expr();
    if (at(TokenKind::Comma) && may_zip && !panic_) return parse_zip(open, inner);
    if (at(TokenKind::Comma) && !panic_) {
        fail(span(peek()), DiagKind::MisplacedItem, "a zip cannot stand here")
            .note("packs are zipped in a list: `[(a, b)..]`");
    }
    close(open, TokenKind::RParen, false);
    return add(span_from(open.begin), Paren{inner});
}

// zip-expr ::= "(" rvalue-expr+' ")"; called after the first; an expansion must follow
ExprId Parser::parse_zip(const Token& open, ExprId first) {
    Zip zip{.items = {first}};
    while (!panic_ && accept(TokenKind::Comma)) zip.items.push_back(parse_expr());
    if (!panic_) close(open, TokenKind::RParen, true);
    if (!panic_ && !at(TokenKind::DotDot)) {
        fail(span_from(open.begin), DiagKind::MisplacedItem, "a zip without `..` behind it")
            .note("packs are zipped in a list: `[(a, b)..]`");
    }
    return add(span_from(open.begin), std::move(zip));
}

// list-expr ::= "[" list-item*' "]"
ExprId Parser::parse_list_expr() {
    const Token open = advance();
    List list;
    parse_list(open, TokenKind::RBracket, Trailing::No, [&] {
        list.items.push_back(parse_list_item(Ranges::Closed));
    });
    return add(span_from(open.begin), std::move(list));
}

// list-item ::= rvalue-expr | range-expr | (rvalue-expr | zip-expr) ".." ["(" rvalue-expr ")"]
// A list inside @lower may be an index later on, so its items may be guards.
ExprId Parser::parse_list_item(Ranges ranges) {
    const uint32_t begin = peek().begin;
    ExprId item;
    if (ranges == Ranges::Closed || !at(TokenKind::Colon)) {
        zip_pos_ = cursor_.pos;
        item = parse_expr(in_lower_ ? Guards::Allowed : Guards::No);
    }
    if (panic_) return item;
    if (at(TokenKind::Colon)) return parse_range(item, begin, ranges);
    if (at(TokenKind::DotDot)) return parse_expand(item);
    return item;
}

// range-expr ::= rvalue-expr ":" rvalue-expr [":" rvalue-expr]; called after the first
// In an index each of the three may be missing.
ExprId Parser::parse_range(ExprId begin, uint32_t offset, Ranges ranges) {
    Range range{.begin = begin, .end = {}, .step = {}};
    advance();
    range.end = parse_range_part(ranges);
    if (!panic_ && accept(TokenKind::Colon)) range.step = parse_range_part(ranges);
    return add(span_from(offset), range);
}

ExprId Parser::parse_range_part(Ranges ranges) {
    const bool missing = at(TokenKind::Colon) || at(TokenKind::Comma) || at(TokenKind::RBracket);
    if (!missing) return parse_expr();
    if (ranges == Ranges::Closed) {
        fail_expected("an expression").note("only in an index may the end of a range be missing");
    }
    return {};
}

// expand-expr ::= rvalue-expr ".." ["(" rvalue-expr ")"]; called after the first
ExprId Parser::parse_expand(ExprId item) {
    Expand expand{.item = item, .count = {}};
    advance();
    if (at(TokenKind::LParen)) {
        const Token open = advance();
        expand.count = parse_expr();
        close(open, TokenKind::RParen, false);
    }
    return add(span_from(item), expand);
}

// ---- Indexing ---------------------------------------------------------------------------------

// bounded-expr ::= "|" rvalue-expr ["<>" rvalue-expr ":" rvalue-expr] "|"
ExprId Parser::parse_guard() {
    const Token open = advance();
    Guard guard{.index = parse_expr(), .below = {}, .above = {}};
    if (!panic_ && accept(TokenKind::Remap)) {
        guard.below = parse_expr();
        expect(TokenKind::Colon);
        guard.above = parse_expr();
    }
    expect(TokenKind::Bar);
    return add(span_from(open.begin), guard);
}

// index ::= "[" list-item "]" ["<-" rvalue-expr]          an item or items of a pack
//         | "[" (list-item*' | list-item ",") "]"         an element of a tensor
// A single expansion or guard makes an element, too: x[i..], x[|i|].
ExprId Parser::parse_index(ExprId base, Substitutions substitutions) {
    const Token open = advance();
    std::vector<ExprId> indices;
    bool comma = false;
    while (!panic_ && !at(TokenKind::RBracket)) {
        indices.push_back(parse_list_item(Ranges::Open));
        if (panic_ || !accept(TokenKind::Comma)) break;
        if (comma && at(TokenKind::RBracket)) fail_expected("an index");
        comma = true;
    }
    close(open, TokenKind::RBracket, true);
    const bool element = indices.size() != 1 || comma || holds_guard(indices[0]) ||
                         std::holds_alternative<Expand>(module_.exprs[indices[0]].node);
    if (element) return add(span_from(base), Access{.base = base, .indices = std::move(indices)});
    const ExprId index = indices[0];
    if (!panic_ && substitutions == Substitutions::Allowed && accept(TokenKind::Substitute)) {
        const ExprId value = parse_expr(guards_);
        return add(span_from(base), Substitution{.base = base, .index = index, .value = value});
    }
    return add(span_from(base), Index{.base = base, .index = index});
}

// Whether a bracket at the beginning of a line belongs to a new statement, `[a, b..] = p`. The
// current one then lacks its `;`.
bool Parser::at_list_assignment() const {
    if (!peek().line_start) return false;
    size_t end = 1;
    while (!at(TokenKind::RBracket, end) && !at(TokenKind::LBracket, end) &&
           !at(TokenKind::Semicolon, end) && !at(TokenKind::EndOfFile, end)) {
        ++end;
    }
    return at(TokenKind::RBracket, end) && at(TokenKind::Assign, end + 1);
}

// Whether the index is guarded, directly or in one of its branches.
bool Parser::holds_guard(ExprId id) const {
    if (!id) return false;
    const ExprNode& node = module_.exprs[id].node;
    if (std::holds_alternative<Guard>(node)) return true;
    if (const auto* select = std::get_if<Select>(&node)) {
        return holds_guard(select->consequent) || holds_guard(select->alternative);
    }
    if (const auto* coalesce = std::get_if<Coalesce>(&node)) {
        return holds_guard(coalesce->value) || holds_guard(coalesce->fallback);
    }
    const auto* substitution = std::get_if<Substitution>(&node);
    return substitution && holds_guard(substitution->value);
}

// "." ("shape" | "rank" | "size")
ExprId Parser::parse_member(ExprId base) {
    advance();
    if (!at(TokenKind::Identifier)) {
        fail_expected("`shape`, `rank` or `size`");
        return base;
    }
    const Token token = advance();
    const std::string_view name = text(token);
    const Span whole = span_from(base);
    if (name == "shape") return add(whole, Member{.base = base, .member = MemberKind::Shape});
    if (name == "rank") return add(whole, Member{.base = base, .member = MemberKind::Rank});
    if (name == "size") return add(whole, Member{.base = base, .member = MemberKind::Size});
    report(span(token), DiagKind::NoMember, fmt::format("no member `{}`", name))
        .note("a value has `.shape`, `.rank` and `.size`; an operator is called as `m.op(x)`")
        .did_you_mean(span(token), diag::nearest_name(name, {"shape", "rank", "size"}));
    return add(whole, BadExpr{});
}

// ---- Names, casts and calls -------------------------------------------------------------------

// IDENTIFIER, or one of the calls that begin with it
ExprId Parser::parse_named() {
    if (at_call()) {
        const std::string_view name = text(peek());
        const bool plain = at(TokenKind::LParen, 1);
        if (plain && is_generic(name)) return parse_cast(advance());
        if (plain && is_builtin_function(name)) return parse_builtin_call(name_of(advance()));
        return parse_nested_call();
    }
    const Token token = advance();
    return add(span(token), Identifier{text(token)});
}

// Whether a call of an operator, cast or function begins here.
bool Parser::at_call() const {
    switch (peek(1).kind) {
        case TokenKind::Dot:
        case TokenKind::LParen:
        case TokenKind::LBrace:
        case TokenKind::Less:
            break;
        default:
            return false;
    }
    const size_t size = qualified_name_size();
    if (at(TokenKind::LParen, size)) return true;
    if (at(TokenKind::LBrace, size)) {
        return at(TokenKind::Identifier, size + 1) && at(TokenKind::Assign, size + 2);
    }
    // `x < y, z > (w)` are two comparisons, unless a type is between the brackets.
    const bool type = !at(TokenKind::Identifier, size + 1) || is_generic(text(peek(size + 1)));
    return type && type_arguments_at(size);
}

// cast-expr ::= type-expr "(" [rvalue-expr] ")"; called after the type
ExprId Parser::parse_cast(const Token& type) {
    const Token open = advance();
    Cast cast{.type = name_of(type), .operand = {}};
    if (!at(TokenKind::RParen)) cast.operand = parse_expr();
    close(open, TokenKind::RParen, false);
    return add(span_from(type.begin), std::move(cast));
}

namespace {

// The operator for a binary function of other languages; may be empty.
std::string_view operator_for(std::string_view function) {
    if (function == "max" || function == "maximum" || function == "fmax") return ">>";
    if (function == "min" || function == "minimum" || function == "fmin") return "<<";
    if (function == "pow" || function == "power") return "**";
    if (function == "mod" || function == "fmod") return "%";
    return {};
}

}  // namespace

// builtin-expr ::= BUILTIN "(" rvalue-expr ")"; called after the function
ExprId Parser::parse_builtin_call(Name function) {
    const uint32_t begin = function.span.begin;
    const Token open = peek();
    if (!expect(TokenKind::LParen)) return bad_expr();
    if (at(TokenKind::RParen)) {
        fail(span(peek()),
             DiagKind::UnexpectedToken,
             fmt::format("`{}` without an argument", function.text));
    }
    const ExprId operand = parse_expr();
    if (at(TokenKind::Comma)) return parse_second_argument(function, open, operand);
    close(open, TokenKind::RParen, false);
    return add(span_from(begin), BuiltinCall{.function = std::move(function), .operand = operand});
}

// Functions have one argument; what others do with two is an operator here.
ExprId Parser::parse_second_argument(const Name& function, const Token& open, ExprId first) {
    const std::string_view op = operator_for(function.text);
    if (op.empty()) {
        fail(span(peek()),
             DiagKind::UnexpectedToken,
             fmt::format("`{}` with two arguments, expected one", function.text));
        return bad_expr();
    }
    advance();
    const ExprId second = parse_expr();
    close(open, TokenKind::RParen, false);
    report_operator(function, span_from(function.span.begin), {first, second});
    return add(span_from(function.span.begin), BadExpr{});
}

// An operator call in a place that allows none: reported, and parsed as a whole.
ExprId Parser::parse_nested_call() {
    const Token first = peek();
    const bool outer = std::exchange(in_nested_call_, true);
    const Invocation call = parse_invocation();
    in_nested_call_ = outer;
    const bool maybe_cast = generics_broken_ && call.callee.parts.size() == 1;
    if (!outer && !maybe_cast) report_nested_call(call, span_from(first.begin));
    return add(span_from(first.begin), BadExpr{});
}

// A function of two arguments that is an operator.
void Parser::report_operator(const Name& function,
                             Span span,
                             const std::vector<ExprId>& arguments) {
    const std::string_view op = operator_for(function.text);
    const auto argument = [&](size_t i) { return module_.exprs[arguments[i]].span; };
    report(function.span, DiagKind::NestedCall, fmt::format("no function `{}`", function.text))
        .note(fmt::format("write `({} {} {})`", shown(argument(0)), op, shown(argument(1))))
        .fix(span, fmt::format("({} {} {})", text(argument(0)), op, text(argument(1))));
}

void Parser::report_nested_call(const Invocation& call, Span span) {
    const std::string name = call.callee.text();
    const std::string_view op = operator_for(name);
    if (!op.empty() && call.arguments.size() == 2) {
        report_operator({call.callee.parts.front().text, call.callee.span}, span, call.arguments);
        return;
    }
    diag::Report result = report(
        call.callee.span, DiagKind::NestedCall, "operator calls cannot stand inside an expression");
    result.note("assign the result to a name first");
    if (call.callee.parts.size() == 1) {
        result.did_you_mean(call.callee.span, diag::nearest_name(name, builtin_functions()));
    }
}

}  // namespace lemma::sknd
