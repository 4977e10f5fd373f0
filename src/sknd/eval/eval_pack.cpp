// SPDX-License-Identifier: Apache-2.0
// sknd/eval/eval_pack.cpp — list expressions: items, expansions, repetitions, ranges and zips. The
// number of items is checked before any item is made.
#include <fmt/format.h>

#include <algorithm>

#include "sknd/eval/evaluator.h"

namespace lemma::sknd {

using ir::ScalarType;

// The list so far. Each add_… function returns false if the list has no value.
struct Evaluator::ListBuilder {
    Span span;
    std::vector<Scalar> items;
    uint64_t bytes = 0;  // bytes of all strings
    bool null = false;   // an item was null, so the list is null
    std::optional<ScalarType> type;
    Span typed_at;  // the item that defined the type
    // While there are no items: the value that they would have, if all parts agree.
    std::optional<Scalar> uniform;
    bool agrees = true;
    bool any_part = false;

    void part(const std::optional<Scalar>& value) {
        agrees = agrees && value && (!any_part || (uniform && identical(*uniform, *value)));
        any_part = true;
        uniform = agrees ? value : std::nullopt;
    }
};

bool Evaluator::check_length(uint64_t count, std::string_view what, Span span) {
    if (count <= limits_.max_pack_length) return true;
    error(span,
          DiagKind::TooLarge,
          fmt::format("{} of {} is over the limit of {} (--max-pack-length)",
                      what,
                      items_text(count),
                      items_text(limits_.max_pack_length)));
    return false;
}

bool Evaluator::check_bytes(uint64_t bytes, Span span) {
    if (bytes <= limits_.max_string_bytes) return true;
    error(span,
          DiagKind::TooLarge,
          fmt::format("{} bytes of text are over the limit of {} bytes (--max-string-bytes)",
                      bytes,
                      limits_.max_string_bytes));
    return false;
}

MaybeValue Evaluator::eval_list(const List& list, Span span) {
    ListBuilder builder{.span = span};
    if (!check_length(list.items.size(), "list", span)) return std::nullopt;
    builder.items.reserve(list.items.size());
    for (const ExprId item : list.items)
        if (!add_item(builder, item)) return std::nullopt;
    if (builder.null) return Null{};
    return finish(std::move(builder.items), std::move(builder.uniform), builder.type);
}

bool Evaluator::add_item(ListBuilder& builder, ExprId id) {
    const Expr& item = expr(id);
    if (const auto* range = std::get_if<Range>(&item.node))
        return add_range(builder, *range, item.span);
    if (const auto* expand = std::get_if<Expand>(&item.node))
        return add_expansion(builder, *expand, item.span);
    MaybeValue value = eval(id);
    if (!value) return false;
    if (is_null(*value)) {
        builder.null = true;
        return true;
    }
    if (std::holds_alternative<Pack>(*value)) {
        report(item.span, DiagKind::NestedList, "pack inside a list, expected a single value")
            .note("expand it with `..`");
        return false;
    }
    return add_scalar(builder, std::get<Scalar>(std::move(*value)), item.span);
}

bool Evaluator::accepts(ListBuilder& builder, ScalarType type_found, Span span) {
    if (!builder.type) {
        builder.type = type_found;
        builder.typed_at = span;
    }
    if (*builder.type == type_found) return true;
    report(span,
           DiagKind::MixedList,
           fmt::format(
               "list item is {}, expected {}", type_name(type_found), type_name(*builder.type)))
        .note(builder.typed_at, fmt::format("{} here", type_name(*builder.type)));
    return false;
}

bool Evaluator::add_scalar(ListBuilder& builder, Scalar item, Span span) {
    if (!accepts(builder, type(item), span)) return false;
    if (!check_length(builder.items.size() + 1, "list", builder.span)) return false;
    if (const auto* text = std::get_if<std::string>(&item))
        if (!check_bytes(builder.bytes += text->size(), span)) return false;
    builder.items.push_back(std::move(item));
    return true;
}

// ---- expansions -------------------------------------------------------------------------------

bool Evaluator::add_expansion(ListBuilder& builder, const Expand& expand, Span span) {
    if (const auto* zip = std::get_if<Zip>(&expr(expand.item).node))
        return add_zip(builder, *zip, span);
    MaybeValue storage;
    const CompileValue* value = borrow(expand.item, storage);
    if (!value) return false;
    const auto* scalar = std::get_if<Scalar>(value);
    if (scalar && expand.count) return add_repetition(builder, *scalar, expand);
    if (scalar) {
        report(span, DiagKind::PackMismatch, "expansion of a single value, expected a pack")
            .note("repeat it with `..(count)`");
        return false;
    }
    if (is_null(*value)) {
        builder.null = true;
        return !expand.count || eval(expand.count).has_value();
    }
    const Pack& pack = std::get<Pack>(*value);
    if (expand.count) {
        error(expr(expand.count).span,
              DiagKind::PackMismatch,
              fmt::format("repetition of a pack of {}, expected a single value",
                          items_text(pack.items.size())));
        return false;
    }
    builder.part(pack.uniform);
    const auto type_found = type_of(*value, symbols_);
    if (type_found && !accepts(builder, *type_found, span)) return false;
    const uint64_t total = uint64_t{builder.items.size()} + pack.items.size();
    if (!check_length(total, "list", builder.span)) return false;
    for (const Scalar& item : pack.items)
        if (!add_scalar(builder, item, span)) return false;
    return true;
}

bool Evaluator::add_repetition(ListBuilder& builder, Scalar item, const Expand& expand) {
    const Span span = expr(expand.count).span;
    const MaybeValue value = eval(expand.count);
    if (!value) return false;
    if (is_null(*value)) {
        builder.null = true;
        return true;
    }
    const auto* scalar = std::get_if<Scalar>(&*value);
    if (!scalar) {
        error(span, DiagKind::PackMismatch, "repetition count is a pack, expected a single value");
        return false;
    }
    const ScalarType type_found = type(*scalar);
    if (type_found != ScalarType::Int && type_found != ScalarType::Bool) {
        error(span,
              DiagKind::OperandType,
              fmt::format("repetition count is {}, expected int or bool", type_name(type_found)));
        return false;
    }
    const auto flag = known_bool(*scalar);
    const auto known = flag ? std::optional<int64_t>(*flag) : known_int(*scalar);
    if (!known) return false;
    if (*known < 0) {
        error(span,
              DiagKind::BadArgument,
              fmt::format("repetition count is {}, expected 0 or more", *known));
        return false;
    }
    const auto count = static_cast<uint64_t>(*known);
    if (!check_length(builder.items.size() + count, "list", builder.span)) return false;
    if (!accepts(builder, type(item), expr(expand.item).span)) return false;
    if (const auto* text = std::get_if<std::string>(&item))
        if (!check_bytes(builder.bytes += text->size() * count, builder.span)) return false;
    builder.part(item);
    builder.items.insert(builder.items.end(), count, item);
    return true;
}

bool Evaluator::add_zip(ListBuilder& builder, const Zip& zip, Span span) {
    std::vector<MaybeValue> storage(zip.items.size());
    std::vector<const Pack*> packs;
    bool null = false;
    for (size_t i = 0; i < zip.items.size(); ++i) {
        const CompileValue* value = borrow(zip.items[i], storage[i]);
        if (!value) return false;
        null = null || is_null(*value);
        packs.push_back(std::get_if<Pack>(value));
        if (packs.back() || null) continue;
        error(expr(zip.items[i]).span,
              DiagKind::PackMismatch,
              "single value in a zip, expected a pack");
        return false;
    }
    if (null) {
        builder.null = true;
        return true;
    }
    const size_t length = packs.empty() ? 0 : packs[0]->items.size();
    for (size_t i = 0; i < packs.size(); ++i) {
        builder.part(packs[i]->uniform);
        if (packs[i]->items.size() != length) {
            length_mismatch(span,
                            "a zip",
                            {{expr(zip.items[0]).span, length},
                             {expr(zip.items[i]).span, packs[i]->items.size()}});
            return false;
        }
    }
    if (!check_length(builder.items.size() + uint64_t{length} * packs.size(), "zip", span))
        return false;
    for (size_t i = 0; i < length; ++i)
        for (const Pack* pack : packs)
            if (!add_scalar(builder, pack->items[i], span)) return false;
    return true;
}

// ---- ranges -----------------------------------------------------------------------------------

bool Evaluator::add_range(ListBuilder& builder, const Range& range, Span span) {
    Scalar parts[3] = {int64_t{0}, int64_t{0}, int64_t{1}};
    const ExprId ids[3] = {range.begin, range.end, range.step};
    for (size_t i = 0; i < 3; ++i) {
        if (!ids[i]) continue;
        MaybeValue value = eval(ids[i]);
        if (!value) return false;
        if (is_null(*value)) {
            builder.null = true;
            continue;
        }
        auto* scalar = std::get_if<Scalar>(&*value);
        if (!scalar || type(*scalar) != ScalarType::Int) {
            error(expr(ids[i]).span,
                  scalar ? DiagKind::OperandType : DiagKind::PackMismatch,
                  fmt::format("{} of a range is {}, expected a single int",
                              i == 0   ? "begin"
                              : i == 1 ? "end"
                                       : "step",
                              scalar ? type_name(type(*scalar)) : "a pack"));
            return false;
        }
        parts[i] = std::move(*scalar);
    }
    if (builder.null) return true;
    if (!range.begin || !range.end) {
        error(span, DiagKind::MisplacedItem, "range in a list without begin or end");
        return false;
    }
    if (!accepts(builder, ScalarType::Int, span)) return false;
    builder.part(std::nullopt);
    const auto begin = known_int(parts[0]), end = known_int(parts[1]), step = known_int(parts[2]);
    if (step && *step == 0) {
        error(expr(range.step).span, DiagKind::BadArgument, "step of a range is 0");
        return false;
    }
    if (!step) return false;
    if (!begin || !end) return add_symbolic_range(builder, parts[0], parts[1], *step, span);

    // Unsigned arithmetic, because the distance can exceed 2^63.
    const bool forward = *step > 0;
    if (forward ? *begin >= *end : *begin <= *end) return true;
    const uint64_t distance = forward ? static_cast<uint64_t>(*end) - static_cast<uint64_t>(*begin)
                                      : static_cast<uint64_t>(*begin) - static_cast<uint64_t>(*end);
    const uint64_t stride =
        forward ? static_cast<uint64_t>(*step) : uint64_t{0} - static_cast<uint64_t>(*step);
    const uint64_t count = (distance - 1) / stride + 1;
    if (!check_length(count, "range", span)) return false;
    if (!check_length(builder.items.size() + count, "list", builder.span)) return false;
    builder.items.reserve(builder.items.size() + count);
    for (uint64_t i = 0; i < count; ++i)
        builder.items.emplace_back(
            static_cast<int64_t>(static_cast<uint64_t>(*begin) + i * static_cast<uint64_t>(*step)));
    return true;
}

// `[n : n + 3]` has three items for every n.
bool Evaluator::add_symbolic_range(
    ListBuilder& builder, const Scalar& begin, const Scalar& end, int64_t step, Span span) {
    const Where where{span, span};
    const ir::SymId from = to_symbol(begin, symbols_), to = to_symbol(end, symbols_);
    const auto distance = symbols_.apply(ir::SymOp::Sub, to, from);
    const auto count = distance
                           ? symbols_.apply(ir::SymOp::CeilDiv, *distance, symbols_.integer(step))
                           : std::nullopt;
    if (!count) {
        report_fault(":", where);
        return false;
    }
    // A range that is empty for every value of the symbols also has a known length.
    if (symbols_.range(*count).high <= 0) return true;
    const auto known = symbols_.as_int(*count);
    if (!known) return false;
    if (!check_length(builder.items.size() + static_cast<uint64_t>(*known), "range", span))
        return false;
    Scalar item = begin;
    for (int64_t i = 0; i < *known; ++i) {
        builder.items.push_back(item);
        if (i + 1 == *known) break;
        MaybeScalar next = binary(BinaryOp::Add, item, step, where);
        if (!next) return false;
        item = std::move(*next);
    }
    return true;
}

}  // namespace lemma::sknd
