// SPDX-License-Identifier: Apache-2.0
#include "sonnx/report/document.h"

#include <algorithm>

#include "diag/utf8.h"

namespace lemma::sonnx {

namespace {

std::string_view standing_text(onnx::Standing standing) {
    switch (standing) {
        case onnx::Standing::Selected:
            return "selected (REQ-OP-000)";
        case onnx::Standing::Draft:
            return "draft";
        case onnx::Standing::Outside:
            return "outside of the profile";
    }
    return "";
}

std::string version_text(const std::optional<int64_t>& version) {
    return version ? number(*version) : "–";
}

}  // namespace

Document::Document(const Report& report, Page& page)
    : report_(report), page_(page), places_(report) {
    if (!report.proofs) return;
    for (const FunctionProof& each : report.proofs->functions) {
        if (const auto index = places_.node(each.place)) functions_[*index].push_back(&each);
    }
}

void Document::section(std::string_view title, std::string_view anchor) {
    page_.heading(2, fmt::format("{} {}", ++sections_, title), anchor);
}

Text Document::place(onnx::PathSpan span) const {
    const std::string text = place_text(report_, span);
    const std::string anchor = places_.anchor(span);
    return anchor.empty() ? Text(text) : Text(link(anchor, text));
}

void Document::add_rest(size_t all, size_t shown, std::string_view what) {
    if (all > shown)
        page_.paragraph(fmt::format("{} more {} are in the JSON report.", all - shown, what));
}

void Document::add_summary() {
    page_.heading(1, "SONNX conformity report", "top");
    const std::string_view end = conclusion(report_);
    const std::string name = fmt::format("The model `{}` ", report_.file);
    if (end == "conforms")
        page_.banner(Tone::Good, name + "conforms to the profile.");
    else if (end == "undecided")
        page_.banner(Tone::Warning, name + "could not be fully checked for conformity.");
    else
        page_.banner(Tone::Bad, name + "does not conform to the profile.");
    page_.table({.header = {"subject", "value"},
                 .rows = {{{"model", report_.file}},
                          {{"SHA-256", code(report_.hash)}},
                          {{"profile", fmt::format("{}, rule catalogue {}", kReading, kCatalogue)}},
                          {{"tool", report_.tool.name}}},
                 .facts = true});
    add_counts();
    add_evidence_summary();
    page_.heading(3, "What to do", "steps");
    page_.list(next_steps(report_), true);
}

void Document::add_counts() {
    PageTable table{.header = {"severity",
                               "rules",
                               "pass",
                               "fail",
                               "not applicable",
                               "not checked",
                               "findings",
                               "repaired by --fix"},
                    .caption = "Rules and findings by severity"};
    for (const SeverityCount& each : severity_counts(report_)) {
        const Tone bad = each.severity == Severity::Advisory ? Tone::Warning : Tone::Bad;
        const auto cell = [](int64_t count, Tone tone) {
            return count > 0 ? Text(badge(tone, number(count))) : Text("0");
        };
        table.rows.push_back({{severity_text(each.severity),
                               number(each.rules),
                               number(each.passed),
                               cell(each.failed, bad),
                               number(each.not_applicable),
                               cell(each.not_checked, Tone::Warning),
                               number(each.findings),
                               number(each.fixable)}});
    }
    page_.table(table);
    PageTable nodes{.header = {"conditions of nodes"},
                    .rows = {{{"number"}}},
                    .caption = "Overflow, invalid operations and division by zero, over all nodes"};
    const auto counts = disposal_counts(report_);
    for (size_t i = 0; i < counts.size(); ++i) {
        const auto disposal = static_cast<Disposal>(i);
        nodes.header.emplace_back(disposal_text(disposal));
        nodes.rows[0].cells.push_back(
            counts[i] > 0 ? Text(badge(tone_of(disposal), number(counts[i]))) : Text("0"));
    }
    page_.table(nodes);
}

// The numbers are those that section() gives.
void Document::add_contents() {
    Text text = "Contents: ";
    int number_of_section = 0;
    for (const auto& [anchor, title] : {std::pair{"identity", "Identity"},
                                        {"operators", "Operators"},
                                        {"tensors", "Tensors"},
                                        {"rules", "Rules"},
                                        {"findings", "Findings"},
                                        {"dispositions", "Dispositions"},
                                        {"evidence", "Evidence"},
                                        {"limits", "Deviations and limits"},
                                        {"explicit", "Explicit form"},
                                        {"review", "Review"}}) {
        if (std::string_view(anchor) == "explicit" && report_.fixed_file.empty()) continue;
        if (number_of_section > 0) text += ", ";
        text += link(anchor, fmt::format("{} {}", ++number_of_section, title));
    }
    text += ".";
    page_.paragraph(text);
    page_.new_page();
}

void Document::add_identity() {
    section("Identity", "identity");
    const onnx::Model& model = report_.model();
    std::vector<TableRow> rows = {{{"file", report_.file}},
                                  {{"SHA-256 of the file", code(report_.hash)}},
                                  {{"bytes", number(static_cast<int64_t>(report_.bytes))}},
                                  {{"ONNX IR version", number(model.ir_version)}}};
    for (const onnx::OperatorSet& set : model.opsets) {
        rows.push_back(
            {{"operator set",
              fmt::format(
                  "{} version {}", set.domain.empty() ? "ai.onnx" : set.domain, set.version)}});
    }
    rows.push_back(
        {{"producer",
          model.producer_version.empty() ? model.producer
                                         : model.producer + " " + model.producer_version}});
    rows.push_back({{"model version", number(model.version)}});
    rows.push_back({{"graph", model.graphs[model.main].name}});
    for (const onnx::Property& each : model.metadata)
        rows.push_back(
            {{fmt::format("metadata `{}`", each.key), diag::shortened(each.value, 400)}});
    rows.push_back({{"profile", kReading}});
    rows.push_back({{"rule catalogue", kCatalogue}});
    rows.push_back({{"tool", report_.tool.name}});
    rows.push_back({{"SHA-256 of the tool",
                     report_.tool.hash.empty() ? "not known: Lemma ran inside another program"
                                               : code(report_.tool.hash)}});
    rows.push_back({{"command line", code(command_text(report_.tool.command))}});
    page_.table({.header = {"subject", "value"}, .rows = std::move(rows), .facts = true});
    page_.paragraph(
        "The hash of the model covers its parameters, unless S008 fails. The hash of the tool is "
        "that of its executable file. The command line names files without their folders.");
}

void Document::add_operators() {
    section("Operators", "operators");
    page_.paragraph(
        "The version of an operator is the one that the operator set of the model selects.");
    PageTable table{.header = {"operator", "version", "nodes", "standing in the profile"}};
    for (const OperatorUse& use : report_.contents.operators) {
        table.rows.push_back(
            {{use.op, version_text(use.version), number(use.nodes), standing_text(use.standing)}});
    }
    page_.table(table);
}

void Document::add_tensors() {
    section("Tensors", "tensors");
    PageTable table{.header = {"name", "part", "element type", "shape", "type from", "meaning"},
                    .keep = {1, 2, 4}};
    const auto& tensors = report_.contents.tensors;
    for (size_t i = 0; i < std::min(tensors.size(), kMaxRows); ++i) {
        const TensorEntry& each = tensors[i];
        table.rows.push_back({{code(each.name),
                               part_text(each.part),
                               each.type,
                               each.shape,
                               each.declared ? "declaration" : "inference",
                               diag::shortened(each.meaning, 400)},
                              tensor_anchor(i)});
    }
    page_.table(table);
    add_rest(tensors.size(), table.rows.size(), "tensors");
}

void Document::add_limits() {
    section("Deviations and limits", "limits");
    std::vector<Text> items(report_.deviations.begin(), report_.deviations.end());
    for (const std::string& problem : report_.problems)
        items.emplace_back("Not checked: " + problem + ".");
    items.emplace_back(fmt::format(
        "No version of the profile has been released. The rules follow `{}`, catalogue `{}`.",
        kReading,
        kCatalogue));
    items.emplace_back(
        "Sub-graphs and functions are refused by S002 and S003, and are not looked into.");
    if (report_.proofs)
        items.emplace_back(
            "Proofs are about the C code of the model. Their results are cited as the file says.");
    page_.list(items, false);
}

void Document::add_changes() {
    if (report_.fixed_file.empty()) return;
    section("Explicit form", "explicit");
    page_.paragraph(fmt::format(
        "`{}` has the model in explicit form. Its SHA-256 is {}. The verdicts above are about the "
        "original, so check it again.",
        report_.fixed_file,
        report_.fixed_hash));
    PageTable table{.header = {"rule", "place", "change"}, .keep = {0}};
    for (const Change& change : report_.changes) {
        if (table.rows.size() == kMaxRows) break;
        const Rule* rule = find_rule(change.rule);
        table.rows.push_back(
            {{rule ? Text(link(rule_anchor(*rule), change.rule)) : Text(change.rule),
              place(change.place),
              change.message}});
    }
    page_.table(table);
    add_rest(report_.changes.size(), table.rows.size(), "changes");
}

void Document::add_review() {
    section("Review", "review");
    page_.paragraph(
        "The author states that this is the model that was trained. The reviewer states that the "
        "findings, the dispositions and the evidence were examined. The authority accepts both.");
    page_.paragraph(fmt::format(
        "The signatures below refer to the model with the SHA-256 {} and to this report: it {}.",
        report_.hash,
        conclusion(report_) == "undecided" ? "is undecided" : conclusion(report_)));
    page_.table({.header = {"role", "name", "date", "signature"},
                 .rows = {{{"author", "", "", ""}},
                          {{"reviewer", "", "", ""}},
                          {{"authority", "", "", ""}}},
                 .signed_by_hand = true});
}

void Document::write() {
    add_summary();
    add_contents();
    add_identity();
    add_operators();
    add_tensors();
    add_rules();
    add_findings();
    add_dispositions();
    add_evidence();
    add_limits();
    add_changes();
    add_review();
}

namespace {

std::string document(const Report& report, Page& page) {
    Document(report, page).write();
    return page.take();
}

}  // namespace

std::string report_markdown(const Report& report) {
    return document(report, *diag::markdown_page());
}
std::string report_html(const Report& report) {
    return document(
        report,
        *diag::html_page({.title = "SONNX conformity report: " + report.file,
                          .footer = "SONNX conformity report, model SHA-256 " + report.hash}));
}

}  // namespace lemma::sonnx
