// SPDX-License-Identifier: Apache-2.0
#include "emit/obstacle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/program/display_name.h"

namespace lemma::emit {

void report_obstacles(const ir::Program& program,
                      const std::vector<Obstacle>& obstacles,
                      Diagnostics& diag) {
    if (obstacles.empty()) return;
    constexpr size_t kMostNamed = 50;
    // Operations with the same reason are named together, in the order of the model.
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    Span place;
    for (const Obstacle& obstacle : obstacles) {
        auto found =
            std::ranges::find(reasons, obstacle.why, &decltype(reasons)::value_type::first);
        if (found == reasons.end()) found = reasons.insert(reasons.end(), {obstacle.why, {}});
        if (!obstacle.op.valid()) continue;
        const ir::Operation& op = program.operations[obstacle.op];
        if (!place.valid()) place = op.span;
        std::string name = fmt::format("`{}`", ir::display_name(op.op));
        if (!op.label.empty()) name += fmt::format(" ({})", op.label);
        if (std::ranges::find(found->second, name) == found->second.end()) {
            found->second.push_back(std::move(name));
        }
    }
    const auto& [first, culprits] = reasons[0];
    const std::string subject = culprits.empty() ? "the model" : culprits[0];
    auto report = diag.error(place,
                             DiagKind::NotSupported,
                             fmt::format("{} cannot be compiled to C: {}", subject, first));
    for (auto& [why, names] : reasons) {
        const size_t more = names.size() > kMostNamed ? names.size() - kMostNamed : 0;
        if (more > 0) names.resize(kMostNamed);
        if (names.empty()) {
            report.note(why);
        } else if (more > 0) {
            report.note(fmt::format("{}, and {} more: {}", fmt::join(names, ", "), more, why));
        } else {
            report.note(fmt::format("{}: {}", fmt::join(names, ", "), why));
        }
    }
}

}  // namespace lemma::emit
