// SPDX-License-Identifier: Apache-2.0
// sonnx/report/report.h — the conformity report, which a reviewer can sign: the model, the tool,
// the verdict of each rule with its evidence, and the evidence of other commands. The same inputs
// give the same bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonnx/fix.h"
#include "sonnx/report/certificate.h"
#include "sonnx/report/contents.h"
#include "sonnx/report/evidence.h"
#include "sonnx/rule.h"

namespace lemma::sonnx {

// The tool that made a report.
struct Tool {
    std::string name;  // "lemma 1.2.3"
    std::string hash;  // SHA-256 of the executable; empty: it runs inside another program
    // The words of the command line; files without their folders.
    std::vector<std::string> command;
};

struct Report {
    std::string file;  // file name without folders
    std::string hash;  // SHA-256 of the file
    size_t bytes = 0;
    Tool tool;
    const Subject* subject = nullptr;
    std::vector<RuleResult> results;
    Contents contents;
    std::vector<std::string> deviations;  // from the strict profile, requested by the user
    std::vector<std::string> problems;    // parts that the tool could not read or run
    std::string fixed_file;               // empty: no explicit form was written
    std::string fixed_hash;
    std::vector<Change> changes;
    std::optional<Proofs> proofs;
    std::optional<Tests> tests;
    std::optional<RangeCertificate> certificate;

    const onnx::Model& model() const { return subject->model; }
};

// "conforms", "does not conform", "undecided"
std::string_view conclusion(const Report& report);
// "12 nodes examined", "3 nodes examined, 1 finding", …
std::string evidence(const RuleResult& result);
// A line of Model::paths.
std::string place_text(const Report& report, onnx::PathSpan place);
// The command line as one line, with quotes where a shell needs them.
std::string command_text(const std::vector<std::string>& words);

std::string report_markdown(const Report& report);
std::string report_html(const Report& report);
std::string report_json(const Report& report);

}  // namespace lemma::sonnx
