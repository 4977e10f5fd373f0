// SPDX-License-Identifier: Apache-2.0
// sknd/eval/eval_index.cpp — selects items of packs by index, range, pack of indices or mask; and
// replaces items. Negative indices count from the end; nothing is clamped.
#include <fmt/format.h>

#include "sknd/eval/positions.h"

namespace lemma::sknd {

using ir::ScalarType;

namespace {

std::string describe(size_t length, bool text) {
    if (text) return fmt::format("a string of {} character{}", length, length == 1 ? "" : "s");
    return fmt::format("a pack of {}", items_text(length));
}

}  // namespace

MaybeValue Evaluator::eval_index(const Index& index, Span span) {
    MaybeValue storage;
    const CompileValue* base = borrow(index.base, storage);
    if (!base) return std::nullopt;
    if (is_null(*base)) return Null{};
    if (const auto* scalar = std::get_if<Scalar>(base)) {
        if (type(*scalar) != ScalarType::Str)
            return error(expr(index.base).span,
                         DiagKind::BadIndex,
                         fmt::format("index of a single {}, expected a pack or str",
                                     type_name(type(*scalar))));
        if (const auto* id = std::get_if<ir::SymId>(scalar)) {
            const auto text = symbols_.as_string(*id);
            return text ? index_string(*text, index, span) : std::nullopt;
        }
        return index_string(std::get<std::string>(*scalar), index, span);
    }
    const Pack& pack = std::get<Pack>(*base);
    const auto chosen = positions(index.index, {pack.items.size()});
    if (!chosen) return item_at_unknown(pack, index.index);
    if (chosen->null) return Null{};
    if (chosen->single) return CompileValue(pack.items[chosen->one]);
    std::vector<Scalar> items;
    items.reserve(chosen->many.size());
    uint64_t bytes = 0;
    for (const size_t at : chosen->many) {
        if (const auto* text = std::get_if<std::string>(&pack.items[at]))
            if (!check_bytes(bytes += text->size(), span)) return std::nullopt;
        items.push_back(pack.items[at]);
    }
    return finish(std::move(items), pack.uniform, type_of(*base, symbols_));
}

// x[i] with an unknown `i`: a formula may know the value.
MaybeValue Evaluator::item_at_unknown(const Pack& pack, ExprId index) {
    if (std::holds_alternative<Range>(expr(index).node)) return std::nullopt;
    const MaybeValue value = eval_quietly(index);
    const auto* scalar = value ? std::get_if<Scalar>(&*value) : nullptr;
    const auto* unknown = scalar ? std::get_if<ir::SymId>(scalar) : nullptr;
    if (!unknown || symbols_.is_constant(*unknown)) return std::nullopt;
    auto item = env_.item(pack, *unknown);
    return item ? MaybeValue(CompileValue(std::move(*item))) : std::nullopt;
}

// ---- positions --------------------------------------------------------------------------------

std::optional<Evaluator::Positions> Evaluator::positions(ExprId index, Indexed base) {
    if (const auto* range = std::get_if<Range>(&expr(index).node))
        return range_positions(*range, base);
    MaybeValue storage;
    const CompileValue* value = borrow(index, storage);
    if (!value) return std::nullopt;
    if (is_null(*value)) return Positions{.null = true};
    const Span span = expr(index).span;
    if (const auto* pack = std::get_if<Pack>(value)) return pack_positions(*pack, span, base);
    const auto at = position(std::get<Scalar>(*value), span, base);
    if (!at) return std::nullopt;
    return Positions{.one = *at, .single = true};
}

std::nullopt_t Evaluator::out_of_range(std::string_view what,
                                       int64_t value,
                                       Span span,
                                       Indexed base) {
    return error(
        span,
        DiagKind::IndexRange,
        fmt::format("{} {} is out of range for {}", what, value, describe(base.length, base.text)));
}

std::optional<size_t> Evaluator::position(const Scalar& index, Span span, Indexed base) {
    if (type(index) != ScalarType::Int)
        return error(span,
                     DiagKind::BadIndex,
                     fmt::format("index is {}, expected int", type_name(type(index))));
    const auto known = known_int(index);
    if (!known) return std::nullopt;
    const auto length = static_cast<int64_t>(base.length);
    const int64_t at = *known < 0 ? *known + length : *known;
    if (at < 0 || at >= length) return out_of_range("index", *known, span, base);
    return static_cast<size_t>(at);
}

std::optional<Evaluator::Positions> Evaluator::pack_positions(const Pack& pack,
                                                              Span span,
                                                              Indexed base) {
    Positions result;
    const auto found = pack.items.empty() ? pack.type : std::optional(type(pack.items[0]));
    if (found != ScalarType::Bool) {
        result.many.reserve(pack.items.size());
        for (const Scalar& item : pack.items) {
            const auto at = position(item, span, base);
            if (!at) return std::nullopt;
            result.many.push_back(*at);
        }
        return result;
    }
    if (pack.items.size() != base.length)
        return error(span,
                     DiagKind::LengthMismatch,
                     fmt::format("mask of {} for {}, expected one length",
                                 items_text(pack.items.size()),
                                 describe(base.length, base.text)));
    result.mask = true;
    for (size_t i = 0; i < pack.items.size(); ++i) {
        const auto known = known_bool(pack.items[i]);
        if (!known) return std::nullopt;
        if (*known) result.many.push_back(i);
    }
    return result;
}

bool Evaluator::eval_part(ExprId id, std::optional<int64_t>& value, bool& null) {
    if (!id) return true;
    const MaybeValue found = eval(id);
    if (!found) return false;
    if (is_null(*found)) {
        null = true;
        return true;
    }
    const auto* scalar = std::get_if<Scalar>(&*found);
    if (!scalar || type(*scalar) != ScalarType::Int) {
        error(expr(id).span,
              DiagKind::BadIndex,
              fmt::format("part of a range is {}, expected a single int",
                          scalar ? type_name(type(*scalar)) : "a pack"));
        return false;
    }
    value = known_int(*scalar);
    return value.has_value();
}

// An end beyond the last item is an error; a begin past the end selects no items. Then each item
// must exist. Backwards, the same applies from the other side.
std::optional<Evaluator::Positions> Evaluator::range_positions(const Range& range, Indexed base) {
    std::optional<int64_t> begin, end, step;
    Positions result;
    if (!eval_part(range.begin, begin, result.null) || !eval_part(range.end, end, result.null) ||
        !eval_part(range.step, step, result.null))
        return std::nullopt;
    if (result.null) return result;
    if (step == 0)
        return error(expr(range.step).span, DiagKind::BadArgument, "step of a range is 0");

    const auto length = static_cast<int64_t>(base.length);
    const bool forward = !step || *step > 0;
    const auto from_start = [&](int64_t at) { return at < 0 ? at + length : at; };
    const int64_t first = begin ? from_start(*begin) : forward ? 0 : length - 1;
    const int64_t last = end ? from_start(*end) : forward ? length : -1;
    if (forward ? last > length : last < -1)
        return out_of_range("range end", *end, expr(range.end).span, base);
    if (forward ? first >= last : first <= last) return result;
    if (first < 0 || first >= length)
        return out_of_range("index", *begin, expr(range.begin).span, base);

    // Both ends lie within the pack now, so a step beyond it ends the range.
    const int64_t stride = step.value_or(1);
    const int64_t limit = forward ? last - first : first - last;
    int64_t at = first;
    for (int64_t distance = 0; distance < limit;) {
        result.many.push_back(static_cast<size_t>(at));
        if (stride > length || stride < -length) break;
        at += stride;
        distance += forward ? stride : -stride;
    }
    return result;
}

// ---- substitution -----------------------------------------------------------------------------

MaybeValue Evaluator::eval_substitution(const Substitution& node, Span span) {
    MaybeValue base = eval(node.base);
    if (!base) return std::nullopt;
    if (is_null(*base)) return Null{};
    auto* pack = std::get_if<Pack>(&*base);
    if (!pack)
        return error(expr(node.base).span,
                     DiagKind::BadIndex,
                     fmt::format("substitution in a single {}, expected a pack",
                                 type_name(*type_of(*base, symbols_))));
    const auto chosen = positions(node.index, {pack->items.size()});
    MaybeValue storage;
    const CompileValue* value = borrow(node.value, storage);
    if (!chosen || !value) return std::nullopt;
    if (chosen->null || is_null(*value)) return Null{};
    if (chosen->mask)
        return error(expr(node.index).span,
                     DiagKind::BadIndex,
                     "index of a substitution is a pack of bool, expected int");

    const auto* values = std::get_if<Pack>(value);
    const auto at = chosen->at();
    if (values && chosen->single)
        return error(expr(node.value).span,
                     DiagKind::PackMismatch,
                     "pack for a single index, expected a single value");
    if (values && values->items.size() != at.size())
        return length_mismatch(
            span,
            "a substitution",
            {{expr(node.index).span, at.size()}, {expr(node.value).span, values->items.size()}});
    const auto found = type_of(*value, symbols_), wanted = type_of(*base, symbols_);
    if (found && wanted && *found != *wanted)
        return error(
            expr(node.value).span,
            DiagKind::TypeMismatch,
            fmt::format(
                "substituted value is {}, expected {}", type_name(*found), type_name(*wanted)));
    uint64_t bytes = 0;
    for (size_t i = 0; i < at.size(); ++i) {
        const Scalar& item = values ? values->items[i] : std::get<Scalar>(*value);
        if (const auto* text = std::get_if<std::string>(&item))
            if (!check_bytes(bytes += text->size(), span)) return std::nullopt;
        pack->items[at[i]] = item;
    }
    return finish(std::move(pack->items), std::move(pack->uniform), wanted);
}

}  // namespace lemma::sknd
