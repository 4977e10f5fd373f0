// SPDX-License-Identifier: Apache-2.0
#include "emit/certified/nest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lemma::emit {

namespace {

using Axes = std::span<const CAxis>;

template <class F>
std::string joined(Axes axes, std::string_view between, F text) {
    std::vector<std::string> parts;
    for (const CAxis& axis : axes) parts.push_back(text(axis));
    return fmt::format("{}", fmt::join(parts, between));
}

std::string range(std::string_view index, const auto& end) {
    return fmt::format("0 <= {} < {}", index, end);
}

// The name in quantifiers, distinct from the loop variable.
std::string bound_name(const CAxis& axis) { return axis.index + "_"; }

// The loop invariant of a level: all elements with a smaller index at that level are done.
std::string done_before(const Filling& filling, size_t level) {
    const Axes axes = filling.axes;
    const Axes open = axes.subspan(level);
    std::vector<std::string> within = {range(bound_name(open[0]), open[0].index)};
    for (const CAxis& axis : open.subspan(1))
        within.push_back(range(bound_name(axis), axis.extent));
    std::vector<std::string> arguments;
    for (const CAxis& axis : axes.first(level)) arguments.push_back(axis.index);
    for (const CAxis& axis : open) arguments.push_back(bound_name(axis));
    return fmt::format("loop invariant \\forall integer {}; {} ==> {}({});",
                       joined(open, ", ", bound_name),
                       fmt::join(within, " && "),
                       filling.predicate,
                       fmt::join(arguments, ", "));
}

}  // namespace

std::string parameters(Axes axes, std::string_view type) {
    return joined(
        axes, ", ", [&](const CAxis& axis) { return fmt::format("{} {}", type, axis.index); });
}
std::string index_names(Axes axes) {
    return joined(axes, ", ", [](const CAxis& axis) { return axis.index; });
}
std::string index_ranges(Axes axes) {
    return joined(axes, " && ", [](const CAxis& axis) { return range(axis.index, axis.extent); });
}
std::string arguments(Axes axes) {
    return axes.empty() ? "" : fmt::format("({})", index_names(axes));
}
std::string for_all(Axes axes, const std::string& predicate) {
    if (axes.empty()) return predicate;
    return fmt::format("\\forall {}; {} ==> {}{}",
                       parameters(axes, "integer"),
                       index_ranges(axes),
                       predicate,
                       arguments(axes));
}

void open_loops(const Filling& filling, CLines& lines) {
    for (size_t depth = 0; depth < filling.axes.size(); ++depth) {
        const CAxis& axis = filling.axes[depth];
        std::vector<std::string> clauses = {
            fmt::format("loop invariant 0 <= {} <= {};", axis.index, axis.extent)};
        const size_t first = filling.nested ? depth : 0;
        for (size_t level = first; level <= depth && !filling.predicate.empty(); ++level) {
            clauses.push_back(done_before(filling, level));
        }
        clauses.push_back(fmt::format("loop assigns {}, {};", axis.index, filling.assigns[depth]));
        clauses.push_back(fmt::format("loop variant {} - {};", axis.extent, axis.index));
        lines.annotate(clauses);
        lines.open(
            fmt::format("for (int32_t {0} = 0; {0} < {1}; {0}++) {{", axis.index, axis.extent));
    }
}

}  // namespace lemma::emit
