#include "sonnx/reference/arithmetic.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace lemma::sonnx::reference {

namespace {

struct Operation {
    std::string_view name;
    char sign;
};
constexpr std::array<Operation, 4> kOperations = {
    {{"add", '+'}, {"sub", '-'}, {"mul", '*'}, {"div", '/'}}};

}  // namespace

std::string arithmetic_header() {
    std::string text =
        "/* Arithmetic by name. A contract says which operations are done on what, and in which\n"
        "   order; it holds for every meaning that they may have, that of IEEE 754 among them. */\n"
        "#ifndef SX_H\n#define SX_H\n\n/*@ axiomatic sx {\n";
    for (const Operation& each : kOperations)
        text += fmt::format("  @ logic real sx_{}_of(real a, real b);\n", each.name);
    text += "  @ logic real sx_float_of(real a);\n  @ }\n  @*/\n\n";
    for (const Operation& each : kOperations) {
        text += fmt::format(
            "/*@ assigns \\nothing;\n  @ ensures \\result == sx_{0}_of(a, b);\n  @*/\n"
            "double sx_{0}(double a, double b);\n\n",
            each.name);
    }
    return text +
           "/* To the nearest float, ties to even. */\n"
           "/*@ assigns \\nothing;\n  @ ensures \\result == sx_float_of(a);\n  @*/\n"
           "float sx_float(double a);\n\n#endif\n";
}

std::string arithmetic_source() {
    std::string text =
        "/* IEEE 754 binary64, to nearest, ties to even. Compile without contraction and without\n"
        "   relaxed arithmetic: -std=c99 -ffp-contract=off, and never -ffast-math. */\n"
        "#include \"sx.h\"\n\n#include <float.h>\n\n"
        "/* Registers that are wider than double would round twice; this array stops compiling. "
        "*/\n"
        "typedef char sx_evaluates_in_its_type[(FLT_EVAL_METHOD == 0) ? 1 : -1];\n\n";
    for (const Operation& each : kOperations) {
        text += fmt::format("double sx_{}(double a, double b)\n{{\n    return a {} b;\n}}\n\n",
                            each.name,
                            each.sign);
    }
    return text + "float sx_float(double a)\n{\n    return (float)a;\n}\n";
}

}  // namespace lemma::sonnx::reference
