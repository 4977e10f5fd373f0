// SPDX-License-Identifier: Apache-2.0
#include "emit/certified/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace lemma::emit {

using loop::Kind;
using loop::Op;
using tensor::DType;

namespace {

// A function: its types, the statements before its value, and its value as a C expression. A row
// may use rows before it.
struct Row {
    std::string name;
    std::string result;
    std::vector<std::string> parameters;  // types; the names are a, b
    std::string value;
    std::string remark = {};
    std::string before = {};
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
    two("min", "(b < a) ? b : ((isnan(b) != 0) ? b : a)");
    two("max", "(a < b) ? b : ((isnan(b) != 0) ? b : a)");
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
                           : "(isnan(a) != 0) ? 0 : ((a >= 0x1p+63) ? INT64_MAX : ((a < "
                             "-0x1p+63) ? (-INT64_MAX - 1) : (int64_t)a))",
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
                    "(a <= (uint64_t)INT64_MAX) ? (int64_t)a : (-(int64_t)below - 1)",
                    "The number with these 64 bits in two's complement.",
                    "    const uint64_t below = UINT64_MAX - a;\n"});
    rows.push_back({"sx_powi",
                    "int64_t",
                    {"int64_t", "int64_t"},
                    "sx_wrap(result)",
                    "A negative power is 0.",
                    "    uint64_t base = (uint64_t)a;\n"
                    "    uint64_t left = (b < 0) ? 0U : (uint64_t)b;\n"
                    "    uint64_t result = (b < 0) ? 0U : 1U;\n"
                    "    while (left > 0U) {\n"
                    "        if ((left % 2U) != 0U) {\n"
                    "            result = result * base;\n"
                    "        }\n"
                    "        base = base * base;\n"
                    "        left = left / 2U;\n"
                    "    }\n"});
    rows.push_back({"sx_negi", "int64_t", {"int64_t"}, "sx_wrap(0U - (uint64_t)a)"});
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
    rows.push_back({"sx_absi", "int64_t", {"int64_t"}, "(a < 0) ? sx_negi(a) : a"});
}

void add_elements(std::vector<Row>& rows) {
    rows.push_back({"sx_float", "float", {"double"}, "(float)a", "To nearest, ties to even."});
    struct Narrow {
        std::string_view name, most, span;
    };
    for (const auto& [name, most, span] : {Narrow{"8", "0x7F", "0x100"},
                                           Narrow{"16", "0x7FFF", "0x10000"},
                                           Narrow{"32", "0x7FFFFFFF", "0x100000000LL"}}) {
        rows.push_back({fmt::format("sx_i{}", name),
                        fmt::format("int{}_t", name),
                        {"int64_t"},
                        fmt::format("(int{}_t)value", name),
                        {},
                        fmt::format("    const uint{0}_t bits = (uint{0}_t)a;\n"
                                    "    int64_t value = (int64_t)bits;\n"
                                    "    if (value > {1}) {{\n"
                                    "        value = value - {2};\n"
                                    "    }}\n",
                                    name,
                                    most,
                                    span)});
    }
    for (const std::string_view name : {"u8", "u16", "u32", "u64"}) {
        const std::string type = fmt::format("uint{}_t", name.substr(1));
        rows.push_back({fmt::format("sx_{}", name), type, {"int64_t"}, fmt::format("({})a", type)});
    }
    rows.push_back({"sx_from_u64", "int64_t", {"uint64_t"}, "sx_wrap(a)"});
}

// Rounds to a real of 16 bits. `bits` is the length of its fraction and `unit` 2 to this power;
// `least` is the exponent of its smallest normal number.
constexpr std::string_view kRound16 =
    R"(static uint16_t sx_round16(double a, int bits, int least, uint32_t unit, uint32_t infinity)
{
    double size = fabs(a);
    int exponent = 0;
    uint32_t code = infinity;
    if (isnan(a) != 0) {
        code = infinity + (unit / 2U);
    } else if (size <= 0x1p+1000) {
        (void)frexp(size, &exponent);
        exponent = exponent - 1;
        if (exponent < least) {
            exponent = least;
        }
        size = rint(ldexp(size, bits - exponent));
        if (size >= (2.0 * (double)unit)) {
            size = size / 2.0;
            exponent = exponent + 1;
        }
        code = (uint32_t)size;
        if (code >= unit) {
            const int above = exponent - least;
            code = code + ((uint32_t)above * unit);
        }
        if (code > infinity) {
            code = infinity;
        }
    } else {
        /* too large: infinity */
    }
    if (signbit(a) != 0) {
        code = code + 0x8000U;
    }
    return (uint16_t)code;
}
)";

// The 16-bit reals.
void add_halves(std::vector<Row>& rows) {
    struct Half {
        std::string_view name, bits, least, unit, exponents, infinity;
        int scale;
    };
    for (const Half& half : {Half{"f16", "10", "-14", "0x400U", "31U", "0x7C00U", 24},
                             Half{"bf16", "7", "-126", "0x80U", "255U", "0x7F80U", 133}}) {
        rows.push_back({fmt::format("sx_from_{}", half.name),
                        "float",
                        {"uint16_t"},
                        "((a & 0x8000U) != 0U) ? -size : size",
                        {},
                        fmt::format("    const uint32_t exponent = ((uint32_t)a >> {0}U) & {1};\n"
                                    "    const uint32_t fraction = (uint32_t)a & ({2} - 1U);\n"
                                    "    const uint32_t whole = fraction + {2};\n"
                                    "    float size = (fraction != 0U) ? NAN : INFINITY;\n"
                                    "    if (exponent == 0U) {{\n"
                                    "        size = ldexpf((float)fraction, -{3});\n"
                                    "    }} else if (exponent < {1}) {{\n"
                                    "        size = ldexpf((float)whole, (int)exponent - {4});\n"
                                    "    }} else {{\n"
                                    "        /* infinity or NaN */\n"
                                    "    }}\n",
                                    half.bits,
                                    half.exponents,
                                    half.unit,
                                    half.scale,
                                    half.scale + 1)});
        rows.push_back({fmt::format("sx_{}", half.name),
                        "uint16_t",
                        {"double"},
                        fmt::format("sx_round16(a, {}, {}, {}, {})",
                                    half.bits,
                                    half.least,
                                    half.unit,
                                    half.infinity)});
    }
}

const std::vector<Row>& rows() {
    static const std::vector<Row> all = [] {
        std::vector<Row> rows;
        rows.push_back({"sx_inf", "float", {}, "INFINITY"});
        rows.push_back({"sx_nan", "float", {}, "NAN"});
        add_integers(rows);
        add_reals(rows, false);
        add_reals(rows, true);
        add_elements(rows);
        add_halves(rows);
        return rows;
    }();
    return all;
}

std::string_view logic_type(std::string_view type) {
    return type == "double" || type == "float" ? "real" : "integer";
}

std::string prototype(const Row& row) {
    std::string parameters = row.parameters.empty() ? "void" : "";
    for (size_t i = 0; i < row.parameters.size(); ++i) {
        parameters += fmt::format("{}{} {}", i ? ", " : "", row.parameters[i], i ? "b" : "a");
    }
    return fmt::format("{} {}({})", row.result, row.name, parameters);
}

void put_declaration(const Row& row, std::string& logic, std::string& text) {
    std::string parameters, arguments;
    for (size_t i = 0; i < row.parameters.size(); ++i) {
        const char* const name = i ? "b" : "a";
        const char* const comma = i ? ", " : "(";
        parameters += fmt::format("{}{} {}", comma, logic_type(row.parameters[i]), name);
        arguments += fmt::format("{}{}", comma, name);
    }
    const char* const close = row.parameters.empty() ? "" : ")";
    logic += fmt::format(
        "  @ logic {} {}_of{}{};\n", logic_type(row.result), row.name, parameters, close);
    if (!row.remark.empty()) text += fmt::format("/* {} */\n", row.remark);
    text += fmt::format(
        "/*@ assigns \\nothing;\n  @ ensures \\result == {}_of{}{};\n  @ exits \\false;\n  "
        "@*/\n{};\n",
        row.name,
        arguments,
        close,
        prototype(row));
}

// The names of the text that begin with `sx_`, without the ending of logic functions.
std::set<std::string> names_in(std::string_view text) {
    const auto is_letter = [](char c) {
        return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
               (c >= 'A' && c <= 'Z');
    };
    std::set<std::string> names;
    for (size_t at = text.find("sx_"); at != text.npos; at = text.find("sx_", at + 1)) {
        if (at > 0 && is_letter(text[at - 1])) continue;
        const auto end =
            std::find_if_not(text.begin() + static_cast<ptrdiff_t>(at), text.end(), is_letter);
        std::string name(text.begin() + static_cast<ptrdiff_t>(at), end);
        if (name.ends_with("_of")) name.resize(name.size() - 3);
        names.insert(std::move(name));
    }
    return names;
}

// Those that the bodies of the functions call, and so on.
std::set<std::string> with_callees(std::set<std::string> used) {
    for (auto row = rows().rbegin(); row != rows().rend(); ++row) {
        if (!used.contains(row->name)) continue;
        used.merge(names_in(row->before + row->value));
    }
    return used;
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

std::set<std::string> used_arithmetic(std::string_view text) {
    std::set<std::string> used;
    for (const std::string& name : names_in(text)) {
        if (std::ranges::find(rows(), name, &Row::name) != rows().end()) used.insert(name);
    }
    return used;
}

std::string arithmetic_header(const std::set<std::string>& used) {
    std::string logic, text;
    for (const Row& row : rows()) {
        if (used.contains(row.name)) put_declaration(row, logic, text);
    }
    if (!logic.empty()) logic = fmt::format("/*@ axiomatic sx {{\n{}  @ }}\n  @*/\n", logic);
    return fmt::format(
        "/* Arithmetic by name. A contract says which operations are done on what, and in which\n"
        "   order; it holds for every meaning that they may have, that of IEEE 754 among them. */\n"
        "#ifndef SX_H\n#define SX_H\n\n#include <stdint.h>\n\n{}{}\n#endif\n",
        logic,
        text);
}

std::string arithmetic_source(const std::set<std::string>& used) {
    std::string text =
        "/* Compile with -std=c99 -ffp-contract=off. */\n#include \"sx.h\"\n\n"
        "#include <math.h>\n";
    const std::set<std::string> needed = with_callees(used);
    if (needed.contains("sx_round16")) text += fmt::format("\n{}", kRound16);
    for (const Row& row : rows()) {
        if (!needed.contains(row.name)) continue;
        text += fmt::format("\n{}{}\n{{\n{}    return {};\n}}\n",
                            used.contains(row.name) ? "" : "static ",
                            prototype(row),
                            row.before,
                            row.value);
    }
    return text;
}

}  // namespace lemma::emit
