// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_real.cpp — reals, strings, casts and functions. Constants fold with the
// semantics of IEEE 754; other expressions keep their structure. Only `+`, `*` and `==` sort their
// two operands.
#include <algorithm>
#include <cmath>

#include "ir/symbols/scalar_math.h"
#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

constexpr int64_t kMaxExactDouble = int64_t{1} << 53;

double fold(SymOp op, double a, double b) {
    switch (op) {
        case SymOp::Add:
            return a + b;
        case SymOp::Sub:
            return a - b;
        case SymOp::Mul:
            return a * b;
        case SymOp::Div:
            return a / b;
        case SymOp::CeilDiv:
            return real_ceil_div(a, b);
        case SymOp::Mod:
            return real_mod(a, b);
        case SymOp::Pow:
            return std::pow(a, b);
        case SymOp::Min:
            return real_min(a, b);
        default:
            return real_max(a, b);
    }
}

template <class T>
bool holds(SymOp op, const T& a, const T& b) {
    return op == SymOp::Less ? a < b : op == SymOp::LessEqual ? a <= b : a == b;
}

bool is_comparison(SymOp op) { return op >= SymOp::Less && op <= SymOp::NotEqual; }

}  // namespace

MaybeSym SymbolPool::Impl::real_op(SymOp op, std::span<const SymId> x) {
    if (op == SymOp::Neg) {
        if (const auto value = as_real(x[0])) return real(-*value);
        if (is_op(x[0], SymOp::Neg)) return operand(x[0], 0);
        return make(op, ScalarType::Real, x);
    }
    if (op == SymOp::NotEqual) {
        const MaybeSym equal = real_op(SymOp::Equal, x);
        return equal ? negation(*equal) : std::nullopt;
    }
    if (is_comparison(op)) {
        const auto a = as_real(x[0]), b = as_real(x[1]);
        if (a && b) return boolean(holds(op, *a, *b));
        if (op == SymOp::Less && x[0] == x[1]) return boolean(false);
        SymId operand_list[] = {x[0], x[1]};
        if (op == SymOp::Equal) arrange(operand_list);
        return make(op, ScalarType::Bool, operand_list);
    }
    SymId left = x[0];
    for (const SymId right : x.subspan(1)) {
        const auto a = as_real(left), b = as_real(right);
        if (a && b) {
            left = real(fold(op, *a, *b));
            continue;
        }
        SymId operand_list[] = {left, right};
        if (op == SymOp::Add || op == SymOp::Mul) arrange(operand_list);
        const bool idempotent = op == SymOp::Min || op == SymOp::Max;
        const MaybeSym next =
            idempotent && left == right ? left : make(op, ScalarType::Real, operand_list);
        if (!next) return std::nullopt;
        left = *next;
    }
    return left;
}

MaybeSym SymbolPool::Impl::string_op(SymOp op, std::span<const SymId> x) {
    if (op == SymOp::NotEqual) {
        const MaybeSym equal = string_op(SymOp::Equal, x);
        return equal ? negation(*equal) : std::nullopt;
    }
    const auto text = [&](SymId id) -> const std::string& { return names[node(id).name]; };
    if (is_comparison(op)) {
        if (is_constant(x[0]) && is_constant(x[1]))
            return boolean(holds(op, text(x[0]), text(x[1])));
        if (x[0] == x[1]) return boolean(op != SymOp::Less);
        SymId operand_list[] = {x[0], x[1]};
        if (op == SymOp::Equal) arrange(operand_list);
        return make(op, ScalarType::Bool, operand_list);
    }
    if (op != SymOp::Add) return fail(SymFault::BadOperands);
    SymId left = x[0];
    for (const SymId right : x.subspan(1)) {
        const SymId operand_list[] = {left, right};
        const MaybeSym next = is_constant(left) && is_constant(right)
                                  ? string(text(left) + text(right))
                                  : make(op, ScalarType::Str, operand_list);
        if (!next) return std::nullopt;
        left = *next;
    }
    return left;
}

MaybeSym SymbolPool::Impl::cast(SymOp op, SymId a) {
    const ScalarType from = node(a).type;
    if (from == ScalarType::Str) return fail(SymFault::BadOperands);
    const auto as_flag = as_bool(a);
    const auto as_whole = as_int(a);
    const auto as_double = as_real(a);
    if (op == SymOp::ToBool) {
        if (from == ScalarType::Bool) return a;
        if (from == ScalarType::Int) return compare(SymOp::NotEqual, a, integer(0));
        const SymId operand_list[] = {a, real(0.0)};
        return real_op(SymOp::NotEqual, operand_list);
    }
    if (op == SymOp::ToReal) {
        if (from == ScalarType::Real) return a;
        if (as_whole) return real(static_cast<double>(*as_whole));
        if (as_flag) return real(*as_flag ? 1.0 : 0.0);
        return make(op, ScalarType::Real, std::span(&a, 1));
    }
    if (from == ScalarType::Int) return a;
    if (as_flag) return integer(*as_flag ? 1 : 0);
    if (as_double) {
        const auto value = truncate_to_int(*as_double);
        if (value) return integer(*value);
        return fail(std::isnan(*as_double) ? SymFault::NotANumber : SymFault::Overflow);
    }
    // int(real(n)) is n if a double holds every value of n.
    if (is_op(a, SymOp::ToReal) && node(operand(a, 0)).type == ScalarType::Int) {
        const Interval range = node(operand(a, 0)).range;
        if (range.low >= -kMaxExactDouble && range.high <= kMaxExactDouble) return operand(a, 0);
    }
    return make(op, ScalarType::Int, std::span(&a, 1));
}

MaybeSym SymbolPool::Impl::function(std::string_view name, SymId a) {
    const ScalarType type = node(a).type;
    if (type == ScalarType::Int && name == "abs") return absolute(a);
    if (type == ScalarType::Int && name == "sign") return sign(a);
    if (type != ScalarType::Real || !is_function(name)) return fail(SymFault::BadOperands);
    if (const auto value = as_real(a)) return real(*real_function(name, *value));
    return make(SymOp::Function, ScalarType::Real, std::span(&a, 1), intern_name(name));
}

}  // namespace lemma::ir
