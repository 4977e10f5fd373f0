// SPDX-License-Identifier: Apache-2.0
// The dispositions of the nodes, and the evidence of other commands.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "sonnx/report/document.h"

namespace lemma::sonnx {

Tone tone_of(Disposal disposal) {
    switch (disposal) {
        case Disposal::CannotOccur:
        case Disposal::Nominal:
            return Tone::Neutral;
        case Disposal::RuledOut:
            return Tone::Good;
        case Disposal::NotEstablished:
            return Tone::Warning;
        case Disposal::Possible:
            return Tone::Bad;
    }
    return Tone::None;
}

namespace {

std::string node_title(const NodeEntry& entry) {
    return entry.node->name.empty() ? entry.node->op
                                    : fmt::format("{} \"{}\"", entry.node->op, entry.node->name);
}

std::string function_anchor(const FunctionProof& proof) {
    return diag::anchor_of("function", proof.name);
}

Text proofs_badge(const Proofs& proofs) {
    return badge(proofs.good() ? Tone::Good : Tone::Bad,
                 fmt::format("{} of {} goals proved", proofs.proved(), proofs.goals()));
}
Text remark_on(const FunctionProof& proof) {
    if (!proof.trouble.empty()) return proof.trouble;
    if (!proof.unproved.empty())
        return fmt::format("without proof: {}", fmt::join(proof.unproved, ", "));
    if (proof.frame_only) return "the contract does not say what the function computes";
    return "";
}
Text tests_badge(const Tests& tests) {
    const auto all = static_cast<int64_t>(tests.cases.size());
    const bool good = tests.passed() == all && all > 0;
    return badge(good ? Tone::Good : Tone::Bad,
                 fmt::format("{} of {} cases pass", tests.passed(), all));
}
Text certificate_badge(const RangeCertificate& certificate) {
    return certificate.established ? badge(Tone::Good, "established")
                                   : badge(Tone::Warning, "open points");
}

}  // namespace

// What other commands have shown about the model.
void Document::add_evidence_summary() {
    const Text none = badge(Tone::Neutral, "not given");
    page_.table({.header = {"evidence", "proofs of the C code", "tests", "ranges and errors"},
                 .rows = {{{"result",
                            report_.proofs ? proofs_badge(*report_.proofs) : none,
                            report_.tests ? tests_badge(*report_.tests) : none,
                            report_.certificate ? certificate_badge(*report_.certificate) : none}}},
                 .caption = "Evidence of other commands"});
}

// The reasons are listed once below the table; cells name them by number.
void Document::add_dispositions() {
    section("Dispositions", "dispositions");
    page_.paragraph(
        "For each node: whether overflow, an invalid operation (a NaN from other numbers) or a "
        "division by zero can occur, and the clause or fact that settles it.");
    page_.paragraph(
        report_.certificate
            ? "Statements of the certificate hold for the ranges under Evidence. It also "
              "bounds the error that a node makes, and the error that it passes on."
            : "No ranges of the inputs are given, so every statement holds for all "
              "values.");
    std::map<std::string, size_t> numbers;
    std::vector<TableRow> reasons;
    PageTable table{
        .header = {"node", "operator", "overflow", "invalid operation", "division by zero"},
        .keep = {0, 2, 3, 4}};
    if (report_.certificate) {
        table.header.insert(table.header.end(), {"error made", "error passed on"});
        table.keep = {0, 2, 3, 4, 5, 6};
    }
    for (const NodeEntry& entry : report_.contents.nodes) {
        if (table.rows.size() == kMaxRows) break;
        Text title = node_title(entry);
        if (const auto found = functions_.find(entry.index); found != functions_.end()) {
            for (const FunctionProof* function : found->second) {
                title += " ";
                title += link(function_anchor(*function), code(function->name));
            }
        }
        TableRow row{{number(static_cast<int64_t>(entry.index)), std::move(title)},
                     node_anchor(entry.index)};
        for (const Disposition& each : entry.dispositions) {
            const auto [found, added] = numbers.emplace(each.by, reasons.size() + 1);
            const std::string mark = fmt::format("({})", found->second);
            const std::string anchor = fmt::format("reason-{}", found->second);
            if (added) reasons.push_back({{mark, each.by}, anchor});
            Text cell = badge(tone_of(each.disposal), disposal_text(each.disposal));
            cell += " ";
            cell += link(anchor, mark);
            row.cells.push_back(std::move(cell));
        }
        if (report_.certificate) {
            row.cells.emplace_back(bound_above(entry.introduced));
            row.cells.emplace_back(bound_above(entry.propagated));
        }
        table.rows.push_back(std::move(row));
    }
    page_.table(table);
    add_rest(report_.contents.nodes.size(), table.rows.size(), "nodes");
    if (!reasons.empty())
        page_.table(
            {.header = {"reason", "clause or fact"}, .rows = std::move(reasons), .keep = {0}});
}

void Document::add_evidence() {
    section("Evidence", "evidence");
    if (report_.proofs) {
        add_proofs(*report_.proofs);
    } else {
        page_.paragraph("Proofs: none are given.");
    }
    if (report_.tests) {
        add_tests(*report_.tests);
    } else {
        page_.paragraph("Tests: none are given.");
    }
    if (report_.certificate) {
        add_certificate(*report_.certificate);
    } else {
        page_.paragraph("Certificate of ranges and errors: none is given.");
    }
}

void Document::add_proofs(const Proofs& proofs) {
    Text text = "Proofs: ";
    text += proofs_badge(proofs);
    text += fmt::format(" (`{}`, SHA-256 `{}`).", proofs.file.name, proofs.file.hash);
    if (!proofs.tools.empty()) text += fmt::format(" Provers: {}.", fmt::join(proofs.tools, ", "));
    if (!proofs.accumulate.empty()) text += fmt::format(" Arithmetic: `{}`.", proofs.accumulate);
    text += proofs.weights ? " The values of weights are part of the proof."
                           : " The values of weights are not part of the proof.";
    page_.paragraph(text);
    PageTable table{.header = {"C function", "node", "goals", "remark"}, .keep = {2}};
    std::set<std::string> anchors;  // a file may list a function twice
    for (const FunctionProof& each : proofs.functions) {
        if (table.rows.size() == kMaxRows) break;
        const auto index = places_.node(each.place);
        const std::string anchor = index ? node_anchor(*index) : "";
        table.rows.push_back(
            {{code(each.name),
              anchor.empty() ? Text(each.place) : Text(link(anchor, each.place)),
              badge(each.good() ? Tone::Good : Tone::Bad,
                    fmt::format("{} of {} proved", each.proved, each.goals)),
              remark_on(each)},
             anchors.insert(function_anchor(each)).second ? function_anchor(each) : ""});
    }
    page_.table(table);
    add_rest(proofs.functions.size(), table.rows.size(), "functions");
}

void Document::add_tests(const Tests& tests) {
    Text text = "Tests: ";
    text += tests_badge(tests);
    text += fmt::format(" (`{}`, SHA-256 `{}`).", tests.file.name, tests.file.hash);
    page_.paragraph(text);
    PageTable table{.header = {"case", "verdict", "first failure"}, .keep = {1}};
    for (const TestCase& each : tests.cases) {
        if (table.rows.size() == kMaxRows) break;
        table.rows.push_back(
            {{each.name,
              badge(each.passed ? Tone::Good : Tone::Bad, each.passed ? "pass" : "fail"),
              each.failure}});
    }
    page_.table(table);
    add_rest(tests.cases.size(), table.rows.size(), "cases");
}

void Document::add_certificate(const RangeCertificate& certificate) {
    Text text = "Certificate of ranges and errors: ";
    text += certificate_badge(certificate);
    text += fmt::format(" (`{}`, SHA-256 `{}`), for arithmetic `{}`.",
                        certificate.file.name,
                        certificate.file.hash,
                        certificate.accumulate);
    page_.paragraph(text);
    PageTable table{.header = {"tensor", "part", "from", "to", "error at most"},
                    .caption = "Bounds of all elements, as the program computes them",
                    .keep = {1, 2, 3, 4}};
    const auto add = [&](const std::vector<ValueBound>& bounds, std::string_view part) {
        for (const ValueBound& each : bounds) {
            if (table.rows.size() == kMaxRows) return;
            table.rows.push_back({{code(each.name),
                                   part,
                                   bound_below(each.low),
                                   bound_above(each.high),
                                   bound_above(each.error)}});
        }
    };
    add(certificate.inputs, "input");
    add(certificate.outputs, "output");
    page_.table(table);
    if (certificate.hypotheses.empty()) return;
    page_.paragraph("The certificate assumes:");
    page_.list({certificate.hypotheses.begin(), certificate.hypotheses.end()}, false);
}

}  // namespace lemma::sonnx
