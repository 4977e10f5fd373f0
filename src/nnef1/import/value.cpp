// SPDX-License-Identifier: Apache-2.0
#include "nnef1/import/value.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"

namespace lemma::nnef1 {

const Values* Value::items() const {
    if (const auto* array = std::get_if<ArrayValue>(&node)) return array->items.get();
    if (const auto* tuple = std::get_if<TupleValue>(&node)) return tuple->items.get();
    return nullptr;
}

Value Value::array(Values items) {
    return {ArrayValue{std::make_shared<const Values>(std::move(items))}};
}

Value Value::tuple(Values items) {
    return {TupleValue{std::make_shared<const Values>(std::move(items))}};
}

bool equal(const Value& a, const Value& b) {
    if (a.node.index() != b.node.index()) return false;
    if (const Values* items = a.items()) return std::ranges::equal(*items, *b.items(), equal);
    return match(
        a.node,
        [&](const auto& value) { return value == std::get<std::decay_t<decltype(value)>>(b.node); },
        [](const Unknown&) { return false; },
        [](const ArrayValue&) { return false; },
        [](const TupleValue&) { return false; });
}

bool has_unknown(const Value& value) {
    if (value.unknown()) return true;
    const Values* const items = value.items();
    return items && std::ranges::any_of(*items, has_unknown);
}

std::string literal_text(const Value& value) {
    return match(
        value.node,
        [](int64_t number) { return fmt::format("{}", number); },
        [](double number) {
            std::string digits = fmt::format("{}", number);
            if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
            return digits;
        },
        [](bool flag) { return std::string(flag ? "true" : "false"); },
        [](const std::string& text) { return text; },
        [](const auto&) { return std::string(); });
}

}  // namespace lemma::nnef1
