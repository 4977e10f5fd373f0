// SPDX-License-Identifier: Apache-2.0
#include "nnef1/check/literals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/match.h"
#include "nnef1/syntax/tokens.h"
#include "text/characters.h"

namespace lemma::nnef1 {

std::optional<TypeName> type_of(ir::DType dtype) {
    switch (dtype) {
        case ir::DType::F32:
            return TypeName::Scalar;
        case ir::DType::I64:
            return TypeName::Integer;
        case ir::DType::Bool:
            return TypeName::Logical;
        default:
            return std::nullopt;
    }
}

std::string string_text(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') result += '\\';
        result += c;
    }
    return result + "'";
}

namespace {

std::optional<std::string> real_literal(double value) {
    if (!std::isfinite(value)) return std::nullopt;
    return ir::real_text(value);
}

// An expression without unknowns, as a number.
ir::Scalar plain(const ir::SymbolPool& symbols, const ir::Scalar& scalar) {
    const auto* id = std::get_if<ir::SymId>(&scalar);
    if (!id) return scalar;
    if (const auto integer = symbols.as_int(*id)) return *integer;
    if (const auto real = symbols.as_real(*id)) return *real;
    if (const auto flag = symbols.as_bool(*id)) return *flag;
    if (auto text = symbols.as_string(*id)) return std::move(*text);
    return scalar;
}

}  // namespace

std::optional<std::string> scalar_text(const ir::SymbolPool& symbols,
                                       const ir::Scalar& scalar,
                                       TypeName type) {
    using Text = std::optional<std::string>;
    const bool any = type == TypeName::Generic;
    return match(
        plain(symbols, scalar),
        [&](int64_t value) -> Text {
            if (type == TypeName::Scalar) return real_literal(static_cast<double>(value));
            if (any || type == TypeName::Integer) return fmt::format("{}", value);
            return std::nullopt;
        },
        [&](double value) -> Text {
            return any || type == TypeName::Scalar ? real_literal(value) : std::nullopt;
        },
        [&](bool value) -> Text {
            if (!any && type != TypeName::Logical) return std::nullopt;
            return value ? "true" : "false";
        },
        [&](const std::string& value) -> Text {
            if (!any && type != TypeName::String) return std::nullopt;
            const bool printable = std::ranges::all_of(value, text::is_printable);
            return printable ? Text(string_text(value)) : std::nullopt;
        },
        [](ir::SymId) -> Text { return std::nullopt; });
}

namespace {

std::optional<std::string> list_text(const ir::SymbolPool& symbols,
                                     const std::vector<ir::Scalar>& items,
                                     const ValueType& item) {
    const bool pairs = item.tuple();
    if (!pairs && !item.name) return std::nullopt;
    if (pairs && (item.items.size() != 2 || items.size() % 2 != 0)) return std::nullopt;
    const TypeName type = pairs ? item.items[0].name.value_or(TypeName::Integer) : *item.name;
    std::vector<std::string> texts;
    for (const ir::Scalar& scalar : items) {
        auto text = scalar_text(symbols, scalar, type);
        if (!text) return std::nullopt;
        texts.push_back(std::move(*text));
    }
    if (!pairs) return fmt::format("[{}]", fmt::join(texts, ", "));
    std::vector<std::string> tuples;
    for (size_t i = 0; i < texts.size(); i += 2) {
        tuples.push_back(fmt::format("({}, {})", texts[i], texts[i + 1]));
    }
    return fmt::format("[{}]", fmt::join(tuples, ", "));
}

}  // namespace

std::optional<std::string> value_text(const ir::SymbolPool& symbols,
                                      const ir::Value& value,
                                      const ValueType& type) {
    const auto* scalar = std::get_if<ir::Scalar>(&value);
    if (type.array() && !type.items.empty()) {
        if (const auto* pack = std::get_if<ir::Pack>(&value)) {
            return list_text(symbols, pack->items, type.items[0]);
        }
        const std::vector<ir::Scalar> items =
            scalar ? std::vector{*scalar} : std::vector<ir::Scalar>{};
        return list_text(symbols, items, type.items[0]);
    }
    if (!scalar || !type.name) return std::nullopt;
    return scalar_text(symbols, *scalar, *type.name);
}

std::string literal_text(const Nodes& nodes, ExprId id) {
    const auto list = [&](Slice<ExprId> items) {
        std::vector<std::string> texts;
        for (const ExprId item : nodes.items(items)) texts.push_back(literal_text(nodes, item));
        return fmt::format("{}", fmt::join(texts, ", "));
    };
    return match(
        nodes.exprs[id].node,
        [](const IntegerLiteral& literal) { return fmt::format("{}", literal.value()); },
        [](const ScalarLiteral& literal) { return ir::real_text(literal.value()); },
        [](const LogicalLiteral& literal) { return std::string(literal.value ? "true" : "false"); },
        [](const StringLiteral& literal) { return string_text(literal.value); },
        [&](const Array& array) { return fmt::format("[{}]", list(array.items)); },
        [&](const Tuple& tuple) { return fmt::format("({})", list(tuple.items)); },
        [](const auto&) { return std::string(); });
}

// ---- Names --------------------------------------------------------------------------------------

std::string Identifiers::make(std::string_view name) {
    std::string text;
    for (const char c : name) text += text::is_word(c) ? c : '_';
    if (text.empty() || text::is_digit(text[0])) text = "t" + text;
    if (word_kind(text) != TokenKind::Identifier) text += '_';
    return used_.make(text);
}

// Empty parts of a path, and parts made of dots, would lead to other folders.
std::string Labels::make(std::string_view name) {
    std::string text;
    for (const char c : name) {
        const bool separator = c == '/' || c == '\\';
        if (separator && (text.empty() || text.ends_with('/'))) continue;
        const bool point = c == '.' && (text.empty() || text.ends_with('/'));
        text += separator ? '/' : (text::is_word(c) || c == '-' || c == '.') && !point ? c : '_';
    }
    while (text.ends_with('/')) text.pop_back();
    if (text.empty()) text = "data";
    const auto key = [](std::string t) {
        std::ranges::transform(t, t.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        return t;
    };
    std::string result = text;
    size_t& next = next_.try_emplace(key(text), 2).first->second;
    while (!used_.insert(key(result)).second) result = text + "_" + std::to_string(next++);
    return result;
}

}  // namespace lemma::nnef1
