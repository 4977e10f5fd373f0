// SPDX-License-Identifier: Apache-2.0
// sknd/eval/eval.cpp — dispatches a node of the syntax tree to the function that evaluates it; and
// the expressions that choose: `?:`, `??`, `?x`.
#include "sknd/eval/eval.h"

#include <fmt/format.h>

#include <numbers>

#include "base/match.h"
#include "sknd/eval/evaluator.h"

namespace lemma::sknd {

std::optional<CompileValue> evaluate(const Module& module,
                                     ExprId expr,
                                     const Environment& environment,
                                     ir::SymbolPool& symbols,
                                     const EvalLimits& limits,
                                     Diagnostics& diag) {
    if (!expr) return std::nullopt;
    return Evaluator(module, environment, symbols, limits, diag).eval(expr);
}

// One object instead of a lambda for each kind of node, because every expression passes here.
struct Evaluator::EvalNode {
    Evaluator& evaluator;
    ExprId id;
    Span span;

    static MaybeValue scalar(Scalar value) {
        return MaybeValue(std::in_place, std::in_place_type<Scalar>, std::move(value));
    }
    MaybeValue misplaced(std::string_view what) const {
        return evaluator.error(
            span, DiagKind::MisplacedItem, fmt::format("{} outside of a list or index", what));
    }

    MaybeValue operator()(const IntLiteral& literal) const { return scalar(literal.value); }
    MaybeValue operator()(const RealLiteral& literal) const { return scalar(literal.value); }
    MaybeValue operator()(const BoolLiteral& literal) const { return scalar(literal.value); }
    MaybeValue operator()(const InfLiteral&) const {
        return scalar(std::numeric_limits<double>::infinity());
    }
    MaybeValue operator()(const PiLiteral&) const { return scalar(std::numbers::pi); }
    MaybeValue operator()(const StringLiteral& literal) const {
        return evaluator.eval_string(literal, span);
    }
    MaybeValue operator()(const Identifier& identifier) const {
        const CompileValue* value = evaluator.env_.lookup(identifier.name);
        return value ? MaybeValue(*value) : std::nullopt;
    }
    MaybeValue operator()(const Member& member) const { return evaluator.eval_member(member); }
    MaybeValue operator()(const Paren& paren) const { return evaluator.eval(paren.inner); }
    MaybeValue operator()(const List& list) const { return evaluator.eval_list(list, span); }
    MaybeValue operator()(const Range&) const { return misplaced("range"); }
    MaybeValue operator()(const Expand&) const { return misplaced("expansion"); }
    MaybeValue operator()(const Zip&) const { return misplaced("zip"); }
    MaybeValue operator()(const Index& index) const { return evaluator.eval_index(index, span); }
    MaybeValue operator()(const Substitution& node) const {
        return evaluator.eval_substitution(node, span);
    }
    MaybeValue operator()(const Unary& node) const { return evaluator.eval_unary(node, span); }
    MaybeValue operator()(const Binary&) const { return evaluator.eval_binary(id); }
    MaybeValue operator()(const Select& node) const { return evaluator.eval_select(node, span); }
    MaybeValue operator()(const Coalesce& node) const {
        MaybeValue value = evaluator.eval(node.value);
        return value && is_null(*value) ? evaluator.eval(node.fallback) : std::move(value);
    }
    MaybeValue operator()(const NullTest& node) const {
        MaybeValue storage;
        const CompileValue* value = evaluator.borrow(node.operand, storage);
        return value ? scalar(!is_null(*value)) : std::nullopt;
    }
    MaybeValue operator()(const Fold& node) const { return evaluator.eval_fold(node, span); }
    MaybeValue operator()(const Cast& node) const { return evaluator.eval_cast(node, span); }
    MaybeValue operator()(const BuiltinCall& node) const {
        return evaluator.eval_builtin(node, span);
    }
    MaybeValue operator()(const Access&) const { return evaluator.env_.access(id); }
    MaybeValue operator()(const Guard&) const { return evaluator.env_.guard(id); }
    MaybeValue operator()(const Omitted&) const { return std::nullopt; }
    MaybeValue operator()(const BadExpr&) const { return std::nullopt; }
};

MaybeValue Evaluator::eval(ExprId id) {
    if (depth_ >= limits_.max_depth)
        return error(expr(id).span,
                     DiagKind::TooDeep,
                     fmt::format("expression is nested deeper than {} levels", limits_.max_depth));
    ++depth_;
    MaybeValue result = std::visit(EvalNode{*this, id, expr(id).span}, expr(id).node);
    --depth_;
    const auto* pack = result ? std::get_if<Pack>(&*result) : nullptr;
    if (pack && !charge(pack->items.size(), expr(id).span)) return std::nullopt;
    return result;
}

bool Evaluator::charge(size_t items, Span span) {
    if (items == 0 || env_.spend(items)) return true;
    error(span, DiagKind::TooLarge, "too much work on packs (--max-work raises the limit)");
    return false;
}

// ---- borrowing --------------------------------------------------------------------------------

// The value of an identifier, in any number of parentheses.
const CompileValue* Evaluator::find(ExprId id) const {
    while (const auto* paren = std::get_if<Paren>(&expr(id).node)) id = paren->inner;
    const auto* identifier = std::get_if<Identifier>(&expr(id).node);
    return identifier ? env_.lookup(identifier->name) : nullptr;
}

const CompileValue* Evaluator::borrow(ExprId id, MaybeValue& storage) {
    if (const CompileValue* value = find(id)) return value;
    const auto* literal = std::get_if<IntLiteral>(&expr(id).node);
    if (literal && depth_ < limits_.max_depth)
        return &storage.emplace(std::in_place_type<Scalar>, literal->value);
    storage = eval(id);
    return storage ? &*storage : nullptr;
}

MaybeValue Evaluator::eval_member(const Member& member) {
    ExprId base = member.base;
    while (const auto* paren = std::get_if<Paren>(&expr(base).node)) base = paren->inner;
    if (const auto* identifier = std::get_if<Identifier>(&expr(base).node)) {
        const CompileValue* value = env_.member(identifier->name, member.member);
        return value ? MaybeValue(*value) : std::nullopt;
    }
    // An item or a part of a pack, or a choice of tensors.
    if (member.member == MemberKind::Size && !has_fixed_length(base)) return std::nullopt;
    const MaybeValue tensors = eval(base);
    return tensors ? env_.member_of(*tensors, member.member) : std::nullopt;
}

// If a pack of tensors has a runtime length, so have its parts.
bool Evaluator::has_fixed_length(ExprId pack) const {
    const Identifier* name = nullptr;
    while (!name) {
        if (const auto* index = std::get_if<Index>(&expr(pack).node))
            pack = index->base;
        else if (const auto* paren = std::get_if<Paren>(&expr(pack).node))
            pack = paren->inner;
        else if (!(name = std::get_if<Identifier>(&expr(pack).node)))
            return true;
    }
    const CompileValue* size = env_.member(name->name, MemberKind::Size);
    const auto* length = size ? std::get_if<Scalar>(size) : nullptr;
    return !length || known_int(*length);
}

MaybeValue Evaluator::eval_quietly(ExprId id) {
    const Quiet quiet(*this);
    return eval(id);
}

bool Evaluator::packed(ExprId id, int depth) const {
    // Walks chains of binary operators, as eval_binary does.
    while (const auto* node = id ? std::get_if<Binary>(&expr(id).node) : nullptr) {
        if (node->op != BinaryOp::In && packed(node->rhs, depth + 1)) return true;
        id = node->lhs;
    }
    if (!id || depth > limits_.max_depth) return false;
    const auto any = [&](auto... ids) { return (packed(ids, depth + 1) || ...); };
    return match(
        expr(id).node,
        [&](const List&) { return true; },
        [&](const Identifier& node) {
            const CompileValue* value = env_.lookup(node.name);
            return value && std::holds_alternative<Pack>(*value);
        },
        [&](const Member& node) { return node.member == MemberKind::Shape; },
        [&](const Paren& node) { return any(node.inner); },
        [&](const Index& node) {
            // A string stays a string, whatever its index.
            const bool many = std::holds_alternative<Range>(expr(node.index).node);
            return any(node.base) && (many || any(node.index));
        },
        [&](const Substitution& node) { return any(node.base); },
        [&](const Unary& node) { return any(node.operand); },
        [&](const Select& node) { return any(node.condition, node.consequent, node.alternative); },
        [&](const Coalesce& node) { return any(node.value, node.fallback); },
        [&](const Fold& node) { return node.cumulative; },
        [&](const Cast& node) { return any(node.operand); },
        [&](const BuiltinCall& node) { return any(node.operand); },
        [](const auto&) { return false; });
}

// ---- select -----------------------------------------------------------------------------------

MaybeValue Evaluator::eval_select(const Select& select, Span span) {
    MaybeValue condition = eval(select.condition);
    if (!condition) return std::nullopt;
    if (is_null(*condition)) return Null{};
    const auto type_found = type_of(*condition, symbols_);
    if (type_found && *type_found != ir::ScalarType::Bool)
        return error(expr(select.condition).span,
                     DiagKind::OperandType,
                     fmt::format("condition is {}, expected bool", type_name(*type_found)));
    if (auto* pack = std::get_if<Pack>(&*condition))
        return select_packed(select, std::move(*pack), span);
    if (const auto known = known_bool(std::get<Scalar>(*condition)))
        return select_constant(select, *known);

    // It is unknown whether `c ? a` is null.
    if (!select.alternative) return std::nullopt;
    const MaybeValue consequent = eval(select.consequent);
    const MaybeValue alternative = eval(select.alternative);
    if (!consequent || !alternative) return std::nullopt;
    if (is_null(*consequent) || is_null(*alternative)) return Null{};
    const auto* a = std::get_if<Pack>(&*consequent);
    const auto* b = std::get_if<Pack>(&*alternative);
    // If the branches differ in length, the length of the result is unknown.
    if (a && b && a->items.size() != b->items.size()) return std::nullopt;
    return select_items(select, *condition, *consequent, *alternative, span);
}

// Only the chosen branch counts; the other one gives the length for broadcasting a scalar.
MaybeValue Evaluator::select_constant(const Select& select, bool condition) {
    const ExprId chosen = condition ? select.consequent : select.alternative;
    const ExprId other = condition ? select.alternative : select.consequent;
    if (!chosen) return Null{};
    MaybeValue value = eval(chosen);
    if (!value || !other || !std::holds_alternative<Scalar>(*value) || !packed(other)) return value;
    const MaybeValue length = eval_quietly(other);
    const auto* pack = length ? std::get_if<Pack>(&*length) : nullptr;
    if (!pack) return value;
    return repeat(std::get<Scalar>(std::move(*value)), pack->items.size(), symbols_);
}

MaybeValue Evaluator::select_packed(const Select& select, Pack condition, Span span) {
    // A branch that no item chooses may fail.
    const auto chooses = [&](bool branch) {
        for (const Scalar& item : condition.items)
            if (known_bool(item) != !branch) return true;
        return condition.items.empty();
    };
    const bool first = chooses(true);
    bool second = chooses(false);
    if (!select.alternative && second) {
        for (const Scalar& item : condition.items)
            if (known_bool(item) == false) return Null{};
        if (!condition.items.empty()) return std::nullopt;
        second = false;
    }
    MaybeValue consequent = first ? eval(select.consequent) : eval_quietly(select.consequent);
    MaybeValue alternative;
    if (select.alternative)
        alternative = second ? eval(select.alternative) : eval_quietly(select.alternative);
    if ((first && !consequent) || (second && !alternative)) return std::nullopt;
    if ((first && is_null(*consequent)) || (second && is_null(*alternative))) return Null{};
    // The other branch only gives a length to compare; without it, the chosen branch is used.
    if (!consequent || is_null(*consequent)) consequent = alternative;
    if (!alternative || is_null(*alternative)) alternative = consequent;
    return select_items(select, std::move(condition), *consequent, *alternative, span);
}

MaybeValue Evaluator::select_items(const Select& select,
                                   const CompileValue& condition,
                                   const CompileValue& consequent,
                                   const CompileValue& alternative,
                                   Span span) {
    const auto* c = std::get_if<Pack>(&condition);
    const auto* a = std::get_if<Pack>(&consequent);
    const auto* b = std::get_if<Pack>(&alternative);
    if (!c && !a && !b) {
        auto result = select_scalar(std::get<Scalar>(condition),
                                    std::get<Scalar>(consequent),
                                    std::get<Scalar>(alternative),
                                    span);
        return result ? MaybeValue(CompileValue(std::move(*result))) : std::nullopt;
    }
    const size_t length = (c ? c : a ? a : b)->items.size();
    for (const auto& [pack, at] : {std::pair{a, select.consequent}, {b, select.alternative}})
        if (pack && pack->items.size() != length)
            return length_mismatch(
                span,
                "`?:`",
                {{expr(select.condition).span, length}, {expr(at).span, pack->items.size()}});

    std::vector<Scalar> items;
    items.reserve(length);
    for (size_t i = 0; i < length; ++i) {
        auto item = select_scalar(c ? c->items[i] : std::get<Scalar>(condition),
                                  a ? a->items[i] : std::get<Scalar>(consequent),
                                  b ? b->items[i] : std::get<Scalar>(alternative),
                                  span);
        if (!item) return std::nullopt;
        items.push_back(std::move(*item));
    }
    std::optional<Scalar> uniform;
    if (length == 0) {
        const auto of = [](const CompileValue& value) {
            const auto* pack = std::get_if<Pack>(&value);
            return pack ? pack->uniform : std::optional(std::get<Scalar>(value));
        };
        const auto x = of(consequent), y = of(alternative), test = of(condition);
        if (x && y && identical(*x, *y)) uniform = x;
        if (test && known_bool(*test)) uniform = *known_bool(*test) ? x : y;
    }
    auto type_found = type_of(consequent, symbols_);
    if (!type_found) type_found = type_of(alternative, symbols_);
    return finish(std::move(items), std::move(uniform), type_found);
}

MaybeScalar Evaluator::select_scalar(const Scalar& condition,
                                     const Scalar& consequent,
                                     const Scalar& alternative,
                                     Span span) {
    if (const auto known = known_bool(condition)) return *known ? consequent : alternative;
    if (type(consequent) != type(alternative))
        return error(span,
                     DiagKind::TypeMismatch,
                     fmt::format("branches of `?:` are {} and {}, expected one type",
                                 type_name(type(consequent)),
                                 type_name(type(alternative))));
    const auto result = symbols_.select(to_symbol(condition, symbols_),
                                        to_symbol(consequent, symbols_),
                                        to_symbol(alternative, symbols_));
    if (!result) return report_fault("?:", {span, span});
    return to_scalar(*result, symbols_);
}

// ---- shared -----------------------------------------------------------------------------------

std::optional<int64_t> Evaluator::known_int(const Scalar& scalar) const {
    if (const auto* value = std::get_if<int64_t>(&scalar)) return *value;
    const auto* id = std::get_if<ir::SymId>(&scalar);
    return id ? symbols_.as_int(*id) : std::nullopt;
}

std::optional<bool> Evaluator::known_bool(const Scalar& scalar) const {
    if (const auto* value = std::get_if<bool>(&scalar)) return *value;
    const auto* id = std::get_if<ir::SymId>(&scalar);
    return id ? symbols_.as_bool(*id) : std::nullopt;
}

Pack Evaluator::finish(std::vector<Scalar> items,
                       std::optional<Scalar> uniform_if_empty,
                       std::optional<ir::ScalarType> type_if_empty) const {
    Pack pack = make_pack(std::move(items), symbols_);
    if (!pack.items.empty()) return pack;
    pack.uniform = std::move(uniform_if_empty);
    pack.type = type_if_empty;
    return pack;
}

}  // namespace lemma::sknd
