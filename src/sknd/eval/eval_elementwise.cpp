// SPDX-License-Identifier: Apache-2.0
// sknd/eval/eval_elementwise.cpp — operators, casts and functions on values. Null propagates,
// scalars are broadcast over packs, and packs of different lengths are an error.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/symbols/scalar_math.h"
#include "sknd/eval/evaluator.h"

namespace lemma::sknd {

using ir::ScalarType;

namespace {

// Longer chains of binary operators use the heap.
constexpr size_t kShortChain = 16;
// Limit of symbolic comparisons in one `in`.
constexpr size_t kMaxSymbolicTests = size_t{1} << 16;
// From here on a sorted copy is faster than a linear search.
constexpr size_t kMaxLinearTests = 1024;

bool is_logical(BinaryOp op) {
    return op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Implies;
}

bool gives_bool(BinaryOp op) { return op >= BinaryOp::Less; }

// The result if the left operand alone decides it.
std::optional<bool> decision(BinaryOp op, std::optional<bool> lhs) {
    if (!lhs) return std::nullopt;
    if (op == BinaryOp::And && !*lhs) return false;
    if (op == BinaryOp::Or && *lhs) return true;
    if (op == BinaryOp::Implies && !*lhs) return true;
    return std::nullopt;
}

std::optional<Scalar> uniform_of(const CompileValue& value) {
    if (const auto* scalar = std::get_if<Scalar>(&value)) return *scalar;
    const auto* pack = std::get_if<Pack>(&value);
    return pack ? pack->uniform : std::nullopt;
}

MaybeValue value_of(MaybeScalar scalar) {
    return scalar ? MaybeValue(CompileValue(std::move(*scalar))) : std::nullopt;
}

}  // namespace

std::string items_text(size_t count) {
    return fmt::format("{} {}", count, count == 1 ? "item" : "items");
}

std::nullopt_t Evaluator::length_mismatch(Span span,
                                          std::string_view what,
                                          std::initializer_list<std::pair<Span, size_t>> packs) {
    const auto first = packs.begin()->second, second = (packs.begin() + 1)->second;
    auto written = report(span,
                          DiagKind::LengthMismatch,
                          fmt::format("packs of {} and {} in {}, expected one length",
                                      items_text(first),
                                      items_text(second),
                                      what));
    for (const auto& [at, length] : packs) written.note(at, items_text(length) + " here");
    return std::nullopt;
}

// ---- binary operators -------------------------------------------------------------------------

// `a + b + c + …` nests to the left, as deep as it is long, so a loop walks it instead of
// recursion.
MaybeValue Evaluator::eval_binary(ExprId id) {
    std::array<ExprId, kShortChain> few;
    std::vector<ExprId> many;
    size_t count = 0;
    ExprId leftmost = id;
    while (const auto* node = std::get_if<Binary>(&expr(leftmost).node)) {
        if (count < kShortChain)
            few[count] = leftmost;
        else
            many.push_back(leftmost);
        ++count;
        leftmost = node->lhs;
    }
    MaybeValue value = eval(leftmost);
    while (value && count-- > 0) {
        const ExprId at = count < kShortChain ? few[count] : many[count - kShortChain];
        const Span span = expr(at).span;
        const auto& node = std::get<Binary>(expr(at).node);
        if (auto* lhs = std::get_if<Scalar>(&*value); lhs && !is_logical(node.op)) {
            if (!combine_scalar(node, span, *lhs, value)) return std::nullopt;
        } else {
            value = combine(node, span, std::move(*value));
        }
        const auto* pack = value ? std::get_if<Pack>(&*value) : nullptr;
        if (pack && !charge(pack->items.size(), span)) return std::nullopt;
    }
    return value;
}

// The usual case, in place: `value`, which is `lhs`, becomes the result. False if there is none.
bool Evaluator::combine_scalar(const Binary& node, Span span, Scalar& lhs, MaybeValue& value) {
    MaybeValue storage;
    const CompileValue* rhs = borrow(node.rhs, storage);
    if (!rhs) return false;
    const auto* scalar = std::get_if<Scalar>(rhs);
    if (scalar && node.op != BinaryOp::In) {
        MaybeScalar result = binary(node.op, lhs, *scalar, {span, node.op_span});
        if (result) lhs = std::move(*result);
        return result.has_value();
    }
    value = node.op == BinaryOp::In ? apply_in(node, *value, *rhs)
                                    : apply_binary(node, span, std::move(*value), *rhs);
    return value.has_value();
}

MaybeValue Evaluator::combine(const Binary& node, Span span, CompileValue lhs) {
    if (is_logical(node.op)) return logical(node, span, std::move(lhs));
    MaybeValue storage;
    const CompileValue* rhs = borrow(node.rhs, storage);
    if (!rhs) return std::nullopt;
    if (node.op == BinaryOp::In) return apply_in(node, lhs, *rhs);
    return apply_binary(node, span, std::move(lhs), *rhs);
}

// If the left side decides, the right side needs no value; if it is a pack, it gives the length of
// the result.
MaybeValue Evaluator::logical(const Binary& node, Span span, CompileValue lhs) {
    if (const auto* scalar = std::get_if<Scalar>(&lhs)) {
        if (const auto decided = decision(node.op, known_bool(*scalar))) {
            const MaybeValue rhs = packed(node.rhs) ? eval_quietly(node.rhs) : std::nullopt;
            const auto* pack = rhs ? std::get_if<Pack>(&*rhs) : nullptr;
            if (!pack) return CompileValue(Scalar(*decided));
            return repeat(*decided, pack->items.size(), symbols_);
        }
    }
    if (const auto* pack = std::get_if<Pack>(&lhs); pack && !pack->items.empty()) {
        const auto undecided = [&](const Scalar& item) {
            return !decision(node.op, known_bool(item));
        };
        if (std::ranges::none_of(pack->items, undecided)) {
            const MaybeValue rhs = eval_quietly(node.rhs);
            if (rhs && !is_null(*rhs)) return apply_binary(node, span, std::move(lhs), *rhs);
            const bool decided = node.op != BinaryOp::And;
            return repeat(decided, pack->items.size(), symbols_);
        }
    }
    MaybeValue storage;
    const CompileValue* rhs = borrow(node.rhs, storage);
    return rhs ? apply_binary(node, span, std::move(lhs), *rhs) : std::nullopt;
}

MaybeValue Evaluator::apply_binary(const Binary& node,
                                   Span span,
                                   CompileValue lhs,
                                   const CompileValue& rhs) {
    if (is_null(lhs) || is_null(rhs)) return Null{};
    const Where where{span, node.op_span};
    auto* a = std::get_if<Pack>(&lhs);
    const auto* b = std::get_if<Pack>(&rhs);
    if (!a && !b)
        return value_of(binary(node.op, std::get<Scalar>(lhs), std::get<Scalar>(rhs), where));
    if (a && b && a->items.size() != b->items.size())
        return length_mismatch(
            span,
            fmt::format("`{}`", operator_text(node.op)),
            {{expr(node.lhs).span, a->items.size()}, {expr(node.rhs).span, b->items.size()}});

    const size_t length = (a ? a : b)->items.size();
    if (length == 0) {
        const auto x = uniform_of(lhs), y = uniform_of(rhs);
        auto result_type = type_of(lhs, symbols_);
        if (!result_type) result_type = type_of(rhs, symbols_);
        if (gives_bool(node.op)) result_type = ScalarType::Bool;
        const Quiet quiet(*this);
        return finish({}, x && y ? binary(node.op, *x, *y, where) : std::nullopt, result_type);
    }
    uint64_t bytes = 0;
    const auto fits = [&](const Scalar& item) {
        const auto* text = std::get_if<std::string>(&item);
        return !text || check_bytes(bytes += text->size(), span);
    };
    // The result reuses the memory of the left pack.
    std::vector<Scalar> items = a ? std::move(a->items) : b->items;
    for (size_t i = 0; i < length; ++i) {
        const Scalar& left = a ? items[i] : std::get<Scalar>(lhs);
        const Scalar& right = !a ? items[i] : b ? b->items[i] : std::get<Scalar>(rhs);
        MaybeScalar item = binary(node.op, left, right, where);
        if (!item || !fits(*item)) return std::nullopt;
        items[i] = std::move(*item);
    }
    return finish(std::move(items), std::nullopt, std::nullopt);
}

// ---- in ---------------------------------------------------------------------------------------

namespace {

bool is_symbolic(const Scalar& scalar) { return std::holds_alternative<ir::SymId>(scalar); }

// Constants of one type; NaN equals nothing and is left out.
std::vector<Scalar> sorted_constants(const Pack& pack) {
    std::vector<Scalar> constants;
    for (const Scalar& item : pack.items)
        if (!is_symbolic(item) && item == item) constants.push_back(item);
    std::ranges::sort(constants);
    return constants;
}

}  // namespace

MaybeScalar Evaluator::contains(const Pack& pack, const Scalar& item, const Where& where) {
    std::vector<ir::SymId> open;
    for (const Scalar& candidate : pack.items) {
        const MaybeScalar equal = binary(BinaryOp::Equal, item, candidate, where);
        if (!equal) return std::nullopt;
        if (const auto known = known_bool(*equal)) {
            if (*known) return true;
        } else {
            open.push_back(std::get<ir::SymId>(*equal));
        }
    }
    return conjunction(std::move(open), false, where);
}

MaybeValue Evaluator::apply_in(const Binary& node,
                               const CompileValue& lhs,
                               const CompileValue& rhs) {
    if (is_null(lhs) || is_null(rhs)) return Null{};
    const Where where{cover(expr(node.lhs).span, expr(node.rhs).span), node.op_span};
    const auto* pack = std::get_if<Pack>(&rhs);
    if (!pack)
        return error(expr(node.rhs).span,
                     DiagKind::PackMismatch,
                     fmt::format("right side of `in` is a single {}, expected a pack",
                                 type_name(*type_of(rhs, symbols_))));
    const auto found = type_of(lhs, symbols_), wanted = type_of(rhs, symbols_);
    if (found && wanted && *found != *wanted)
        return error(node.op_span,
                     DiagKind::OperandType,
                     fmt::format("`in` looks for {} in a pack of {}, expected one type",
                                 type_name(*found),
                                 type_name(*wanted)));
    if (!charge(pack->items.size(), where.expr)) return std::nullopt;
    if (const auto* item = std::get_if<Scalar>(&lhs))
        return value_of(contains(*pack, *item, where));

    const auto& needles = std::get<Pack>(lhs);
    const bool symbolic = std::ranges::any_of(pack->items, is_symbolic) ||
                          std::ranges::any_of(needles.items, is_symbolic);
    const size_t tests = needles.items.size() * pack->items.size();
    if (symbolic && tests > kMaxSymbolicTests) return std::nullopt;
    const bool search = !symbolic && tests > kMaxLinearTests;
    const std::vector<Scalar> sorted = search ? sorted_constants(*pack) : std::vector<Scalar>();

    std::vector<Scalar> items;
    items.reserve(needles.items.size());
    for (const Scalar& needle : needles.items) {
        if (search) {
            items.push_back(needle == needle && std::ranges::binary_search(sorted, needle));
            continue;
        }
        MaybeScalar item = contains(*pack, needle, where);
        if (!item) return std::nullopt;
        items.push_back(std::move(*item));
    }
    MaybeScalar uniform;
    if (items.empty() && needles.uniform) {
        const Quiet quiet(*this);
        uniform = contains(*pack, *needles.uniform, where);
    }
    return finish(std::move(items), std::move(uniform), ScalarType::Bool);
}

// ---- one operand ------------------------------------------------------------------------------

template <class Operation>
MaybeValue Evaluator::map_items(CompileValue value,
                                std::optional<ScalarType> type_if_empty,
                                Operation operation) {
    if (is_null(value)) return value;
    if (const auto* scalar = std::get_if<Scalar>(&value)) return value_of(operation(*scalar));
    auto& pack = std::get<Pack>(value);
    if (pack.items.empty()) {
        const Quiet quiet(*this);
        return finish({}, pack.uniform ? operation(*pack.uniform) : std::nullopt, type_if_empty);
    }
    std::vector<Scalar> items = std::move(pack.items);
    for (Scalar& item : items) {
        MaybeScalar result = operation(item);
        if (!result) return std::nullopt;
        item = std::move(*result);
    }
    return finish(std::move(items), std::nullopt, std::nullopt);
}

MaybeValue Evaluator::eval_unary(const Unary& node, Span span) {
    MaybeValue value = eval(node.operand);
    if (!value) return std::nullopt;
    const auto type_if_empty = type_of(*value, symbols_);
    return map_items(std::move(*value), type_if_empty, [&](const Scalar& operand) {
        return unary(node.op, operand, span);
    });
}

MaybeValue Evaluator::eval_cast(const Cast& node, Span span) {
    std::optional<ScalarType> to;
    for (const ScalarType each :
         {ScalarType::Int, ScalarType::Real, ScalarType::Bool, ScalarType::Str})
        if (node.type.text == type_name(each)) to = each;
    if (!to) to = env_.type(node.type.text);
    if (!to) return std::nullopt;
    if (!node.operand) {
        switch (*to) {
            case ScalarType::Int:
                return CompileValue(Scalar(int64_t{0}));
            case ScalarType::Real:
                return CompileValue(Scalar(0.0));
            case ScalarType::Bool:
                return CompileValue(Scalar(false));
            case ScalarType::Str:
                return CompileValue(Scalar(std::string()));
        }
    }
    MaybeValue value = eval(node.operand);
    if (!value) return std::nullopt;
    return map_items(
        std::move(*value), to, [&](const Scalar& operand) { return cast(*to, operand, span); });
}

MaybeValue Evaluator::eval_builtin(const BuiltinCall& node, Span span) {
    if (!ir::is_function(node.function.text))
        return error(node.function.span,
                     DiagKind::NoFunction,
                     fmt::format("no built-in function `{}`", node.function.text));
    MaybeValue value = eval(node.operand);
    if (!value) return std::nullopt;
    const auto type_if_empty = type_of(*value, symbols_);
    return map_items(std::move(*value), type_if_empty, [&](const Scalar& operand) {
        return builtin(node.function, operand, span);
    });
}

}  // namespace lemma::sknd
