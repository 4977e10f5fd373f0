// SPDX-License-Identifier: Apache-2.0
// @using and @assert: helper symbols, their decompositions, and conditions (spec 2.8, 2.9).
#include <fmt/format.h>

#include "sknd/types/checker.h"

namespace lemma::sknd {

namespace {

// Limit of the memory for the values of all helpers; beyond it they count as unknown.
constexpr size_t kMostKeptBytes = size_t{1} << 26;

size_t bytes_of(const Scalar& scalar) {
    const auto* text = std::get_if<std::string>(&scalar);
    return sizeof(Scalar) + (text ? text->size() : 0);
}

size_t bytes_of(const CompileValue& value) {
    if (const auto* scalar = std::get_if<Scalar>(&value)) return bytes_of(*scalar);
    const auto* pack = std::get_if<Pack>(&value);
    if (!pack) return 0;
    size_t total = 0;
    for (const Scalar& item : pack->items) total += bytes_of(item);
    return total;
}

}  // namespace

void DefinitionChecker::check_usings() {
    for (const UsingStmt& stmt : def_.usings) {
        std::optional<CompileValue> value;
        const Type type = compile_value(stmt.rhs, &value);
        declare_using(stmt.lhs, type, value);
    }
}

void DefinitionChecker::declare_using(const LValue& lhs,
                                      const Type& type,
                                      const std::optional<CompileValue>& value) {
    if (lhs.list) {
        declare_using_list(lhs, type);
        return;
    }
    for (const LValueItem& item : lhs.items) {
        if (item.omitted || item.zip || item.targets.size() != 1 || item.targets[0].type) {
            error(
                item.span, DiagKind::NotAssignable, "a helper is a plain name, or a list of names");
            continue;
        }
        Type declared = type;
        if (item.pack) {
            if (!type.packed && !type.bad()) {
                error(item.span,
                      DiagKind::PackMismatch,
                      fmt::format("`..` after `{}`, but its value is {}",
                                  item.targets[0].name.text,
                                  text(type)));
            }
            const ir::SymId hint = item.pack->length.valid()
                                       ? check_pack_length(*item.pack, item.targets[0].name.text)
                                       : ir::SymId{};
            if (surely_differ(hint, type.length)) {
                error(item.pack->span,
                      DiagKind::LengthMismatch,
                      fmt::format("`{}` has {}, expected {}",
                                  item.targets[0].name.text,
                                  count_text(type.length),
                                  symbols_.text(hint)));
            }
            if (!declared.length.valid()) declared.length = hint;
        }
        declare_helper(item.targets[0].name, declared, value);
    }
}

void DefinitionChecker::declare_helper(const Name& name,
                                       Type type,
                                       std::optional<CompileValue> value) {
    Symbol symbol = make_symbol(name, SymbolKind::Helper, type);
    if (value) kept_bytes_ += bytes_of(*value);
    if (kept_bytes_ > kMostKeptBytes) value.reset();
    symbol.value = value ? std::move(value) : unknown_value(name.text, type, false);
    declare(std::move(symbol));
}

// [a, b..(n), (e, f)..] = pack
void DefinitionChecker::declare_using_list(const LValue& lhs, const Type& type) {
    if (!type.packed && !type.bad()) {
        error(lhs.span,
              DiagKind::PackMismatch,
              fmt::format("a list of names is assigned {}, expected a pack", text(type)));
    }
    // The item of unknown length gets the rest.
    ir::SymId rest = type.length;
    ir::SymId stated = sym_const(0);
    size_t open_items = 0;
    const auto length_of = [&](const LValueItem& item) -> ir::SymId {
        if (!item.pack) return sym_const(1);
        if (!item.pack->length.valid()) return {};
        const ir::SymId each = check_pack_length(*item.pack, "");
        const auto count = sym_const(static_cast<int64_t>(item.zip ? item.targets.size() : 1));
        if (!each.valid()) return {};
        return symbols_.apply(ir::SymOp::Mul, {each, count}).value_or(ir::SymId{});
    };
    for (const LValueItem& item : lhs.items) {
        const ir::SymId length = length_of(item);
        if (item.pack && !item.pack->length.valid()) {
            if (++open_items == 2) {
                error(
                    item.span, DiagKind::LengthMismatch, "two items of unknown length in one list");
            }
            continue;
        }
        stated = sym_add(stated, length);
        if (rest.valid() && length.valid()) {
            rest = symbols_.apply(ir::SymOp::Sub, {rest, length}).value_or(ir::SymId{});
        }
    }
    const bool too_short = rest.valid() && symbols_.range(rest).high < 0;
    if (open_items == 0 ? surely_differ(stated, type.length) : too_short) {
        error(lhs.span,
              DiagKind::LengthMismatch,
              fmt::format("a pack of {} is taken apart into {}{}",
                          count_text(type.length),
                          open_items == 0 ? "" : "at least ",
                          symbols_.text(stated)));
    }
    for (const LValueItem& item : lhs.items) {
        Type each = type;
        each.packed = item.pack.has_value();
        each.length = {};
        if (item.pack && item.pack->length.valid()) {
            each.length = symbolic_int(item.pack->length);
        } else if (item.pack && rest.valid()) {
            const auto count = sym_const(static_cast<int64_t>(item.targets.size()));
            each.length = item.zip
                              ? symbols_.apply(ir::SymOp::Div, {rest, count}).value_or(ir::SymId{})
                              : rest;
        }
        for (const auto& target : item.targets) declare_helper(target.name, each, std::nullopt);
    }
}

void DefinitionChecker::check_asserts() {
    for (const AssertStmt& stmt : def_.asserts) {
        const Type condition = compile_value(stmt.condition);
        expect_base(stmt.condition, condition, BaseType::Bool, "a condition");
        if (stmt.message.valid()) scalar_operand(stmt.message);
        for (const auto& printed : stmt.printed) scalar_operand(printed.value);
    }
}

}  // namespace lemma::sknd
