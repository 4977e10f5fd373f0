// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/match.h"
#include "sknd/print/printer_impl.h"
#include "sknd/syntax/parser_impl.h"  // is_builtin_function

namespace lemma::sknd {

namespace {

// The node of an expression; it is missing if parsing failed.
const decltype(Expr::node)& node_at(const Module& module, ExprId id) {
    static const Expr kBad{};
    return id ? module.exprs[id].node : kBad.node;
}

template <class T>
const T* as(const Module& module, ExprId id) {
    return std::get_if<T>(&node_at(module, id));
}

// True if the lexer would read a following `..` as part of this text: `1..` is `1.` and a dot.
bool swallows_dots(std::string_view text) {
    if (text.ends_with('.')) return true;
    const auto in_word = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '.';
    };
    size_t begin = text.size();
    while (begin > 0 && in_word(text[begin - 1])) --begin;
    while (begin < text.size() && text[begin] == '.') ++begin;  // of `..n`
    return begin < text.size() && text[begin] >= '0' && text[begin] <= '9';
}

// The first operand of an expression, if the expression begins with one.
ExprId first_operand(const Module& module, ExprId id) {
    return match(
        node_at(module, id),
        [](const Binary& n) { return n.lhs; },
        [](const Fold& n) { return n.operand; },
        [](const Select& n) { return n.condition; },
        [](const Coalesce& n) { return n.value; },
        [](const Index& n) { return n.base; },
        [](const Access& n) { return n.base; },
        [](const Member& n) { return n.base; },
        [](const Substitution& n) { return n.base; },
        [](const auto&) { return ExprId{}; });
}

}  // namespace

// ---- Where an expression stands ----

void Printer::expr(ExprId id, Level least) {
    if (needs_parens(id, least)) {
        parens(id);
    } else if (breaks_at_operators(id)) {
        out_.nest([&] { node(id); });
    } else {
        node(id);
    }
}

void Printer::flush_expr(ExprId id) { node(id); }

void Printer::expr_before_colon(ExprId id) { ends_in_open_select(id) ? parens(id) : expr(id); }

void Printer::assigned_expr(ExprId id) {
    if (opens_bracket(id)) {
        out_.text(" ");
        return node(id);
    }
    out_.group([&] {
        out_.nest([&] {
            out_.line();
            flush_expr(id);
        });
    });
}

void Printer::parens(ExprId id) {
    if (!opens_bracket(id)) return bracketed("(", ")", [&] { flush_expr(id); });
    out_.text("(");  // `([` opens two brackets but indents once
    node(id);
    out_.text(")");
}

void Printer::node(ExprId id) {
    std::visit([&](const auto& node) { node_of(node, id); }, node_at(module_, id));
}

// ---- When parentheses are needed ----

Level Printer::level_of(ExprId id) const {
    return match(
        node_at(module_, id),
        [](const IntLiteral& n) { return n.value < 0 ? Level::Unary : Level::Primary; },
        [](const RealLiteral& n) { return n.value < 0 ? Level::Unary : Level::Primary; },
        [](const Unary&) { return Level::Unary; },
        [](const NullTest&) { return Level::Unary; },
        [](const Binary& n) { return level(n.op); },
        [](const Fold& n) { return level(n.op); },
        [](const Select&) { return Level::Select; },
        [](const Coalesce&) { return Level::Any; },
        [](const Substitution&) { return Level::Any; },
        [](const auto&) { return Level::Primary; });
}

bool Printer::needs_parens(ExprId id, Level least) const {
    // The reference accepts only the same operator after a fold.
    if (khronos() && as<Fold>(module_, id) && least > Level::Any) return true;
    return level_of(id) < least;
}

// Whether the left operand is an operator of the same level, written without parentheses.
bool Printer::joins_chain(ExprId parent, ExprId lhs) const {
    const auto* binary = as<Binary>(module_, parent);
    const auto* fold = as<Fold>(module_, lhs);
    if (level_of(lhs) != level_of(parent)) return false;
    if (!fold || !khronos()) return fold || as<Binary>(module_, lhs);
    return binary && symbol(binary->op, Spelling::Spec) == symbol(fold->op, Spelling::Spec);
}

bool Printer::ends_in_open_select(ExprId id) const {
    while (true) {
        if (const auto* select = as<Select>(module_, id)) {
            if (!select->alternative) return true;
            id = select->alternative;
        } else if (const auto* coalesce = as<Coalesce>(module_, id)) {
            id = coalesce->fallback;
        } else if (const auto* substitution = as<Substitution>(module_, id)) {
            id = substitution->value;
        } else {
            return false;
        }
    }
}

// With plain function names, `y = sin(x)` calls an operator and `sin(x) + 1` the function.
bool Printer::reads_as_invocation(ExprId id) const {
    if (!khronos()) return false;
    bool word_follows = true;  // `is`, `in` or nothing follows the leftmost operand
    while (true) {
        if (as<BuiltinCall>(module_, id)) return word_follows;
        const ExprId first = first_operand(module_, id);
        if (!first) return false;
        const auto* binary = as<Binary>(module_, id);
        word_follows = binary && (binary->op == BinaryOp::Is || binary->op == BinaryOp::In);
        id = first;
    }
}

// ---- Where lines are broken ----

bool Printer::breaks_at_operators(ExprId id) const { return level_of(id) < Level::Unary; }

bool Printer::opens_bracket(ExprId id) const {
    const auto* substitution = as<Substitution>(module_, id);
    if (substitution) return opens_bracket(substitution->value);
    return as<List>(module_, id) || as<Paren>(module_, id) || as<Cast>(module_, id) ||
           as<BuiltinCall>(module_, id);
}

bool Printer::is_short(ExprId id) const {
    return match(
        node_at(module_, id),
        [&](const Unary& n) { return is_short(n.operand); },
        [&](const Expand& n) { return is_short(n.item); },
        [&](const Range& n) {
            return std::ranges::all_of(std::initializer_list{n.begin, n.end, n.step},
                                       [&](ExprId part) { return !part || is_short(part); });
        },
        [&](const Member& n) { return as<Identifier>(module_, n.base) != nullptr; },
        [](const StringLiteral& n) { return n.piece_count <= 1; },
        [](const IntLiteral&) { return true; },
        [](const RealLiteral&) { return true; },
        [](const BoolLiteral&) { return true; },
        [](const InfLiteral&) { return true; },
        [](const PiLiteral&) { return true; },
        [](const Identifier&) { return true; },
        [](const Omitted&) { return true; },
        [](const auto&) { return false; });
}

// ---- Operators ----

void Printer::operators(ExprId id) {
    const Level chain_level = level_of(id);
    std::vector<ExprId> chain{id};  // outermost first, down the left side
    while (true) {
        const auto* binary = as<Binary>(module_, id);
        const ExprId lhs = binary ? binary->lhs : as<Fold>(module_, id)->operand;
        const bool joins = joins_chain(id, lhs);
        id = lhs;
        if (!joins) break;
        chain.push_back(id);
    }
    out_.group([&] {
        expr(id, chain_level);
        for (; !chain.empty(); chain.pop_back()) {
            const ExprId next = chain.back();
            if (const auto* fold = as<Fold>(module_, next)) {
                out_.text(" ");
                out_.text(symbol(fold->op, options_.spelling));
                out_.text(fold->cumulative ? " ..." : " ..");
            } else {
                const Binary& binary = *as<Binary>(module_, next);
                out_.line();
                out_.text(symbol(binary.op, options_.spelling));
                out_.text(" ");
                right_operand(binary, chain.size() == 1);
            }
        }
    });
}

void Printer::right_operand(const Binary& binary, bool last) {
    // `2 ** -1` needs none, though a prefix binds looser than a power; but the prefix takes
    // everything that follows.
    const bool bare = binary.op == BinaryOp::Pow && last && level_of(binary.rhs) == Level::Unary;
    bare ? node(binary.rhs) : expr(binary.rhs, tighter(level(binary.op)));
}

void Printer::node_of(const Unary& unary, ExprId) {
    out_.text(symbol(unary.op));
    expr(unary.operand, Level::Unary);
}

void Printer::node_of(const NullTest& test, ExprId) {
    out_.text(as<NullTest>(module_, test.operand) ? "? " : "?");  // `??` is another operator
    expr(test.operand, Level::Unary);
}

// A ladder: one `c ? a` per line, the following ones after a `:`.
void Printer::node_of(const Select& first, ExprId) {
    out_.group([&] {
        const Select* select = &first;
        while (true) {
            out_.group([&] {
                expr(select->condition, tighter(Level::Select));
                out_.nest([&] {
                    out_.line();
                    out_.text("? ");
                    select->alternative ? expr_before_colon(select->consequent)
                                        : expr(select->consequent);
                });
            });
            if (!select->alternative) return;
            out_.line();
            out_.text(": ");
            const auto* next = as<Select>(module_, select->alternative);
            if (!next) return expr(select->alternative);
            select = next;
        }
    });
}

void Printer::node_of(const Coalesce& first, ExprId) {
    out_.group([&] {
        const Coalesce* coalesce = &first;
        while (true) {
            expr(coalesce->value, tighter(Level::Select));
            out_.line();
            out_.text("?? ");
            const auto* next = as<Coalesce>(module_, coalesce->fallback);
            if (!next) return expr(coalesce->fallback);
            coalesce = next;
        }
    });
}

void Printer::node_of(const Substitution& substitution, ExprId) {
    postfix_base(substitution.base);
    bracketed("[", "]", [&] { flush_expr(substitution.index); });
    out_.text(" <-");
    assigned_expr(substitution.value);
}

// ---- Brackets ----

void Printer::postfix(ExprId id) {
    std::vector<ExprId> chain;  // outermost first
    while (true) {
        const auto* member = as<Member>(module_, id);
        const auto* index = as<Index>(module_, id);
        const auto* access = as<Access>(module_, id);
        if (!member && !index && !access) break;
        chain.push_back(id);
        id = member ? member->base : index ? index->base : access->base;
    }
    postfix_base(id);
    for (; !chain.empty(); chain.pop_back()) {
        match(
            node_at(module_, chain.back()),
            [&](const Member& n) {
                out_.text(".");
                out_.text(symbol(n.member));
            },
            [&](const Index& n) { bracketed("[", "]", [&] { flush_expr(n.index); }); },
            [&](const Access& n) { access_indices(n.indices); },
            [](const auto&) {});
    }
}

void Printer::postfix_base(ExprId id) {
    // `1.shape` is not a number, and the reference indexes neither calls nor strings.
    const bool number = as<IntLiteral>(module_, id) || as<RealLiteral>(module_, id);
    const bool call =
        as<Cast>(module_, id) || as<BuiltinCall>(module_, id) || as<StringLiteral>(module_, id);
    number || (call && khronos()) ? parens(id) : expr(id, Level::Primary);
}

void Printer::access_indices(const std::vector<ExprId>& indices) {
    if (indices.empty()) return out_.text("[]");
    bracketed("[", "]", [&] {
        separated(indices, [&](ExprId index) { expr(index); });
        // The comma distinguishes an access from the indexing of a pack; so does an expansion.
        if (indices.size() == 1 && !as<Expand>(module_, indices[0])) out_.text(",");
    });
}

void Printer::node_of(const Paren& paren, ExprId) { parens(paren.inner); }

void Printer::node_of(const List& list, ExprId) {
    if (list.items.empty()) return out_.text("[]");
    bracketed("[", "]", [&] { side_by_side_if_short(list.items, [&](ExprId id) { expr(id); }); });
}

void Printer::node_of(const Zip& zip, ExprId) {
    bracketed("(", ")", [&] { separated(zip.items, [&](ExprId id) { expr(id); }); });
}

void Printer::node_of(const Cast& cast, ExprId) {
    out_.text(cast.type.text);
    cast.operand ? parens(cast.operand) : out_.text("()");
}

void Printer::node_of(const BuiltinCall& call, ExprId) {
    // An unknown function keeps its ticks: without them it would be an operator.
    const bool plain = khronos() && is_builtin_function(call.function.text);
    const std::string_view tick = plain ? "" : "`";
    out_.text(tick);
    out_.text(call.function.text);
    out_.text(tick);
    parens(call.operand);
}

void Printer::node_of(const Guard& guard, ExprId) {
    out_.text("|");
    expr(guard.index);
    if (guard.below) {
        out_.text(" <> ");
        expr_before_colon(guard.below);
        out_.text(" : ");
        expr(guard.above);
    }
    out_.text("|");
}

// ---- Ranges and expansions ----

void Printer::node_of(const Range& range, ExprId) {
    range_part(range.begin);
    out_.text(":");
    range_part(range.end);
    if (!range.step) return;
    out_.text(":");
    range_part(range.step);
}

void Printer::range_part(ExprId id) {
    if (id) expr(id, tighter(Level::Select));
}

void Printer::node_of(const Expand& expand, ExprId) {
    expr(expand.item);
    dots();
    if (expand.count) parens(expand.count);
}

void Printer::dots() { out_.text(swallows_dots(out_.last_text()) ? " .." : ".."); }

}  // namespace lemma::sknd
