// The convolutions of document 000 with our resolutions 3 to 30: standard, grouped and depthwise.
// The sum starts with the bias and runs over channels, rows and columns of the kernel; it skips
// taps in the padding.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sonnx/reference/node.h"
#include "sonnx/window.h"

namespace lemma::sonnx::reference {

namespace {

constexpr int64_t kMaxIndex = INT32_MAX;

struct Conv {
    const NodeContext& context;
    std::vector<Axis> output;  // n, m, oh, ow
    std::vector<Axis> sums;    // c (if there are several channels), kh, kw
    std::vector<WindowAxis> window;
    int64_t group = 1;
    int64_t channels = 1;      // input channels per group
    int64_t out_channels = 1;  // output channels per group
    bool bias = false;

    const std::string& id() const { return context.id; }
};

// `(oh * 2) + kh - 1`
std::string place(const WindowAxis& axis, std::string_view out, std::string_view kernel) {
    const auto times = [](std::string_view name, int64_t factor) {
        return factor == 1 ? std::string(name) : fmt::format("({} * {})", name, factor);
    };
    std::string text = times(out, axis.stride) + " + " + times(kernel, axis.dilation);
    return axis.pad_begin == 0 ? text : fmt::format("{} - {}", text, axis.pad_begin);
}

// Whether taps can lie before or after the input.
struct Guards {
    bool before = false;
    bool behind = false;
};
Guards guards_of(const WindowAxis& axis, int64_t outputs) {
    const int64_t last =
        (outputs - 1) * axis.stride + (axis.kernel - 1) * axis.dilation - axis.pad_begin;
    return {.before = axis.pad_begin > 0, .behind = last >= axis.input};
}

// Omits guards that cannot fail for these shapes; they would be dead code.
std::vector<std::string> conditions(const Conv& conv,
                                    const std::string& row,
                                    const std::string& column) {
    std::vector<std::string> all;
    for (size_t i = 0; i < 2; ++i) {
        const std::string& index = i == 0 ? row : column;
        const Guards guards = guards_of(conv.window[i], conv.output[i + 2].extent);
        if (guards.before) all.push_back(fmt::format("({} >= 0)", index));
        if (guards.behind) all.push_back(fmt::format("({} < {})", index, conv.window[i].input));
    }
    return all;
}

// The input channel of output channel `m` and tap `c`.
std::string channel(const Conv& conv) {
    if (conv.group == 1) return conv.channels == 1 ? "0" : "c";
    std::string first = conv.out_channels == 1 ? "m" : fmt::format("(m / {})", conv.out_channels);
    if (conv.channels == 1) return first;
    return fmt::format("({} * {}) + c", first, conv.channels);
}
std::string input_at(const Conv& conv, const std::string& row, const std::string& column) {
    return element(conv.context.input(0), {"n", channel(conv), row, column});
}
std::string weight(const Conv& conv) {
    return element(conv.context.input(1), {"m", conv.channels == 1 ? "0" : "c", "kh", "kw"});
}

// ---- The contract's words -----------------------------------------------------------------------

// The sums by level, from the innermost: each continues from the end of the previous one.
std::string level_name(const Conv& conv, size_t level) {
    const Axis& axis = conv.sums[level];
    const char* name = axis.index == "kw" ? "columns" : axis.index == "kh" ? "rows" : "channels";
    return fmt::format("{}_{}", conv.id(), name);
}

std::string call(const Conv& conv,
                 const std::string& function,
                 const std::string& from,
                 const std::vector<std::string>& taps) {
    return fmt::format("{}({}, {}, {})", function, from, names(conv.output), fmt::join(taps, ", "));
}

std::string tap_definition(const Conv& conv) {
    const std::string row = place(conv.window[0], "oh", "kh");
    const std::string column = place(conv.window[1], "ow", "kw");
    const std::string sum =
        fmt::format("sx_add_of(acc, sx_mul_of({}, {}))", input_at(conv, row, column), weight(conv));
    const auto guards = conditions(conv, row, column);
    return guards.empty() ? sum : fmt::format("({}) ? {} : acc", fmt::join(guards, " && "), sum);
}

std::string definitions(const Conv& conv) {
    const std::string outer = "real acc, " + parameters(conv.output, "integer");
    std::string text = fmt::format("/*@ axiomatic {}_sums {{\n", conv.id());
    text += fmt::format("  @ logic real {}_tap{{L}}({}, {}) =\n  @     {};\n",
                        conv.id(),
                        outer,
                        parameters(conv.sums, "integer"),
                        tap_definition(conv));
    for (size_t level = conv.sums.size(); level-- > 0;) {
        const std::vector<Axis> known(conv.sums.begin(),
                                      conv.sums.begin() + static_cast<std::ptrdiff_t>(level) + 1);
        std::vector<std::string> taps;
        for (const Axis& axis : known) taps.push_back(axis.index);
        taps.back() += " - 1";
        const std::string before = call(conv, level_name(conv, level), "acc", taps);
        const bool innermost = level + 1 == conv.sums.size();
        if (!innermost) taps.push_back(std::to_string(conv.sums[level + 1].extent));
        const std::string inner = innermost ? conv.id() + "_tap" : level_name(conv, level + 1);
        text += fmt::format("  @ logic real {}{{L}}({}, {}) =\n  @     {} <= 0 ? acc : {};\n",
                            level_name(conv, level),
                            outer,
                            parameters(known, "integer"),
                            known.back().index,
                            call(conv, inner, before, taps));
    }
    return text + "  @ }\n  @*/\n";
}

std::string start(const Conv& conv) {
    return conv.bias ? element(conv.context.input(2), {"m"}) : "0.0";
}
std::string whole_sum(const Conv& conv) {
    return call(conv, level_name(conv, 0), start(conv), {std::to_string(conv.sums[0].extent)});
}

// ---- The code -----------------------------------------------------------------------------------

void put_tap(const Conv& conv, size_t indent, std::string& text) {
    const std::string product =
        fmt::format("sx_mul({}, {})",
                    as_double(conv.context.input(0), input_at(conv, "ih", "iw")),
                    as_double(conv.context.input(1), weight(conv)));
    const std::string sum = fmt::format("acc = sx_add(acc, {});", product);
    const auto guards = conditions(conv, "ih", "iw");
    if (guards.empty()) return put_line(text, indent, sum);
    put_line(text, indent, fmt::format("if ({}) {{", fmt::join(guards, " && ")));
    put_line(text, indent + 4, sum);
    put_line(text, indent, "}");
}

void put_sum_loops(const Conv& conv, std::string& text) {
    size_t indent = 4;
    std::vector<std::string> taps;
    for (size_t level = 0; level < conv.sums.size(); ++level) {
        const Axis& axis = conv.sums[level];
        taps.push_back(axis.index);
        const std::string from = level == 0 ? start(conv) : fmt::format("before_{}", axis.index);
        if (level > 0) put_line(text, indent, fmt::format("/*@ ghost double {} = acc; */", from));
        put_line(text,
                 indent,
                 fmt::format("/*@ loop invariant 0 <= {} <= {};", axis.index, axis.extent));
        put_line(text,
                 indent,
                 fmt::format("  @ loop invariant acc == {};",
                             call(conv, level_name(conv, level), from, taps)));
        put_line(text, indent, fmt::format("  @ loop assigns {}, acc;", axis.index));
        put_line(text, indent, fmt::format("  @ loop variant {} - {};", axis.extent, axis.index));
        put_line(text, indent, "  @*/");
        put_line(text,
                 indent,
                 fmt::format("for (int {0} = 0; {0} < {1}; {0}++) {{", axis.index, axis.extent));
        indent += 4;
        if (axis.index == "kh")
            put_line(
                text, indent, fmt::format("const int ih = {};", place(conv.window[0], "oh", "kh")));
        if (axis.index == "kw")
            put_line(
                text, indent, fmt::format("const int iw = {};", place(conv.window[1], "ow", "kw")));
    }
    put_tap(conv, indent, text);
    while (indent > 4) {
        indent -= 4;
        put_line(text, indent, "}");
    }
}

std::string point_function(const Conv& conv) {
    std::string text =
        fmt::format("/*@ requires {};\n  @ assigns \\nothing;\n", ranges(conv.output));
    text += fmt::format("  @ ensures \\result == {};\n  @*/\n", whole_sum(conv));
    text +=
        fmt::format("static double {}_point({})\n{{\n", conv.id(), parameters(conv.output, "int"));
    put_line(text,
             4,
             fmt::format("double acc = {};",
                         conv.bias ? as_double(conv.context.input(2), start(conv)) : start(conv)));
    put_sum_loops(conv, text);
    return text + "    return acc;\n}\n";
}

// ---- Whether there is a reference ---------------------------------------------------------------

std::expected<Conv, std::string> look_at(const NodeContext& context) {
    const auto& x = context.input(0).extents;
    const auto& w = context.input(1).extents;
    Conv conv{.context = context};
    if (x.size() != 4 || w.size() != 4)
        return std::unexpected(fmt::format("it has {} spatial axes, expected 2", x.size() - 2));
    const auto window = window_axes(context.node, context.view);
    conv.group = int_attribute(context.node, "group").value_or(1);
    if (!window || conv.group < 1 || conv.group > x[1] || w[1] * conv.group != x[1] ||
        w[0] % conv.group != 0)
        return std::unexpected("its shapes and attributes do not fit");
    conv.window = *window;
    conv.channels = w[1];
    conv.out_channels = w[0] / conv.group;
    conv.bias = has_input(context.node, 2);
    Extents shape = {x[0], w[0]};
    for (WindowAxis& axis : conv.window) {
        if (axis.kernel == 1) axis.dilation = 1;  // dilation has no effect
        const auto extent = output_extent(axis);
        const auto padded = padded_input(axis);
        if (!extent || !padded || *padded > kMaxIndex || axis.stride > kMaxIndex)
            return std::unexpected("its kernel does not fit, or the padded input is too large");
        shape.push_back(*extent);
    }
    if (shape != context.output().extents) {
        return std::unexpected(fmt::format("its output is declared as {}, but is {}",
                                           shape_text(context.output().extents),
                                           shape_text(shape)));
    }
    conv.output = {{"n", shape[0]}, {"m", shape[1]}, {"oh", shape[2]}, {"ow", shape[3]}};
    if (conv.channels > 1) conv.sums.push_back({"c", conv.channels});
    conv.sums.push_back({"kh", w[2]});
    conv.sums.push_back({"kw", w[3]});
    return conv;
}

}  // namespace

NodeResult conv_code(const NodeContext& context) {
    const auto conv = look_at(context);
    if (!conv) return std::unexpected(conv.error());
    const CTensor& y = context.output();
    const std::string point = fmt::format("{}_point({})", context.id, names(conv->output));
    NodeCode code =
        fill_tensor({.id = context.id,
                     .function = context.id + "_conv",
                     .output = y,
                     .axes = conv->output,
                     .value = rounded(y, whole_sum(*conv), "_of"),
                     .body = {fmt::format(
                         "{} = {};", element(y, {"n", "m", "oh", "ow"}), rounded(y, point, ""))}});
    code.definition = definitions(*conv) + point_function(*conv) + code.definition;
    return code;
}

}  // namespace lemma::sonnx::reference
