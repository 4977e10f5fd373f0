// The names that shapes and pack lengths declare: an extent that is an affine expression of one new
// identifier declares it (spec 2.6). Scalars come first, so that the lengths of packs can use them.
#include <fmt/format.h>

#include <limits>

#include "base/match.h"
#include "sknd/types/checker.h"
#include "sknd/types/identifiers.h"

namespace lemma::sknd {

namespace {

// a*x + b with literal a and b: the one identifier, or null.
const Expr* affine_identifier(const Module& module, ExprId id) {
    const Expr& expr = module.exprs[id];
    const auto is_literal = [&](ExprId operand) {
        bool literal = true;
        for_each_identifier(module, operand, [&](const std::string&, ExprId) { literal = false; });
        return literal;
    };
    return match(
        expr.node,
        [&](const Identifier&) { return &expr; },
        [&](const Paren& p) { return affine_identifier(module, p.inner); },
        [&](const Unary& u) {
            return u.op == UnaryOp::Not ? nullptr : affine_identifier(module, u.operand);
        },
        [&](const Binary& b) -> const Expr* {
            const bool linear = b.op == BinaryOp::Add || b.op == BinaryOp::Sub ||
                                b.op == BinaryOp::Mul || b.op == BinaryOp::Div;
            if (!linear) return nullptr;
            if (is_literal(b.rhs)) return affine_identifier(module, b.lhs);
            if (is_literal(b.lhs) && b.op != BinaryOp::Div) return affine_identifier(module, b.rhs);
            return nullptr;
        },
        [](const auto&) -> const Expr* { return nullptr; });
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

std::optional<Name> DefinitionChecker::fresh_name(ExprId id) const {
    if (!id.valid()) return std::nullopt;
    const Expr* found = affine_identifier(module_, id);
    if (!found) return std::nullopt;
    const std::string& name = std::get<Identifier>(found->node).name;
    if (scopes_.find(name).valid()) return std::nullopt;
    return Name{name, found->span};
}

void DefinitionChecker::declare_fresh(ExprId id, bool optional) {
    const auto name = fresh_name(id);
    if (!name) return;
    Symbol symbol = make_symbol(*name, SymbolKind::Extent, scalar_type(BaseType::Int));
    symbol.type.optional = optional;
    symbol.value = unknown_value(name->text, symbol.type, true);
    declare(std::move(symbol));
}

void DefinitionChecker::declare_extent_names() {
    for (const ParamDecl& decl : def_.attribs) {
        if (decl.type.pack) declare_fresh(decl.type.pack->length);
    }
    // Extents that only optional inputs have are null when these are not given (spec 2.6.1).
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
    const auto name = fresh_name(extent.extent);
    if (!name) return;
    const ExprId length = extent.pack ? extent.pack->length : ExprId{};
    Type type = scalar_type(BaseType::Int);
    type.optional = spec.optional;
    bool conditional = length.valid() && is_bool_test(module_, length);
    if (length.valid() && !conditional) {
        // A plain name can be a bool too.
        const auto* identifier = std::get_if<Identifier>(&expr(length).node);
        const SymbolId found = identifier ? scopes_.find(identifier->name) : SymbolId{};
        conditional = found.valid() && scopes_[found].type.base == BaseType::Bool;
    }
    if (conditional) {
        type.optional = true;  // `s..(flag)`: there, or not (spec 2.6)
    } else {
        type.packed = true;
        const ExprId known = extent.spread && spec.pack ? spec.pack->length : length;
        if (known.valid()) type.length = symbolic_int(known);
        if (!known.valid()) {
            type.length = symbols_.symbol(fmt::format("|{}|", name->text),
                                          ir::ScalarType::Int,
                                          {0, std::numeric_limits<int64_t>::max()});
        }
    }
    declare(make_symbol(*name, SymbolKind::Extent, type));
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
