// SPDX-License-Identifier: Apache-2.0
// sknd/eval/eval_fold.cpp — folds of packs, `x + ..`, and cumulative folds, `x + ...`.
#include <fmt/format.h>

#include <algorithm>

#include "sknd/eval/evaluator.h"
#include "sknd/syntax/fold_op.h"

namespace lemma::sknd {

using ir::ScalarType;

namespace {

// Limit of symbolic pairs that one `!= ..` compares.
constexpr size_t kMaxSymbolicPairs = size_t{1} << 16;

bool is_arithmetic(FoldOp op) {
    return op == FoldOp::Sum || op == FoldOp::Product || op == FoldOp::Min || op == FoldOp::Max;
}

bool is_logical(FoldOp op) { return op == FoldOp::All || op == FoldOp::Any; }

bool is_symbolic(const Scalar& scalar) { return std::holds_alternative<ir::SymId>(scalar); }

MaybeValue value_of(MaybeScalar scalar) {
    return scalar ? MaybeValue(CompileValue(std::move(*scalar))) : std::nullopt;
}

}  // namespace

MaybeValue Evaluator::eval_fold(const Fold& fold, Span span) {
    MaybeValue storage;
    const CompileValue* operand = borrow(fold.operand, storage);
    if (!operand) return std::nullopt;
    if (is_null(*operand)) return Null{};
    const auto* pack = std::get_if<Pack>(operand);
    if (!pack)
        return error(expr(fold.operand).span,
                     DiagKind::BadFold,
                     fmt::format("fold of a single {}, expected a pack",
                                 type_name(*type_of(*operand, symbols_))));
    const Where where{span, fold.op_span};
    if (!check_fold(fold.op, *pack, where) || !charge(pack->items.size(), span))
        return std::nullopt;
    if (fold.cumulative) return fold_cumulative(fold.op, *pack, where);
    if (is_arithmetic(fold.op)) return fold_arithmetic(fold.op, *pack, where);
    if (is_logical(fold.op)) return fold_logical(fold.op, *pack, where);
    if (fold.op == FoldOp::Uniform) return fold_uniform(*pack);
    if (fold.op == FoldOp::NotEqual) return fold_unique(*pack, where);
    return fold_order(fold.op, *pack, where);
}

bool Evaluator::check_fold(FoldOp op, const Pack& pack, const Where& where) {
    const auto item_type = type_of(pack, symbols_);
    if (!item_type) return true;
    const bool number = *item_type == ScalarType::Int || *item_type == ScalarType::Real;
    if (is_arithmetic(op) ? number : is_logical(op) ? *item_type == ScalarType::Bool : true)
        return true;
    error(where.op,
          DiagKind::BadFold,
          fmt::format("`{} ..` folds {}, found {}",
                      operator_text(op),
                      is_logical(op) ? "bool" : "int or real",
                      type_name(*item_type)));
    return false;
}

MaybeValue Evaluator::fold_arithmetic(FoldOp op, const Pack& pack, const Where& where) {
    if (pack.items.empty()) {
        if (op == FoldOp::Min || op == FoldOp::Max) return Null{};
        const int64_t neutral = op == FoldOp::Product;
        const auto found = type_of(pack, symbols_);
        if (found == ScalarType::Real) return CompileValue(Scalar(static_cast<double>(neutral)));
        return CompileValue(Scalar(neutral));
    }
    // The pool adds many terms at once without a node for each step. The order of reals is kept.
    const bool whole = type(pack.items[0]) == ScalarType::Int;
    if (whole && op != FoldOp::Product && std::ranges::any_of(pack.items, is_symbolic)) {
        std::vector<ir::SymId> terms;
        terms.reserve(pack.items.size());
        for (const Scalar& item : pack.items) terms.push_back(to_symbol(item, symbols_));
        const auto result = symbols_.apply(op == FoldOp::Sum   ? ir::SymOp::Add
                                           : op == FoldOp::Min ? ir::SymOp::Min
                                                               : ir::SymOp::Max,
                                           terms);
        if (!result) return report_fault(operator_text(op), where);
        return CompileValue(to_scalar(*result, symbols_));
    }
    Scalar total = pack.items[0];
    for (size_t i = 1; i < pack.items.size(); ++i) {
        MaybeScalar next = binary(binary_op(op), total, pack.items[i], where);
        if (!next) return std::nullopt;
        total = std::move(*next);
    }
    return CompileValue(std::move(total));
}

// The conjunction or disjunction of terms that are not constant.
MaybeScalar Evaluator::conjunction(std::vector<ir::SymId> terms, bool all, const Where& where) {
    if (terms.empty()) return all;
    const auto result = symbols_.apply(all ? ir::SymOp::And : ir::SymOp::Or, terms);
    if (!result) return report_fault(all ? "&&" : "||", where);
    return to_scalar(*result, symbols_);
}

MaybeValue Evaluator::fold_logical(FoldOp op, const Pack& pack, const Where& where) {
    const bool all = op == FoldOp::All;
    std::vector<ir::SymId> open;
    for (const Scalar& item : pack.items) {
        const auto known = known_bool(item);
        if (known && *known != all) return CompileValue(Scalar(!all));
        if (!known) open.push_back(std::get<ir::SymId>(item));
    }
    return value_of(conjunction(std::move(open), all, where));
}

// Compares each item with the next one.
MaybeValue Evaluator::fold_order(FoldOp op, const Pack& pack, const Where& where) {
    if (op == FoldOp::Equal && pack.items.empty())
        return CompileValue(Scalar(pack.uniform.has_value()));
    std::vector<ir::SymId> open;
    bool holds = true;
    for (size_t i = 1; i < pack.items.size(); ++i) {
        const MaybeScalar test = binary(binary_op(op), pack.items[i - 1], pack.items[i], where);
        if (!test) return std::nullopt;
        if (const auto known = known_bool(*test))
            holds = holds && *known;
        else
            open.push_back(std::get<ir::SymId>(*test));
    }
    if (!holds) return CompileValue(Scalar(false));
    return value_of(conjunction(std::move(open), true, where));
}

// Compares every item with every other one. Constants are sorted for it.
MaybeValue Evaluator::fold_unique(const Pack& pack, const Where& where) {
    std::vector<const Scalar*> constants, unknowns;
    for (const Scalar& item : pack.items) {
        if (is_symbolic(item))
            unknowns.push_back(&item);
        else if (item == item)  // NaN differs from everything
            constants.push_back(&item);
    }
    std::ranges::sort(constants, [](const Scalar* a, const Scalar* b) { return *a < *b; });
    const auto same = [](const Scalar* a, const Scalar* b) { return *a == *b; };
    if (std::ranges::adjacent_find(constants, same) != constants.end())
        return CompileValue(Scalar(false));

    if (unknowns.size() * pack.items.size() > kMaxSymbolicPairs) return std::nullopt;
    std::vector<ir::SymId> open;
    for (size_t i = 0; i < unknowns.size(); ++i) {
        std::vector<const Scalar*> others(unknowns.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                          unknowns.end());
        others.insert(others.end(), constants.begin(), constants.end());
        for (const Scalar* other : others) {
            const MaybeScalar test = binary(BinaryOp::NotEqual, *unknowns[i], *other, where);
            if (!test) return std::nullopt;
            const auto known = known_bool(*test);
            if (known == false) return CompileValue(Scalar(false));
            if (!known) open.push_back(std::get<ir::SymId>(*test));
        }
    }
    return value_of(conjunction(std::move(open), true, where));
}

MaybeValue Evaluator::fold_uniform(const Pack& pack) const {
    const auto uniform = uniform_value(pack);
    if (!uniform) return Null{};
    return CompileValue(*uniform);
}

MaybeValue Evaluator::fold_cumulative(FoldOp op, const Pack& pack, const Where& where) {
    if (!is_arithmetic(op) && !is_logical(op))
        return error(where.op,
                     DiagKind::BadFold,
                     fmt::format("`{} ...` is not a cumulative fold", operator_text(op)));
    std::vector<Scalar> items;
    items.reserve(pack.items.size());
    for (const Scalar& item : pack.items) {
        if (items.empty()) {
            items.push_back(item);
            continue;
        }
        MaybeScalar next = binary(binary_op(op), items.back(), item, where);
        if (!next) return std::nullopt;
        items.push_back(std::move(*next));
    }
    // The minimum or conjunction of equal items is that item; sums and products are not.
    const bool keeps = op != FoldOp::Sum && op != FoldOp::Product;
    const auto found = type_of(pack, symbols_);
    return finish(std::move(items), keeps ? pack.uniform : std::nullopt, found);
}

}  // namespace lemma::sknd
