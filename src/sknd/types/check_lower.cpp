// SPDX-License-Identifier: Apache-2.0
// @lower: formulas over index symbols (spec 2.12).
#include <fmt/format.h>

#include <algorithm>

#include "sknd/types/checker.h"

namespace lemma::sknd {

namespace {

std::string_view lower_op_text(LowerOp op) {
    switch (op) {
        case LowerOp::Assign:
            return "=";
        case LowerOp::Sum:
            return "+=";
        case LowerOp::Product:
            return "*=";
        case LowerOp::All:
            return "&=";
        case LowerOp::Any:
            return "|=";
        case LowerOp::Min:
            return "<=";
        case LowerOp::Max:
            return ">=";
        case LowerOp::Update:
            return ":=";
    }
    return "=";
}

}  // namespace

void DefinitionChecker::check_lowers() {
    if (!def_.block(BlockKind::Lower)) return;
    context_ = Context::Lower;
    for (const LowerStmt& stmt : def_.lowers) {
        scopes_.push();
        check_lower(stmt);
        scopes_.pop();
    }
    context_ = Context::Value;
    check_lower_outputs();
}

void DefinitionChecker::check_lower(const LowerStmt& stmt) {
    if (stmt.unroll) declare_unroll(*stmt.unroll);
    declare_bounds(stmt.bounds);
    for (const auto& local : stmt.locals) {
        const Type type = scalar_operand(local.value);
        declare(make_symbol(local.name, SymbolKind::LoopLocal, type));
    }
    if (!stmt.target.valid()) return;
    const size_t errors = diag_.error_count();
    const SymbolId output = check_lower_target(stmt);
    const bool good = diag_.error_count() == errors;
    check_lower_value(stmt, good ? type_expr(stmt.target) : Type{});
    if (stmt.condition.valid()) {
        const Type condition = scalar_operand(stmt.condition);
        expect_base(stmt.condition, condition, BaseType::Bool, "the condition of an assignment");
        expect_single(stmt.condition, condition, "the condition of an assignment");
    }
    if (output.valid()) check_lower_order(stmt, output);
}

// A value that is known before the loop runs.
Type DefinitionChecker::static_operand(ExprId id, std::string_view what) {
    const std::string_view outside = static_part_;
    static_part_ = what;
    const Type type = scalar_operand(id);
    static_part_ = outside;
    return type;
}

void DefinitionChecker::declare_unroll(const IterCount& unroll) {
    if (unroll.count.valid()) {
        constexpr std::string_view kWhat = "the count of `unroll`";
        const Type count = static_operand(unroll.count, kWhat);
        expect_base(unroll.count, count, BaseType::Int, kWhat);
        expect_single(unroll.count, count, kWhat);
        expect_present(unroll.count, count, kWhat);
    }
    if (!unroll.index) return;
    declare(make_symbol(*unroll.index, SymbolKind::LoopIndex, scalar_type(BaseType::Int)));
}

void DefinitionChecker::declare_bounds(const std::vector<LoopBound>& bounds) {
    for (const LoopBound& bound : bounds) {
        constexpr std::string_view kWhat = "the bound of an index";
        Type index = static_operand(bound.bound, kWhat);
        expect_base(bound.bound, index, BaseType::Int, kWhat);
        expect_present(bound.bound, index, kWhat);
        if (!same_base(index, scalar_type(BaseType::Int))) index = Type{};
        index.optional = false;
        declare(make_symbol(bound.index, SymbolKind::LoopIndex, index));
    }
}

// The assigned output; invalid if the left side is something else.
SymbolId DefinitionChecker::check_lower_target(const LowerStmt& stmt) {
    const Expr* target = &expr(stmt.target);
    if (const auto* access = std::get_if<Access>(&target->node)) target = &expr(access->base);
    while (const auto* index = std::get_if<Index>(&target->node)) target = &expr(index->base);
    const auto* name = std::get_if<Identifier>(&target->node);
    if (!name) {
        if (!std::holds_alternative<BadExpr>(target->node)) {
            error(target->span,
                  DiagKind::BadLoweringTarget,
                  "a formula assigns elements of an output");
        }
        return {};
    }
    const SymbolId found = scopes_.find(name->name);
    if (!found.valid()) return {};  // reported when the target is typed
    const Symbol& symbol = scopes_[found];
    if (symbol.kind == SymbolKind::Output) return found;
    const bool duplicate = std::any_of(def_.outputs.begin(),
                                       def_.outputs.end(),
                                       [&](const auto& o) { return o.name.text == name->name; });
    if (duplicate || symbol.type.bad()) return {};  // reported where it was declared
    error(
        target->span,
        DiagKind::NotAssignable,
        fmt::format("`{}` is {}; formulas assign outputs only", name->name, kind_text(symbol.kind)))
        .note(symbol.span, "declared here");
    return {};
}

void DefinitionChecker::check_lower_value(const LowerStmt& stmt, const Type& target) {
    const Type value = scalar_operand(stmt.value);
    if (value.bad() || target.bad()) return;
    if (!same_base(target, value)) {
        auto report = error(stmt.value,
                            DiagKind::TypeMismatch,
                            fmt::format("{} is assigned to an output of {}",
                                        text(value),
                                        base_text(target, signature_.generics)));
        if (numeric(value) && numeric(target)) {
            report.note(fmt::format("there is no implicit conversion; cast it with `{}(…)`",
                                    base_text(target, signature_.generics)));
        }
        return;
    }
    expect_present(stmt.value, value, "the value of a formula");
    if (value.packed && !target.packed) {
        error(stmt.value, DiagKind::PackMismatch, "a pack is assigned to a single element")
            .note("packed indices cover several axes when they are expanded, as `x[i..]`");
    }
    if (value.packed && target.packed) {
        join_lengths(expr(stmt.value).span, target, value, lower_op_text(stmt.op));
    }
    const bool wants_bool = stmt.op == LowerOp::All || stmt.op == LowerOp::Any;
    const bool wants_number = stmt.op == LowerOp::Sum || stmt.op == LowerOp::Product ||
                              stmt.op == LowerOp::Min || stmt.op == LowerOp::Max;
    const bool fits = wants_bool ? same_base(value, scalar_type(BaseType::Bool)) : numeric(value);
    if ((wants_bool || wants_number) && !fits) {
        error(stmt.op_span,
              DiagKind::OperandType,
              fmt::format("`{}` accumulates {}, found {}",
                          lower_op_text(stmt.op),
                          wants_bool ? "bool" : "int or real",
                          text(value)));
    }
}

// Each output has at most one initialisation, then one update.
void DefinitionChecker::check_lower_order(const LowerStmt& stmt, SymbolId output) {
    const std::string_view name = scopes_[output].name;
    lowered_.insert(name);
    auto& mine = stmt.op == LowerOp::Assign ? initialized_ : updated_;
    if (!mine.insert(name, stmt.span)) {
        error(stmt.span,
              DiagKind::AssignedTwice,
              fmt::format("`{}` is {} twice",
                          name,
                          stmt.op == LowerOp::Assign ? "initialised" : "accumulated"))
            .note(*mine.find(name), "first here")
            .note("an output has at most one `=` and one accumulating statement");
        return;
    }
    if (stmt.op == LowerOp::Assign && updated_.contains(name)) {
        error(stmt.span,
              DiagKind::AssignedTwice,
              fmt::format("`{}` is initialised after it was accumulated", name))
            .note(*updated_.find(name), "accumulated here");
    }
    if (stmt.op == LowerOp::Update && !initialized_.contains(name)) {
        error(stmt.op_span,
              DiagKind::MissingInitializer,
              fmt::format("`:=` updates `{}`, which has no initial value", name))
            .note(fmt::format("write `{}[…] = …` before it", name));
    }
}

void DefinitionChecker::check_lower_outputs() {
    for (const ParamDecl& decl : def_.outputs) {
        const SymbolId found = scopes_.find(decl.name.text);
        const bool duplicate = !found.valid() || scopes_[found].kind != SymbolKind::Output;
        if (duplicate || lowered_.contains(decl.name.text)) continue;
        error(decl.name.span,
              DiagKind::MissingOutput,
              fmt::format("the output `{}` has no formula in `@lower`", decl.name.text));
    }
}

}  // namespace lemma::sknd
