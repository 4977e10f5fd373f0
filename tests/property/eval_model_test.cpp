// SPDX-License-Identifier: Apache-2.0
// Random well-typed expressions as text, each with the value that the model gives it, against the
// evaluator: once with the variables as constants, once as symbols that are replaced afterwards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "diag/source.h"
#include "property/eval_model.h"
#include "sknd/eval/eval.h"
#include "sknd/syntax/parser.h"

namespace lemma::sknd {
namespace {

using model::Item;
using model::Value;

enum class Type { Int, Real, Bool, Str };

struct Case {
    std::string text;
    Value value;
};

constexpr int kVariables = 3;

class Generator {
public:
    explicit Generator(uint64_t seed) : random_(seed) {
        for (auto& variable : variables) variable = pick(-6, 12);
    }

    int64_t variables[kVariables];
    // The last case asked what is known at compile time (`is`, `:=`, a null branch), so that its
    // value may change when less is known.
    bool identity = false;

    int64_t pick(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random_);
    }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    Case any(int depth) {
        identity = false;
        const Type type = any_type();
        return chance(45) ? scalar(type, depth) : pack(type, pick(0, 5), depth);
    }

    Case scalar(Type type, int depth) {
        if (depth <= 0) return literal(type);
        switch (pick(0, 9)) {
            case 0:
                return literal(type);
            case 1:
                return select(scalar(Type::Bool, depth - 1),
                              scalar(type, depth - 1),
                              scalar(type, depth - 1));
            case 2:
                return coalesce(type, depth);
            case 3:
                return item_of(pack(type, pick(1, 4), depth - 1));
            case 4:
                return one_operand(type, scalar(type, depth - 1));
            case 5:
                if (const auto made = fold(type, depth)) return *made;
                [[fallthrough]];
            default:
                return type == Type::Bool ? truth(depth)
                       : type == Type::Str
                           ? text(depth)
                           : arithmetic(type, scalar(type, depth - 1), scalar(type, depth - 1));
        }
    }

    // Of this length, unless something goes wrong on the way.
    Case pack(Type type, int64_t length, int depth) {
        if (depth <= 0) return list(type, length, 0);
        const auto count = static_cast<size_t>(length);
        const auto other = [&] { return chance(4) ? length + pick(0, 1) : length; };
        switch (pick(0, 9)) {
            case 0:
                return list(type, length, depth);
            case 1:
                return repetition(type, length, depth);
            case 2:
                return type == Type::Int ? range(count) : list(type, length, depth);
            case 3:
                return slice(pack(type, length + pick(0, 3), depth - 1), length);
            case 4:
                return select(pack(Type::Bool, length, depth - 1),
                              chance(50) ? scalar(type, depth - 1) : pack(type, other(), depth - 1),
                              pack(type, other(), depth - 1));
            case 5:
                return one_operand(type, pack(type, length, depth - 1));
            case 6:
                return gather(pack(type, pick(1, 4), depth - 1), length);
            case 7:
                return chance(50) ? cumulative(type, pack(type, length, depth - 1))
                                  : zip(type, length, depth);
            case 8:
                if (length > 0) return substitution(type, length, depth);
                [[fallthrough]];
            default:
                return element_wise(type, length, other(), depth);
        }
    }

private:
    Type any_type() { return static_cast<Type>(pick(0, 3)); }

    // ---- leaves ----

    Case integer(int64_t value) {
        if (value == INT64_MIN) return {"(-9223372036854775807 - 1)", model::single(value)};
        return {value < 0 ? fmt::format("({})", value) : fmt::to_string(value),
                model::single(value)};
    }

    Case literal(Type type) {
        switch (type) {
            case Type::Int: {
                if (chance(25)) {
                    const auto which = pick(0, kVariables - 1);
                    return {fmt::format("x{}", which), model::single(variables[which])};
                }
                if (chance(3)) return integer(INT64_MAX - pick(0, 1));
                if (chance(2)) return integer(INT64_MIN + pick(0, 1));
                return integer(pick(-9, 9));
            }
            case Type::Real: {
                if (chance(4)) return {"inf", model::single(HUGE_VAL)};
                const double value = static_cast<double>(pick(-32, 32)) / 8;
                const std::string digits = fmt::format("{:.3f}", std::fabs(value));
                return {std::signbit(value) ? "(-" + digits + ")" : digits, model::single(value)};
            }
            case Type::Bool: {
                const bool value = chance(50);
                return {value ? "true" : "false", model::single(value)};
            }
            default:
                return string_literal();
        }
    }

    Case string_literal() {
        static const std::pair<const char*, const char32_t*> kLetters[] = {
            {"a", U"a"},
            {"b", U"b"},
            {"é", U"é"},
            {"中", U"中"},
            {" ", U" "},
            {"\\{", U"{"},
            {"\\'", U"'"},
            {"\\\\", U"\\"},
        };
        std::string written = "'";
        std::u32string value;
        for (int64_t i = pick(0, 4); i > 0; --i) {
            const auto& [escaped, letter] = kLetters[pick(0, std::ssize(kLetters) - 1)];
            written += escaped;
            value += letter;
        }
        return {written + "'", model::single(value)};
    }

    // ---- operators ----

    Case arithmetic(Type, Case a, Case b) {
        static const char* kOps[] = {"+", "-", "*", "/", "\\", "%", "<<", ">>", "+", "-"};
        const std::string op = chance(6) ? "**" : kOps[pick(0, std::ssize(kOps) - 1)];
        return binary(op, a, b);
    }

    Case binary(const std::string& op, const Case& a, const Case& b) {
        if (op == "is") identity = true;
        return {fmt::format("({} {} {})", a.text, op, b.text), model::binary(op, a.value, b.value)};
    }

    std::string comparison() {
        static const char* kOps[] = {"<", "<=", ">", ">=", "==", "!=", "is"};
        return kOps[pick(0, std::ssize(kOps) - 1)];
    }
    std::string logic() {
        static const char* kOps[] = {"&&", "||", "^", "=>"};
        return kOps[pick(0, std::ssize(kOps) - 1)];
    }

    Case truth(int depth) {
        if (chance(45))
            return binary(logic(), scalar(Type::Bool, depth - 1), scalar(Type::Bool, depth - 1));
        const Type type = any_type();
        if (chance(15))
            return membership(scalar(type, depth - 1), pack(type, pick(0, 4), depth - 1));
        if (chance(8)) {
            const Case a = null_or_not(type, depth);
            if (a.value.bad()) return {"(?" + a.text + ")", a.value};
            return {"(?" + a.text + ")", model::single(!a.value.null)};
        }
        return binary(comparison(), scalar(type, depth - 1), scalar(type, depth - 1));
    }

    Case text(int depth) {
        if (chance(15)) {
            const int64_t a = pick(0, 99), b = pick(0, 99);
            std::u32string value;
            for (const char c : fmt::format("<{}>", a + b)) value += static_cast<char32_t>(c);
            return {fmt::format("'<{{{} + {}}}>'", a, b), model::single(value)};
        }
        if (chance(30)) {
            const Case base = scalar(Type::Str, depth - 1);
            return chance(50) ? item_of(base) : slice(base, -1);
        }
        return binary("+", scalar(Type::Str, depth - 1), scalar(Type::Str, depth - 1));
    }

    Case element_wise(Type type, int64_t length, int64_t other, int depth) {
        Case a = pack(type == Type::Bool && chance(50) ? Type::Int : type, length, depth - 1);
        const bool compares =
            type == Type::Bool && !a.value.bad() && !a.value.null &&
            (a.value.items.empty() || !std::holds_alternative<bool>(a.value.items[0]));
        if (type == Type::Bool && (a.value.bad() || a.value.null || a.value.items.empty()))
            return list(type, length, 0);
        const Type operand = compares ? Type::Int : type;
        if (compares && chance(25)) return membership(a, pack(operand, pick(0, 4), depth - 1));
        Case b = chance(40) ? scalar(operand, depth - 1) : pack(operand, other, depth - 1);
        // Item by item, `&&` and its kin have no short way round for packs on the left.
        const bool decisive = type == Type::Bool && !compares && (b.value.bad() || b.value.null);
        if (decisive) b = literal(Type::Bool);
        if (chance(25) && type != Type::Bool && type != Type::Str) std::swap(a, b);
        if (compares) return binary(comparison(), a, b);
        if (type == Type::Bool) return binary(logic(), a, b);
        if (type == Type::Str) return binary("+", a, b);
        return arithmetic(type, a, b);
    }

    Case membership(const Case& a, const Case& b) {
        const std::string written = fmt::format("({} in {})", a.text, b.text);
        if (const auto done = model::settled({&a.value, &b.value})) return {written, *done};
        return {written, model::each({&a.value}, [&](const auto& x) -> model::Outcome {
                    for (const Item& item : b.value.items)
                        if (x[0] == item) return Item(true);
                    return Item(false);
                })};
    }

    Case one_operand(Type type, const Case& a) {
        const auto apply = [&](const std::string& written, const model::Operation& operation) {
            if (const auto done = model::settled({&a.value})) return Case{written, *done};
            return Case{written, model::each({&a.value}, operation)};
        };
        switch (type) {
            case Type::Bool:
                return apply("(!" + a.text + ")",
                             [](const auto& x) { return Item(!std::get<bool>(x[0])); });
            case Type::Int:
                if (chance(30))
                    return apply(
                        "int(real(" + a.text + ") / 2.0)", [](const auto& x) -> model::Outcome {
                            const double half = static_cast<double>(std::get<int64_t>(x[0])) / 2.0;
                            return Item(static_cast<int64_t>(half));
                        });
                if (chance(40))
                    return apply("abs(" + a.text + ")", [](const auto& x) {
                        const model::Wide v = std::get<int64_t>(x[0]);
                        return model::narrow(v < 0 ? -v : v);
                    });
                return apply("(-" + a.text + ")", [](const auto& x) {
                    return model::narrow(-model::Wide{std::get<int64_t>(x[0])});
                });
            case Type::Real:
                if (chance(25))
                    return apply("floor(" + a.text + ")", [](const auto& x) {
                        return Item(std::floor(std::get<double>(x[0])));
                    });
                if (chance(25))
                    return apply("`sqrt`(" + a.text + ")", [](const auto& x) {
                        return Item(std::sqrt(std::get<double>(x[0])));
                    });
                if (chance(25))
                    return apply("real(bool(" + a.text + "))", [](const auto& x) {
                        return Item(std::get<double>(x[0]) != 0 ? 1.0 : 0.0);
                    });
                return apply("(-" + a.text + ")",
                             [](const auto& x) { return Item(-std::get<double>(x[0])); });
            default:
                return a;
        }
    }

    // ---- choices ----

    Case select(const Case& c, const Case& a, const Case& b) {
        const std::string written = fmt::format("({} ? {} : {})", c.text, a.text, b.text);
        if (const auto done = model::settled({&c.value})) return {written, *done};
        // As long as the condition is open, one null branch makes the whole null.
        if (a.value.null || b.value.null) identity = true;
        if (!c.value.pack) {
            const bool chosen = std::get<bool>(c.value.items[0]);
            return {written, (chosen ? a : b).value};
        }
        // Which branch counts where none or all items choose it is tested elsewhere.
        bool yes = false, no = false;
        for (const Item& item : c.value.items) (std::get<bool>(item) ? yes : no) = true;
        const bool mixed = (yes && no) || c.value.items.empty();
        if (!mixed && (a.value.bad() || b.value.bad() || a.value.null || b.value.null)) return b;
        if (const auto done = model::settled({&a.value, &b.value})) return {written, *done};
        return {written, model::each({&c.value, &a.value, &b.value}, [](const auto& x) {
                    return std::get<bool>(x[0]) ? x[1] : x[2];
                })};
    }

    Case null_or_not(Type type, int depth) {
        const Case condition = scalar(Type::Bool, depth - 2);
        const Case a = scalar(type, depth - 2);
        const std::string written = fmt::format("({} ? {})", condition.text, a.text);
        if (const auto done = model::settled({&condition.value})) return {written, *done};
        return {written, std::get<bool>(condition.value.items[0]) ? a.value : model::nothing()};
    }

    Case coalesce(Type type, int depth) {
        const Case a = null_or_not(type, depth);
        const Case b = scalar(type, depth - 1);
        return {fmt::format("({} ?? {})", a.text, b.text),
                a.value.bad() || !a.value.null ? a.value : b.value};
    }

    // ---- packs ----

    Case list(Type type, int64_t length, int depth) {
        if (length == 0) {
            const Case item = literal(type);
            return {"[" + item.text + " ..(0)]", model::pack({})};
        }
        std::vector<Case> parts;
        std::string written = "[";
        while (length > 0) {
            const bool expand = depth > 0 && length > 1 && chance(20);
            const int64_t part = expand ? pick(1, length) : 1;
            parts.push_back(expand ? pack(type, part, depth - 1) : scalar(type, depth - 1));
            written += parts.size() > 1 ? ", " : "";
            written += parts.back().text + (expand ? " .." : "");
            length -= part;
        }
        Value value = model::pack({});
        bool null = false;
        for (const Case& part : parts) {
            if (part.value.unclear) return {written + "]", part.value};
            if (part.value.null) null = true;
            if (value.error.empty()) value.error = part.value.error;
            value.items.insert(value.items.end(), part.value.items.begin(), part.value.items.end());
        }
        written += "]";
        if (null && !value.error.empty()) return {written, Value{.unclear = true}};
        if (!value.error.empty()) return {written, model::failure(value.error)};
        return {written, null ? model::nothing() : value};
    }

    Case repetition(Type type, int64_t length, int depth) {
        const Case item = scalar(type, depth - 1);
        const bool flag = length < 2 && chance(30);
        Case count = flag ? Case{length ? "true" : "false", model::single(length == 1)}
                          : integer(chance(3) ? -1 : length);
        const std::string written = fmt::format("[{} ..({})]", item.text, count.text);
        if (const auto done = model::settled({&item.value})) return {written, *done};
        if (!flag && std::get<int64_t>(count.value.items[0]) < 0)
            return {written, model::failure("bad-argument")};
        return {written,
                model::pack(std::vector<Item>(static_cast<size_t>(length), item.value.items[0]))};
    }

    Case range(size_t count) {
        int64_t step = pick(1, 4);
        if (chance(40)) step = -step;
        const int64_t begin = pick(-9, 9);
        int64_t end = begin + step * static_cast<int64_t>(count);
        if (count > 0 && chance(50)) end -= step > 0 ? pick(0, step - 1) : -pick(0, -step - 1);
        if (chance(3)) {
            return {fmt::format("[{}:{}:0]", begin, end), model::failure("bad-argument")};
        }
        std::vector<Item> items;
        for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) items.emplace_back(i);
        const std::string tail = step == 1 && chance(70) ? "" : fmt::format(":{}", step);
        return {fmt::format("[{}:{}{}]", begin, end, tail), model::pack(items)};
    }

    Case zip(Type type, int64_t length, int depth) {
        if (length < 2 || length % 2 != 0) return list(type, length, depth);
        const Case a = pack(type, length / 2, depth - 1);
        const Case b = pack(type, length / 2 + (chance(4) ? 1 : 0), depth - 1);
        const std::string written = fmt::format("[({}, {})..]", a.text, b.text);
        if (const auto done = model::settled({&a.value, &b.value})) return {written, *done};
        if (a.value.size() != b.value.size()) return {written, model::failure("length-mismatch")};
        Value value = model::pack({});
        for (size_t i = 0; i < a.value.size(); ++i) {
            value.items.push_back(a.value.items[i]);
            value.items.push_back(b.value.items[i]);
        }
        return {written, value};
    }

    Case cumulative(Type type, const Case& a) {
        if (type == Type::Str) return a;
        static const char* kNumbers[] = {"+", "*", "<<", ">>"};
        const std::string op =
            type == Type::Bool ? (chance(50) ? "&&" : "||") : kNumbers[pick(0, 3)];
        return {fmt::format("({} {} ...)", a.text, op), model::cumulate(op, a.value)};
    }

    std::optional<Case> fold(Type type, int depth) {
        static const char* kNumbers[] = {"+", "*", "<<", ">>"};
        static const char* kOrders[] = {"<", "<=", ">", ">=", "!=", "=="};
        std::string op = kNumbers[pick(0, 3)];
        Type of = type;
        if (type == Type::Bool && chance(50)) {
            op = chance(50) ? "&&" : "||";
        } else if (type == Type::Bool) {
            op = kOrders[pick(0, 5)];
            of = chance(50) ? Type::Int : Type::Real;
        } else if (type == Type::Str || chance(15)) {
            op = ":=";
        }
        const Case a = pack(of, pick(0, 4), depth - 1);
        if ((op == ":=" || op == "==") && a.value.items.empty()) return std::nullopt;
        if (op == ":=") identity = true;
        return Case{fmt::format("({} {} ..)", a.text, op),
                    model::fold(op, a.value, of == Type::Real)};
    }

    // ---- indexing ----

    Case item_of(const Case& base) {
        if (base.value.bad() || base.value.null) {
            return {base.text + "[0]", base.value};
        }
        const size_t length = model::length_of(base.value);
        const auto n = static_cast<int64_t>(length);
        const int64_t index = chance(6) || n == 0 ? pick(-n - 2, n + 2) : pick(-n, n - 1);
        const std::string written = fmt::format("{}[{}]", base.text, index);
        const auto at = model::place(index, length);
        if (!at) return {written, model::failure("index-range")};
        if (base.value.pack) return {written, model::single(base.value.items[*at])};
        return {written, model::take(base.value, {{*at}, ""})};
    }

    // A range of about this length.
    Case slice(const Case& base, int64_t length) {
        if (base.value.bad() || base.value.null) return {base.text + "[:]", base.value};
        const auto n = static_cast<int64_t>(model::length_of(base.value));
        std::optional<int64_t> begin, end, step;
        if (length >= 0 && length <= n && chance(60)) {
            begin = pick(0, n - length);
            end = *begin + length;
            if (*begin > 0 && chance(30)) begin = *begin - n;
        } else {
            if (chance(70)) begin = pick(-n - 1, n + 1);
            if (chance(70)) end = pick(-n - 1, n + 1);
            if (chance(60)) step = pick(-3, 3);
        }
        const auto part = [](std::optional<int64_t> value) {
            return value ? fmt::to_string(*value) : std::string();
        };
        const std::string written = fmt::format(
            "{}[{}:{}{}]", base.text, part(begin), part(end), step ? ":" + part(step) : "");
        return {
            written,
            model::take(base.value, model::range_places(begin, end, step, static_cast<size_t>(n)))};
    }

    Case gather(const Case& base, int64_t length) {
        if (base.value.bad() || base.value.null) return {base.text + "[[0]]", base.value};
        const auto n = static_cast<int64_t>(base.value.size());
        Case index{"[", model::pack({})};
        const bool mask = chance(25) && n > 0;
        const int64_t count = mask ? n + (chance(5) ? 1 : 0) : length;
        if (count == 0 || n == 0) return base;
        for (int64_t i = 0; i < count; ++i) {
            const Case item = mask ? literal(Type::Bool) : integer(chance(2) ? n : pick(-n, n - 1));
            index.text += (i ? ", " : "") + item.text;
            index.value.items.push_back(item.value.items[0]);
        }
        index.text += "]";
        return {base.text + "[" + index.text + "]",
                model::take(base.value, model::pack_places(index.value, base.value.size()))};
    }

    Case substitution(Type type, int64_t length, int depth) {
        const Case base = pack(type, length, depth - 1);
        if (base.value.bad() || base.value.null || base.value.items.empty()) return base;
        const auto n = static_cast<int64_t>(base.value.size());
        Case index{"[", model::pack({})};
        const int64_t count = pick(1, 3);
        for (int64_t i = 0; i < count; ++i) {
            const Case item = integer(chance(3) ? n : pick(-n, n - 1));
            index.text += (i ? ", " : "") + item.text;
            index.value.items.push_back(item.value.items[0]);
        }
        index.text += "]";
        const Case value = chance(30) ? scalar(type, depth - 1)
                                      : pack(type, count + (chance(4) ? 1 : 0), depth - 1);
        // Two faults at once have no order that the text would say.
        const Value result = model::substitute(base.value, index.value, value.value);
        const bool both =
            value.value.bad() && !model::pack_places(index.value, base.value.size()).error.empty();
        return {fmt::format("({}[{}] <- {})", base.text, index.text, value.text),
                both || value.value.null ? Value{.unclear = true} : result};
    }

    std::mt19937_64 random_;
};

// ---- the evaluator's side ---------------------------------------------------------------------

class Variables : public Environment {
public:
    const CompileValue* lookup(std::string_view name) const override {
        return name.size() == 2 && name[0] == 'x' ? &values[static_cast<size_t>(name[1] - '0')]
                                                  : nullptr;
    }
    const CompileValue* member(std::string_view, MemberKind) const override { return nullptr; }
    std::optional<ir::ScalarType> type(std::string_view) const override { return std::nullopt; }

    CompileValue values[kVariables];
};

std::string utf8(const std::u32string& text) {
    std::string result;
    for (const char32_t c : text) {
        if (c < 0x80) {
            result += static_cast<char>(c);
        } else if (c < 0x800) {
            result += static_cast<char>(0xC0 | (c >> 6));
            result += static_cast<char>(0x80 | (c & 0x3F));
        } else {
            result += static_cast<char>(0xE0 | (c >> 12));
            result += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
            result += static_cast<char>(0x80 | (c & 0x3F));
        }
    }
    return result;
}

bool same(const Item& item, const Scalar& scalar) {
    if (const auto* a = std::get_if<int64_t>(&item)) {
        const auto* b = std::get_if<int64_t>(&scalar);
        return b && *a == *b;
    }
    if (const auto* a = std::get_if<double>(&item)) {
        const auto* b = std::get_if<double>(&scalar);
        return b && ((std::isnan(*a) && std::isnan(*b)) ||
                     (*a == *b && std::signbit(*a) == std::signbit(*b)));
    }
    if (const auto* a = std::get_if<bool>(&item)) {
        const auto* b = std::get_if<bool>(&scalar);
        return b && *a == *b;
    }
    const auto* b = std::get_if<std::string>(&scalar);
    return b && utf8(std::get<std::u32string>(item)) == *b;
}

bool same(const Value& expected, const CompileValue& found) {
    if (expected.null) return is_null(found);
    if (const auto* pack = std::get_if<Pack>(&found)) {
        if (!expected.pack || pack->items.size() != expected.size()) return false;
        for (size_t i = 0; i < expected.size(); ++i)
            if (!same(expected.items[i], pack->items[i])) return false;
        return true;
    }
    const auto* scalar = std::get_if<Scalar>(&found);
    return scalar && !expected.pack && same(expected.items[0], *scalar);
}

class EvalModel : public testing::TestWithParam<uint64_t> {
protected:
    // The value, or an error by its id, or "unknown".
    struct Answer {
        std::optional<CompileValue> value;
        std::string error;
    };

    Answer run(const Module& module, const Variables& variables) {
        Diagnostics diag;
        Answer answer{
            evaluate(
                module, module.definitions.at(0).usings.at(0).rhs, variables, symbols, {}, diag),
            ""};
        if (diag.has_errors()) answer.error = diag::info(diag.items()[0].kind).id;
        if (!answer.value && answer.error.empty()) answer.error = "unknown";
        return answer;
    }

    // Puts the constants in for the symbols; empty where something remains open.
    std::optional<CompileValue> replaced(CompileValue value, const Generator& generator) {
        std::unordered_map<ir::SymId, ir::SymId, IdHash> with;
        for (size_t i = 0; i < kVariables; ++i)
            with[unknowns[i]] = symbols.integer(generator.variables[i]);
        const auto replace = [&](Scalar& scalar) {
            const auto* id = std::get_if<ir::SymId>(&scalar);
            if (!id) return true;
            const auto result = symbols.substitute(*id, with);
            if (result) scalar = to_scalar(*result, symbols);
            return result.has_value();
        };
        if (auto* scalar = std::get_if<Scalar>(&value))
            if (!replace(*scalar)) return std::nullopt;
        if (auto* pack = std::get_if<Pack>(&value))
            for (Scalar& item : pack->items)
                if (!replace(item)) return std::nullopt;
        return value;
    }

    ir::SymbolPool symbols;
    std::vector<ir::SymId> unknowns;
};

TEST_P(EvalModel, AgreesWithThePlainModel) {
    Generator generator(GetParam());
    SCOPED_TRACE(testing::Message() << "seed " << GetParam());
    Variables constants, unknown;
    for (size_t i = 0; i < kVariables; ++i) {
        constants.values[i] = Scalar(generator.variables[i]);
        unknowns.push_back(symbols.symbol(fmt::format("x{}", i), ir::ScalarType::Int));
        unknown.values[i] = Scalar(unknowns.back());
    }
    int compared = 0, errors = 0, symbolic = 0;
    for (int round = 0; round < 500; ++round) {
        const Case c = generator.any(static_cast<int>(generator.pick(1, 5)));
        if (c.value.unclear) continue;
        diag::SourceMap sources;
        Diagnostics diag;
        const auto file = sources.add("case.sknd", "operator f { @using { v = " + c.text + "; } }");
        const Module module = parse_module(sources, file, {}, diag);
        ASSERT_FALSE(diag.has_errors()) << c.text << "\n" << diag.items()[0].message;

        const Answer answer = run(module, constants);
        ASSERT_EQ(answer.error, c.value.error) << c.text;
        if (!c.value.error.empty()) {
            ++errors;
            continue;
        }
        ASSERT_TRUE(answer.value) << c.text;
        ASSERT_TRUE(same(c.value, *answer.value))
            << c.text << "\n  gave " << to_text(*answer.value, symbols);
        ++compared;

        if (generator.identity || c.value.null) continue;
        const Answer open = run(module, unknown);
        if (!open.error.empty() || is_null(*open.value)) continue;
        const auto closed = replaced(*open.value, generator);
        // A canonical form may pass 64 bits half-way where the original does not.
        if (!closed && c.text.find("92233720368547758") != std::string::npos) continue;
        ASSERT_TRUE(closed) << c.text << "\n  gave " << to_text(*open.value, symbols);
        ASSERT_TRUE(same(c.value, *closed))
            << c.text << "\n  gave " << to_text(*open.value, symbols) << "\n  that is "
            << to_text(*closed, symbols);
        ++symbolic;
    }
    EXPECT_GT(compared, 150);
    EXPECT_GT(errors, 5);
    EXPECT_GT(symbolic, 100);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EvalModel, testing::Range<uint64_t>(1, 13));

}  // namespace
}  // namespace lemma::sknd
