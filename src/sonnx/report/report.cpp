#include "sonnx/report.h"

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
    if (result.examined == 0 && result.findings.empty())
        return "the model has nothing that the rule speaks of";
    std::string text = fmt::format("{} {} examined", result.examined, result.unit);
    if (!result.findings.empty()) text += fmt::format(", {} findings", result.findings.size());
    if (result.undecided > 0) text += fmt::format(", {} not decided", result.undecided);
    return text;
}

std::string place_text(const Report& report, onnx::PathSpan place) {
    const std::string& paths = report.model->paths;
    if (place.end > paths.size() || place.begin > place.end) return "";
    return diag::printable(std::string_view(paths).substr(place.begin, place.end - place.begin));
}

}  // namespace lemma::sonnx
