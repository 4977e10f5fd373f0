#include <nlohmann/json.hpp>

#include "sonnx/report.h"

namespace lemma::sonnx {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the fields

Json rule_json(const Report& report, const RuleResult& result) {
    const Rule& rule = *result.rule;
    Json object = {{"id", rule.id},
                   {"aliases", rule.aliases},
                   {"severity", severity_text(result.severity)},
                   {"title", rule.title},
                   {"rationale", rule.rationale},
                   {"origin", rule.origin},
                   {"verdict", verdict_text(result.verdict)},
                   {"examined", result.examined},
                   {"undecided", result.undecided},
                   {"findings", Json::array()}};
    for (const Finding& finding : result.findings) {
        object["findings"].push_back({{"place", place_text(report, finding.place)},
                                      {"message", finding.message},
                                      {"fixable", finding.fixable}});
    }
    return object;
}

}  // namespace

std::string report_json(const Report& report) {
    Json document = {{"profile", "sonnx"},
                     {"reading", kReading},
                     {"tool", report.tool},
                     {"sha256", report.hash},
                     {"bytes", report.bytes},
                     {"conclusion", conclusion(report)},
                     {"deviations", report.deviations},
                     {"not_checked", report.problems},
                     {"rules", Json::array()}};
    for (const RuleResult& result : report.results)
        document["rules"].push_back(rule_json(report, result));
    if (!report.fixed_file.empty()) {
        Json fixed = {
            {"file", report.fixed_file}, {"sha256", report.fixed_hash}, {"changes", Json::array()}};
        for (const Change& change : report.changes) {
            fixed["changes"].push_back({{"rule", change.rule},
                                        {"place", place_text(report, change.place)},
                                        {"change", change.message}});
        }
        document["fixed"] = std::move(fixed);
    }
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lemma::sonnx
