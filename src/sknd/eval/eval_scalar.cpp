// SPDX-License-Identifier: Apache-2.0
// sknd/eval/eval_scalar.cpp — operators, casts and functions on scalars. Constants are folded here;
// the pool handles symbolic operands.
#include <fmt/format.h>

#include <cmath>

#include "base/checked.h"
#include "ir/symbols/scalar_math.h"
#include "sknd/eval/evaluator.h"

namespace lemma::sknd {

using ir::ScalarType;
using ir::SymOp;

std::string_view operator_text(BinaryOp op) {
    static constexpr std::string_view kTexts[] = {"+",  "-",  "*",  "/",  "\\", "%",  "**",
                                                  "<<", ">>", "<",  "<=", ">",  ">=", "==",
                                                  "!=", "&&", "||", "^",  "=>", "is", "in"};
    return kTexts[static_cast<size_t>(op)];
}

std::string_view operator_text(FoldOp op) {
    static constexpr std::string_view kTexts[] = {
        "+", "*", "&&", "||", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", ":="};
    return kTexts[static_cast<size_t>(op)];
}

namespace {

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Less && op <= BinaryOp::NotEqual; }
bool is_logical(BinaryOp op) { return op >= BinaryOp::And && op <= BinaryOp::Implies; }
bool is_division(BinaryOp op) {
    return op == BinaryOp::Div || op == BinaryOp::CeilDiv || op == BinaryOp::Mod;
}

bool takes(BinaryOp op, ScalarType type) {
    if (is_logical(op)) return type == ScalarType::Bool;
    if (is_comparison(op) || op >= BinaryOp::Is) return true;
    if (op == BinaryOp::Add && type == ScalarType::Str) return true;
    return type == ScalarType::Int || type == ScalarType::Real;
}

std::string_view taken_types(BinaryOp op) {
    if (is_logical(op)) return "bool";
    return op == BinaryOp::Add ? "int, real or str" : "int or real";
}

template <class T>
bool compares(BinaryOp op, const T& a, const T& b) {
    switch (op) {
        case BinaryOp::Less:
            return a < b;
        case BinaryOp::LessEqual:
            return a <= b;
        case BinaryOp::Greater:
            return a > b;
        case BinaryOp::GreaterEqual:
            return a >= b;
        case BinaryOp::NotEqual:
            return a != b;
        default:
            return a == b;
    }
}

SymOp symbolic_op(BinaryOp op) {
    switch (op) {
        case BinaryOp::Add:
            return SymOp::Add;
        case BinaryOp::Sub:
            return SymOp::Sub;
        case BinaryOp::Mul:
            return SymOp::Mul;
        case BinaryOp::Div:
            return SymOp::Div;
        case BinaryOp::CeilDiv:
            return SymOp::CeilDiv;
        case BinaryOp::Mod:
            return SymOp::Mod;
        case BinaryOp::Pow:
            return SymOp::Pow;
        case BinaryOp::Min:
            return SymOp::Min;
        case BinaryOp::Max:
            return SymOp::Max;
        case BinaryOp::Less:
        case BinaryOp::Greater:
            return SymOp::Less;
        case BinaryOp::LessEqual:
        case BinaryOp::GreaterEqual:
            return SymOp::LessEqual;
        case BinaryOp::Equal:
            return SymOp::Equal;
        case BinaryOp::NotEqual:
            return SymOp::NotEqual;
        case BinaryOp::And:
            return SymOp::And;
        case BinaryOp::Or:
        case BinaryOp::Implies:
            return SymOp::Or;
        default:
            return SymOp::Xor;
    }
}

bool is_zero(const Scalar& scalar) {
    if (const auto* whole = std::get_if<int64_t>(&scalar)) return *whole == 0;
    const auto* real = std::get_if<double>(&scalar);
    return real && *real == 0;
}

}  // namespace

std::nullopt_t Evaluator::report_fault(std::string_view operation, const Where& where) {
    switch (symbols_.fault()) {
        case ir::SymFault::DivisionByZero:
            return error(where.op, DiagKind::DivisionByZero, "division by zero");
        case ir::SymFault::NegativeExponent:
            return error(where.expr, DiagKind::BadArgument, "negative exponent of an int power");
        case ir::SymFault::NotANumber:
            return error(where.expr, DiagKind::BadArgument, "nan has no int value");
        case ir::SymFault::TooDeep:
            return error(where.expr,
                         DiagKind::TooDeep,
                         fmt::format("symbolic expression is nested deeper than {} levels",
                                     ir::kMaxSymbolicDepth));
        case ir::SymFault::BadOperands:
            return error(where.expr,
                         DiagKind::OperandType,
                         fmt::format("`{}` does not take these operands", operation));
        default:
            return error(where.expr,
                         DiagKind::IntOverflow,
                         fmt::format("result of `{}` does not fit a 64-bit int", operation));
    }
}

// ---- operators --------------------------------------------------------------------------------

MaybeScalar Evaluator::unary(UnaryOp op, const Scalar& operand, Span span) {
    const ScalarType found = type(operand);
    const bool number = found == ScalarType::Int || found == ScalarType::Real;
    if (op == UnaryOp::Not ? found != ScalarType::Bool : !number) {
        const std::string_view text = op == UnaryOp::Not ? "!" : op == UnaryOp::Plus ? "+" : "-";
        return error(span,
                     DiagKind::OperandType,
                     fmt::format("`{}` takes {}, found {}",
                                 text,
                                 op == UnaryOp::Not ? "bool" : "int or real",
                                 type_name(found)));
    }
    if (op == UnaryOp::Plus) return operand;
    if (const auto* id = std::get_if<ir::SymId>(&operand)) {
        const auto result = symbols_.apply(op == UnaryOp::Not ? SymOp::Not : SymOp::Neg, *id);
        if (!result) return report_fault("-", {span, span});
        return to_scalar(*result, symbols_);
    }
    if (op == UnaryOp::Not) return !std::get<bool>(operand);
    if (const auto* real = std::get_if<double>(&operand)) return -*real;
    const int64_t value = std::get<int64_t>(operand);
    if (const auto result = checked_sub(0, value)) return *result;
    return error(
        span, DiagKind::IntOverflow, fmt::format("`-({})` does not fit a 64-bit int", value));
}

MaybeScalar Evaluator::binary(BinaryOp op,
                              const Scalar& lhs,
                              const Scalar& rhs,
                              const Where& where) {
    const auto* a = std::get_if<int64_t>(&lhs);
    const auto* b = std::get_if<int64_t>(&rhs);
    if (a && b && !is_logical(op)) return int_binary(op, *a, *b, where);

    const ScalarType left = type(lhs), right = type(rhs);
    if (left != right)
        return error(where.op,
                     DiagKind::OperandType,
                     fmt::format("`{}` takes two operands of one type, found {} and {}",
                                 operator_text(op),
                                 type_name(left),
                                 type_name(right)));
    if (!takes(op, left))
        return error(
            where.op,
            DiagKind::OperandType,
            fmt::format(
                "`{}` takes {}, found {}", operator_text(op), taken_types(op), type_name(left)));
    if (op == BinaryOp::Is) {
        const bool symbolic =
            std::holds_alternative<ir::SymId>(lhs) || std::holds_alternative<ir::SymId>(rhs);
        // Uses the pool, so that a constant with an id equals the plain one.
        return symbolic ? to_symbol(lhs, symbols_) == to_symbol(rhs, symbols_)
                        : identical(lhs, rhs);
    }
    if (is_division(op) && is_zero(rhs))
        return error(where.op, DiagKind::DivisionByZero, "division by zero");
    if (std::holds_alternative<ir::SymId>(lhs) || std::holds_alternative<ir::SymId>(rhs))
        return symbolic_binary(op, lhs, rhs, where);
    if (left == ScalarType::Real)
        return real_binary(op, std::get<double>(lhs), std::get<double>(rhs));
    if (left == ScalarType::Str)
        return string_binary(op, std::get<std::string>(lhs), std::get<std::string>(rhs), where);

    const bool p = std::get<bool>(lhs), q = std::get<bool>(rhs);
    switch (op) {
        case BinaryOp::And:
            return p && q;
        case BinaryOp::Or:
            return p || q;
        case BinaryOp::Xor:
            return p != q;
        case BinaryOp::Implies:
            return !p || q;
        default:
            return compares(op, p, q);
    }
}

MaybeScalar Evaluator::int_binary(BinaryOp op, int64_t a, int64_t b, const Where& where) {
    std::optional<int64_t> result;
    switch (op) {
        case BinaryOp::Add:
            result = checked_add(a, b);
            break;
        case BinaryOp::Sub:
            result = checked_sub(a, b);
            break;
        case BinaryOp::Mul:
            result = checked_mul(a, b);
            break;
        case BinaryOp::Div:
        case BinaryOp::CeilDiv:
        case BinaryOp::Mod:
            if (b == 0) return error(where.op, DiagKind::DivisionByZero, "division by zero");
            result = op == BinaryOp::Div       ? floor_div(a, b)
                     : op == BinaryOp::CeilDiv ? ceil_div(a, b)
                                               : floor_mod(a, b);
            break;
        case BinaryOp::Pow:
            if (b < 0)
                return error(where.expr,
                             DiagKind::BadArgument,
                             fmt::format("exponent of an int power is {}, expected 0 or more", b));
            result = checked_pow(a, b);
            break;
        case BinaryOp::Min:
            return std::min(a, b);
        case BinaryOp::Max:
            return std::max(a, b);
        default:
            return compares(op, a, b);  // including `is`
    }
    if (result) return *result;
    return error(where.expr,
                 DiagKind::IntOverflow,
                 fmt::format("`{} {} {}` does not fit a 64-bit int", a, operator_text(op), b));
}

MaybeScalar Evaluator::real_binary(BinaryOp op, double a, double b) {
    switch (op) {
        case BinaryOp::Add:
            return a + b;
        case BinaryOp::Sub:
            return a - b;
        case BinaryOp::Mul:
            return a * b;
        case BinaryOp::Div:
            return a / b;
        case BinaryOp::CeilDiv:
            return ir::real_ceil_div(a, b);
        case BinaryOp::Mod:
            return ir::real_mod(a, b);
        case BinaryOp::Pow:
            return std::pow(a, b);
        case BinaryOp::Min:
            return ir::real_min(a, b);
        case BinaryOp::Max:
            return ir::real_max(a, b);
        default:
            return compares(op, a, b);
    }
}

MaybeScalar Evaluator::string_binary(BinaryOp op,
                                     const std::string& a,
                                     const std::string& b,
                                     const Where& where) {
    if (op != BinaryOp::Add) return compares(op, a, b);
    if (!check_bytes(uint64_t{a.size()} + b.size(), where.expr)) return std::nullopt;
    return a + b;
}

MaybeScalar Evaluator::symbolic_binary(BinaryOp op,
                                       const Scalar& lhs,
                                       const Scalar& rhs,
                                       const Where& where) {
    ir::SymId a = to_symbol(lhs, symbols_), b = to_symbol(rhs, symbols_);
    if (op == BinaryOp::Greater || op == BinaryOp::GreaterEqual) std::swap(a, b);
    if (op == BinaryOp::Implies) {
        const auto opposite = symbols_.apply(SymOp::Not, a);
        if (!opposite) return report_fault("=>", where);
        a = *opposite;
    }
    const auto result = symbols_.apply(symbolic_op(op), a, b);
    if (!result) return report_fault(operator_text(op), where);
    return to_scalar(*result, symbols_);
}

// ---- casts and functions ----------------------------------------------------------------------

MaybeScalar Evaluator::cast(ScalarType to, const Scalar& operand, Span span) {
    const ScalarType from = type(operand);
    if (from == to) return operand;
    if (from == ScalarType::Str || to == ScalarType::Str)
        return error(span,
                     DiagKind::BadCast,
                     fmt::format("cast from {} to {}", type_name(from), type_name(to)));
    if (const auto* id = std::get_if<ir::SymId>(&operand)) {
        const SymOp op = to == ScalarType::Int    ? SymOp::ToInt
                         : to == ScalarType::Real ? SymOp::ToReal
                                                  : SymOp::ToBool;
        const auto result = symbols_.apply(op, *id);
        if (!result) return report_fault(type_name(to), {span, span});
        return to_scalar(*result, symbols_);
    }
    const auto* whole = std::get_if<int64_t>(&operand);
    const auto* flag = std::get_if<bool>(&operand);
    const auto* real = std::get_if<double>(&operand);
    if (to == ScalarType::Bool) return whole ? *whole != 0 : *real != 0;
    if (to == ScalarType::Real) return whole ? static_cast<double>(*whole) : *flag ? 1.0 : 0.0;
    if (flag) return int64_t{*flag};
    if (const auto value = ir::truncate_to_int(*real)) return *value;
    if (std::isnan(*real)) return error(span, DiagKind::BadArgument, "nan has no int value");
    return error(span,
                 DiagKind::IntOverflow,
                 fmt::format("`int({})` does not fit a 64-bit int", ir::real_text(*real)));
}

MaybeScalar Evaluator::builtin(const Name& function, const Scalar& operand, Span span) {
    const ScalarType found = type(operand);
    const bool whole = found == ScalarType::Int && ir::is_int_function(function.text);
    if (!whole && found != ScalarType::Real)
        return error(span,
                     DiagKind::OperandType,
                     fmt::format("`{}` takes {}, found {}",
                                 function.text,
                                 ir::is_int_function(function.text) ? "int or real" : "real",
                                 type_name(found)));
    if (const auto* id = std::get_if<ir::SymId>(&operand)) {
        const auto result = symbols_.function(function.text, *id);
        if (!result) return report_fault(function.text, {span, span});
        return to_scalar(*result, symbols_);
    }
    if (!whole) return *ir::real_function(function.text, std::get<double>(operand));
    const int64_t value = std::get<int64_t>(operand);
    if (function.text == "sign") return int64_t{(value > 0) - (value < 0)};
    if (value >= 0) return value;
    if (const auto result = checked_sub(0, value)) return *result;
    return error(
        span, DiagKind::IntOverflow, fmt::format("`abs({})` does not fit a 64-bit int", value));
}

}  // namespace lemma::sknd
