// SPDX-License-Identifier: Apache-2.0
#include "sonnx/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/utf8.h"
#include "sonnx/check.h"

namespace lemma::sonnx {

std::string_view conclusion(const Report& report) {
    if (conforms(report.results)) return "conforms";
    const bool broken = std::ranges::any_of(report.results, [](const RuleResult& result) {
        return result.severity != Severity::Advisory && result.verdict == Verdict::Fail;
    });
    return broken ? "does not conform" : "undecided";
}

std::string evidence(const RuleResult& result) {
    if (result.examined == 0 && result.findings.empty()) return "nothing to examine";
    std::string unit(result.unit);
    if (result.examined == 1 && unit.ends_with('s') && !unit.contains(" and ")) unit.pop_back();
    std::string text = fmt::format("{} {} examined", result.examined, unit);
    const size_t count = result.findings.size();
    if (count > 0) text += fmt::format(", {} finding{}", count, count == 1 ? "" : "s");
    if (result.undecided > 0) text += fmt::format(", {} not decided", result.undecided);
    return text;
}

std::string place_text(const Report& report, onnx::PathSpan place) {
    const std::string& paths = report.model().paths;
    if (place.end > paths.size() || place.begin > place.end) return "";
    return diag::printable(std::string_view(paths).substr(place.begin, place.end - place.begin));
}

std::string command_text(const std::vector<std::string>& words) {
    std::string line = "lemma";
    for (const std::string& word : words) {
        const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   std::string_view("-_=.,:+/%@").contains(c);
        });
        line += ' ';
        if (plain) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word) c == '\'' ? line += "'\\''" : line += c;
        line += '\'';
    }
    return line;
}

}  // namespace lemma::sonnx
