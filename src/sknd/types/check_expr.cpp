// SPDX-License-Identifier: Apache-2.0
// Types of literals, names, operators, casts and functions. Packs are in check_expr_pack.cpp,
// tensor accesses in check_expr_tensor.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sknd/types/checker.h"

namespace lemma::sknd {

namespace {

enum class Operands : uint8_t { Numbers, NumbersOrStrings, Bools, Anything };

struct OperatorRule {
    std::string_view text;
    Operands operands;
    bool gives_bool;
};

OperatorRule rule_of(BinaryOp op) {
    switch (op) {
        case BinaryOp::Add:
            return {"+", Operands::NumbersOrStrings, false};
        case BinaryOp::Sub:
            return {"-", Operands::Numbers, false};
        case BinaryOp::Mul:
            return {"*", Operands::Numbers, false};
        case BinaryOp::Div:
            return {"/", Operands::Numbers, false};
        case BinaryOp::CeilDiv:
            return {"\\", Operands::Numbers, false};
        case BinaryOp::Mod:
            return {"%", Operands::Numbers, false};
        case BinaryOp::Pow:
            return {"**", Operands::Numbers, false};
        case BinaryOp::Min:
            return {"<<", Operands::Numbers, false};
        case BinaryOp::Max:
            return {">>", Operands::Numbers, false};
        case BinaryOp::Less:
            return {"<", Operands::Anything, true};
        case BinaryOp::LessEqual:
            return {"<=", Operands::Anything, true};
        case BinaryOp::Greater:
            return {">", Operands::Anything, true};
        case BinaryOp::GreaterEqual:
            return {">=", Operands::Anything, true};
        case BinaryOp::Equal:
            return {"==", Operands::Anything, true};
        case BinaryOp::NotEqual:
            return {"!=", Operands::Anything, true};
        case BinaryOp::And:
            return {"&&", Operands::Bools, true};
        case BinaryOp::Or:
            return {"||", Operands::Bools, true};
        case BinaryOp::Xor:
            return {"^", Operands::Bools, true};
        case BinaryOp::Implies:
            return {"=>", Operands::Bools, true};
        case BinaryOp::Is:
            return {"is", Operands::Anything, true};
        case BinaryOp::In:
            return {"in", Operands::Anything, true};
    }
    return {"?", Operands::Anything, false};
}

std::string_view operands_text(Operands operands) {
    switch (operands) {
        case Operands::Numbers:
            return "int or real";
        case Operands::NumbersOrStrings:
            return "int, real or str";
        case Operands::Bools:
            return "bool";
        case Operands::Anything:
            return "any type";
    }
    return "any type";
}

// The built-in functions that take only reals (notes, A20); `abs` and `sign` take int, too.
constexpr std::array<std::string_view, 20> kRealFunctions = {
    "sqrt", "exp",  "log",   "sin",   "cos",   "tan", "asin",  "acos",  "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "round", "floor", "ceil", "frac"};

// What functions of other languages are here; may be empty.
std::string_view expression_for(std::string_view function) {
    if (function == "clamp" || function == "clip") return "`(x >> low) << high`";
    if (function == "relu") return "`x >> 0.0`";
    if (function == "sigmoid") return "`1.0 / (1.0 + `exp`(-x))`";
    if (function == "rsqrt") return "`1.0 / `sqrt`(x)`";
    if (function == "square") return "`x * x`";
    if (function == "neg") return "`-x`";
    return {};
}

bool is_division(BinaryOp op) {
    return op == BinaryOp::Div || op == BinaryOp::CeilDiv || op == BinaryOp::Mod;
}

// Formulas are not evaluated here, so this is the only check of their divisions.
bool is_zero(const Expr& expr) {
    const auto* whole = std::get_if<IntLiteral>(&expr.node);
    const auto* real = std::get_if<RealLiteral>(&expr.node);
    return (whole && whole->value == 0) || (real && real->value == 0);
}

// Whether a guard may appear inside the node.
bool passes_guard(const decltype(Expr::node)& node) {
    return std::holds_alternative<Guard>(node) || std::holds_alternative<Expand>(node) ||
           std::holds_alternative<Select>(node) || std::holds_alternative<Coalesce>(node) ||
           std::holds_alternative<Substitution>(node) || std::holds_alternative<Paren>(node);
}

// The operator of the module `math` that does the same with tensors; may be missing.
std::string_view tensor_operator(BinaryOp op) {
    switch (op) {
        case BinaryOp::Add:
            return "add";
        case BinaryOp::Sub:
            return "sub";
        case BinaryOp::Mul:
            return "mul";
        case BinaryOp::Div:
            return "div";
        case BinaryOp::Mod:
            return "mod";
        case BinaryOp::Pow:
            return "pow";
        case BinaryOp::Min:
            return "min";
        case BinaryOp::Max:
            return "max";
        case BinaryOp::Less:
            return "lt";
        case BinaryOp::LessEqual:
            return "le";
        case BinaryOp::Greater:
            return "gt";
        case BinaryOp::GreaterEqual:
            return "ge";
        case BinaryOp::Equal:
            return "eq";
        case BinaryOp::NotEqual:
            return "ne";
        case BinaryOp::And:
            return "and";
        case BinaryOp::Or:
            return "or";
        case BinaryOp::Xor:
            return "xor";
        default:
            return {};
    }
}

bool takes_bools(const Type& type) {
    return type.base == BaseType::Bool || type.base == BaseType::Any || type.bad();
}

}  // namespace

// One object instead of a lambda for each kind of node, because every expression passes here.
struct DefinitionChecker::TypeNode {
    DefinitionChecker& checker;
    ExprId id;

    Type operator()(const BadExpr&) const { return Type{}; }
    Type operator()(const IntLiteral&) const { return scalar_type(BaseType::Int); }
    Type operator()(const RealLiteral&) const { return scalar_type(BaseType::Real); }
    Type operator()(const InfLiteral&) const { return scalar_type(BaseType::Real); }
    Type operator()(const PiLiteral&) const { return scalar_type(BaseType::Real); }
    Type operator()(const BoolLiteral&) const { return scalar_type(BaseType::Bool); }
    Type operator()(const StringLiteral& n) const { return checker.type_string(n); }
    Type operator()(const Identifier& n) const { return checker.type_identifier(id, n); }
    Type operator()(const Member& n) const { return checker.type_member(id, n); }
    Type operator()(const Paren& n) const { return checker.type_expr(n.inner); }
    Type operator()(const List& n) const { return checker.type_list(id, n); }
    Type operator()(const Range& n) const {
        checker.error(id, DiagKind::MisplacedItem, "a range can only stand in a list or an index")
            .note("write it as a list: `[b:e]`");
        checker.type_range(id, n);
        return Type{};
    }
    Type operator()(const Expand& n) const {
        checker.error(id,
                      DiagKind::MisplacedItem,
                      "`..` expands a pack in a list, a shape or an access only");
        checker.type_expr(n.item);
        return Type{};
    }
    Type operator()(const Zip& n) const {
        checker.error(
            id, DiagKind::MisplacedItem, "a zip can only stand in a list, as `[(a, b)..]`");
        checker.type_zip(id, n);
        return Type{};
    }
    Type operator()(const Index& n) const { return checker.type_index(id, n); }
    Type operator()(const Access& n) const { return checker.type_access(id, n); }
    Type operator()(const Guard& n) const { return checker.type_guard(id, n); }
    Type operator()(const Substitution& n) const { return checker.type_substitution(id, n); }
    Type operator()(const Unary& n) const { return checker.type_unary(id, n); }
    Type operator()(const Binary& n) const { return checker.type_binary(id, n); }
    Type operator()(const Select& n) const { return checker.type_select(id, n); }
    Type operator()(const Coalesce& n) const { return checker.type_coalesce(id, n); }
    Type operator()(const NullTest& n) const { return checker.type_null_test(id, n); }
    Type operator()(const Fold& n) const { return checker.type_fold(id, n); }
    Type operator()(const Cast& n) const { return checker.type_cast(id, n); }
    Type operator()(const BuiltinCall& n) const { return checker.type_builtin(id, n); }
    Type operator()(const Omitted&) const {
        checker.error(
            id, DiagKind::MisplacedItem, "`~` can only stand for an input, a result or an extent");
        return Type{};
    }
};

Type DefinitionChecker::type_expr(ExprId id) {
    const auto& node = expr(id).node;
    const bool guard_allowed = guard_allowed_;
    guard_allowed_ = guard_allowed && passes_guard(node);
    const Type type = std::visit(TypeNode{*this, id}, node);
    guard_allowed_ = guard_allowed;
    tables_.types[id] = type;
    return type;
}

Type DefinitionChecker::type_identifier(ExprId id, const Identifier& node) {
    const SymbolId found = scopes_.find(node.name);
    if (!found) {
        report_undeclared(id, node.name);
        return Type{};
    }
    const Symbol& symbol = scopes_[found];
    if (context_ == Context::Compose && !symbol.assigned) {
        error(id,
              DiagKind::UsedBeforeAssigned,
              fmt::format("`{}` is read before it is assigned", node.name))
            .note(symbol.span, "declared here");
    }
    return symbol.type;
}

void DefinitionChecker::report_undeclared(ExprId id, std::string_view name) {
    for (const auto& pending : pending_names_) {
        const bool* assigned_later = pending.find(name);
        if (!assigned_later || !*assigned_later) continue;
        error(id,
              DiagKind::UsedBeforeAssigned,
              fmt::format("`{}` is read before it is assigned", name))
            .note("components are processed in the order written; move the assignment up");
        return;
    }
    if (const LaterName* later = later_names_.find(name)) {
        error(id,
              DiagKind::NotVisible,
              fmt::format(
                  "`{}` of the `{}` block cannot be used here", name, block_name(later->block)))
            .note(later->span, "declared here, which is processed later");
        return;
    }
    auto report = error(id, DiagKind::UndeclaredName, fmt::format("`{}` is not declared", name));
    if (name == "True" || name == "False") {
        report.did_you_mean(expr(id).span, name == "True" ? "true" : "false");
    } else if (!diag_.full()) {
        report.did_you_mean(expr(id).span, diag::nearest_name(name, scopes_.visible_names()));
    }
    if (context_ == Context::Lower) {
        report.note(
            fmt::format("an index is declared by its bound, behind the formula: `, {} < n`", name));
    }
    if (declaring_) report.note("an extent declares a new name only alone or as `2 * n + 1`");
    // Reported once; from here on the name agrees with everything.
    Symbol placeholder = make_symbol(name, expr(id).span, SymbolKind::Extent, Type{});
    placeholder.placeholder = true;
    scopes_.declare(std::move(placeholder));
}

Type DefinitionChecker::type_string(const StringLiteral& node) {
    Type type = scalar_type(BaseType::Str);
    for (const auto& part : node.parts) {
        if (!part.expr.valid()) continue;
        const Type item = scalar_operand(part.expr);
        type.optional = type.optional || item.optional;
    }
    return type;
}

// ---- Operands -----------------------------------------------------------------------------------

void DefinitionChecker::reject_tensor(ExprId id, Type& type) {
    if (!type.tensor || type.bad()) return;
    const std::string name = source(id);
    const std::string_view found = type.packed ? "a pack of tensors" : "a tensor";
    switch (context_) {
        case Context::Value:
            error(id,
                  DiagKind::TensorMismatch,
                  fmt::format("`{}` is {}, expected a compile-time value", name, found))
                .note(type.packed
                          ? fmt::format("a pack has `{}.size` at compile time", name)
                          : fmt::format("a tensor has `{0}.shape` and `{0}.rank` at compile time",
                                        name));
            break;
        case Context::Lower:
            if (!static_part_.empty()) {
                error(id,
                      DiagKind::TensorMismatch,
                      fmt::format("{} cannot depend on tensor data", static_part_));
                break;
            }
            error(id,
                  DiagKind::TensorMismatch,
                  fmt::format("`{}` is {}, expected one of its elements",
                              name,
                              type.packed ? found : "a whole tensor"))
                .note(fmt::format("read an element with an access such as `{}[i,]`", name));
            break;
        case Context::Compose:
            error(id,
                  DiagKind::TensorMismatch,
                  fmt::format("`{}` is {}, expected a compile-time value", name, found))
                .note(tensor_call_.empty()
                          ? "arithmetic on tensors is done by operators, such as `math.add(x, y)`"
                          : fmt::format("arithmetic on tensors is done by operators; assign `{}` "
                                        "to a name first",
                                        tensor_call_));
            break;
    }
    type = Type{};
}

Type DefinitionChecker::scalar_operand(ExprId id) {
    Type type = type_expr(id);
    reject_tensor(id, type);
    return type;
}

Type DefinitionChecker::any_operand(ExprId id) {
    return context_ == Context::Compose ? type_expr(id) : scalar_operand(id);
}

Type DefinitionChecker::compile_value(ExprId id, std::optional<CompileValue>* value) {
    const size_t errors = diag_.error_count();
    const Type type = scalar_operand(id);
    // Type errors were reported; evaluation would report them again in other words.
    if (diag_.error_count() != errors) return type;
    if (!value && is_plain(id)) return type;
    auto result = evaluate(module_, id, *this, symbols_, package_.options().limits, diag_);
    if (value) *value = std::move(result);
    return type;
}

void DefinitionChecker::expect_base(ExprId id,
                                    const Type& type,
                                    BaseType want,
                                    std::string_view what) {
    if (same_base(type, scalar_type(want))) return;
    error(id,
          DiagKind::TypeMismatch,
          fmt::format("{} is {}, expected {}", what, text(type), base_text(scalar_type(want), {})));
}

void DefinitionChecker::expect_single(ExprId id, const Type& type, std::string_view what) {
    if (!type.packed || type.bad()) return;
    error(id, DiagKind::PackMismatch, fmt::format("{} is a pack, expected a single value", what));
}

void DefinitionChecker::expect_present(ExprId id, const Type& type, std::string_view what) {
    if (!type.optional || type.bad()) return;
    error(id, DiagKind::OptionalValue, fmt::format("{} may be null", what))
        .note("give a value for that case with `??`, or test it with `?x ? x : …`");
}

bool DefinitionChecker::numeric(const Type& type) const {
    switch (type.base) {
        case BaseType::Bad:
        case BaseType::Any:
        case BaseType::Int:
        case BaseType::Real:
            return true;
        case BaseType::Generic:
            return signature_.generics[type.generic].bound == Bound::Num;
        case BaseType::Bool:
        case BaseType::Str:
            return false;
    }
    return false;
}

// ---- Operators ----------------------------------------------------------------------------------

Type DefinitionChecker::type_unary(ExprId id, const Unary& node) {
    Type type = scalar_operand(node.operand);
    const bool wants_bool = node.op == UnaryOp::Not;
    const bool fits = wants_bool ? takes_bools(type) : numeric(type);
    if (!fits) {
        const std::string_view op = wants_bool ? "!" : node.op == UnaryOp::Plus ? "+" : "-";
        error(id,
              DiagKind::OperandType,
              fmt::format("`{}` applied to {}, expected {}",
                          op,
                          text(type),
                          wants_bool ? "bool" : "int or real"));
        return Type{};
    }
    return type;
}

Type DefinitionChecker::type_binary(ExprId id, const Binary& node) {
    if (node.op == BinaryOp::Is) return type_is(id, node);
    if (node.op == BinaryOp::In) return type_in(id, node);
    const OperatorRule rule = rule_of(node.op);
    const std::string_view operator_name = tensor_operator(node.op);
    const std::string outer = std::exchange(tensor_call_, {});
    if (context_ == Context::Compose && !operator_name.empty()) {
        tensor_call_ =
            fmt::format("math.{}({}, {})", operator_name, source(node.lhs), source(node.rhs));
    }
    const Type lhs = scalar_operand(node.lhs);
    // For `x + y` with two tensors, one report is enough.
    const bool of_tensors = tables_.types[node.lhs].tensor && context_ == Context::Compose;
    // The right side of `&&` counts only if the left one holds: `?x && x > 0`.
    const Names tested = node.op == BinaryOp::And ? null_tested_names(node.lhs) : Names{};
    if (!tested.empty()) push_promoted(tested);
    const Type rhs = of_tensors ? type_expr(node.rhs) : scalar_operand(node.rhs);
    tensor_call_ = outer;
    if (!tested.empty()) scopes_.pop();
    if (lhs.bad() || rhs.bad()) return Type{};
    const auto fits = [&](const Type& type) {
        switch (rule.operands) {
            case Operands::Numbers:
                return numeric(type);
            case Operands::NumbersOrStrings:
                return numeric(type) || type.base == BaseType::Str;
            case Operands::Bools:
                return takes_bools(type);
            case Operands::Anything:
                return true;
        }
        return false;
    };
    for (const auto& [operand, type] : {std::pair{node.lhs, &lhs}, std::pair{node.rhs, &rhs}}) {
        if (fits(*type)) continue;
        error(operand,
              DiagKind::OperandType,
              fmt::format("`{}` applied to {}, expected {}",
                          rule.text,
                          text(*type),
                          operands_text(rule.operands)));
        return Type{};
    }
    if (context_ == Context::Lower && is_division(node.op) && is_zero(expr(node.rhs))) {
        error(node.op_span, DiagKind::DivisionByZero, "division by zero");
    }
    // Two generic types may be the same type; a call decides.
    const bool both_generic = lhs.base == BaseType::Generic && rhs.base == BaseType::Generic;
    if (!same_base(lhs, rhs) && !(both_generic && rule.operands == Operands::Anything)) {
        auto report = error(node.op_span,
                            DiagKind::OperandType,
                            fmt::format("`{}` between {} and {}; both sides must have one type",
                                        rule.text,
                                        text(lhs),
                                        text(rhs)));
        const bool mixed_numbers = numeric(lhs) && numeric(rhs);
        if (mixed_numbers)
            report.note("there is no implicit conversion; cast with `real(…)` or `int(…)`");
        return Type{};
    }
    Type type = lhs;
    refine_base(type, rhs);
    if (rule.gives_bool) type.base = BaseType::Bool;
    type.optional = lhs.optional || rhs.optional;
    type.never_null = !type.optional && (lhs.never_null || rhs.never_null);
    type.length = join_lengths(expr(id).span, lhs, rhs, rule.text);
    type.packed = lhs.packed || rhs.packed;
    return type;
}

Type DefinitionChecker::type_is(ExprId id, const Binary& node) {
    // Tensors may also be compared by identity (spec 2.4, identity testing).
    const Type lhs = type_expr(node.lhs);
    const Type rhs = type_expr(node.rhs);
    if (lhs.bad() || rhs.bad()) return Type{};
    if (!same_base(lhs, rhs) || lhs.tensor != rhs.tensor) {
        error(node.op_span,
              DiagKind::OperandType,
              fmt::format(
                  "`is` between {} and {}; both sides must have one type", text(lhs), text(rhs)));
        return Type{};
    }
    Type type = scalar_type(BaseType::Bool);
    type.optional = lhs.optional || rhs.optional;
    type.never_null = !type.optional && (lhs.never_null || rhs.never_null);
    type.packed = lhs.packed || rhs.packed;
    type.length = join_lengths(expr(id).span, lhs, rhs, "is");
    return type;
}

Type DefinitionChecker::type_in(ExprId, const Binary& node) {
    const Type item = scalar_operand(node.lhs);
    const Type pack = scalar_operand(node.rhs);
    if (item.bad() || pack.bad()) return Type{};
    if (!pack.packed) {
        error(node.rhs,
              DiagKind::PackMismatch,
              fmt::format("`in` looks into a pack, found {}", text(pack)));
        return Type{};
    }
    if (!same_base(item, pack)) {
        error(node.op_span,
              DiagKind::OperandType,
              fmt::format("`in` looks for {} in {}; the types must be the same",
                          base_text(item, signature_.generics),
                          text(pack)));
        return Type{};
    }
    Type type = item;
    type.base = BaseType::Bool;
    type.optional = item.optional || pack.optional;
    return type;
}

Type DefinitionChecker::type_select(ExprId id, const Select& node) {
    const Type condition = scalar_operand(node.condition);
    expect_base(node.condition, condition, BaseType::Bool, "the condition of `?:`");
    push_promoted(null_tested_names(node.condition));
    const Type consequent = any_operand(node.consequent);
    scopes_.pop();
    const bool has_alternative = node.alternative.valid();
    const Type alternative = has_alternative ? any_operand(node.alternative) : consequent;
    if (consequent.bad() || alternative.bad()) return Type{};
    if (!same_base(consequent, alternative)) {
        error(id,
              DiagKind::TypeMismatch,
              fmt::format("the branches of `?:` are {} and {}, expected one type",
                          text(consequent),
                          text(alternative)));
        return Type{};
    }
    Type type = consequent;
    refine_base(type, alternative);
    type.tensor = consequent.tensor || alternative.tensor;
    if (type.rank != alternative.rank) type.rank = {};
    type.optional =
        condition.optional || consequent.optional || alternative.optional || !has_alternative;
    type.packed = condition.packed || consequent.packed || alternative.packed;
    if (condition.packed) {
        const ir::SymId branches = join_lengths(expr(id).span, consequent, alternative, "?:");
        Type joined = type;
        joined.length = branches;
        joined.packed = consequent.packed || alternative.packed;
        type.length = join_lengths(expr(id).span, condition, joined, "?:");
    } else if (consequent.packed && alternative.packed) {
        const bool same = consequent.length == alternative.length;
        type.length = same ? consequent.length : ir::SymId{};
    } else {
        type.length = consequent.packed != alternative.packed ? ir::SymId{} : consequent.length;
    }
    return type;
}

Type DefinitionChecker::type_coalesce(ExprId id, const Coalesce& node) {
    const Type value = any_operand(node.value);
    const Type fallback = any_operand(node.fallback);
    if (value.bad() || fallback.bad()) return Type{};
    if (!value.optional && !value.never_null) {
        error(node.value,
              DiagKind::NotOptional,
              fmt::format("`??` after a value that is never null ({})", text(value)));
    }
    if (fallback.optional) {
        error(node.fallback, DiagKind::OptionalValue, "the value behind `??` may be null itself");
    }
    if (!same_base(value, fallback) || value.packed != fallback.packed) {
        error(
            id,
            value.packed != fallback.packed ? DiagKind::PackMismatch : DiagKind::TypeMismatch,
            fmt::format(
                "the sides of `??` are {} and {}, expected one type", text(value), text(fallback)));
        return Type{};
    }
    Type type = value;
    refine_base(type, fallback);
    type.optional = type.never_null = false;
    type.tensor = value.tensor || fallback.tensor;
    type.length = value.length == fallback.length ? value.length : ir::SymId{};
    type.rank = value.rank == fallback.rank ? value.rank : ir::SymId{};
    return type;
}

Type DefinitionChecker::type_null_test(ExprId id, const NullTest& node) {
    const Type type = type_expr(node.operand);
    const auto* name = std::get_if<Identifier>(&expr(node.operand).node);
    const SymbolId found = name ? scopes_.find(name->name) : SymbolId{};
    const bool again = found.valid() && scopes_[found].promoted;
    if (!name && !type.bad()) {
        error(node.operand, DiagKind::NotOptional, "`?` tests a name for being null");
    } else if (!type.bad() && !type.optional && !type.never_null && !again) {
        error(id,
              DiagKind::NotOptional,
              fmt::format("`{}` is never null ({})", source(node.operand), text(type)))
            .note("only values declared `optional` can be tested");
    }
    return scalar_type(BaseType::Bool);
}

// ---- Casts and functions ------------------------------------------------------------------------

Type DefinitionChecker::type_cast(ExprId id, const Cast& node) {
    Type type = resolve_base(node.type, false);
    if (!node.operand.valid()) return type;
    const Type operand = scalar_operand(node.operand);
    if (type.bad() || operand.bad()) return type;
    const auto castable = [&](const Type& t) {
        return t.base == BaseType::Generic ? signature_.generics[t.generic].bound != Bound::Type
                                           : t.base != BaseType::Str;
    };
    if (!castable(type) || !castable(operand)) {
        auto report = error(
            id,
            DiagKind::BadCast,
            fmt::format(
                "no cast from {} to {}", base_text(operand, signature_.generics), node.type.text));
        if (type.base == BaseType::Str) {
            report.note("a formatted string gives the text of a value: `\"{x}\"`");
        } else {
            report.note("casts exist among int, real and bool");
        }
    }
    type.optional = operand.optional;
    type.packed = operand.packed;
    type.length = operand.length;
    return type;
}

Type DefinitionChecker::type_builtin(ExprId, const BuiltinCall& node) {
    const std::string_view name = node.function.text;
    const bool takes_int = name == "abs" || name == "sign";
    const bool known = takes_int || std::find(kRealFunctions.begin(), kRealFunctions.end(), name) !=
                                        kRealFunctions.end();
    Type type = scalar_operand(node.operand);
    if (!known) {
        std::vector<std::string_view> names(kRealFunctions.begin(), kRealFunctions.end());
        names.insert(names.end(), {"abs", "sign"});
        auto report = error(node.function.span,
                            DiagKind::NoFunction,
                            fmt::format("no built-in function `{}`", name));
        const std::string_view instead = expression_for(name);
        if (!instead.empty()) {
            report.note(fmt::format("write {}", instead));
        } else {
            report.did_you_mean(node.function.span, diag::nearest_name(name, names));
        }
        return Type{};
    }
    const bool fits = takes_int ? numeric(type) : same_base(type, scalar_type(BaseType::Real));
    if (fits) return type;
    error(node.operand,
          DiagKind::OperandType,
          fmt::format("`{}` applied to {}, expected {}",
                      name,
                      text(type),
                      takes_int ? "int or real" : "real"));
    return Type{};
}

}  // namespace lemma::sknd
