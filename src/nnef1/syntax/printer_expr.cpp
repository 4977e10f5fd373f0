// SPDX-License-Identifier: Apache-2.0
// Expressions as text.
#include <fmt/format.h>

#include <cmath>

#include "base/match.h"
#include "nnef1/syntax/printer_impl.h"
#include "nnef1/syntax/tokens.h"
#include "text/characters.h"

namespace lemma::nnef1 {

// ---- Levels -----------------------------------------------------------------------------------

int Printer::level_of(BinaryOp op) {
    switch (op) {
        case BinaryOp::In:
            return kIn;
        case BinaryOp::And:
        case BinaryOp::Or:
            return kLogical;
        case BinaryOp::Less:
        case BinaryOp::LessEqual:
        case BinaryOp::Greater:
        case BinaryOp::GreaterEqual:
        case BinaryOp::Equal:
        case BinaryOp::NotEqual:
            return kCompare;
        case BinaryOp::Add:
        case BinaryOp::Sub:
            return kSum;
        case BinaryOp::Mul:
        case BinaryOp::Div:
            return kProduct;
        case BinaryOp::Pow:
            return kPower;
    }
    return kAny;
}

int Printer::level_of(ExprId id) const {
    return match(
        nodes_.exprs[id].node,
        [](const IfElse&) -> int { return kAny; },
        [](const Binary& binary) { return level_of(binary.op); },
        [](const Unary&) -> int { return kSign; },
        [](const IntegerLiteral& literal) -> int { return literal.value() < 0 ? kSign : kPostfix; },
        [](const ScalarLiteral& literal) -> int {
            return std::signbit(literal.value()) ? kSign : kPostfix;
        },
        [](const auto&) -> int { return kPostfix; });
}

bool Printer::is_number(ExprId id) const {
    const auto& node = nodes_.exprs[id].node;
    return std::holds_alternative<IntegerLiteral>(node) ||
           std::holds_alternative<ScalarLiteral>(node);
}

// Whether a following `^` would become part of the operand of a sign: a ^ -b.
bool Printer::ends_in_sign(ExprId id) const {
    while (const Binary* binary = std::get_if<Binary>(&nodes_.exprs[id].node)) id = binary->rhs;
    return level_of(id) == kSign;
}

// ---- Expressions ------------------------------------------------------------------------------

void Printer::expr(ExprId id, int least) {
    const bool parentheses = level_of(id) < least;
    if (parentheses) out_.text("(");
    if (can_break(id)) {
        out_.group([&] { node(id); });
    } else {
        node(id);
    }
    if (parentheses) out_.text(")");
}

// Whether lines may break inside it.
bool Printer::can_break(ExprId id) const {
    return match(
        nodes_.exprs[id].node,
        [](const Array&) { return true; },
        [](const Tuple&) { return true; },
        [](const Binary&) { return true; },
        [](const IfElse&) { return true; },
        [](const Comprehension&) { return true; },
        [](InvocationId) { return true; },
        [](const auto&) { return false; });
}

void Printer::node(ExprId id) {
    const auto items = [&](Slice<ExprId> slice) {
        list(nodes_.items(slice), [&](ExprId item) { expr(item, kAny); });
    };
    match(
        nodes_.exprs[id].node,
        [&](const BadExpr&) { out_.text("~bad~"); },
        [&](const IntegerLiteral& n) { out_.text(fmt::format("{}", n.value())); },
        [&](const ScalarLiteral& n) { scalar(id, n.value()); },
        [&](const LogicalLiteral& n) { out_.text(n.value ? "true" : "false"); },
        [&](const StringLiteral& n) { string(id, n.value); },
        [&](const Identifier& n) { name(n.name); },
        [&](const Paren& n) {
            out_.text("(");
            expr(n.inner, kAny);
            out_.text(")");
        },
        [&](const Array& n) {
            out_.text("[");
            items(n.items);
            out_.text("]");
        },
        [&](const Tuple& n) {
            if (n.parentheses) out_.text("(");
            items(n.items);
            if (n.parentheses) out_.text(")");
        },
        [&](const Subscript& n) { subscript(n.base, n.index, ExprId{}, false); },
        [&](const SubscriptRange& n) { subscript(n.base, n.begin, n.end, true); },
        [&](const Unary& n) { unary(n); },
        [&](const Binary& n) { binary(n); },
        [&](const IfElse& n) { if_else(n); },
        [&](const Comprehension& n) { comprehension(n); },
        [&](const BuiltinCall& n) {
            out_.text(spelling(n.function));
            out_.text("(");
            expr(n.argument, kAny);
            out_.text(")");
        },
        [&](InvocationId n) { invocation(nodes_.invocations[n]); });
}

void Printer::binary(const Binary& node) {
    const int level = level_of(node.op);
    const bool lhs_parens = level == kPower && ends_in_sign(node.lhs);
    expr(node.lhs, lhs_parens ? kPostfix : level);
    out_.nest([&] {
        out_.line();
        out_.text(spelling(node.op));
        out_.text(" ");
        // A sign may follow any operator.
        const bool sign = level_of(node.rhs) == kSign;
        expr(node.rhs, sign ? kSign : level + 1);
    });
}

void Printer::unary(const Unary& node) {
    out_.text(spelling(node.op));
    // -2 would be one literal.
    const bool literal = node.op == UnaryOp::Minus && is_number(node.operand);
    const bool positive = literal && level_of(node.operand) == kPostfix;
    if (positive) out_.text("(");
    expr(node.operand, kSign);
    if (positive) out_.text(")");
}

void Printer::part(std::string_view keyword, ExprId id) {
    out_.line();
    out_.text(keyword);
    out_.text(" ");
    expr(id, kAny);
}

void Printer::if_else(const IfElse& node) {
    expr(node.consequent, kIn);
    out_.nest([&] {
        part("if", node.condition);
        part("else", node.alternative);
    });
}

void Printer::comprehension(const Comprehension& node) {
    out_.text("[for ");
    out_.nest([&] {
        bool first = true;
        for (const Iterator& iterator : nodes_.items(node.iterators)) {
            if (!first) out_.text(", ");
            first = false;
            name(iterator.name.text);
            out_.text(" in ");
            expr(iterator.range, kIn);
        }
        if (node.condition) part("if", node.condition);
        part("yield", node.value);
    });
    out_.text("]");
}

void Printer::subscript(ExprId base, ExprId begin, ExprId end, bool range) {
    expr(base, kPostfix);
    out_.text("[");
    if (begin) expr(begin, kAny);
    if (range) out_.text(":");
    if (end) expr(end, kAny);
    out_.text("]");
}

void Printer::invocation(const Invocation& node) {
    name(node.name);
    if (node.type) out_.text(fmt::format("<{}>", spelling(*node.type)));
    out_.text("(");
    list(nodes_.items(node.args), [&](const Argument& arg) { argument(arg); });
    out_.text(")");
}

void Printer::argument(const Argument& argument) {
    if (!argument.name.empty()) {
        name(argument.name);
        out_.text(" = ");
    }
    expr(argument.value, kAny);
}

// ---- Literals and names -----------------------------------------------------------------------

std::string_view Printer::source_text(Span span) const {
    if (!span.valid() || span.file.value >= sources_.size()) return {};
    return sources_.text(span);
}

// As written, if it was parsed; else the shortest text that reads back as the same number.
void Printer::scalar(ExprId id, double value) {
    if (std::signbit(value)) out_.text("-");
    const std::string_view written = source_text(nodes_.exprs[id].span);
    if (!written.empty() && std::isfinite(value)) {
        // Spaces and comments may be between a sign and its number.
        std::string_view digits = written.substr(written.find_last_not_of("0123456789.eE+-") + 1);
        if (digits.starts_with('-')) digits.remove_prefix(1);
        return out_.text(digits);
    }
    const std::string text = fmt::format("{}", std::fabs(value));
    out_.text(text);
    if (text.find_first_not_of("0123456789") == text.npos) out_.text(".0");
}

void Printer::string(ExprId id, std::string_view value) {
    const std::string_view written = source_text(nodes_.exprs[id].span);
    if (!written.empty()) return out_.text(written);
    std::string quoted = "'";
    for (const char c : value) {
        const bool escape = c == '\'' || c == '\\';
        if (escape && options_.dialect != Dialect::Khronos) quoted += '\\';
        quoted += c;
    }
    out_.text(quoted + '\'');
}

void Printer::name(std::string_view text) {
    const bool tract = options_.dialect == Dialect::Tract;
    const bool plain = text::is_identifier(text) && word_kind(text) == TokenKind::Identifier;
    if (!tract || (plain && text != "inf")) return out_.text(text);
    std::string quoted = "i\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    out_.text(quoted + '"');
}

}  // namespace lemma::nnef1
