// SPDX-License-Identifier: Apache-2.0
// The names that shapes and pack lengths declare: an extent that is an affine expression of one new
// identifier declares it (spec 2.6). Scalars come first, because the lengths of packs can use them.
#include <fmt/format.h>

#include <limits>

#include "base/checked.h"
#include "base/match.h"
#include "sknd/names/identifiers.h"
#include "sknd/types/checker.h"

namespace lemma::sknd {

namespace {

// factor * name + offset, where the name may be missing.
struct Affine {
    const Expr* name = nullptr;
    int64_t factor = 0;
    int64_t offset = 0;
};

std::optional<Affine> negate(const Affine& a) {
    const auto factor = checked_sub(0, a.factor);
    const auto offset = checked_sub(0, a.offset);
    if (!factor || !offset) return std::nullopt;
    return Affine{a.name, *factor, *offset};
}

std::optional<Affine> add(const Affine& a, const Affine& b) {
    const auto offset = checked_add(a.offset, b.offset);
    if ((a.name && b.name) || !offset) return std::nullopt;
    return Affine{a.name ? a.name : b.name, a.name ? a.factor : b.factor, *offset};
}

std::optional<Affine> multiply(const Affine& a, const Affine& b) {
    const auto& [named, scale] = a.name ? std::pair{a, b} : std::pair{b, a};
    const auto factor = checked_mul(named.factor, scale.offset);
    const auto offset = checked_mul(named.offset, scale.offset);
    if (scale.name || !factor || !offset) return std::nullopt;
    return Affine{named.name, *factor, *offset};
}

// Only if nothing is rounded, so that the name can be computed from the result.
std::optional<Affine> divide(const Affine& a, const Affine& b) {
    const int64_t by = b.offset;
    if (b.name || by <= 0 || a.factor % by != 0 || a.offset % by != 0) return std::nullopt;
    return Affine{a.name, a.factor / by, a.offset / by};
}

// An environment for constant expressions.
class NoNames : public Environment {
public:
    const CompileValue* lookup(std::string_view) const override { return nullptr; }
    const CompileValue* member(std::string_view, MemberKind) const override { return nullptr; }
    std::optional<ir::ScalarType> type(std::string_view) const override { return std::nullopt; }
};

std::optional<Affine> constant(const Module& module, ExprId id) {
    Diagnostics scratch(1);
    ir::SymbolPool symbols;
    const auto value = evaluate(module, id, NoNames(), symbols, {}, scratch);
    const auto* scalar = value ? std::get_if<Scalar>(&*value) : nullptr;
    const auto* number = scalar ? std::get_if<int64_t>(scalar) : nullptr;
    return number ? std::optional(Affine{nullptr, 0, *number}) : std::nullopt;
}

// Empty for any other expression.
std::optional<Affine> affine(const Module& module, ExprId id) {
    const Expr& expr = module.exprs[id];
    return match(
        expr.node,
        [&](const Identifier&) { return std::optional(Affine{&expr, 1, 0}); },
        [&](const IntLiteral& n) { return std::optional(Affine{nullptr, 0, n.value}); },
        [&](const Paren& p) { return affine(module, p.inner); },
        [&](const Unary& u) -> std::optional<Affine> {
            const auto operand =
                u.op == UnaryOp::Not ? std::optional<Affine>{} : affine(module, u.operand);
            return operand && u.op == UnaryOp::Minus ? negate(*operand) : operand;
        },
        [&](const Binary& b) -> std::optional<Affine> {
            if (b.op > BinaryOp::Div) return constant(module, id);
            const auto lhs = affine(module, b.lhs);
            const auto rhs = lhs ? affine(module, b.rhs) : std::nullopt;
            if (!rhs) return std::nullopt;
            if (b.op == BinaryOp::Add) return add(*lhs, *rhs);
            if (b.op == BinaryOp::Mul) return multiply(*lhs, *rhs);
            if (b.op == BinaryOp::Div) return divide(*lhs, *rhs);
            const auto opposite = negate(*rhs);
            return opposite ? add(*lhs, *opposite) : std::nullopt;
        },
        [&](const auto&) { return constant(module, id); });
}

bool is_bool_test(const Module& module, ExprId id) {
    return match(
        module.exprs[id].node,
        [](const BoolLiteral&) { return true; },
        [](const NullTest&) { return true; },
        [&](const Paren& p) { return is_bool_test(module, p.inner); },
        [](const Unary& u) { return u.op == UnaryOp::Not; },
        [](const Binary& b) { return b.op >= BinaryOp::Less; },
        [](const auto&) { return false; });
}

}  // namespace

// The new identifier in this extent; null if there is none.
const Expr* DefinitionChecker::fresh_name(ExprId id) const {
    if (!id.valid()) return nullptr;
    const auto found = affine(module_, id);
    if (!found || !found->name || found->factor == 0) return nullptr;
    const std::string_view name = std::get<Identifier>(found->name->node).name;
    // The user means a name of another block, although it is not visible here.
    if (scopes_.find(name).valid() || later_names_.contains(name)) return nullptr;
    return found->name;
}

void DefinitionChecker::declare_fresh(ExprId id, bool optional) {
    const Expr* fresh = fresh_name(id);
    if (!fresh) return;
    const std::string_view name = std::get<Identifier>(fresh->node).name;
    Symbol symbol = make_symbol(name, fresh->span, SymbolKind::Extent, scalar_type(BaseType::Int));
    symbol.type.optional = optional;
    symbol.value = unknown_value(name, symbol.type, true);
    declare(std::move(symbol));
}

void DefinitionChecker::declare_extent_names() {
    for (const ParamDecl& decl : def_.attribs) {
        if (decl.type.pack) declare_fresh(decl.type.pack->length);
    }
    // Extents that only optional inputs have are null if these are not given (spec 2.6.1).
    declare_input_extents(false);
    declare_input_extents(true);
}

void DefinitionChecker::declare_input_extents(bool optional) {
    for (const ParamDecl& decl : def_.inputs) {
        if (decl.type.optional == optional) declare_scalar_extents(decl.type);
    }
    for (const ParamDecl& decl : def_.inputs) {
        if (decl.type.optional == optional) declare_packed_extents(decl.type);
    }
}

void DefinitionChecker::declare_scalar_extents(const TypeSpec& spec) {
    declare_fresh(spec.rank, spec.optional);
    if (spec.pack) declare_fresh(spec.pack->length, spec.optional);
    if (!spec.shape) return;
    for (const ExtentSpec& extent : *spec.shape) {
        if (extent.pack) {
            declare_fresh(extent.pack->length, spec.optional);
        } else if (!extent.spread) {
            declare_fresh(extent.extent, spec.optional);
        }
    }
}

void DefinitionChecker::declare_packed_extents(const TypeSpec& spec) {
    if (!spec.shape) return;
    for (const ExtentSpec& extent : *spec.shape) {
        if (extent.pack || extent.spread) declare_fresh_pack(extent, spec);
    }
}

void DefinitionChecker::declare_fresh_pack(const ExtentSpec& extent, const TypeSpec& spec) {
    const Expr* fresh = fresh_name(extent.extent);
    if (!fresh) return;
    const std::string_view name = std::get<Identifier>(fresh->node).name;
    const ExprId length = extent.pack ? extent.pack->length : ExprId{};
    Type type = scalar_type(BaseType::Int);
    type.optional = spec.optional;
    bool conditional = length.valid() && is_bool_test(module_, length);
    if (length.valid() && !conditional) {
        // A plain name can also be a bool.
        const auto* identifier = std::get_if<Identifier>(&expr(length).node);
        const SymbolId found = identifier ? scopes_.find(identifier->name) : SymbolId{};
        conditional = found.valid() && scopes_[found].type.base == BaseType::Bool;
    }
    if (conditional) {
        type.optional = true;  // `s..(flag)`: present or not (spec 2.6)
    } else {
        type.packed = true;
        const ExprId known = extent.spread && spec.pack ? spec.pack->length : length;
        if (known.valid()) type.length = symbolic_int(known);
        if (!known.valid()) {
            type.length = symbols_.symbol(fmt::format("|{}|", name),
                                          ir::ScalarType::Int,
                                          {0, std::numeric_limits<int64_t>::max()});
        }
    }
    declare(make_symbol(name, fresh->span, SymbolKind::Extent, type));
}

// An output extent with an upper bound may be a new name: `y: real[s|k]` (spec 2.6).
void DefinitionChecker::declare_output_extents() {
    for (const ParamDecl& decl : def_.outputs) {
        if (!decl.type.shape) continue;
        for (const ExtentSpec& extent : *decl.type.shape) {
            if (!extent.bound.valid() || extent.spread) continue;
            const bool plain = std::holds_alternative<Identifier>(expr(extent.extent).node);
            if (!plain) continue;
            if (extent.pack) {
                declare_fresh_pack(extent, decl.type);
            } else {
                declare_fresh(extent.extent);
            }
        }
    }
}

}  // namespace lemma::sknd
