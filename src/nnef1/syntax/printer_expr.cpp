// Expressions as text.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/match.h"
#include "nnef1/syntax/characters.h"
#include "nnef1/syntax/printer_impl.h"
#include "nnef1/syntax/tokens.h"

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

// Whether a `^` behind it would become part of the operand of a sign: a ^ -b.
bool Printer::ends_in_sign(ExprId id) const {
    while (const Binary* binary = std::get_if<Binary>(&nodes_.exprs[id].node)) id = binary->rhs;
    return level_of(id) == kSign;
}

// ---- Expressions ------------------------------------------------------------------------------

void Printer::expr(ExprId id, int least, size_t tail) {
    if (given_up()) return;
    const bool parentheses = level_of(id) < least;
    if (parentheses) out_ += '(';
    if (flat_ > 0) {
        node(id, Layout::Flat);
    } else if (!fits_here("", [&] { node(id, Layout::Flat); }, tail + (parentheses ? 1 : 0))) {
        node(id, Layout::Broken);
    }
    if (parentheses) out_ += ')';
}

void Printer::node(ExprId id, Layout layout) {
    match(
        nodes_.exprs[id].node,
        [&](const BadExpr&) { out_ += "~bad~"; },
        [&](const IntegerLiteral& n) { fmt::format_to(std::back_inserter(out_), "{}", n.value()); },
        [&](const ScalarLiteral& n) { scalar(id, n.value()); },
        [&](const LogicalLiteral& n) { out_ += n.value ? "true" : "false"; },
        [&](const StringLiteral& n) { string(id, n.value); },
        [&](const Identifier& n) { name(n.name); },
        [&](const Paren& n) {
            out_ += '(';
            expr(n.inner, kAny, 1);
            out_ += ')';
        },
        [&](const Array& n) {
            out_ += '[';
            list(nodes_.items(n.items), layout, [&](ExprId item) { expr(item, kAny, 1); });
            out_ += ']';
        },
        [&](const Tuple& n) {
            if (n.parentheses) out_ += '(';
            list(nodes_.items(n.items), layout, [&](ExprId item) { expr(item, kAny, 1); });
            if (n.parentheses) out_ += ')';
        },
        [&](const Subscript& n) { subscript(n.base, n.index, ExprId{}, false); },
        [&](const SubscriptRange& n) { subscript(n.base, n.begin, n.end, true); },
        [&](const Unary& n) { unary(n, layout); },
        [&](const Binary& n) { binary(n, layout); },
        [&](const IfElse& n) { if_else(n, layout); },
        [&](const Comprehension& n) { comprehension(n, layout); },
        [&](const BuiltinCall& n) {
            out_ += spelling(n.function);
            out_ += '(';
            expr(n.argument, kAny, 1);
            out_ += ')';
        },
        [&](InvocationId n) { invocation(nodes_.invocations[n], layout); });
}

void Printer::binary(const Binary& node, Layout layout) {
    const int level = level_of(node.op);
    const bool lhs_parens = level == kPower && ends_in_sign(node.lhs);
    expr(node.lhs, lhs_parens ? kPostfix : level);
    Indent indent(*this, layout == Layout::Broken);
    layout == Layout::Broken ? new_line() : void(out_ += ' ');
    out_ += spelling(node.op);
    out_ += ' ';
    // A sign may stand behind any operator.
    const bool sign = level_of(node.rhs) == kSign;
    expr(node.rhs, sign ? kSign : level + 1);
}

void Printer::unary(const Unary& node, Layout) {
    out_ += spelling(node.op);
    // -2 would be one literal.
    const bool literal = node.op == UnaryOp::Minus && is_number(node.operand);
    const bool positive = literal && level_of(node.operand) == kPostfix;
    if (positive) out_ += '(';
    expr(node.operand, kSign);
    if (positive) out_ += ')';
}

void Printer::if_else(const IfElse& node, Layout layout) {
    const auto part = [&](std::string_view keyword, ExprId id) {
        layout == Layout::Broken ? new_line() : void(out_ += ' ');
        out_ += keyword;
        out_ += ' ';
        expr(id, kAny);
    };
    expr(node.consequent, kIn);
    Indent indent(*this, layout == Layout::Broken);
    part("if", node.condition);
    part("else", node.alternative);
}

void Printer::comprehension(const Comprehension& node, Layout layout) {
    out_ += "[for ";
    Indent indent(*this, layout == Layout::Broken);
    bool first = true;
    for (const Iterator& iterator : nodes_.items(node.iterators)) {
        if (!first) out_ += ", ";
        first = false;
        name(iterator.name.text);
        out_ += " in ";
        expr(iterator.range, kIn, 1);
    }
    const auto part = [&](std::string_view keyword, ExprId id) {
        layout == Layout::Broken ? new_line() : void(out_ += ' ');
        out_ += keyword;
        out_ += ' ';
        expr(id, kAny, 1);
    };
    if (node.condition) part("if", node.condition);
    part("yield", node.value);
    out_ += ']';
}

void Printer::subscript(ExprId base, ExprId begin, ExprId end, bool range) {
    expr(base, kPostfix);
    out_ += '[';
    if (begin) expr(begin, kAny, 1);
    if (range) out_ += ':';
    if (end) expr(end, kAny, 1);
    out_ += ']';
}

void Printer::invocation(const Invocation& node, Layout layout) {
    name(node.name);
    if (node.type) out_ += fmt::format("<{}>", spelling(*node.type));
    out_ += '(';
    list(nodes_.items(node.args), layout, [&](const Argument& arg) { argument(arg); });
    out_ += ')';
}

void Printer::argument(const Argument& argument) {
    if (!argument.name.empty()) {
        name(argument.name);
        out_ += " = ";
    }
    expr(argument.value, kAny, 1);
}

// ---- Literals and names -----------------------------------------------------------------------

std::string_view Printer::source_text(Span span) const {
    if (!span.valid() || span.file.value >= sources_.size()) return {};
    return sources_.text(span);
}

// As written, if it was; else the shortest text that reads back as the same number.
void Printer::scalar(ExprId id, double value) {
    if (std::signbit(value)) out_ += '-';
    const std::string_view written = source_text(nodes_.exprs[id].span);
    if (!written.empty() && std::isfinite(value)) {
        // Between a sign and its number may stand spaces and comments.
        std::string_view digits = written.substr(written.find_last_not_of("0123456789.eE+-") + 1);
        if (digits.starts_with('-')) digits.remove_prefix(1);
        out_ += digits;
        return;
    }
    const std::string text = fmt::format("{}", std::fabs(value));
    out_ += text;
    if (text.find_first_not_of("0123456789") == text.npos) out_ += ".0";
}

void Printer::string(ExprId id, std::string_view value) {
    const std::string_view written = source_text(nodes_.exprs[id].span);
    if (!written.empty()) {
        out_ += written;
        return;
    }
    out_ += '\'';
    for (const char c : value) {
        const bool escape = c == '\'' || c == '\\';
        if (escape && options_.dialect != Dialect::Khronos) out_ += '\\';
        out_ += c;
    }
    out_ += '\'';
}

void Printer::name(std::string_view text) {
    const bool tract = options_.dialect == Dialect::Tract;
    const bool plain = is_identifier(text) && word_kind(text) == TokenKind::Identifier;
    if (!tract || (plain && text != "inf")) {
        out_ += text;
        return;
    }
    out_ += "i\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out_ += '\\';
        out_ += c;
    }
    out_ += '"';
}

}  // namespace lemma::nnef1
