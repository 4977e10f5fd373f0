#include "sonnx/reference/nest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

namespace lemma::sonnx::reference {

namespace {

using Axes = std::span<const Axis>;

template <class F>
std::string joined(Axes axes, std::string_view between, F text) {
    std::vector<std::string> parts;
    for (const Axis& axis : axes) parts.push_back(text(axis));
    return fmt::format("{}", fmt::join(parts, between));
}

std::string range(std::string_view index, const auto& end) {
    return fmt::format("0 <= {} < {}", index, end);
}

// The name in quantifiers, distinct from the loop variable.
std::string bound_name(const Axis& axis) { return axis.index + "_"; }

// The loop invariant of a level: all elements with a smaller index at that level are done.
std::string done_before(const Filling& filling, size_t level) {
    const Axes axes = filling.axes;
    const Axes open = axes.subspan(level);
    std::vector<std::string> within = {range(bound_name(open[0]), open[0].index)};
    for (const Axis& axis : open.subspan(1)) within.push_back(range(bound_name(axis), axis.extent));
    std::vector<std::string> arguments;
    for (const Axis& axis : axes.first(level)) arguments.push_back(axis.index);
    for (const Axis& axis : open) arguments.push_back(bound_name(axis));
    return fmt::format("\\forall integer {}; {} ==> {}_at({})",
                       joined(open, ", ", bound_name),
                       fmt::join(within, " && "),
                       filling.id,
                       fmt::join(arguments, ", "));
}

void put_loops(const Filling& filling, std::string& text) {
    size_t indent = 4;
    for (size_t depth = 0; depth < filling.axes.size(); ++depth) {
        const Axis& axis = filling.axes[depth];
        put_line(text,
                 indent,
                 fmt::format("/*@ loop invariant 0 <= {} <= {};", axis.index, axis.extent));
        for (size_t level = 0; level <= depth; ++level)
            put_line(
                text, indent, fmt::format("  @ loop invariant {};", done_before(filling, level)));
        put_line(text,
                 indent,
                 fmt::format("  @ loop assigns {}, {};", axis.index, elements(filling.output)));
        put_line(text, indent, fmt::format("  @ loop variant {} - {};", axis.extent, axis.index));
        put_line(text, indent, "  @*/");
        put_line(text,
                 indent,
                 fmt::format("for (int {0} = 0; {0} < {1}; {0}++) {{", axis.index, axis.extent));
        indent += 4;
    }
    for (const std::string& line : filling.body) put_line(text, indent, line);
    while (indent > 4) {
        indent -= 4;
        put_line(text, indent, "}");
    }
}

void put_predicates(const Filling& filling, std::string& text) {
    const auto& axes = filling.axes;
    std::vector<std::string> indices;
    for (const Axis& axis : axes) indices.push_back(axis.index);
    const std::string at =
        axes.empty() ? filling.id + "_at" : fmt::format("{}_at({})", filling.id, names(axes));
    text += fmt::format("/*@ predicate {}_at{{L}}{} =\n",
                        filling.id,
                        axes.empty() ? "" : fmt::format("({})", parameters(axes, "integer")));
    text += fmt::format("  @     {} == {};\n", element(filling.output, indices), filling.value);
    text += fmt::format("  @ predicate {}_holds{{L}} =\n", filling.id);
    if (axes.empty()) {
        text += fmt::format("  @     {};\n  @*/\n", at);
    } else {
        text += fmt::format("  @     \\forall {}; {} ==> {};\n  @*/\n",
                            parameters(axes, "integer"),
                            ranges(axes),
                            at);
    }
}

}  // namespace

std::string ranges(const std::vector<Axis>& axes) {
    return joined(axes, " && ", [](const Axis& axis) { return range(axis.index, axis.extent); });
}
std::string parameters(const std::vector<Axis>& axes, std::string_view type) {
    return joined(
        axes, ", ", [&](const Axis& axis) { return fmt::format("{} {}", type, axis.index); });
}
std::string names(const std::vector<Axis>& axes) {
    return joined(axes, ", ", [](const Axis& axis) { return axis.index; });
}

void put_line(std::string& text, size_t indent, std::string_view line) {
    text.append(indent, ' ');
    text += line;
    text += '\n';
}

NodeCode fill_tensor(const Filling& filling) {
    NodeCode code{.function = filling.function,
                  .predicate = filling.id + "_holds",
                  .assigned = elements(filling.output)};
    std::string& text = code.definition;
    put_predicates(filling, text);
    text += fmt::format("/*@ assigns {};\n", code.assigned);
    text += fmt::format("  @ ensures {};\n", code.predicate);
    for (const std::string& clause : filling.also) text += fmt::format("  @ ensures {};\n", clause);
    text += fmt::format("  @*/\nstatic void {}(void)\n{{\n", code.function);
    put_loops(filling, text);
    text += "}\n";
    return code;
}

}  // namespace lemma::sonnx::reference
