#include "emit/certified/arithmetic.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace lemma::emit {

using loop::Kind;
using loop::Op;
using tensor::DType;

namespace {

// A function: its types and its C expression.
struct Row {
    std::string name;
    std::string result;
    std::vector<std::string> parameters;  // types; the names are a, b
    std::string value;
    std::string remark = {};
};

struct Named {
    Op op;
    std::string_view name;
};
constexpr Named kNames[] = {{Op::Add, "add"},     {Op::Sub, "sub"},     {Op::Mul, "mul"},
                            {Op::Div, "div"},     {Op::Mod, "mod"},     {Op::Pow, "pow"},
                            {Op::Min, "min"},     {Op::Max, "max"},     {Op::Neg, "neg"},
                            {Op::Abs, "abs"},     {Op::Sqrt, "sqrt"},   {Op::Floor, "floor"},
                            {Op::Ceil, "ceil"},   {Op::Trunc, "trunc"}, {Op::Rint, "rint"},
                            {Op::Round, "round"}, {Op::Less, "lt"},     {Op::LessEqual, "le"},
                            {Op::Equal, "eq"},    {Op::NotEqual, "ne"}, {Op::CopySign, "copysign"}};

constexpr std::string_view kLibrary[] = {"exp",
                                         "log",
                                         "sin",
                                         "cos",
                                         "tan",
                                         "asin",
                                         "acos",
                                         "atan",
                                         "sinh",
                                         "cosh",
                                         "tanh",
                                         "asinh",
                                         "acosh",
                                         "atanh",
                                         "erf"};

std::string suffix(Kind kind) { return kind == Kind::F32 ? "f" : kind == Kind::Int ? "i" : ""; }

void add_reals(std::vector<Row>& rows, bool single) {
    const std::string t = single ? "float" : "double";
    const std::string f = single ? "f" : "";
    const auto one = [&](std::string_view name, std::string value) {
        rows.push_back({fmt::format("sx_{}{}", name, f), t, {t}, std::move(value)});
    };
    const auto two = [&](std::string_view name, std::string value) {
        rows.push_back({fmt::format("sx_{}{}", name, f), t, {t, t}, std::move(value)});
    };
    const auto compare = [&](std::string_view name, std::string_view sign) {
        rows.push_back({fmt::format("sx_{}{}", name, f),
                        "int32_t",
                        {t, t},
                        fmt::format("(a {} b) ? 1 : 0", sign)});
    };
    two("add", "a + b");
    two("sub", "a - b");
    two("mul", "a * b");
    two("div", "a / b");
    two("min", "((b < a) || (b != b)) ? b : a");
    two("max", "((a < b) || (b != b)) ? b : a");
    two("copysign", fmt::format("copysign{}(a, b)", f));
    one("neg", "-a");
    one("abs", fmt::format("fabs{}(a)", f));
    one("sqrt", fmt::format("sqrt{}(a)", f));
    one("floor", fmt::format("floor{}(a)", f));
    one("ceil", fmt::format("ceil{}(a)", f));
    one("trunc", fmt::format("trunc{}(a)", f));
    one("rint", fmt::format("rint{}(a)", f));
    one("round", fmt::format("round{}(a)", f));
    compare("lt", "<");
    compare("le", "<=");
    compare("eq", "==");
    compare("ne", "!=");
    if (single) {
        two("pow", "(float)pow((double)a, (double)b)");
        for (const auto name : kLibrary) one(name, fmt::format("(float){}((double)a)", name));
    } else {
        two("pow", "pow(a, b)");
        for (const auto name : kLibrary) one(name, fmt::format("{}(a)", name));
    }
    const std::string result = fmt::format("sx_from_int{}", f);
    rows.push_back({result, t, {"int64_t"}, fmt::format("({})a", t)});
    rows.push_back({fmt::format("sx_to_int{}", f),
                    "int64_t",
                    {t},
                    single ? "sx_to_int((double)a)"
                           : "(a != a) ? 0 : ((a >= 0x1p+63) ? INT64_MAX : ((a < -0x1p+63) ? "
                             "INT64_MIN : (int64_t)a))",
                    "Towards zero; numbers beyond 64 bits become the nearest, NaN becomes 0."});
}

void add_integers(std::vector<Row>& rows) {
    const auto two = [&](std::string_view name, std::string value, std::string remark = {}) {
        rows.push_back({fmt::format("sx_{}i", name),
                        "int64_t",
                        {"int64_t", "int64_t"},
                        std::move(value),
                        std::move(remark)});
    };
    rows.push_back({"sx_wrap",
                    "int64_t",
                    {"uint64_t"},
                    "(a <= (uint64_t)INT64_MAX) ? (int64_t)a : (-(int64_t)(UINT64_MAX - a) - 1)",
                    "The number with these 64 bits in two's complement."});
    two("add", "sx_wrap((uint64_t)a + (uint64_t)b)", "Integers wrap around.");
    two("sub", "sx_wrap((uint64_t)a - (uint64_t)b)");
    two("mul", "sx_wrap((uint64_t)a * (uint64_t)b)");
    two("div",
        "(b == 0) ? 0 : ((b == -1) ? sx_negi(a) : ((a / b) - ((((a % b) != 0) && ((a < 0) != "
        "(b < 0))) ? 1 : 0)))",
        "Rounds down; by zero it is 0.");
    two("mod",
        "((b == 0) || (b == -1)) ? 0 : (((((a % b) != 0) && ((a < 0) != (b < 0))) ? ((a % b) + b) "
        ": (a % b)))",
        "Has the sign of b.");
    two("min", "(b < a) ? b : a");
    two("max", "(a < b) ? b : a");
    rows.push_back({"sx_negi", "int64_t", {"int64_t"}, "sx_wrap(0U - (uint64_t)a)"});
    rows.push_back({"sx_absi", "int64_t", {"int64_t"}, "(a < 0) ? sx_negi(a) : a"});
}

void add_elements(std::vector<Row>& rows) {
    rows.push_back({"sx_float", "float", {"double"}, "(float)a", "To nearest, ties to even."});
    struct Narrow {
        std::string_view name, type, bits;
        std::string_view most, span;
    };
    for (const auto& [name, type, bits, most, span] :
         {Narrow{"i8", "int8_t", "uint8_t", "INT8_MAX", "0x100"},
          Narrow{"i16", "int16_t", "uint16_t", "INT16_MAX", "0x10000"},
          Narrow{"i32", "int32_t", "uint32_t", "INT32_MAX", "0x100000000LL"}}) {
        rows.push_back({fmt::format("sx_{}", name),
                        std::string(type),
                        {"int64_t"},
                        fmt::format("({0})(((int64_t)({1})a > {2}) ? ((int64_t)({1})a - {3}) : "
                                    "(int64_t)({1})a)",
                                    type,
                                    bits,
                                    most,
                                    span)});
    }
    for (const std::string_view name : {"u8", "u16", "u32", "u64"}) {
        const std::string type = fmt::format("uint{}_t", name.substr(1));
        rows.push_back({fmt::format("sx_{}", name), type, {"int64_t"}, fmt::format("({})a", type)});
    }
    rows.push_back({"sx_from_u64", "int64_t", {"uint64_t"}, "sx_wrap(a)"});
}

const std::vector<Row>& rows() {
    static const std::vector<Row> all = [] {
        std::vector<Row> rows;
        add_integers(rows);
        add_reals(rows, false);
        add_reals(rows, true);
        add_elements(rows);
        return rows;
    }();
    return all;
}

// These need more than one expression.
constexpr std::string_view kHalves = R"(int64_t sx_powi(int64_t a, int64_t b)
{
    uint64_t base = (uint64_t)a;
    uint64_t result = (b < 0) ? 0U : 1U;
    for (uint64_t left = (b < 0) ? 0U : (uint64_t)b; left > 0U; left /= 2U) {
        if ((left % 2U) != 0U) {
            result *= base;
        }
        base *= base;
    }
    return sx_wrap(result);
}

float sx_from_f16(uint16_t a)
{
    const uint32_t exponent = ((uint32_t)a >> 10) & 31U;
    const uint32_t fraction = (uint32_t)a & 1023U;
    const float sign = ((a & 0x8000U) != 0U) ? -1.0F : 1.0F;
    if (exponent == 31U) {
        return (fraction != 0U) ? NAN : (sign * INFINITY);
    }
    if (exponent == 0U) {
        return sign * ldexpf((float)fraction, -24);
    }
    return sign * ldexpf((float)(fraction + 1024U), (int)exponent - 25);
}

/* A real of 16 bits with so many bits of fraction, and the exponent of its smallest normal number.
   The bits are rounded once, ties to even. */
static uint16_t sx_round16(double a, int bits, int least, uint32_t infinity)
{
    const uint32_t sign = (signbit(a) != 0) ? 0x8000U : 0U;
    double size = fabs(a);
    int exponent = 0;
    if (a != a) {
        return (uint16_t)(sign | infinity | (1UL << (bits - 1)));
    }
    if (size > 0x1p+1000) {
        return (uint16_t)(sign | infinity);
    }
    if (size != 0.0) {
        (void)frexp(size, &exponent);
        exponent -= 1;
    }
    if (exponent < least) {
        exponent = least;
    }
    size = rint(ldexp(size, bits - exponent));
    if (size >= ldexp(1.0, bits + 1)) {
        size = size / 2.0;
        exponent += 1;
    }
    const uint32_t whole = (uint32_t)size;
    uint32_t code = whole;
    if (whole >= (1UL << bits)) {
        code = ((uint32_t)(exponent - least) << bits) + whole;
    }
    if (code > infinity) {
        code = infinity;
    }
    return (uint16_t)(sign | code);
}

uint16_t sx_f16(double a)
{
    return sx_round16(a, 10, -14, 0x7C00U);
}

uint16_t sx_bf16(double a)
{
    return sx_round16(a, 7, -126, 0x7F80U);
}

float sx_from_bf16(uint16_t a)
{
    const uint32_t exponent = ((uint32_t)a >> 7) & 255U;
    const uint32_t fraction = (uint32_t)a & 127U;
    const float sign = ((a & 0x8000U) != 0U) ? -1.0F : 1.0F;
    if (exponent == 255U) {
        return (fraction != 0U) ? NAN : (sign * INFINITY);
    }
    if (exponent == 0U) {
        return sign * ldexpf((float)fraction, -133);
    }
    return sign * ldexpf((float)(fraction + 128U), (int)exponent - 134);
}
)";

struct Declared {
    std::string_view name, result, parameter;
    int parameters = 1;
};
constexpr Declared kHalfFunctions[] = {{"sx_powi", "int64_t", "int64_t", 2},
                                       {"sx_from_f16", "float", "uint16_t"},
                                       {"sx_f16", "uint16_t", "double"},
                                       {"sx_from_bf16", "float", "uint16_t"},
                                       {"sx_bf16", "uint16_t", "double"}};

std::string_view logic_type(std::string_view type) {
    return type == "double" || type == "float" ? "real" : "integer";
}

std::string prototype(const Row& row) {
    std::string parameters;
    for (size_t i = 0; i < row.parameters.size(); ++i) {
        parameters += fmt::format("{}{} {}", i ? ", " : "", row.parameters[i], i ? "b" : "a");
    }
    return fmt::format("{} {}({})", row.result, row.name, parameters);
}

void put_declaration(const Row& row, std::string& logic, std::string& text) {
    std::string parameters, arguments;
    for (size_t i = 0; i < row.parameters.size(); ++i) {
        const char* const name = i ? "b" : "a";
        const char* const comma = i ? ", " : "";
        parameters += fmt::format("{}{} {}", comma, logic_type(row.parameters[i]), name);
        arguments += fmt::format("{}{}", comma, name);
    }
    logic += fmt::format("  @ logic {} {}_of({});\n", logic_type(row.result), row.name, parameters);
    if (!row.remark.empty()) text += fmt::format("/* {} */\n", row.remark);
    text += fmt::format(
        "/*@ assigns \\nothing;\n  @ ensures \\result == {}_of({});\n  @ exits \\false;\n  "
        "@*/\n{};\n",
        row.name,
        arguments,
        prototype(row));
}

std::string make_header() {
    std::string logic, text;
    for (const Row& row : rows()) put_declaration(row, logic, text);
    for (const auto& [name, result, parameter, count] : kHalfFunctions) {
        const std::vector<std::string> types(static_cast<size_t>(count), std::string(parameter));
        put_declaration({std::string(name), std::string(result), types, {}}, logic, text);
    }
    return fmt::format(
        "/* Arithmetic by name. A contract says which operations are done on what, and in which\n"
        "   order; it holds for every meaning that they may have, that of IEEE 754 among them. */\n"
        "#ifndef SX_H\n#define SX_H\n\n#include <stdint.h>\n\n"
        "/*@ axiomatic sx {{\n  @ logic real sx_inf_of;\n  @ logic real sx_nan_of;\n{}  @ }}\n"
        "  @*/\n"
        "/*@ assigns \\nothing;\n  @ ensures \\result == sx_inf_of;\n  @ exits \\false;\n  "
        "@*/\nfloat sx_inf(void);\n"
        "/*@ assigns \\nothing;\n  @ ensures \\result == sx_nan_of;\n  @ exits \\false;\n  "
        "@*/\nfloat sx_nan(void);\n"
        "{}\n#endif\n",
        logic,
        text);
}

std::string make_source() {
    std::string text =
        "/* Compile with -std=c99 -ffp-contract=off. */\n#include \"sx.h\"\n\n"
        "#include <math.h>\n\n"
        "float sx_inf(void)\n{\n    return INFINITY;\n}\n\n"
        "float sx_nan(void)\n{\n    return NAN;\n}\n\n";
    for (const Row& row : rows()) {
        text += fmt::format("{}\n{{\n    return {};\n}}\n\n", prototype(row), row.value);
    }
    return text + std::string(kHalves);
}

}  // namespace

std::string function_of(Op op, Kind kind) {
    for (const Named& named : kNames) {
        if (named.op == op) return fmt::format("sx_{}{}", named.name, suffix(kind));
    }
    return {};
}

std::string library_function(const char* name, Kind kind) {
    return fmt::format("sx_{}{}", name, suffix(kind));
}

std::string storing_function(DType dtype, Kind kind) {
    switch (dtype) {
        case DType::F16:
            return "sx_f16";
        case DType::BF16:
            return "sx_bf16";
        case DType::F32:
            return kind == Kind::F64 ? "sx_float" : "";
        case DType::F64:
        case DType::I64:
        case DType::Bool:
        case DType::Str:
            return "";
        default:
            return fmt::format("sx_{}", tensor::dtype_name(dtype));
    }
}

std::string loading_function(DType dtype) {
    switch (dtype) {
        case DType::F16:
            return "sx_from_f16";
        case DType::BF16:
            return "sx_from_bf16";
        case DType::U64:
            return "sx_from_u64";
        default:
            return "";
    }
}

const std::string& arithmetic_header() {
    static const std::string text = make_header();
    return text;
}

const std::string& arithmetic_source() {
    static const std::string text = make_source();
    return text;
}

}  // namespace lemma::emit
