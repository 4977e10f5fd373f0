// sonnx/report.h — the conformity report, which a reviewer can sign: the model, the tool, and the
// verdict of each rule with its evidence. The same model gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "onnx/model.h"
#include "sonnx/fix.h"
#include "sonnx/rule.h"

namespace lemma::sonnx {

struct Report {
    std::string file;  // file name without folders
    std::string tool;  // "lemma 0.1.0"
    std::string hash;  // SHA-256 of the file
    size_t bytes = 0;
    const onnx::Model* model = nullptr;
    std::vector<RuleResult> results;
    std::vector<std::string> deviations;  // from the strict profile, requested by the user
    std::vector<std::string> problems;    // parts that the tool could not read or run
    std::string fixed_file;               // empty: no explicit form was written
    std::string fixed_hash;
    std::vector<Change> changes;
};

// "conforms", "does not conform", "undecided"
std::string_view conclusion(const Report& report);
// "12 nodes", "3 of 12 nodes could not be decided", …
std::string evidence(const RuleResult& result);
// A line of Model::paths.
std::string place_text(const Report& report, onnx::PathSpan place);

std::string report_markdown(const Report& report);
std::string report_html(const Report& report);
std::string report_json(const Report& report);

}  // namespace lemma::sonnx
