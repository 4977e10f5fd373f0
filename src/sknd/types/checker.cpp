// SPDX-License-Identifier: Apache-2.0
// Shared parts of the check of one definition, and its order of steps.
#include "sknd/types/checker.h"

#include <fmt/format.h>

#include <limits>

#include "sknd/print/printer.h"

namespace lemma::sknd {

namespace {

std::optional<ir::ScalarType> scalar_kind(BaseType base) {
    switch (base) {
        case BaseType::Int:
            return ir::ScalarType::Int;
        case BaseType::Real:
            return ir::ScalarType::Real;
        case BaseType::Bool:
            return ir::ScalarType::Bool;
        case BaseType::Str:
            return ir::ScalarType::Str;
        case BaseType::Bad:
        case BaseType::Any:
        case BaseType::Generic:
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

DefinitionChecker::DefinitionChecker(PackageChecker& package,
                                     DefRef ref,
                                     TypedModule& tables,
                                     Diagnostics& diag)
    : package_(package),
      ref_(ref),
      module_(package.module_of(ref)),
      def_(package.definition(ref)),
      signature_(package.signature(ref)),
      tables_(tables),
      diag_(diag),
      symbols_(package.scratch().symbols),
      scopes_(package.scratch().scopes) {}

TypedDefinition DefinitionChecker::run(Role role) {
    TypedDefinition result{.ref = ref_, .binding_order = {}};
    check_reserved(def_.name);
    collect_later_names();
    check_blocks();
    check_dtypes();
    declare_attributes();
    declare_extent_names();
    declare_inputs();
    check_attribute_defaults();
    check_input_defaults();
    result.binding_order = check_binding_order();
    check_bounds(def_.inputs);
    for (const ParamDecl& decl : def_.inputs) {
        if (role == Role::Invoked) break;
        result.runs_alone = check_main_input(decl, role) && result.runs_alone;
    }
    check_usings();
    declare_tensors(def_.constants, SymbolKind::Constant);
    declare_tensors(def_.variables, SymbolKind::Variable);
    declare_output_extents();
    declare_tensors(def_.outputs, SymbolKind::Output);
    check_bounds(def_.outputs);
    check_asserts();
    check_lowers();
    check_compose();
    check_update();
    check_quantizes();
    return result;
}

std::string DefinitionChecker::source(ExprId id) const {
    constexpr size_t kLongest = 40;
    std::string text = print(module_, id);
    if (text.size() > kLongest || text.find('\n') != std::string::npos) {
        text = text.substr(0, std::min(kLongest, text.find('\n'))) + "…";
    }
    return text;
}

Symbol DefinitionChecker::make_symbol(std::string_view name,
                                      Span span,
                                      SymbolKind kind,
                                      const Type& type) {
    Symbol symbol;
    symbol.name = name;
    symbol.kind = kind;
    symbol.type = type;
    symbol.span = span;
    return symbol;
}

// Spec 2.4.
void DefinitionChecker::check_reserved(const Name& name) {
    if (name.text != "_") return;
    error(name.span, DiagKind::ReservedName, "`_` is reserved; choose another name");
}

SymbolId DefinitionChecker::declare(Symbol symbol) {
    check_reserved({.text = symbol.name, .span = symbol.span});
    const SymbolId existing = scopes_.find_here(symbol.name);
    if (!existing.valid() || scopes_[existing].placeholder) {
        return scopes_.declare(std::move(symbol));
    }
    if (symbol.name == "_") return existing;
    const Type& before = scopes_[existing].type;
    const bool alike = same_base(before, symbol.type) && before.tensor == symbol.type.tensor &&
                       before.packed == symbol.type.packed;
    error(symbol.span,
          DiagKind::DuplicateName,
          fmt::format(
              "`{}` is already the name of {}", symbol.name, kind_text(scopes_[existing].kind)))
        .note(scopes_[existing].span, "declared here");
    // It is unknown which of the two later uses mean, so the name agrees with everything.
    if (!alike) {
        scopes_[existing].type = Type{};
        scopes_[existing].value.reset();
    }
    return existing;
}

std::optional<CompileValue> DefinitionChecker::unknown_value(std::string_view name,
                                                             const Type& type,
                                                             bool extent) {
    const auto kind = scalar_kind(type.base);
    if (!kind || type.optional || type.packed || type.tensor) return std::nullopt;
    constexpr ir::Interval kAny = {std::numeric_limits<int64_t>::min(),
                                   std::numeric_limits<int64_t>::max()};
    const ir::Interval range = extent ? ir::Interval{0, kAny.high} : kAny;
    return CompileValue(Scalar(symbols_.symbol(name, *kind, range)));
}

// Such an expression has its value, or none, without evaluation.
bool DefinitionChecker::is_plain(ExprId id) const {
    const auto& node = expr(id).node;
    if (const auto* name = std::get_if<Identifier>(&node)) {
        const CompileValue* value = lookup(name->name);
        return !value || !std::holds_alternative<Pack>(*value);
    }
    return std::holds_alternative<IntLiteral>(node) || std::holds_alternative<RealLiteral>(node) ||
           std::holds_alternative<BoolLiteral>(node);
}

std::optional<CompileValue> DefinitionChecker::evaluate_quietly(ExprId id) {
    Diagnostics scratch(1);
    return evaluate(module_, id, *this, symbols_, package_.options().limits, scratch);
}

ir::SymId DefinitionChecker::symbolic_int(ExprId id) {
    const auto* name = std::get_if<Identifier>(&expr(id).node);
    std::optional<CompileValue> made;
    if (!name) made = evaluate_quietly(id);
    const CompileValue* value = name ? lookup(name->name) : made ? &*made : nullptr;
    const auto* scalar = value ? std::get_if<Scalar>(value) : nullptr;
    if (!scalar) return {};
    if (const auto* constant = std::get_if<int64_t>(scalar)) return symbols_.integer(*constant);
    if (const auto* symbol = std::get_if<ir::SymId>(scalar)) {
        return symbols_.type(*symbol) == ir::ScalarType::Int ? *symbol : ir::SymId{};
    }
    return {};
}

ir::SymId DefinitionChecker::sym_add(ir::SymId a, ir::SymId b) {
    if (!a.valid() || !b.valid()) return {};
    return symbols_.apply(ir::SymOp::Add, {a, b}).value_or(ir::SymId{});
}

const CompileValue* DefinitionChecker::lookup(std::string_view name) const {
    const SymbolId found = scopes_.find(name);
    if (!found.valid()) return nullptr;
    const Symbol& symbol = scopes_[found];
    return symbol.value ? &*symbol.value : nullptr;
}

const CompileValue* DefinitionChecker::member(std::string_view name, MemberKind member) const {
    const SymbolId found = scopes_.find(name);
    if (!found.valid() || scopes_[found].type.optional) return nullptr;
    const Type& type = scopes_[found].type;
    const ir::SymId value = member == MemberKind::Rank   ? type.rank
                            : member == MemberKind::Size ? type.length
                                                         : ir::SymId{};
    if (!value.valid()) return nullptr;
    member_value_ = Scalar(value);
    return &member_value_;
}

std::optional<ir::ScalarType> DefinitionChecker::type(std::string_view name) const {
    return scalar_kind(concrete_type(name));
}

}  // namespace lemma::sknd
