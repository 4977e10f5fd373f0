// SPDX-License-Identifier: Apache-2.0
// The rules by family, and their findings.
#include <algorithm>

#include "sonnx/report/document.h"

namespace lemma::sonnx {

namespace {

// More findings of one rule add nothing on paper; JSON has all of them.
constexpr size_t kMaxFindings = 200;

Tone tone_of(const RuleResult& result) {
    switch (result.verdict) {
        case Verdict::Pass:
            return Tone::Good;
        case Verdict::Fail:
            return result.severity == Severity::Advisory ? Tone::Warning : Tone::Bad;
        case Verdict::NotApplicable:
            return Tone::Neutral;
        case Verdict::NotChecked:
            return Tone::Warning;
    }
    return Tone::None;
}

}  // namespace

void Document::add_rules() {
    section("Rules", "rules");
    page_.paragraph(
        "A violation or restriction that fails, or is not checked, prevents conformity. An "
        "advisory "
        "does not.");
    std::vector<std::string_view> families;
    for (const RuleResult& result : report_.results) {
        if (std::ranges::find(families, result.rule->family) == families.end())
            families.push_back(result.rule->family);
    }
    for (const std::string_view family : families) add_family(family);
}

void Document::add_family(std::string_view family) {
    PageTable table{.header = {"id", "rule", "severity", "verdict", "evidence", "also known as"},
                    .keep = {0, 2, 3}};
    int64_t failed = 0;
    for (const RuleResult& result : report_.results) {
        const Rule& rule = *result.rule;
        if (rule.family != family) continue;
        failed += result.verdict == Verdict::Fail;
        const std::string text = evidence(result);
        table.rows.push_back(
            {{rule.id,
              rule.title,
              severity_text(result.severity),
              badge(tone_of(result), verdict_text(result.verdict)),
              result.findings.empty() ? Text(text) : Text(link(findings_anchor(rule), text)),
              rule.aliases},
             rule_anchor(rule)});
    }
    const std::string title =
        fmt::format("{}: {} of {} rules fail", family, failed, table.rows.size());
    page_.heading(3, title, diag::anchor_of("family", family));
    page_.table(table);
}

void Document::add_findings() {
    section("Findings", "findings");
    bool any = false;
    for (const RuleResult& result : report_.results) {
        if (result.findings.empty()) continue;
        any = true;
        add_findings_of(result);
    }
    if (!any) page_.paragraph("There are no findings.");
}

void Document::add_findings_of(const RuleResult& result) {
    const Rule& rule = *result.rule;
    Text title = link(rule_anchor(rule), rule.id);
    title += fmt::format(" ({})", severity_text(result.severity));
    page_.heading(3, title, findings_anchor(rule));
    page_.paragraph(
        fmt::format("Rule: {}. Reason: {}. Source: {}.", rule.title, rule.rationale, rule.origin));
    PageTable table{.header = {"place", "finding", "repair"}};
    for (const Finding& finding : result.findings) {
        if (table.rows.size() == kMaxFindings) break;
        Text repair =
            finding.fixable ? badge(Tone::Good, "--fix") : badge(Tone::Neutral, "by hand");
        if (finding.fixable && !finding.fix.empty()) repair += " " + finding.fix;
        table.rows.push_back({{place(finding.place), finding.message, std::move(repair)}});
    }
    page_.table(table);
    add_rest(result.findings.size(), table.rows.size(), "findings");
}

}  // namespace lemma::sonnx
