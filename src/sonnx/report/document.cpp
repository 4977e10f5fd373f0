// The report as a document: one walk over its parts, for Markdown and HTML.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "diag/page.h"
#include "diag/utf8.h"
#include "sonnx/report/places.h"
#include "sonnx/report/report.h"
#include "sonnx/report/summary.h"

namespace lemma::sonnx {

namespace {

using diag::badge;
using diag::link;
using diag::Page;
using diag::PageTable;
using diag::TableRow;
using diag::Text;
using diag::Tone;

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

std::string code(std::string_view text) { return fmt::format("`{}`", text); }
std::string number(int64_t value) { return fmt::format("{}", value); }
std::string version_text(const std::optional<int64_t>& version) {
    return version ? number(*version) : "–";
}
std::string node_title(const NodeEntry& entry) {
    return entry.node->name.empty() ? entry.node->op
                                    : fmt::format("{} \"{}\"", entry.node->op, entry.node->name);
}

Text proofs_badge(const Proofs& proofs) {
    const bool complete = proofs.proved() == proofs.goals() && proofs.goals() > 0;
    return badge(complete ? Tone::Good : Tone::Bad,
                 fmt::format("{} of {} goals proved", proofs.proved(), proofs.goals()));
}
Text tests_badge(const Tests& tests) {
    const auto all = static_cast<int64_t>(tests.cases.size());
    const bool good = tests.passed() == all && all > 0;
    return badge(good ? Tone::Good : Tone::Bad,
                 fmt::format("{} of {} cases pass", tests.passed(), all));
}

class Document {
public:
    Document(const Report& report, Page& page) : report_(report), page_(page), places_(report) {}

    void write();

private:
    void section(std::string_view title, std::string_view anchor);
    void add_summary();
    void add_counts();
    void add_evidence_summary();
    void add_contents();
    void add_identity();
    void add_operators();
    void add_tensors();
    void add_rules();
    void add_family(std::string_view family);
    void add_findings();
    void add_findings_of(const RuleResult& result);
    void add_dispositions();
    void add_evidence();
    void add_proofs(const Proofs& proofs);
    void add_tests(const Tests& tests);
    void add_limits();
    void add_changes();
    void add_review();
    void add_rest(size_t all, size_t shown, std::string_view what);
    Text place(onnx::PathSpan span) const;

    const Report& report_;
    Page& page_;
    Places places_;
    int sections_ = 0;
};

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

// ---- The first page
// ------------------------------------------------------------------------------

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

// What other commands have shown about the model.
void Document::add_evidence_summary() {
    const Text none = badge(Tone::Neutral, "not given");
    page_.table(
        {.header = {"evidence", "proofs of the C code", "tests", "ranges and errors"},
         .rows = {{{"result",
                    report_.proofs ? proofs_badge(*report_.proofs) : none,
                    report_.tests ? tests_badge(*report_.tests) : none,
                    report_.certificate ? Text(badge(Tone::Good, report_.certificate->source))
                                        : none}}},
         .caption = "Evidence of other commands"});
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

// ---- What was checked
// ----------------------------------------------------------------------------

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

// ---- Rules
// ---------------------------------------------------------------------------------------

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
    PageTable table{.header = {"place", "finding", "repair"}, .keep = {2}};
    for (const Finding& finding : result.findings) {
        if (table.rows.size() == kMaxFindings) break;
        table.rows.push_back(
            {{place(finding.place),
              finding.message,
              finding.fixable ? badge(Tone::Good, "--fix") : badge(Tone::Neutral, "by hand")}});
    }
    page_.table(table);
    add_rest(result.findings.size(), table.rows.size(), "findings");
}

// ---- Nodes
// ---------------------------------------------------------------------------------------

// The reasons are listed once below the table; cells name them by number.
void Document::add_dispositions() {
    section("Dispositions", "dispositions");
    page_.paragraph(
        "For each node: whether overflow, an invalid operation (a NaN from other numbers) or a "
        "division by zero can occur, and the clause or fact that settles it.");
    if (report_.certificate) {
        page_.paragraph(fmt::format("Ranges of the inputs ({}): {}.",
                                    report_.certificate->source,
                                    fmt::join(report_.certificate->ranges, "; ")));
        if (!report_.certificate->hypotheses.empty())
            page_.paragraph(fmt::format("The certificate assumes: {}.",
                                        fmt::join(report_.certificate->hypotheses, "; ")));
    } else {
        page_.paragraph(
            "No ranges of the inputs are given, so every statement holds for all values.");
    }
    std::map<std::string, size_t> numbers;
    std::vector<TableRow> reasons;
    PageTable table{
        .header = {"node", "operator", "overflow", "invalid operation", "division by zero"},
        .keep = {0, 2, 3, 4}};
    for (const NodeEntry& entry : report_.contents.nodes) {
        if (table.rows.size() == kMaxRows) break;
        TableRow row{{number(static_cast<int64_t>(entry.index)), node_title(entry)},
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
        table.rows.push_back(std::move(row));
    }
    page_.table(table);
    add_rest(report_.contents.nodes.size(), table.rows.size(), "nodes");
    if (!reasons.empty())
        page_.table(
            {.header = {"reason", "clause or fact"}, .rows = std::move(reasons), .keep = {0}});
}

// ---- Evidence of other commands
// ------------------------------------------------------------------

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
}

void Document::add_proofs(const Proofs& proofs) {
    Text text = "Proofs: ";
    text += proofs_badge(proofs);
    text += fmt::format(
        " (`{}`, SHA-256 {}). Provers: {}.",
        proofs.file.name,
        proofs.file.hash,
        proofs.tools.empty() ? "not named" : fmt::format("{}", fmt::join(proofs.tools, ", ")));
    page_.paragraph(text);
    PageTable table{.header = {"C function", "node", "goals", "goals without proof"}, .keep = {2}};
    for (const FunctionProof& each : proofs.functions) {
        if (table.rows.size() == kMaxRows) break;
        const auto index = places_.node(each.place);
        const bool done = each.proved == each.goals && each.goals > 0;
        table.rows.push_back(
            {{code(each.name),
              index ? Text(link(node_anchor(*index), each.place)) : Text(each.place),
              badge(done ? Tone::Good : Tone::Bad,
                    fmt::format("{} of {} proved", each.proved, each.goals)),
              fmt::format("{}", fmt::join(each.unproved, ", "))},
             diag::anchor_of("function", each.name)});
    }
    page_.table(table);
    add_rest(proofs.functions.size(), table.rows.size(), "functions");
}

void Document::add_tests(const Tests& tests) {
    Text text = "Tests: ";
    text += tests_badge(tests);
    text += fmt::format(" (`{}`, SHA-256 {}).", tests.file.name, tests.file.hash);
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

// ---- The end
// -------------------------------------------------------------------------------------

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
