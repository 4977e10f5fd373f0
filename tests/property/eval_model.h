// SPDX-License-Identifier: Apache-2.0
// tests/property/eval_model.h — a plain model of compile-time values, written from section 2.4 of
// the SkriptND text and our notes on it, and from nothing else: 128-bit arithmetic, vectors, loops.
// The evaluator must agree with it on values and on the kind of the first error.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lemma::model {

__extension__ typedef __int128 Wide;

using Item = std::variant<int64_t, double, bool, std::u32string>;

struct Value {
    std::vector<Item> items;  // one for a single value
    bool pack = false;
    bool null = false;
    std::string error;     // the id of a diagnostic
    bool unclear = false;  // null here and an error there: the text does not say which it is

    bool bad() const { return unclear || !error.empty(); }
    size_t size() const { return items.size(); }
};

inline Value failure(std::string kind) { return {.error = std::move(kind)}; }
inline Value nothing() { return {.null = true}; }
inline Value single(Item item) { return {.items = {std::move(item)}}; }
inline Value pack(std::vector<Item> items) { return {.items = std::move(items), .pack = true}; }

// What the operands settle by themselves: the first error, or null.
inline std::optional<Value> settled(std::initializer_list<const Value*> operands) {
    bool null = false, failed = false;
    for (const Value* value : operands) {
        if (value->unclear) return *value;
        null = null || value->null;
        failed = failed || !value->error.empty();
    }
    if (null && failed) return Value{.unclear = true};
    for (const Value* value : operands)
        if (!value->error.empty()) return *value;
    if (null) return nothing();
    return std::nullopt;
}

using Outcome = std::variant<Item, std::string>;  // an item, or an error

inline Outcome narrow(Wide value) {
    if (value < INT64_MIN || value > INT64_MAX) return "int-overflow";
    return Item(static_cast<int64_t>(value));
}

inline Outcome int_op(const std::string& op, int64_t x, int64_t y) {
    const Wide a = x, b = y;
    if (op == "+") return narrow(a + b);
    if (op == "-") return narrow(a - b);
    if (op == "*") return narrow(a * b);
    if (op == "<<") return Item(x < y ? x : y);
    if (op == ">>") return Item(x > y ? x : y);
    if (op == "**") {
        if (y < 0) return "bad-argument";
        if (x == 0 || x == 1) return Item(y == 0 ? int64_t{1} : x);
        if (x == -1) return Item(y % 2 == 0 ? int64_t{1} : int64_t{-1});
        Wide power = 1;
        for (int64_t i = 0; i < y; ++i) {
            power *= a;
            if (power < INT64_MIN || power > INT64_MAX) return "int-overflow";
        }
        return narrow(power);
    }
    if (y == 0) return "division-by-zero";
    Wide down = a / b;
    if (down * b != a && (a < 0) != (b < 0)) --down;
    if (op == "/") return narrow(down);
    if (op == "\\") return narrow(down * b == a ? down : down + 1);
    return narrow(a - down * b);
}

inline Outcome real_op(const std::string& op, double x, double y) {
    if (op == "+") return Item(x + y);
    if (op == "-") return Item(x - y);
    if (op == "*") return Item(x * y);
    if (op == "<<") return Item(y < x || std::isnan(y) ? y : x);
    if (op == ">>") return Item(x < y || std::isnan(y) ? y : x);
    if (op == "**") return Item(std::pow(x, y));
    if (y == 0) return "division-by-zero";
    if (op == "/") return Item(x / y);
    if (op == "\\") return Item(std::ceil(x / y));
    return Item(x - std::floor(x / y) * y);
}

inline Outcome item_op(const std::string& op, const Item& x, const Item& y) {
    if (op == "<") return Item(x < y);
    if (op == "<=") return Item(x <= y);
    if (op == ">") return Item(x > y);
    if (op == ">=") return Item(x >= y);
    if (op == "==" || op == "is") return Item(x == y);
    if (op == "!=") return Item(x != y);
    if (const auto* a = std::get_if<int64_t>(&x)) return int_op(op, *a, std::get<int64_t>(y));
    if (const auto* a = std::get_if<double>(&x)) return real_op(op, *a, std::get<double>(y));
    if (const auto* a = std::get_if<std::u32string>(&x))
        return Item(*a + std::get<std::u32string>(y));
    const bool a = std::get<bool>(x), b = std::get<bool>(y);
    if (op == "&&") return Item(a && b);
    if (op == "||") return Item(a || b);
    if (op == "^") return Item(a != b);
    return Item(!a || b);
}

using Operation = std::function<Outcome(const std::vector<Item>&)>;

// Item by item, single values broadcast; `operands` are settled.
inline Value each(std::initializer_list<const Value*> operands, const Operation& operation) {
    std::optional<size_t> length;
    for (const Value* value : operands) {
        if (!value->pack) continue;
        if (length && *length != value->size()) return failure("length-mismatch");
        length = value->size();
    }
    Value result{.pack = length.has_value()};
    for (size_t i = 0; i < length.value_or(1); ++i) {
        std::vector<Item> row;
        for (const Value* value : operands) row.push_back(value->items[value->pack ? i : 0]);
        const Outcome outcome = operation(row);
        if (const auto* error = std::get_if<std::string>(&outcome)) return failure(*error);
        result.items.push_back(std::get<Item>(outcome));
    }
    return result;
}

inline Value binary(const std::string& op, const Value& a, const Value& b) {
    // A single left side that decides leaves the right side out, but for its length.
    const bool logical = op == "&&" || op == "||" || op == "=>";
    if (logical && !a.bad() && !a.null && !a.pack) {
        const bool left = std::get<bool>(a.items[0]);
        const bool decides = op == "||" ? left : !left;
        if (decides) {
            const bool result = op != "&&";
            if (!b.pack) return single(result);
            return pack(std::vector<Item>(b.size(), result));
        }
    }
    if (const auto done = settled({&a, &b})) return *done;
    return each({&a, &b}, [&](const auto& x) { return item_op(op, x[0], x[1]); });
}

inline Value fold(const std::string& op, const Value& a, bool real) {
    if (const auto done = settled({&a})) return *done;
    const auto& x = a.items;
    if (op == ":=" || op == "==") {  // only asked of packs with items
        for (size_t i = 1; i < x.size(); ++i)
            if (!(x[i] == x[0])) return op == ":=" ? nothing() : single(false);
        return op == ":=" ? single(x[0]) : single(true);
    }
    if (op == "!=") {
        for (size_t i = 0; i < x.size(); ++i)
            for (size_t j = 0; j < i; ++j)
                if (x[i] == x[j]) return single(false);
        return single(true);
    }
    if (op[0] == '<' && op != "<<" && op.size() <= 2) {
        for (size_t i = 1; i < x.size(); ++i)
            if (!std::get<bool>(std::get<Item>(item_op(op, x[i - 1], x[i])))) return single(false);
        return single(true);
    }
    if (op[0] == '>' && op != ">>") {
        for (size_t i = 1; i < x.size(); ++i)
            if (!std::get<bool>(std::get<Item>(item_op(op, x[i - 1], x[i])))) return single(false);
        return single(true);
    }
    if (x.empty()) {
        if (op == "<<" || op == ">>") return nothing();
        if (op == "&&" || op == "||") return single(op == "&&");
        const int64_t neutral = op == "*";
        return real ? single(static_cast<double>(neutral)) : single(neutral);
    }
    Item total = x[0];
    for (size_t i = 1; i < x.size(); ++i) {
        const Outcome next = item_op(op, total, x[i]);
        if (const auto* error = std::get_if<std::string>(&next)) return failure(*error);
        total = std::get<Item>(next);
    }
    return single(total);
}

inline Value cumulate(const std::string& op, const Value& a) {
    if (const auto done = settled({&a})) return *done;
    Value result = pack({});
    for (const Item& item : a.items) {
        Outcome next = item;
        if (!result.items.empty()) next = item_op(op, result.items.back(), item);
        if (const auto* error = std::get_if<std::string>(&next)) return failure(*error);
        result.items.push_back(std::get<Item>(next));
    }
    return result;
}

// ---- positions --------------------------------------------------------------------------------

inline std::optional<size_t> place(int64_t index, size_t length) {
    const Wide at = index < 0 ? Wide{index} + static_cast<Wide>(length) : Wide{index};
    if (at < 0 || at >= static_cast<Wide>(length)) return std::nullopt;
    return static_cast<size_t>(at);
}

struct Places {
    std::vector<size_t> at;
    std::string error;
};

inline Places range_places(std::optional<int64_t> begin,
                           std::optional<int64_t> end,
                           std::optional<int64_t> step,
                           size_t length) {
    const Wide n = static_cast<Wide>(length), s = step.value_or(1);
    if (s == 0) return {{}, "bad-argument"};
    const auto absolute = [&](int64_t index) { return index < 0 ? index + n : Wide{index}; };
    const Wide first = begin ? absolute(*begin) : s > 0 ? 0 : n - 1;
    const Wide last = end ? absolute(*end) : s > 0 ? n : -1;
    if (s > 0 ? last > n : last < -1) return {{}, "index-range"};
    Places places;
    for (Wide i = first; s > 0 ? i < last : i > last; i += s) {
        if (i < 0 || i >= n) return {{}, "index-range"};
        places.at.push_back(static_cast<size_t>(i));
    }
    return places;
}

inline Value take(const Value& base, const Places& places) {
    if (!places.error.empty()) return failure(places.error);
    if (base.pack) {
        Value result = pack({});
        for (const size_t at : places.at) result.items.push_back(base.items[at]);
        return result;
    }
    std::u32string text;
    for (const size_t at : places.at) text += std::get<std::u32string>(base.items[0])[at];
    return single(text);
}

inline size_t length_of(const Value& base) {
    return base.pack ? base.size() : std::get<std::u32string>(base.items[0]).size();
}

inline Places pack_places(const Value& index, size_t length) {
    Places places;
    if (!index.items.empty() && std::holds_alternative<bool>(index.items[0])) {
        if (index.size() != length) return {{}, "length-mismatch"};
        for (size_t i = 0; i < length; ++i)
            if (std::get<bool>(index.items[i])) places.at.push_back(i);
        return places;
    }
    for (const Item& item : index.items) {
        const auto at = place(std::get<int64_t>(item), length);
        if (!at) return {{}, "index-range"};
        places.at.push_back(*at);
    }
    return places;
}

inline Value substitute(const Value& base, const Value& index, const Value& value) {
    if (const auto done = settled({&base, &index, &value})) return *done;
    const Places places = pack_places(index, base.size());
    if (!places.error.empty()) return failure(places.error);
    if (value.pack && value.size() != places.at.size()) return failure("length-mismatch");
    Value result = base;
    for (size_t i = 0; i < places.at.size(); ++i)
        result.items[places.at[i]] = value.items[value.pack ? i : 0];
    return result;
}

}  // namespace lemma::model
