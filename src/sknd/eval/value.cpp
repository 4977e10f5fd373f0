// SPDX-License-Identifier: Apache-2.0
#include "sknd/eval/value.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"

namespace lemma::sknd {

using ir::ScalarType;

ScalarType type_of(const Scalar& scalar, const ir::SymbolPool& symbols) {
    switch (scalar.index()) {
        case 0:
            return ScalarType::Int;
        case 1:
            return ScalarType::Real;
        case 2:
            return ScalarType::Bool;
        case 3:
            return ScalarType::Str;
        default:
            return symbols.type(std::get<ir::SymId>(scalar));
    }
}

std::optional<ScalarType> type_of(const CompileValue& value, const ir::SymbolPool& symbols) {
    if (const auto* scalar = std::get_if<Scalar>(&value)) return type_of(*scalar, symbols);
    const auto* pack = std::get_if<Pack>(&value);
    return pack ? type_of(*pack, symbols) : std::nullopt;
}

std::optional<ScalarType> type_of(const Pack& pack, const ir::SymbolPool& symbols) {
    if (!pack.items.empty()) return type_of(pack.items[0], symbols);
    if (pack.type) return pack.type;
    return pack.uniform ? std::optional(type_of(*pack.uniform, symbols)) : std::nullopt;
}

std::string_view type_name(ScalarType type) {
    switch (type) {
        case ScalarType::Int:
            return "int";
        case ScalarType::Real:
            return "real";
        case ScalarType::Bool:
            return "bool";
        default:
            return "str";
    }
}

Scalar to_scalar(ir::SymId id, const ir::SymbolPool& symbols) {
    if (!symbols.is_constant(id)) return id;
    switch (symbols.type(id)) {
        case ScalarType::Int:
            return *symbols.as_int(id);
        case ScalarType::Real:
            return *symbols.as_real(id);
        case ScalarType::Bool:
            return *symbols.as_bool(id);
        default:
            return *symbols.as_string(id);
    }
}

ir::SymId to_symbol(const Scalar& scalar, ir::SymbolPool& symbols) {
    return match(
        scalar,
        [&](int64_t value) { return symbols.integer(value); },
        [&](double value) { return symbols.real(value); },
        [&](bool value) { return symbols.boolean(value); },
        [&](const std::string& value) { return symbols.string(value); },
        [](ir::SymId id) { return id; });
}

bool identical(const Scalar& a, const Scalar& b) { return a == b; }

std::optional<Scalar> uniform_value(const Pack& pack) {
    if (pack.items.empty()) return pack.uniform;
    const Scalar& first = pack.items[0];
    const auto differs = [&](const Scalar& item) { return !identical(item, first); };
    if (std::any_of(pack.items.begin() + 1, pack.items.end(), differs)) return std::nullopt;
    return first;
}

Pack make_pack(std::vector<Scalar> items, const ir::SymbolPool& symbols) {
    Pack pack{.items = std::move(items)};
    if (pack.items.empty()) return pack;
    pack.type = type_of(pack.items[0], symbols);
    pack.uniform = uniform_value(pack);
    return pack;
}

Pack repeat(Scalar item, size_t count, const ir::SymbolPool& symbols) {
    Pack pack;
    pack.items.assign(count, item);
    pack.type = type_of(item, symbols);
    pack.uniform = std::move(item);
    return pack;
}

namespace {

void append(std::string& out, const Scalar& scalar, bool quoted, const ir::SymbolPool& symbols) {
    match(
        scalar,
        [&](int64_t value) { fmt::format_to(std::back_inserter(out), "{}", value); },
        [&](double value) { out += ir::real_text(value); },
        [&](bool value) { out += value ? "true" : "false"; },
        [&](const std::string& value) { out += quoted ? ir::quoted_text(value) : value; },
        [&](ir::SymId id) { out += symbols.text(id); });
}

}  // namespace

std::string to_text(const CompileValue& value, const ir::SymbolPool& symbols) {
    std::string out;
    match(
        value,
        [&](const Null&) { out = "null"; },
        [&](const Scalar& scalar) { append(out, scalar, false, symbols); },
        [&](const Pack& pack) {
            out += '[';
            for (size_t i = 0; i < pack.items.size(); ++i) {
                if (i > 0) out += ", ";
                append(out, pack.items[i], true, symbols);
            }
            out += ']';
        });
    return out;
}

}  // namespace lemma::sknd
