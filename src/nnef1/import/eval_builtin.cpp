// SPDX-License-Identifier: Apache-2.0
// Built-in functions (3.3.3).
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/match.h"
#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `-12` or `-1.5e-3`, as a literal is written. The string may contain nothing else.
bool is_number(std::string_view text, bool scalar) {
    const auto digits = [&] {
        size_t count = 0;
        while (count < text.size() && is_digit(text[count])) ++count;
        text.remove_prefix(count);
        return count > 0;
    };
    if (text.starts_with('-')) text.remove_prefix(1);
    if (!digits()) return false;
    if (scalar && text.starts_with('.')) {
        text.remove_prefix(1);
        digits();
    }
    if (scalar && (text.starts_with('e') || text.starts_with('E'))) {
        text.remove_prefix(1);
        if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
        if (!digits()) return false;
    }
    return text.empty();
}

template <class T>
std::optional<T> parse(const std::string& text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

Value Expander::shape_of(const Value& value) {
    const auto* id = std::get_if<ir::TensorId>(&value.node);
    if (!id) return value.unknown() ? Value{} : Value::array({});
    Values extents;
    for (const ir::SymId extent : builder_.program().tensors[*id].shape) {
        extents.push_back(extent_value(extent));
    }
    return Value::array(std::move(extents));
}

Value Expander::to_integer(ExprId id, const Value& value, Frame& frame) {
    const auto refuse = [&](std::string message) {
        report(expr(id).span, DiagKind::BadCast, std::move(message), frame)
            .note("NNEF 1.0.4, 3.3.3, built-in functions");
        return Value{};
    };
    return match(
        value.node,
        [&](double number) {
            // Khronos' tools drop the fraction.
            const bool cut = options_.dialect == Dialect::Khronos;
            const double whole = cut ? std::trunc(number) : std::floor(number);
            if (!(whole >= -0x1p63 && whole < 0x1p63)) {
                return refuse(fmt::format("{} is no 64-bit integer", number));
            }
            return Value{static_cast<int64_t>(whole)};
        },
        [](bool flag) { return Value{int64_t{flag}}; },
        [&](const std::string& text) {
            const auto number = is_number(text, false) ? parse<int64_t>(text) : std::nullopt;
            if (number) return Value{*number};
            return refuse(fmt::format("the string '{}' is no integer literal", text));
        },
        [&](const auto&) { return value; });
}

Value Expander::to_scalar(ExprId id, const Value& value, Frame& frame) {
    return match(
        value.node,
        [](int64_t number) { return Value{static_cast<double>(number)}; },
        [](bool flag) { return Value{flag ? 1.0 : 0.0}; },
        [&](const std::string& text) {
            const auto number = is_number(text, true) ? parse<double>(text) : std::nullopt;
            if (number) return Value{*number};
            report(expr(id).span,
                   DiagKind::BadCast,
                   fmt::format("the string '{}' is no scalar literal", text),
                   frame)
                .note("NNEF 1.0.4, 3.3.3, built-in functions");
            return Value{};
        },
        [&](const auto&) { return value; });
}

Value Expander::eval_builtin(ExprId id, const BuiltinCall& node, Frame& frame) {
    const Value value = eval(node.argument, frame);
    if (value.unknown()) return {};
    const auto length = [&] {
        const auto* text = std::get_if<std::string>(&value.node);
        return static_cast<int64_t>(text ? text->size() : value.items()->size());
    };
    switch (node.function) {
        case Builtin::ShapeOf:
            return shape_of(value);
        case Builtin::LengthOf:
            return {length()};
        case Builtin::RangeOf: {
            if (!spend(length(), expr(id).span, frame)) return {};
            Values range;
            for (int64_t i = 0; i < length(); ++i) range.push_back({i});
            return Value::array(std::move(range));
        }
        case Builtin::Integer:
            return to_integer(id, value, frame);
        case Builtin::Scalar:
            return to_scalar(id, value, frame);
        case Builtin::Logical:
            return match(
                value.node,
                [](int64_t number) { return Value{number != 0}; },
                [](double number) { return Value{number != 0}; },
                [](const std::string& text) { return Value{!text.empty()}; },
                [&](const auto&) { return value; });
        case Builtin::String:
            return {literal_text(value)};
    }
    return {};
}

}  // namespace lemma::nnef1
