// SPDX-License-Identifier: Apache-2.0
// Element-wise operators: arithmetic, comparisons, casts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/checked.h"
#include "onnx/import/fold.h"

namespace lemma::onnx {

namespace {

using ir::SymId;
using ir::SymOp;

// ---- Numbers in a dtype -------------------------------------------------------------------------

Scalar real_in(DType dtype, double value) { return tensor::round_to(dtype, value); }

// Wrapped to the width of the dtype.
Scalar integer_in(DType dtype, int64_t value) {
    const int64_t bits = 8 * tensor::dtype_size(dtype);
    if (bits >= 64) return value;
    const auto shift = static_cast<uint64_t>(64 - bits);
    const auto raised = static_cast<uint64_t>(value) << shift;
    if (tensor::is_signed(dtype)) return static_cast<int64_t>(raised) >> shift;
    return static_cast<int64_t>(raised >> shift);
}

bool is_symbol(const Scalar& scalar) { return std::holds_alternative<SymId>(scalar); }

std::optional<Scalar> result_of(std::optional<SymId> id, const ir::SymbolPool& symbols) {
    return id ? std::optional(to_scalar(*id, symbols)) : std::nullopt;
}

// ---- Operators ----------------------------------------------------------------------------------

struct Operands {
    Scalar a, b;
    DType dtype;  // type of both
    ir::SymbolPool& symbols;
};
using Combine = std::optional<Scalar> (*)(const Operands&);

// ONNX division rounds towards zero, symbolic division towards minus infinity. They agree for
// operands that are not negative.
std::optional<Scalar> divide_symbols(SymOp op, const Operands& of) {
    const SymId a = to_symbol(of.a, of.symbols);
    const SymId b = to_symbol(of.b, of.symbols);
    const bool natural = of.symbols.range(a).low >= 0 && of.symbols.range(b).low >= 0;
    if (tensor::is_integer(of.dtype) && !natural) return std::nullopt;
    return result_of(of.symbols.apply(op, a, b), of.symbols);
}

template <SymOp op, class Real, class Integer>
std::optional<Scalar> arithmetic(const Operands& of, Real real, Integer integer) {
    if (is_symbol(of.a) || is_symbol(of.b)) {
        if constexpr (op == SymOp::Div) return divide_symbols(op, of);
        const SymId a = to_symbol(of.a, of.symbols);
        const SymId b = to_symbol(of.b, of.symbols);
        return result_of(of.symbols.apply(op, a, b), of.symbols);
    }
    if (tensor::is_real(of.dtype)) return real_in(of.dtype, real(*as_real(of.a), *as_real(of.b)));
    const auto a = as_int(of.a);
    const auto b = as_int(of.b);
    if (!a || !b) return std::nullopt;
    const std::optional<int64_t> result = integer(*a, *b);
    return result ? std::optional(integer_in(of.dtype, *result)) : std::nullopt;
}

std::optional<Scalar> add(const Operands& of) {
    return arithmetic<SymOp::Add>(of, std::plus<double>(), checked_add);
}
std::optional<Scalar> subtract(const Operands& of) {
    return arithmetic<SymOp::Sub>(of, std::minus<double>(), checked_sub);
}
std::optional<Scalar> multiply(const Operands& of) {
    return arithmetic<SymOp::Mul>(of, std::multiplies<double>(), checked_mul);
}
std::optional<Scalar> divide(const Operands& of) {
    return arithmetic<SymOp::Div>(
        of, std::divides<double>(), [](int64_t a, int64_t b) -> std::optional<int64_t> {
            if (b == 0 || b == -1) return b == 0 ? std::nullopt : checked_sub(0, a);
            return a / b;
        });
}
std::optional<Scalar> modulo(const Operands& of) {
    if (tensor::is_real(of.dtype)) return std::nullopt;
    return arithmetic<SymOp::Mod>(
        of, [](double a, double b) { return std::fmod(a, b); }, floor_mod);
}
std::optional<Scalar> power(const Operands& of) {
    if (is_symbol(of.a) || is_symbol(of.b)) return std::nullopt;
    if (tensor::is_real(of.dtype))
        return real_in(of.dtype, std::pow(*as_real(of.a), *as_real(of.b)));
    const auto b = as_real(of.b);
    const auto a = as_int(of.a);
    if (!a || !b || *b != std::floor(*b) || *b < 0 || *b > 64) return std::nullopt;
    const auto result = checked_pow(*a, static_cast<int64_t>(*b));
    return result ? std::optional(integer_in(of.dtype, *result)) : std::nullopt;
}
std::optional<Scalar> minimum(const Operands& of) {
    return arithmetic<SymOp::Min>(
        of,
        [](double a, double b) { return std::isnan(a) || a < b ? a : b; },
        [](int64_t a, int64_t b) { return std::optional(std::min(a, b)); });
}
std::optional<Scalar> maximum(const Operands& of) {
    return arithmetic<SymOp::Max>(
        of,
        [](double a, double b) { return std::isnan(a) || a > b ? a : b; },
        [](int64_t a, int64_t b) { return std::optional(std::max(a, b)); });
}

// A condition that the ranges of the extents already decide becomes a constant.
std::optional<Scalar> proved(std::optional<SymId> id, ir::SymbolPool& symbols) {
    if (!id) return std::nullopt;
    if (const auto decided = symbols.prove(*id)) return Scalar(*decided);
    return to_scalar(*id, symbols);
}

std::optional<Scalar> equal(const Operands& of) {
    if (is_symbol(of.a) || is_symbol(of.b)) {
        const SymId a = to_symbol(of.a, of.symbols);
        const SymId b = to_symbol(of.b, of.symbols);
        return proved(of.symbols.apply(SymOp::Equal, a, b), of.symbols);
    }
    return Scalar(of.a == of.b);
}

std::optional<Scalar> less(const Operands& of) {
    if (is_symbol(of.a) || is_symbol(of.b)) {
        const SymId a = to_symbol(of.a, of.symbols);
        const SymId b = to_symbol(of.b, of.symbols);
        return proved(of.symbols.apply(SymOp::Less, a, b), of.symbols);
    }
    if (tensor::is_real(of.dtype)) return Scalar(*as_real(of.a) < *as_real(of.b));
    const auto a = as_int(of.a);
    const auto b = as_int(of.b);
    return a && b ? std::optional(Scalar(*a < *b)) : std::nullopt;
}

std::optional<Scalar> negated(std::optional<Scalar> scalar, ir::SymbolPool& symbols) {
    if (!scalar) return std::nullopt;
    if (const auto value = as_bool(*scalar)) return Scalar(!*value);
    return result_of(symbols.apply(SymOp::Not, to_symbol(*scalar, symbols)), symbols);
}
std::optional<Scalar> greater(const Operands& of) {
    return less({of.b, of.a, of.dtype, of.symbols});
}
std::optional<Scalar> less_equal(const Operands& of) { return negated(greater(of), of.symbols); }
std::optional<Scalar> greater_equal(const Operands& of) { return negated(less(of), of.symbols); }

template <SymOp op>
std::optional<Scalar> logical(const Operands& of) {
    const SymId a = to_symbol(of.a, of.symbols);
    const SymId b = to_symbol(of.b, of.symbols);
    return proved(of.symbols.apply(op, a, b), of.symbols);
}

// ---- Over arrays --------------------------------------------------------------------------------

enum class ResultType : uint8_t { Same, Bool };

Folded combine(const FoldCall& call,
               const ConstantValue& a,
               const ConstantValue& b,
               Combine function,
               ResultType type) {
    const auto shape = broadcast_shape(a.shape, b.shape);
    if (!shape) return std::nullopt;
    ConstantValue result{
        .dtype = type == ResultType::Bool ? DType::Bool : a.dtype, .shape = *shape, .items = {}};
    const int64_t count = *tensor::volume(*shape);
    for (int64_t i = 0; i < count; ++i) {
        const auto at = [&](const ConstantValue& known) {
            return known.items[static_cast<size_t>(broadcast_index(i, *shape, known.shape))];
        };
        auto item = function({at(a), at(b), a.dtype, call.symbols});
        if (!item) return std::nullopt;
        result.items.push_back(std::move(*item));
    }
    return std::vector{std::move(result)};
}

template <Combine function, ResultType type = ResultType::Same>
Folded binary(const FoldCall& call) {
    if (call.inputs.size() != 2 || !call.input(0) || !call.input(1)) return std::nullopt;
    if (call.attributes.integer("broadcast").value_or(0) != 0) return std::nullopt;
    return combine(call, *call.inputs[0], *call.inputs[1], function, type);
}

template <Combine function>
Folded variadic(const FoldCall& call) {
    if (call.inputs.empty() || !call.inputs[0]) return std::nullopt;
    Folded result = std::vector{*call.inputs[0]};
    for (size_t i = 1; result && i < call.inputs.size(); ++i) {
        if (!call.inputs[i]) return std::nullopt;
        result = combine(call, (*result)[0], *call.inputs[i], function, ResultType::Same);
    }
    return result;
}

template <class Function>
Folded each(const FoldCall& call, DType dtype, Function function) {
    const ConstantValue* const x = call.input(0);
    if (!x) return std::nullopt;
    ConstantValue result{.dtype = dtype, .shape = x->shape, .items = {}};
    for (const Scalar& item : x->items) {
        std::optional<Scalar> value = function(item);
        if (!value) return std::nullopt;
        result.items.push_back(std::move(*value));
    }
    return std::vector{std::move(result)};
}

// Functions of one real. Symbols use the built-in function of that name, if there is one.
template <double (*function)(double)>
Folded real_function(const FoldCall& call, const char* name) {
    const ConstantValue* const x = call.input(0);
    if (!x || !tensor::is_real(x->dtype)) return std::nullopt;
    return each(call, x->dtype, [&](const Scalar& item) -> std::optional<Scalar> {
        if (is_symbol(item)) {
            if (!name) return std::nullopt;
            return result_of(call.symbols.function(name, std::get<SymId>(item)), call.symbols);
        }
        return real_in(x->dtype, function(*as_real(item)));
    });
}

Folded fold_floor(const FoldCall& call) { return real_function<std::floor>(call, "floor"); }
Folded fold_ceil(const FoldCall& call) { return real_function<std::ceil>(call, "ceil"); }
Folded fold_sqrt(const FoldCall& call) { return real_function<std::sqrt>(call, "sqrt"); }
Folded fold_round(const FoldCall& call) { return real_function<std::nearbyint>(call, nullptr); }
Folded fold_exp(const FoldCall& call) { return real_function<std::exp>(call, nullptr); }
Folded fold_log(const FoldCall& call) { return real_function<std::log>(call, nullptr); }
double reciprocal(double x) { return 1 / x; }
Folded fold_reciprocal(const FoldCall& call) { return real_function<reciprocal>(call, nullptr); }

Folded fold_not(const FoldCall& call) {
    return each(call, DType::Bool, [&](const Scalar& item) { return negated(item, call.symbols); });
}

template <Combine function>
Folded with_zero(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    if (!x || x->dtype == DType::Str || x->dtype == DType::Bool) return std::nullopt;
    const Scalar zero = tensor::is_real(x->dtype) ? Scalar(0.0) : Scalar(int64_t{0});
    return each(call, x->dtype, [&](const Scalar& item) {
        return function({zero, item, x->dtype, call.symbols});
    });
}

std::optional<Scalar> absolute(const Operands& of) {
    const auto negative = subtract(of);
    return negative ? maximum({of.b, *negative, of.dtype, of.symbols}) : std::nullopt;
}

Folded fold_cast(const FoldCall& call) {
    if (!call.type) return std::nullopt;
    return each(call, *call.type, [&](const Scalar& item) {
        return cast_scalar(item, *call.type, call.symbols);
    });
}

Folded fold_where(const FoldCall& call) {
    if (call.inputs.size() != 3 || !call.input(0) || !call.input(1) || !call.input(2))
        return std::nullopt;
    const ConstantValue& condition = *call.inputs[0];
    const ConstantValue& a = *call.inputs[1];
    const ConstantValue& b = *call.inputs[2];
    const auto values = broadcast_shape(a.shape, b.shape);
    const auto shape = values ? broadcast_shape(condition.shape, *values) : std::nullopt;
    if (!shape) return std::nullopt;
    ConstantValue result{.dtype = a.dtype, .shape = *shape, .items = {}};
    const int64_t count = *tensor::volume(*shape);
    for (int64_t i = 0; i < count; ++i) {
        const auto at = [&](const ConstantValue& known) {
            return known.items[static_cast<size_t>(broadcast_index(i, *shape, known.shape))];
        };
        const Scalar chosen = at(condition);
        if (const auto value = as_bool(chosen)) {
            result.items.push_back(*value ? at(a) : at(b));
            continue;
        }
        const auto selected = call.symbols.select(to_symbol(chosen, call.symbols),
                                                  to_symbol(at(a), call.symbols),
                                                  to_symbol(at(b), call.symbols));
        if (!selected) return std::nullopt;
        result.items.push_back(to_scalar(*selected, call.symbols));
    }
    return std::vector{std::move(result)};
}

// With `fmod` the remainder has the sign of the dividend.
Folded fold_mod(const FoldCall& call) {
    if (call.attributes.integer("fmod").value_or(0) != 0) return std::nullopt;
    return binary<modulo>(call);
}

Folded fold_identity(const FoldCall& call) {
    if (!call.input(0)) return std::nullopt;
    return std::vector{*call.inputs[0]};
}

}  // namespace

std::optional<Scalar> cast_scalar(const Scalar& scalar, DType dtype, ir::SymbolPool& symbols) {
    if (dtype == DType::Str || std::holds_alternative<std::string>(scalar)) return std::nullopt;
    if (const auto* const symbol = std::get_if<SymId>(&scalar)) {
        const SymOp op = dtype == DType::Bool     ? SymOp::ToBool
                         : tensor::is_real(dtype) ? SymOp::ToReal
                                                  : SymOp::ToInt;
        return result_of(symbols.apply(op, *symbol), symbols);
    }
    const auto* const truth = std::get_if<bool>(&scalar);
    const double real = truth ? static_cast<double>(*truth) : *as_real(scalar);
    if (dtype == DType::Bool) return Scalar(real != 0);
    if (tensor::is_real(dtype)) return real_in(dtype, real);
    if (const auto integer = as_int(scalar)) return integer_in(dtype, *integer);
    constexpr double kLimit = 9.2e18;
    if (!(std::abs(real) < kLimit)) return std::nullopt;
    return integer_in(dtype, static_cast<int64_t>(real));
}

FoldFunction find_elementwise_fold(const std::string& op) {
    static const std::unordered_map<std::string, FoldFunction> kFunctions = {
        {"Add", binary<add>},
        {"Sub", binary<subtract>},
        {"Mul", binary<multiply>},
        {"Div", binary<divide>},
        {"Mod", fold_mod},
        {"Pow", binary<power>},
        {"Min", variadic<minimum>},
        {"Max", variadic<maximum>},
        {"max_of_two", variadic<maximum>},
        {"min_of_two", variadic<minimum>},
        {"Sum", variadic<add>},
        {"Equal", binary<equal, ResultType::Bool>},
        {"Less", binary<less, ResultType::Bool>},
        {"Greater", binary<greater, ResultType::Bool>},
        {"LessOrEqual", binary<less_equal, ResultType::Bool>},
        {"GreaterOrEqual", binary<greater_equal, ResultType::Bool>},
        {"And", binary<logical<SymOp::And>, ResultType::Bool>},
        {"Or", binary<logical<SymOp::Or>, ResultType::Bool>},
        {"Xor", binary<logical<SymOp::Xor>, ResultType::Bool>},
        {"Not", fold_not},
        {"Neg", with_zero<subtract>},
        {"Relu", with_zero<maximum>},
        {"Abs", with_zero<absolute>},
        {"Floor", fold_floor},
        {"Ceil", fold_ceil},
        {"Sqrt", fold_sqrt},
        {"Round", fold_round},
        {"Exp", fold_exp},
        {"Log", fold_log},
        {"Reciprocal", fold_reciprocal},
        {"Cast", fold_cast},
        {"Where", fold_where},
        {"Identity", fold_identity},
    };
    const auto found = kFunctions.find(op);
    return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace lemma::onnx
