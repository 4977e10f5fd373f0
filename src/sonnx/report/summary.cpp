// SPDX-License-Identifier: Apache-2.0
#include "sonnx/report/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace lemma::sonnx {

namespace {

using diag::link;
using diag::Text;

constexpr size_t kMaxNamed = 12;  // rules in one step

std::string plural(int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "GR2, GR3 and 4 more", each a link to its findings.
Text rule_list(const std::vector<const RuleResult*>& results) {
    Text text;
    for (size_t i = 0; i < results.size(); ++i) {
        if (i == kMaxNamed) {
            text += fmt::format(" and {} more", results.size() - i);
            break;
        }
        if (i > 0) text += ", ";
        const Rule& rule = *results[i]->rule;
        const bool found = !results[i]->findings.empty();
        text += link(found ? findings_anchor(rule) : rule_anchor(rule), rule.id);
    }
    return text;
}

using Wanted = bool (*)(const RuleResult&);
std::vector<const RuleResult*> results_with(const Report& report, Wanted wanted) {
    std::vector<const RuleResult*> found;
    for (const RuleResult& result : report.results) {
        if (wanted(result)) found.push_back(&result);
    }
    return found;
}

bool counts(const RuleResult& result) { return result.severity != Severity::Advisory; }
bool has(const RuleResult& result, bool fixable) {
    return std::ranges::any_of(result.findings,
                               [&](const Finding& each) { return each.fixable == fixable; });
}

void add_repairs(const Report& report, std::vector<Text>& steps) {
    int64_t fixable = 0, by_hand = 0;
    for (const SeverityCount& each : severity_counts(report)) {
        if (each.severity == Severity::Advisory) continue;
        fixable += each.fixable;
        by_hand += each.findings - each.fixable;
    }
    if (fixable > 0) {
        Text text = fmt::format("Repair {} with `--fix=OUT.onnx`, then check that file: ",
                                plural(fixable, "finding"));
        text += rule_list(results_with(
            report, [](const RuleResult& each) { return counts(each) && has(each, true); }));
        if (!report.fixed_file.empty())
            text += fmt::format(". `{}` is that file", report.fixed_file);
        text += ".";
        steps.push_back(std::move(text));
    }
    if (by_hand > 0) {
        Text text = fmt::format("Repair {} in the model by hand: ", plural(by_hand, "finding"));
        text += rule_list(results_with(
            report, [](const RuleResult& each) { return counts(each) && has(each, false); }));
        text += ".";
        steps.push_back(std::move(text));
    }
}

void add_open(const Report& report, std::vector<Text>& steps) {
    const auto undecided = results_with(report, [](const RuleResult& each) {
        return counts(each) && each.verdict == Verdict::NotChecked;
    });
    if (!undecided.empty()) {
        Text text = "Make these rules decidable: ";
        text += rule_list(undecided);
        text += ". ";
        text += link("limits", "Deviations and limits");
        text += " says what could not be read.";
        steps.push_back(std::move(text));
    }
    const auto advisories = results_with(report, [](const RuleResult& each) {
        return !counts(each) && each.verdict == Verdict::Fail;
    });
    if (!advisories.empty()) {
        Text text = "Judge the advisories, which do not affect conformity: ";
        text += rule_list(advisories);
        text += ".";
        steps.push_back(std::move(text));
    }
}

void add_evidence(const Report& report, std::vector<Text>& steps) {
    const auto disposals = disposal_counts(report);
    const int64_t possible = disposals[static_cast<size_t>(Disposal::Possible)];
    const int64_t open = disposals[static_cast<size_t>(Disposal::NotEstablished)];
    if (possible > 0) {
        Text text = fmt::format("Exclude or justify {} that can occur within the given ranges: ",
                                plural(possible, "condition"));
        text += link("dispositions", "Dispositions");
        text += ".";
        steps.push_back(std::move(text));
    }
    if (open > 0) {
        Text text = fmt::format("Establish or justify {} of nodes that are open: ",
                                plural(open, "condition"));
        text += link("dispositions", "Dispositions");
        text += ".";
        steps.push_back(std::move(text));
    }
    if (!report.certificate) {
        steps.emplace_back(
            "No ranges are given. `lemma certify MODEL --range NAME=LOW:HIGH -o FILE.json` bounds "
            "values and errors, `--certificate=FILE.json` adds the result.");
    }
    if (!report.proofs) {
        steps.emplace_back(
            "No proofs are given. `lemma prove MODEL --json` writes them, `--proofs=FILE` adds "
            "them.");
    } else if (!report.proofs->good()) {
        Text text = "Complete the proofs: ";
        text += link("evidence", "Evidence");
        text += ".";
        steps.push_back(std::move(text));
    }
    if (!report.tests) {
        steps.emplace_back(
            "No tests are given. `lemma verify CASES --json` runs them, `--tests=FILE` adds them.");
    } else if (report.tests->passed() < static_cast<int64_t>(report.tests->cases.size())) {
        Text text = "Explain the tests that fail: ";
        text += link("evidence", "Evidence");
        text += ".";
        steps.push_back(std::move(text));
    }
}

}  // namespace

std::array<SeverityCount, 3> severity_counts(const Report& report) {
    std::array<SeverityCount, 3> all = {SeverityCount{.severity = Severity::Violation},
                                        SeverityCount{.severity = Severity::Restriction},
                                        SeverityCount{.severity = Severity::Advisory}};
    for (const RuleResult& result : report.results) {
        SeverityCount& count = all[static_cast<size_t>(result.severity)];
        ++count.rules;
        count.passed += result.verdict == Verdict::Pass;
        count.failed += result.verdict == Verdict::Fail;
        count.not_applicable += result.verdict == Verdict::NotApplicable;
        count.not_checked += result.verdict == Verdict::NotChecked;
        count.findings += static_cast<int64_t>(result.findings.size());
        count.fixable += std::ranges::count(result.findings, true, &Finding::fixable);
    }
    return all;
}

std::array<int64_t, 5> disposal_counts(const Report& report) {
    std::array<int64_t, 5> counts = {};
    for (const NodeEntry& node : report.contents.nodes) {
        for (const Disposition& each : node.dispositions)
            ++counts[static_cast<size_t>(each.disposal)];
    }
    return counts;
}

std::vector<Text> next_steps(const Report& report) {
    std::vector<Text> steps;
    add_repairs(report, steps);
    add_open(report, steps);
    add_evidence(report, steps);
    if (conclusion(report) == "conforms") {
        Text text = "Review the model against its hash, then sign under ";
        text += link("review", "Review");
        text += ".";
        steps.push_back(std::move(text));
    } else {
        steps.emplace_back("Do not sign: the model has to conform first.");
    }
    return steps;
}

std::string rule_anchor(const Rule& rule) { return diag::anchor_of("rule", rule.id); }
std::string findings_anchor(const Rule& rule) { return diag::anchor_of("findings", rule.id); }
std::string node_anchor(size_t index) {
    return index < kMaxRows ? fmt::format("node-{}", index) : "";
}
std::string tensor_anchor(size_t index) {
    return index < kMaxRows ? fmt::format("tensor-{}", index) : "";
}

}  // namespace lemma::sonnx
