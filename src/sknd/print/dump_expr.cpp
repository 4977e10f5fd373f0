// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/match.h"
#include "sknd/print/dump_impl.h"
#include "sknd/print/printer_impl.h"

namespace lemma::sknd {

ExprId Dumper::without_parens(ExprId id) const {
    while (const auto* paren = std::get_if<Paren>(&module_.exprs[id].node)) id = paren->inner;
    return id;
}

// Long chains grow on the left side, which is walked in a loop. The other sides are short.
void Dumper::expr(ExprId id) {
    if (!id) return word("bad");  // did not parse
    std::vector<ExprId> opened;
    for (id = without_parens(id); id; id = first_operand(id)) {
        const std::string text = head(id);
        word(text);
        if (text.starts_with('(')) opened.push_back(id);
    }
    for (; !opened.empty(); opened.pop_back()) {
        other_operands(opened.back());
        out_ += ')';
    }
}

// `(operator` if there are operands, else the whole expression.
std::string Dumper::head(ExprId id) const {
    const Spelling spec = Spelling::Spec;
    return match(
        module_.exprs[id].node,
        [](const BadExpr&) -> std::string { return "bad"; },
        [](const IntLiteral& n) { return fmt::format("{}", n.value); },
        [](const RealLiteral& n) { return fmt::format("(real {:.17g}", n.value); },
        [](const BoolLiteral& n) -> std::string { return n.value ? "true" : "false"; },
        [](const InfLiteral&) -> std::string { return "inf"; },
        [](const PiLiteral&) -> std::string { return "pi"; },
        [](const StringLiteral&) -> std::string { return "(str"; },
        [](const Identifier& n) { return std::string(n.name); },
        [](const Member& n) { return fmt::format("(.{}", symbol(n.member)); },
        [](const Paren&) -> std::string { return ""; },
        [](const List&) -> std::string { return "(list"; },
        [](const Range&) -> std::string { return "(range"; },
        [](const Expand&) -> std::string { return "(expand"; },
        [](const Zip&) -> std::string { return "(zip"; },
        [](const Index&) -> std::string { return "(index"; },
        [](const Access&) -> std::string { return "(access"; },
        [](const Guard&) -> std::string { return "(guard"; },
        [](const Substitution&) -> std::string { return "(substitute"; },
        [](const Unary& n) { return fmt::format("({}", symbol(n.op)); },
        [](const Binary& n) { return fmt::format("({}", symbol(n.op, spec)); },
        [](const Select&) -> std::string { return "(select"; },
        [](const Coalesce&) -> std::string { return "(??"; },
        [](const NullTest&) -> std::string { return "(?"; },
        [](const Fold& n) {
            return fmt::format("({} {}", n.cumulative ? "scan" : "fold", symbol(n.op, spec));
        },
        [](const Cast& n) { return fmt::format("(cast {}", n.type.text); },
        [](const BuiltinCall& n) { return fmt::format("(`{}`", n.function.text); },
        [](const Omitted&) -> std::string { return "~"; });
}

ExprId Dumper::first_operand(ExprId id) const {
    const ExprId first = match(
        module_.exprs[id].node,
        [](const Member& n) { return n.base; },
        [](const Index& n) { return n.base; },
        [](const Access& n) { return n.base; },
        [](const Substitution& n) { return n.base; },
        [](const Unary& n) { return n.operand; },
        [](const Binary& n) { return n.lhs; },
        [](const Select& n) { return n.condition; },
        [](const Coalesce& n) { return n.value; },
        [](const NullTest& n) { return n.operand; },
        [](const Fold& n) { return n.operand; },
        [](const Cast& n) { return n.operand; },
        [](const BuiltinCall& n) { return n.operand; },
        [](const Expand& n) { return n.item; },
        [](const Guard& n) { return n.index; },
        [](const auto&) { return ExprId{}; });
    return first ? without_parens(first) : first;
}

void Dumper::other_operands(ExprId id) {
    match(
        module_.exprs[id].node,
        [&](const StringLiteral& n) { string(n); },
        [&](const List& n) { exprs(n.items); },
        [&](const Zip& n) { exprs(n.items); },
        [&](const Access& n) { exprs(n.indices); },
        [&](const Index& n) { expr(n.index); },
        [&](const Binary& n) { expr(n.rhs); },
        [&](const Coalesce& n) { expr(n.fallback); },
        [&](const Range& n) {
            optional_expr(n.begin);
            optional_expr(n.end);
            optional_expr(n.step);
        },
        [&](const Expand& n) {
            if (n.count) expr(n.count);
        },
        [&](const Guard& n) {
            if (n.below) exprs({n.below, n.above});
        },
        [&](const Substitution& n) { exprs({n.index, n.value}); },
        [&](const Select& n) {
            expr(n.consequent);
            if (n.alternative) expr(n.alternative);
        },
        [](const auto&) {});
}

void Dumper::string(const StringLiteral& literal) {
    std::string text;
    const auto flush = [&] {
        if (!text.empty()) word(quoted(text, '"'));
        text.clear();
    };
    for (const StringLiteral::Part& part : literal.parts) {
        if (!part.expr) {
            text += part.text;
            continue;
        }
        flush();
        nested("format", [&] { expr(part.expr); });
    }
    flush();
}

}  // namespace lemma::sknd
