// SPDX-License-Identifier: Apache-2.0
// Arithmetic of vectors and scalars. The results are those of loop/ir/run.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "base/check.h"
#include "emit/fast/vector_support.h"
#include "emit/fast/vector_support_impl.h"

namespace lemma::emit {

using loop::Kind;
using loop::Op;
using loop::Type;

namespace {

std::string_view op_name(Op op) {
    switch (op) {
        case Op::Add:
        case Op::SumLanes:
            return "add";
        case Op::Sub:
            return "sub";
        case Op::Mul:
        case Op::ProductLanes:
            return "mul";
        case Op::Div:
            return "div";
        case Op::Mod:
            return "mod";
        case Op::Pow:
            return "pow";
        case Op::Min:
        case Op::MinLanes:
            return "min";
        case Op::Max:
        case Op::MaxLanes:
            return "max";
        case Op::Neg:
            return "neg";
        case Op::Abs:
            return "abs";
        case Op::Fma:
            return "fma";
        case Op::Sqrt:
            return "sqrt";
        case Op::Floor:
            return "floor";
        case Op::Ceil:
            return "ceil";
        case Op::Trunc:
            return "trunc";
        case Op::Rint:
            return "rint";
        case Op::Round:
            return "round";
        case Op::CopySign:
            return "copysign";
        case Op::Scale:
            return "scale";
        case Op::Exponent:
            return "exponent";
        case Op::Mantissa:
            return "mantissa";
        case Op::AllLanes:
            return "all";
        case Op::AnyLanes:
            return "any";
        default:
            LEMMA_CHECK(false);
            return "";
    }
}

int operands_of(Op op) {
    switch (op) {
        case Op::Fma:
            return 3;
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
        case Op::Div:
        case Op::Mod:
        case Op::Pow:
        case Op::Min:
        case Op::Max:
        case Op::CopySign:
        case Op::Scale:
            return 2;
        default:
            return 1;
    }
}

std::string whole_arithmetic(Op op) {
    switch (op) {
        case Op::Add:
            return "return (int64_t)((uint64_t)a + (uint64_t)b);";
        case Op::Sub:
            return "return (int64_t)((uint64_t)a - (uint64_t)b);";
        case Op::Mul:
            return "return (int64_t)((uint64_t)a * (uint64_t)b);";
        case Op::Fma:
            return "return (int64_t)((uint64_t)a * (uint64_t)b + (uint64_t)c);";
        case Op::Div:  // rounds down
            return "int64_t r;\n"
                   "    if (b == 0) return 0;\n"
                   "    if (b == -1) return (int64_t)(0u - (uint64_t)a);\n"
                   "    r = a % b;\n"
                   "    return a / b - (r != 0 && (r ^ b) < 0);";
        case Op::Mod:
            return "int64_t r;\n"
                   "    if (b == 0 || b == -1) return 0;\n"
                   "    r = a % b;\n"
                   "    return r != 0 && (r ^ b) < 0 ? r + b : r;";
        case Op::Pow:
            return "uint64_t p = 1, q = (uint64_t)a;\n"
                   "    if (b < 0) return 0;\n"
                   "    for (; b > 0; b >>= 1) {\n"
                   "        if (b & 1) p *= q;\n"
                   "        q *= q;\n"
                   "    }\n"
                   "    return (int64_t)p;";
        case Op::Min:
            return "return b < a ? b : a;";
        case Op::Max:
            return "return a < b ? b : a;";
        case Op::Neg:
            return "return (int64_t)(0u - (uint64_t)a);";
        case Op::Abs:
            return "return a < 0 ? (int64_t)(0u - (uint64_t)a) : a;";
        default:
            LEMMA_CHECK(false);
            return "";
    }
}

// The instruction for one register of the operands {0}, {1} and {2}; empty if there is none.
std::string_view avx_instruction(Op op) {
    switch (op) {
        case Op::Fma:
            return "{p}_fmadd_{t}({0}, {1}, {2})";
        case Op::Sqrt:
            return "{p}_sqrt_{t}({0})";
        case Op::Floor:
            return "{p}_{r}_{t}({0}, 9)";
        case Op::Ceil:
            return "{p}_{r}_{t}({0}, 10)";
        case Op::Trunc:
            return "{p}_{r}_{t}({0}, 11)";
        case Op::Rint:
            return "{p}_{r}_{t}({0}, 8)";
        default:
            return "";
    }
}

std::string_view neon_instruction(Op op) {
    switch (op) {
        case Op::Fma:
            return "vfmaq_f{t}({2}, {0}, {1})";
        case Op::Sqrt:
            return "vsqrtq_f{t}({0})";
        case Op::Floor:
            return "vrndmq_f{t}({0})";
        case Op::Ceil:
            return "vrndpq_f{t}({0})";
        case Op::Trunc:
            return "vrndq_f{t}({0})";
        case Op::Rint:
            return "vrndnq_f{t}({0})";
        case Op::Round:
            return "vrndaq_f{t}({0})";
        default:
            return "";
    }
}

}  // namespace

// Instructions work on registers; a longer vector has several.
std::string VectorSupport::intrinsic(Op op, Type type) const {
    if (!type.real() || target_ == FastTarget::Generic) return "";
    const int bytes = target_ == FastTarget::Avx512 ? 64 : target_ == FastTarget::Avx2 ? 32 : 16;
    const bool single = type.kind == Kind::F32;
    const int per_register = bytes / (single ? 4 : 8);
    if (type.lanes % per_register != 0) return "";
    const bool neon = target_ == FastTarget::Neon;
    std::string text(neon ? neon_instruction(op) : avx_instruction(op));
    if (text.empty()) return "";
    const auto replace = [&](std::string_view what, std::string_view by) {
        for (size_t at; (at = text.find(what)) != std::string::npos;) {
            text.replace(at, what.size(), by);
        }
    };
    replace("{p}", bytes == 64 ? "_mm512" : "_mm256");
    replace("{r}", bytes == 64 ? "roundscale" : "round");
    replace("{t}", neon ? (single ? "32" : "64") : (single ? "ps" : "pd"));
    const std::string words = neon          ? (single ? "float32x4_t" : "float64x2_t")
                              : bytes == 64 ? (single ? "__m512" : "__m512d")
                                            : (single ? "__m256" : "__m256d");
    const int count = type.lanes / per_register;
    const int operands = operands_of(op);
    const std::string names[] = {"a", "b", "c"};
    if (count == 1) {
        for (int i = 0; i < operands; ++i) {
            replace(fmt::format("{{{}}}", i), fmt::format("({}){}", words, names[i]));
        }
        return fmt::format("return ({}){};", type_suffix(type), text);
    }
    std::string body =
        fmt::format("union {{ {} v; {} p[{}]; }} r", type_suffix(type), words, count);
    for (int i = 0; i < operands; ++i) body += fmt::format(", {}_", names[i]);
    body += ";\n    int i;\n    ";
    for (int i = 0; i < operands; ++i) body += fmt::format("{0}_.v = {0};\n    ", names[i]);
    for (int i = 0; i < operands; ++i) {
        replace(fmt::format("{{{}}}", i), fmt::format("{}_.p[i]", names[i]));
    }
    return body +
           fmt::format("for (i = 0; i < {}; ++i) r.p[i] = {};\n    return r.v;", count, text);
}

// The second operand wins if it is NaN; the first one if both are equal.
std::string VectorSupport::extreme_with_number(Op op, Type type) {
    const bool least = op == Op::Min;
    const std::string vector = this->type(type);
    const Signature signature{vector,
                              fmt::format("lm_{}_number_{}", op_name(op), type_suffix(type)),
                              fmt::format("{0} a, {0} b", vector)};
    return function(signature, [&]() -> std::string {
        if (type.lanes == 1) return least ? "return b < a ? b : a;" : "return a < b ? b : a;";
        if (type == Type{Kind::F32, 16} && target_ == FastTarget::Avx512) {
            return fmt::format(
                "return ({})_mm512_{}_ps((__m512)b, (__m512)a);", vector, op_name(op));
        }
        if (type == Type{Kind::F32, 8} && target_ == FastTarget::Avx2) {
            return fmt::format(
                "return ({})_mm256_{}_ps((__m256)b, (__m256)a);", vector, op_name(op));
        }
        return fmt::format("return {}({}({}), b, a);",
                           select(type),
                           compare(Op::Less, type),
                           least ? "b, a" : "a, b");
    });
}

// Bits of floats; see loop/ir/run.cpp.
std::string VectorSupport::float_parts(Op op, Type type) {
    const bool one = type.lanes == 1;
    const std::string vector = this->type(type);
    const std::string words = one ? "uint32_t" : vector_type("uint32_t", type.lanes);
    const std::string ints = one ? "int32_t" : vector_type("int32_t", type.lanes);
    const std::string bits = fmt::format("union {{ {} f; {} u; {} i; }} ", vector, words, ints);
    if (op == Op::Scale) {
        const std::string whole = one ? "b >= -300.0F && b <= 300.0F ? (int32_t)b : 0"
                                      : fmt::format("__builtin_convertvector(b, {})", ints);
        return fmt::format(
            "{0}p, q;\n"
            "    const {1} n = {2};\n"
            "    const {1} h = n >> 1;\n"
            "    p.u = ({3})(h + 127) << 23;\n"
            "    q.u = ({3})(n - h + 127) << 23;\n"
            "    return a * p.f * q.f;",
            bits,
            ints,
            whole,
            words);
    }
    const std::string begin = bits +
                              "v, e;\n"
                              "    v.f = a;\n"
                              "    e.u = v.u - 0x3F3504F3u;\n"
                              "    e.i = e.i >> 23;\n    ";
    if (op == Op::Mantissa) return begin + "v.u = v.u - (e.u << 23);\n    return v.f;";
    return begin + (one ? std::string("return (float)e.i;")
                        : fmt::format("return __builtin_convertvector(e.i, {});", vector));
}

std::string VectorSupport::vector_arithmetic(Op op, Type type) {
    const std::string vector = this->type(type);
    const std::string scalar = type.lanes > 1 ? arithmetic(op, Type{type.kind}) : "";
    const int operands = operands_of(op);
    const auto each = [&] {
        return by_lanes(type, [&](int i) {
            return operands == 1   ? fmt::format("{}(a[{}])", scalar, i)
                   : operands == 2 ? fmt::format("{0}(a[{1}], b[{1}])", scalar, i)
                                   : fmt::format("{0}(a[{1}], b[{1}], c[{1}])", scalar, i);
        });
    };
    if (type.kind == Kind::Int) {
        const std::string words = vector_type("uint64_t", type.lanes);
        switch (op) {
            case Op::Add:
            case Op::Sub:
            case Op::Mul: {
                const char* const sign = op == Op::Add ? "+" : op == Op::Sub ? "-" : "*";
                return fmt::format("return ({0})(({1})a {2} ({1})b);", vector, words, sign);
            }
            case Op::Fma:
                return fmt::format("return ({0})(({1})a * ({1})b + ({1})c);", vector, words);
            case Op::Neg:
                return fmt::format("return ({0})(-({1})a);", vector, words);
            default:
                return each();
        }
    }
    const bool single = type.kind == Kind::F32;
    const std::string ints = vector_type(single ? "int32_t" : "int64_t", type.lanes);
    const char* const rest = single ? "0x7fffffff" : "0x7fffffffffffffffLL";
    switch (op) {
        case Op::Min:
        case Op::Max:
            return fmt::format("return {}({}(b, b), b, {}(a, b));",
                               select(type),
                               compare(Op::NotEqual, type),
                               extreme_with_number(op, type));
        case Op::Abs:
            return fmt::format("return ({0})(({1})a & {2});", vector, ints, rest);
        case Op::CopySign:
            return fmt::format(
                "return ({0})((({1})a & {2}) | (({1})b & ~{2}));", vector, ints, rest);
        case Op::Fma:
            return has_fma_ ? each() : "return a * b + c;";
        case Op::Rint:
            // Adding and subtracting 2^23 rounds numbers that are smaller.
            if (!single) return each();
            return fmt::format(
                "const {1} s = ({1})a & ~{2};\n"
                "    const {0} big = ({0})(s | 0x4b000000);\n"
                "    const {0} r = ({0})(({1})((a + big) - big) | s);\n"
                "    return {3}({4}({5}(a), {6}(0x1p23f)), r, a);",
                vector,
                ints,
                rest,
                select(type),
                compare(Op::Less, type),
                arithmetic(Op::Abs, type),
                set(type));
        default:
            return each();
    }
}

std::string VectorSupport::scalar_arithmetic(Op op, Kind kind) {
    const char* const f = kind == Kind::F32 ? "f" : "";
    switch (op) {
        case Op::Min:
            return "return b != b ? b : b < a ? b : a;";
        case Op::Max:
            return "return b != b ? b : a < b ? b : a;";
        case Op::Abs:
            return fmt::format("return fabs{}(a);", f);
        case Op::Fma:
            if (!has_fma_) return "return a * b + c;";
            return fmt::format("return fma{}(a, b, c);", f);
        case Op::CopySign:
            return fmt::format("return copysign{}(a, b);", f);
        default:
            return fmt::format("return {}{}(a);", op_name(op), f);
    }
}

std::string VectorSupport::arithmetic(Op op, Type type) {
    const std::string vector = this->type(type);
    std::string parameters = vector + " a";
    if (operands_of(op) > 1) parameters += fmt::format(", {} b", vector);
    if (operands_of(op) > 2) parameters += fmt::format(", {} c", vector);
    return function({vector, fmt::format("lm_{}_{}", op_name(op), type_suffix(type)), parameters},
                    [&]() -> std::string {
                        if (op == Op::Scale || op == Op::Exponent || op == Op::Mantissa) {
                            return float_parts(op, type);
                        }
                        if (type.lanes == 1) {
                            return type.kind == Kind::Int ? whole_arithmetic(op)
                                                          : scalar_arithmetic(op, type.kind);
                        }
                        std::string fast = intrinsic(op, type);
                        return fast.empty() ? vector_arithmetic(op, type) : fast;
                    });
}

// Neighbours first, then neighbouring pairs, and so on.
std::string VectorSupport::over_lanes(Op op, Type type) {
    const int lanes = type.lanes;
    const std::string vector = this->type(type);
    const std::string result = this->type(Type{type.kind});
    const Signature signature{
        result, fmt::format("lm_{}_lanes_{}", op_name(op), type_suffix(type)), vector + " v"};
    return function(signature, [&]() -> std::string {
        if (op == Op::AllLanes || op == Op::AnyLanes) {
            const bool all = op == Op::AllLanes;
            if (masks_are_bits()) {
                const uint64_t full = lanes >= 64 ? UINT64_MAX : (uint64_t{1} << lanes) - 1;
                return all ? fmt::format("return v == {:#x}u;", full) : "return v != 0;";
            }
            std::vector<std::string> parts;
            for (int i = 0; i < lanes; ++i) parts.push_back(fmt::format("v[{}]", i));
            return fmt::format("return ({}) != 0;", fmt::join(parts, all ? " & " : " | "));
        }
        const Op pairwise = op == Op::SumLanes       ? Op::Add
                            : op == Op::ProductLanes ? Op::Mul
                            : op == Op::MinLanes     ? Op::Min
                                                     : Op::Max;
        const bool sign = type.real() && (pairwise == Op::Add || pairwise == Op::Mul);
        const std::string call = sign ? "" : arithmetic(pairwise, type);
        std::string body;
        for (int step = 1; step < lanes; step *= 2) {
            std::vector<int> from;
            for (int i = 0; i < lanes; ++i) {
                from.push_back(i % (2 * step) == 0 && i + step < lanes ? i + step : i);
            }
            const std::string other = shuffle(type, from, false) + "(v)";
            body += sign ? fmt::format("v = v {} {};\n    ", pairwise == Op::Add ? "+" : "*", other)
                         : fmt::format("v = {}(v, {});\n    ", call, other);
        }
        return body + "return v[0];";
    });
}

}  // namespace lemma::emit
