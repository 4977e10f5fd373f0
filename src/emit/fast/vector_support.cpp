// SPDX-License-Identifier: Apache-2.0
#include "emit/fast/vector_support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "base/check.h"
#include "emit/c_text.h"
#include "emit/fast/vector_support_impl.h"

namespace lemma::emit {

using loop::Kind;
using loop::Op;
using loop::Type;
using tensor::DType;

namespace {

std::string_view kind_name(Kind kind) {
    switch (kind) {
        case Kind::Bool:
            return "b32";
        case Kind::I32:
            return "i32";
        case Kind::Int:
            return "i64";
        case Kind::F32:
            return "f32";
        case Kind::F64:
            return "f64";
    }
    return "";
}

std::string_view element_of(Kind kind) {
    switch (kind) {
        case Kind::Bool:
            return "int32_t";
        case Kind::I32:
            return "int32_t";
        case Kind::Int:
            return "int64_t";
        case Kind::F32:
            return "float";
        case Kind::F64:
            return "double";
    }
    return "";
}

// The kind that elements of the dtype are computed in.
Type register_type(DType dtype, int lanes) {
    return {loop::kind_of(dtype), static_cast<uint16_t>(lanes)};
}

bool plain(DType dtype) {  // the same in memory and in registers
    return dtype == DType::F32 || dtype == DType::F64 || dtype == DType::I64 || dtype == DType::U64;
}

std::string stride_text(int64_t stride) {
    return stride < 0 ? fmt::format("m{}", -stride) : fmt::format("{}", stride);
}

}  // namespace

FastTarget fast_target(std::string_view name) {
    if (name == "avx512") return FastTarget::Avx512;
    if (name == "avx2") return FastTarget::Avx2;
    if (name == "aarch64") return FastTarget::Neon;
    return FastTarget::Generic;
}

std::string type_suffix(Type type) {
    return type.lanes == 1 ? std::string(kind_name(type.kind))
                           : fmt::format("{}x{}", kind_name(type.kind), type.lanes);
}

// ---- Types --------------------------------------------------------------------------------------

std::string VectorSupport::vector_type(std::string_view element, int lanes) {
    const std::string short_name = element == "float" ? "f32"
                                   : element == "double"
                                       ? "f64"
                                       : std::string(element.substr(0, element.find('_')));
    std::string name = short_name.starts_with("u")     ? "u" + short_name.substr(4)
                       : short_name.starts_with("int") ? "i" + short_name.substr(3)
                                                       : short_name;
    name += fmt::format("x{}", lanes);
    if (begin(name)) {
        text_ += fmt::format(
            "typedef {0} {1} __attribute__((vector_size({2} * sizeof({0}))));\n"
            "typedef {0} {1}_any __attribute__((vector_size({2} * sizeof({0})), "
            "aligned(sizeof({0})), "
            "may_alias));\n",
            element,
            name,
            lanes);
    }
    return name;
}

std::string VectorSupport::mask_type(int lanes) {
    if (lanes == 1) return "int";
    if (!masks_are_bits()) return vector_type("int32_t", lanes);
    return lanes <= 8    ? "uint8_t"
           : lanes <= 16 ? "uint16_t"
           : lanes <= 32 ? "uint32_t"
                         : "uint64_t";
}

std::string VectorSupport::type(Type type) {
    if (type.kind == Kind::Bool) return mask_type(type.lanes);
    if (type.lanes == 1) return std::string(element_of(type.kind));
    return vector_type(element_of(type.kind), type.lanes);
}

// May be read as another type elsewhere: tensors share memory.
std::string VectorSupport::memory_type(DType dtype) {
    const std::string name = fmt::format("m_{}", tensor::dtype_name(dtype));
    if (begin(name)) {
        text_ += fmt::format("typedef {} {} __attribute__((may_alias));\n", c_type(dtype), name);
    }
    return name;
}

std::string VectorSupport::lane_of(const std::string& name, Type type, int lane) const {
    if (type.lanes == 1) return name;
    if (type.kind == Kind::Bool && masks_are_bits()) {
        return fmt::format("(({} >> {}) & 1)", name, lane);
    }
    return fmt::format("{}[{}]", name, lane);
}

std::string VectorSupport::collect(Type type, const std::vector<std::string>& lanes) {
    if (type.kind != Kind::Bool) {
        return fmt::format("return ({}){{{}}};", this->type(type), fmt::join(lanes, ", "));
    }
    std::string text;
    for (size_t i = 0; i < lanes.size(); ++i) {
        text += i > 0 ? (masks_are_bits() ? " | " : ", ") : "";
        text += masks_are_bits() ? fmt::format("(uint64_t)(({}) != 0) << {}", lanes[i], i)
                                 : fmt::format("-(({}) != 0)", lanes[i]);
    }
    const std::string name = this->type(type);
    return masks_are_bits() ? fmt::format("return ({})({});", name, text)
                            : fmt::format("return ({}){{{}}};", name, text);
}

std::string VectorSupport::by_lanes(Type type, const std::function<std::string(int)>& lane) {
    std::vector<std::string> lanes;
    for (int i = 0; i < type.lanes; ++i) lanes.push_back(lane(i));
    return collect(type, lanes);
}

// ---- Memory -------------------------------------------------------------------------------------

std::string VectorSupport::from_memory(DType dtype, const std::string& element) {
    switch (dtype) {
        case DType::F16:
            return fmt::format(
                "{}({})",
                function({"float", "lm_from_f16", "uint16_t h"},
                         [] {
                             return std::string(
                                 "uint32_t s = (uint32_t)(h & 0x8000u) << 16;\n"
                                 "    uint32_t e = (h >> 10) & 31u, m = h & 1023u, b;\n"
                                 "    union { uint32_t u; float f; } v;\n"
                                 "    if (e == 0u) {\n"
                                 "        float f = (float)m * 0x1p-24f;\n"
                                 "        return s ? -f : f;\n"
                                 "    }\n"
                                 "    b = e == 31u ? 0x7f800000u | m << 13 : (e + 112u) << 23 | m "
                                 "<< 13;\n"
                                 "    v.u = s | b;\n"
                                 "    return v.f;");
                         }),
                element);
        case DType::BF16:
            return fmt::format("{}({})",
                               function({"float", "lm_from_bf16", "uint16_t h"},
                                        [] {
                                            return std::string(
                                                "union { uint32_t u; float f; } v;\n"
                                                "    v.u = (uint32_t)h << 16;\n"
                                                "    return v.f;");
                                        }),
                               element);
        case DType::Bool:
            return fmt::format("({} != 0)", element);
        case DType::F32:
        case DType::F64:
        case DType::I64:
            return element;
        default:
            return fmt::format("(int64_t){}", element);
    }
}

std::string VectorSupport::to_memory(DType dtype, const std::string& value) {
    switch (dtype) {
        case DType::F16:
            // To nearest, ties to even. Half of the last place is added to the bits; a carry into
            // the exponent is right.
            return fmt::format(
                "{}({})",
                function({"uint16_t", "lm_to_f16", "float f"},
                         [] {
                             return std::string(
                                 "union { uint32_t u; float f; } v, w;\n"
                                 "    uint32_t s, a;\n"
                                 "    v.f = f;\n"
                                 "    s = v.u >> 16 & 0x8000u;\n"
                                 "    a = v.u & 0x7fffffffu;\n"
                                 "    if (a > 0x7f800000u) return (uint16_t)(s | 0x7e00u);\n"
                                 "    if (a >= 0x477ff000u) return (uint16_t)(s | 0x7c00u);\n"
                                 "    if (a < 0x38800000u) {\n"
                                 "        v.u = a;\n"
                                 "        w.f = v.f + 0.5f;\n"
                                 "        return (uint16_t)(s | (w.u - 0x3f000000u));\n"
                                 "    }\n"
                                 "    a += 0xfffu + (a >> 13 & 1u);\n"
                                 "    return (uint16_t)(s | ((a >> 13) - 0x1c000u));");
                         }),
                value);
        case DType::BF16:
            return fmt::format(
                "{}({})",
                function(
                    {"uint16_t", "lm_to_bf16", "float f"},
                    [] {
                        return std::string(
                            "union { uint32_t u; float f; } v;\n"
                            "    v.f = f;\n"
                            "    if (f != f) return (uint16_t)(v.u >> 16 | 0x40u);\n"
                            "    return (uint16_t)((v.u + 0x7fffu + (v.u >> 16 & 1u)) >> 16);");
                    }),
                value);
        case DType::Bool:
            return fmt::format("(uint8_t)({} != 0)", value);
        case DType::F32:
        case DType::F64:
            return value;
        default:
            return fmt::format("({}){}", c_type(dtype), value);
    }
}

std::string VectorSupport::load(DType dtype, int lanes) {
    const Type type = register_type(dtype, lanes);
    const std::string result = this->type(type);
    const std::string memory = memory_type(dtype);
    const auto name = fmt::format("lm_load_{}x{}", tensor::dtype_name(dtype), lanes);
    return function({result, name, fmt::format("const {}* p", memory)}, [&]() -> std::string {
        if (lanes == 1) return fmt::format("return {};", from_memory(dtype, "p[0]"));
        const bool halves = dtype == DType::F16;
        if (halves && lanes == 16 && target_ == FastTarget::Avx512) {
            return fmt::format("return ({})_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));",
                               result);
        }
        if (halves && lanes == 8 && target_ == FastTarget::Avx2) {
            return fmt::format("return ({})_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));",
                               result);
        }
        if (dtype == DType::U64) {
            return fmt::format("return *(const {}_any*)p;", vector_type("int64_t", lanes));
        }
        if (plain(dtype)) {
            return fmt::format("return *(const {}_any*)p;", vector_type(c_type(dtype), lanes));
        }
        if (dtype == DType::BF16) {
            return fmt::format("return ({})(__builtin_convertvector(*(const {}_any*)p, {}) << 16);",
                               result,
                               vector_type("uint16_t", lanes),
                               vector_type("uint32_t", lanes));
        }
        if (tensor::is_integer(dtype)) {
            return fmt::format("return __builtin_convertvector(*(const {}_any*)p, {});",
                               vector_type(c_type(dtype), lanes),
                               result);
        }
        return by_lanes(type, [&](int i) { return from_memory(dtype, fmt::format("p[{}]", i)); });
    });
}

std::string VectorSupport::load_masked(DType dtype, int lanes) {
    const Type type = register_type(dtype, lanes);
    const Type bools{Kind::Bool, static_cast<uint16_t>(lanes)};
    const std::string result = this->type(type);
    const auto name = fmt::format("lm_load_masked_{}x{}", tensor::dtype_name(dtype), lanes);
    const Signature signature{
        result, name, fmt::format("const {}* p, {} m", memory_type(dtype), this->type(bools))};
    return function(signature, [&]() -> std::string {
        if (dtype == DType::F32 && lanes == 16 && target_ == FastTarget::Avx512) {
            return fmt::format("return ({})_mm512_maskz_loadu_ps(m, p);", result);
        }
        if (dtype == DType::F32 && lanes == 8 && target_ == FastTarget::Avx2) {
            return fmt::format("return ({})_mm256_maskload_ps((const float*)p, (__m256i)m);",
                               result);
        }
        return by_lanes(type, [&](int i) {
            return fmt::format(
                "{} ? {} : 0", lane_of("m", bools, i), from_memory(dtype, fmt::format("p[{}]", i)));
        });
    });
}

std::string VectorSupport::store(DType dtype, int lanes) {
    const Type type = register_type(dtype, lanes);
    const auto name = fmt::format("lm_store_{}x{}", tensor::dtype_name(dtype), lanes);
    const Signature signature{
        "void", name, fmt::format("{}* p, {} v", memory_type(dtype), this->type(type))};
    return function(signature, [&]() -> std::string {
        if (lanes == 1) return fmt::format("p[0] = {};", to_memory(dtype, "v"));
        if (dtype == DType::F16 && lanes == 16 && target_ == FastTarget::Avx512) {
            return "_mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph((__m512)v, "
                   "_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));";
        }
        if (dtype == DType::F16 && lanes == 8 && target_ == FastTarget::Avx2) {
            return "_mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph((__m256)v, "
                   "_MM_FROUND_TO_NEAREST_INT));";
        }
        if (dtype == DType::U64) {
            return fmt::format("*({}_any*)p = v;", vector_type("int64_t", lanes));
        }
        if (plain(dtype)) {
            return fmt::format("*({}_any*)p = v;", vector_type(c_type(dtype), lanes));
        }
        if (tensor::is_integer(dtype)) {
            const std::string narrow = vector_type(c_type(dtype), lanes);
            return fmt::format("*({0}_any*)p = __builtin_convertvector(v, {0});", narrow);
        }
        std::string body;
        for (int i = 0; i < lanes; ++i) {
            body += fmt::format(
                "{}p[{}] = {};", i > 0 ? "\n    " : "", i, to_memory(dtype, lane_of("v", type, i)));
        }
        return body;
    });
}

std::string VectorSupport::store_masked(DType dtype, int lanes) {
    const Type type = register_type(dtype, lanes);
    const Type bools{Kind::Bool, static_cast<uint16_t>(lanes)};
    const auto name = fmt::format("lm_store_masked_{}x{}", tensor::dtype_name(dtype), lanes);
    const Signature signature{
        "void",
        name,
        fmt::format("{}* p, {} v, {} m", memory_type(dtype), this->type(type), this->type(bools))};
    return function(signature, [&]() -> std::string {
        if (dtype == DType::F32 && lanes == 16 && target_ == FastTarget::Avx512) {
            return "_mm512_mask_storeu_ps(p, m, (__m512)v);";
        }
        if (dtype == DType::F32 && lanes == 8 && target_ == FastTarget::Avx2) {
            return "_mm256_maskstore_ps((float*)p, (__m256i)m, (__m256)v);";
        }
        std::string body;
        for (int i = 0; i < lanes; ++i) {
            body += fmt::format("{}if ({}) p[{}] = {};",
                                i > 0 ? "\n    " : "",
                                lane_of("m", bools, i),
                                i,
                                to_memory(dtype, lane_of("v", type, i)));
        }
        return body;
    });
}

std::string VectorSupport::load_strided(DType dtype, int lanes, int64_t stride, bool masked) {
    const Type type = register_type(dtype, lanes);
    const Type bools{Kind::Bool, static_cast<uint16_t>(lanes)};
    const auto name = fmt::format("lm_load_{}x{}_by_{}{}",
                                  tensor::dtype_name(dtype),
                                  lanes,
                                  stride_text(stride),
                                  masked ? "_masked" : "");
    const Signature signature{this->type(type),
                              name,
                              fmt::format("const {}* p{}",
                                          memory_type(dtype),
                                          masked ? fmt::format(", {} m", this->type(bools)) : "")};
    return function(signature, [&]() -> std::string {
        // Whole vectors from the first to the last wanted element, none after it; then the lanes.
        if (!masked && plain(dtype) && stride == 2) {
            const std::string vector = this->type(type);
            const int begin = (lanes - 1) * 2 + 1 - lanes;
            std::vector<int> from;
            for (int i = 0; i < lanes; ++i) {
                from.push_back(2 * i < lanes ? 2 * i : lanes + 2 * i - begin);
            }
            return fmt::format("return {}(*(const {}_any*)p, *(const {}_any*)(p + {}));",
                               shuffle(type, from, true),
                               vector,
                               vector,
                               begin);
        }
        return by_lanes(type, [&](int i) {
            const std::string at = fmt::format("p[{}]", i * stride);
            const std::string value = from_memory(dtype, at);
            if (!masked) return value;
            return fmt::format("{} ? {} : 0", lane_of("m", bools, i), value);
        });
    });
}

std::string VectorSupport::store_strided(DType dtype, int lanes, int64_t stride, bool masked) {
    const Type type = register_type(dtype, lanes);
    const Type bools{Kind::Bool, static_cast<uint16_t>(lanes)};
    const auto name = fmt::format("lm_store_{}x{}_by_{}{}",
                                  tensor::dtype_name(dtype),
                                  lanes,
                                  stride_text(stride),
                                  masked ? "_masked" : "");
    const Signature signature{"void",
                              name,
                              fmt::format("{}* p, {} v{}",
                                          memory_type(dtype),
                                          this->type(type),
                                          masked ? fmt::format(", {} m", this->type(bools)) : "")};
    return function(signature, [&] {
        std::string body;
        for (int i = 0; i < lanes; ++i) {
            body += i > 0 ? "\n    " : "";
            if (masked) body += fmt::format("if ({}) ", lane_of("m", bools, i));
            body += fmt::format("p[{}] = {};", i * stride, to_memory(dtype, lane_of("v", type, i)));
        }
        return body;
    });
}

std::string VectorSupport::gather(DType dtype, int lanes, bool masked) {
    const Type type = register_type(dtype, lanes);
    const Type bools{Kind::Bool, static_cast<uint16_t>(lanes)};
    const Type ints{Kind::Int, static_cast<uint16_t>(lanes)};
    const auto name =
        fmt::format("lm_gather_{}x{}{}", tensor::dtype_name(dtype), lanes, masked ? "_masked" : "");
    const Signature signature{this->type(type),
                              name,
                              fmt::format("const {}* p, {} at{}",
                                          memory_type(dtype),
                                          this->type(ints),
                                          masked ? fmt::format(", {} m", this->type(bools)) : "")};
    return function(signature, [&]() -> std::string {
        return by_lanes(type, [&](int i) {
            const std::string value = from_memory(dtype, fmt::format("p[at[{}]]", i));
            if (!masked) return value;
            return fmt::format("{} ? {} : 0", lane_of("m", bools, i), value);
        });
    });
}

std::string VectorSupport::scatter(DType dtype, int lanes, bool masked) {
    const Type type = register_type(dtype, lanes);
    const Type bools{Kind::Bool, static_cast<uint16_t>(lanes)};
    const Type ints{Kind::Int, static_cast<uint16_t>(lanes)};
    const auto name = fmt::format(
        "lm_scatter_{}x{}{}", tensor::dtype_name(dtype), lanes, masked ? "_masked" : "");
    const Signature signature{"void",
                              name,
                              fmt::format("{}* p, {} v, {} at{}",
                                          memory_type(dtype),
                                          this->type(type),
                                          this->type(ints),
                                          masked ? fmt::format(", {} m", this->type(bools)) : "")};
    return function(signature, [&] {
        std::string body;
        for (int i = 0; i < lanes; ++i) {
            body += i > 0 ? "\n    " : "";
            if (masked) body += fmt::format("if ({}) ", lane_of("m", bools, i));
            body += fmt::format("p[at[{}]] = {};", i, to_memory(dtype, lane_of("v", type, i)));
        }
        return body;
    });
}

// ---- Whole vectors ------------------------------------------------------------------------------

std::string VectorSupport::set(Type type) {
    const Type scalar{type.kind};
    const std::string parameter = fmt::format("{} s", this->type(scalar));
    return function({this->type(type), "lm_set_" + type_suffix(type), parameter}, [&] {
        if (type.kind == Kind::Bool && masks_are_bits()) {
            const uint64_t all = type.lanes >= 64 ? UINT64_MAX : (uint64_t{1} << type.lanes) - 1;
            return fmt::format("return s ? ({}){:#x}u : 0;", this->type(type), all);
        }
        return by_lanes(type, [](int) { return std::string("s"); });
    });
}

std::string VectorSupport::ramp(int lanes) {
    const Type type{Kind::Int, static_cast<uint16_t>(lanes)};
    return function({this->type(type), fmt::format("lm_ramp_x{}", lanes), "void"},
                    [&] { return by_lanes(type, [](int i) { return fmt::format("{}", i); }); });
}

std::string VectorSupport::first_lanes(int lanes) {
    const Type type{Kind::Bool, static_cast<uint16_t>(lanes)};
    const Signature signature{
        this->type(type), fmt::format("lm_first_lanes_x{}", lanes), "int64_t n"};
    return function(signature, [&]() -> std::string {
        if (masks_are_bits()) {
            const uint64_t all = lanes >= 64 ? UINT64_MAX : (uint64_t{1} << lanes) - 1;
            return fmt::format("return n >= {} ? ({}){:#x}u : n <= 0 ? 0 : ({})((1ull << n) - 1);",
                               lanes,
                               this->type(type),
                               all,
                               this->type(type));
        }
        std::vector<std::string> numbers;
        for (int i = 0; i < lanes; ++i) numbers.push_back(fmt::format("{}", i));
        const std::string vector = this->type(type);
        return fmt::format(
            "const int32_t k = n > {1} ? {1} : n < 0 ? 0 : (int32_t)n;\n"
            "    return ({0}){{{2}}} < (({0}){{}} + k);",
            vector,
            lanes,
            fmt::join(numbers, ", "));
    });
}

std::string VectorSupport::shuffle(Type type, const std::vector<int>& from, bool two) {
    const std::string vector = this->type(type);
    std::string name = fmt::format("lm_shuffle{}_{}", two ? "2" : "", type_suffix(type));
    for (const int lane : from) name += fmt::format("_{}", lane);
    std::vector<std::string> lanes;
    for (const int lane : from) lanes.push_back(fmt::format("{}", lane));
    const Signature signature{
        vector, name, two ? fmt::format("{0} a, {0} b", vector) : fmt::format("{} a", vector)};
    return function(signature, [&] {
        return fmt::format(
            "return __builtin_shufflevector(a, {}, {});", two ? "b" : "a", fmt::join(lanes, ", "));
    });
}

std::string VectorSupport::halves(Op op, Type type, int64_t size) {
    const int lanes = type.lanes;
    const int width = static_cast<int>(size);
    std::vector<int> from;
    for (int i = 0; i < lanes; ++i) {
        const int group = i / (2 * width) * 2 * width;
        const int half = op == Op::SecondHalves ? width : 0;
        const int vector = i % (2 * width) < width ? 0 : lanes;
        from.push_back(vector + group + half + i % width);
    }
    LEMMA_CHECK(type.kind != Kind::Bool);
    return shuffle(type, from, true);
}

std::string VectorSupport::select(Type type) {
    const Type bools{Kind::Bool, type.lanes};
    const std::string vector = this->type(type);
    const Signature signature{vector,
                              "lm_select_" + type_suffix(type),
                              fmt::format("{0} m, {1} a, {1} b", this->type(bools), vector)};
    return function(signature, [&]() -> std::string {
        if (type.lanes == 1) return "return m ? a : b;";
        if (type.kind == Kind::Bool) return fmt::format("return ({})((m & a) | (~m & b));", vector);
        if (masks_are_bits()) {
            if (type == Type{Kind::F32, 16}) {
                return fmt::format("return ({})_mm512_mask_blend_ps(m, (__m512)b, (__m512)a);",
                                   vector);
            }
            return by_lanes(type, [&](int i) {
                return fmt::format("{} ? a[{}] : b[{}]", lane_of("m", bools, i), i, i);
            });
        }
        if (type == Type{Kind::F32, 8} && target_ == FastTarget::Avx2) {
            return fmt::format("return ({})_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);",
                               vector);
        }
        const bool wide = type.kind != Kind::F32;
        const std::string ints = vector_type(wide ? "int64_t" : "int32_t", type.lanes);
        const std::string mask =
            wide ? fmt::format("const {0} w = __builtin_convertvector(m, {0});\n    ", ints)
                 : fmt::format("const {0} w = m;\n    ", ints);
        return mask + fmt::format("return ({0})((({1})a & w) | (({1})b & ~w));", vector, ints);
    });
}

std::string VectorSupport::compare(Op op, Type from) {
    const char* const sign = op == Op::Less        ? "<"
                             : op == Op::LessEqual ? "<="
                             : op == Op::Equal     ? "=="
                                                   : "!=";
    const char* const name = op == Op::Less        ? "less"
                             : op == Op::LessEqual ? "less_equal"
                             : op == Op::Equal     ? "equal"
                                                   : "not_equal";
    const Type bools{Kind::Bool, from.lanes};
    const std::string vector = type(from);
    const Signature signature{type(bools),
                              fmt::format("lm_{}_{}", name, type_suffix(from)),
                              fmt::format("{0} a, {0} b", vector)};
    return function(signature, [&]() -> std::string {
        if (from.lanes == 1) return fmt::format("return a {} b;", sign);
        const std::string result = type(bools);
        if (from.kind == Kind::Bool) {
            const char* const logic = op == Op::Less        ? "~a & b"
                                      : op == Op::LessEqual ? "~a | b"
                                      : op == Op::Equal     ? "~(a ^ b)"
                                                            : "a ^ b";
            return fmt::format("return ({})({});", result, logic);
        }
        if (masks_are_bits() && from == Type{Kind::F32, 16}) {
            const char* const code = op == Op::Less        ? "_CMP_LT_OQ"
                                     : op == Op::LessEqual ? "_CMP_LE_OQ"
                                     : op == Op::Equal     ? "_CMP_EQ_OQ"
                                                           : "_CMP_NEQ_UQ";
            return fmt::format("return _mm512_cmp_ps_mask((__m512)a, (__m512)b, {});", code);
        }
        if (masks_are_bits()) {
            return by_lanes(bools,
                            [&](int i) { return fmt::format("a[{0}] {1} b[{0}]", i, sign); });
        }
        if (from.kind == Kind::F32) return fmt::format("return a {} b;", sign);
        return fmt::format("return __builtin_convertvector(a {} b, {});", sign, result);
    });
}

std::string VectorSupport::logic(Op op, int lanes) {
    const Type type{Kind::Bool, static_cast<uint16_t>(lanes)};
    const char* const name = op == Op::And   ? "and"
                             : op == Op::Or  ? "or"
                             : op == Op::Xor ? "xor"
                                             : "not";
    const std::string vector = this->type(type);
    const bool one = op == Op::Not;
    const Signature signature{vector,
                              fmt::format("lm_{}_{}", name, type_suffix(type)),
                              one ? vector + " a" : fmt::format("{0} a, {0} b", vector)};
    return function(signature, [&]() -> std::string {
        if (one && lanes == 1) return "return !a;";
        if (one && masks_are_bits() && (lanes & (lanes - 1)) != 0) {
            return fmt::format("return ({})(~a & {:#x}u);", vector, (uint64_t{1} << lanes) - 1);
        }
        if (one) return fmt::format("return ({})~a;", vector);
        const char* const sign = op == Op::And ? "&" : op == Op::Or ? "|" : "^";
        return fmt::format("return ({})(a {} b);", vector, sign);
    });
}

// ---- Conversions --------------------------------------------------------------------------------

std::string VectorSupport::convert(Type from, Kind to) {
    const Type result{to, from.lanes};
    const Signature signature{type(result),
                              fmt::format("lm_{}_of_{}", type_suffix(result), type_suffix(from)),
                              type(from) + " a"};
    return function(signature, [&]() -> std::string {
        const auto each = [&](const std::string& call) {
            return by_lanes(
                result, [&](int i) { return fmt::format("{}({})", call, lane_of("a", from, i)); });
        };
        if (to == Kind::Bool) {
            if (from.lanes == 1) return "return a != 0;";
            return fmt::format("return {}(a, ({}){{0}});", compare(Op::NotEqual, from), type(from));
        }
        if (to == Kind::Int && from.real()) {
            // Towards zero; saturates, and NaN is 0.
            const std::string one = function({"int64_t", "lm_saturate", "double a"}, [] {
                return std::string(
                    "if (a != a) return 0;\n"
                    "    if (a >= 0x1p63) return INT64_MAX;\n"
                    "    if (a < -0x1p63) return INT64_MIN;\n"
                    "    return (int64_t)a;");
            });
            return from.lanes == 1 ? fmt::format("return {}((double)a);", one) : each(one);
        }
        const auto cast = fmt::format("({})", element_of(to));
        if (from.lanes == 1) return fmt::format("return {}a;", cast);
        if (from.kind == Kind::Bool && masks_are_bits()) return each(cast);
        if (from.kind == Kind::Bool) {
            return fmt::format("return __builtin_convertvector(-a, {});", type(result));
        }
        return fmt::format("return __builtin_convertvector(a, {});", type(result));
    });
}

std::string VectorSupport::library(std::string_view name, Type type, size_t arguments) {
    const std::string function_name = fmt::format("{}{}", name, type.kind == Kind::F32 ? "f" : "");
    if (type.lanes == 1) return function_name;
    const std::string vector = this->type(type);
    const Signature signature{vector,
                              fmt::format("lm_{}_{}", name, type_suffix(type)),
                              arguments == 1 ? vector + " a" : fmt::format("{0} a, {0} b", vector)};
    return function(signature, [&] {
        return by_lanes(type, [&](int i) {
            return arguments == 1 ? fmt::format("{}(a[{}])", function_name, i)
                                  : fmt::format("{0}(a[{1}], b[{1}])", function_name, i);
        });
    });
}

}  // namespace lemma::emit
