// The report as Markdown and as HTML: one walk over its parts, two writers.
#include <fmt/format.h>

#include <algorithm>

#include "diag/utf8.h"
#include "diag/wrap.h"
#include "sonnx/report.h"

namespace lemma::sonnx {

namespace {

using diag::printable;
using Row = std::vector<std::string>;

// More findings of one rule add nothing on paper; `--json` has all of them.
constexpr size_t kMaxFindings = 200;

// Writes the parts of a report. It escapes plain text.
class Page {
public:
    virtual ~Page() = default;
    virtual void heading(int level, const std::string& text) = 0;
    virtual void paragraph(const std::string& text) = 0;
    virtual void table(const Row& header, const std::vector<Row>& rows) = 0;
    virtual void list(const std::vector<std::string>& items) = 0;
    virtual std::string take() = 0;
};

class Markdown final : public Page {
public:
    void heading(int level, const std::string& text) override {
        out_ += fmt::format("{} {}\n\n", std::string(static_cast<size_t>(level), '#'), safe(text));
    }
    void paragraph(const std::string& text) override {
        out_ += diag::wrapped(safe(text), {.markdown = true}) + "\n\n";
    }
    void table(const Row& header, const std::vector<Row>& rows) override {
        row(header);
        out_ += '|';
        for (size_t i = 0; i < header.size(); ++i) out_ += "---|";
        out_ += '\n';
        for (const Row& each : rows) row(each);
        out_ += '\n';
    }
    void list(const std::vector<std::string>& items) override {
        for (const std::string& item : items)
            out_ += diag::wrapped("- " + safe(item), {.indent = 2, .markdown = true}) + "\n";
        out_ += '\n';
    }
    std::string take() override { return std::move(out_); }

private:
    // Names of a hostile model must not become markup. Code in backticks stays unchanged, unless a
    // name contains a backtick.
    static std::string safe(const std::string& text) {
        const std::string plain = printable(text);
        const bool has_code = std::ranges::count(plain, '`') % 2 == 0;
        bool in_code = false;
        std::string result;
        for (const char c : plain) {
            if (c == '`' && has_code) in_code = !in_code;
            const bool is_mark = std::string_view("<>*_[]&#\\").contains(c);
            if (c == '|' || (c == '`' && !has_code) || (is_mark && !in_code)) result += '\\';
            result += c;
        }
        return result;
    }
    void row(const Row& cells) {
        out_ += '|';
        for (const std::string& cell : cells) out_ += " " + safe(cell) + " |";
        out_ += '\n';
    }
    std::string out_;
};

class Html final : public Page {
public:
    Html() {
        out_ =
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<title>SONNX conformity report</title>\n<style>\n"
            "body { font-family: sans-serif; margin: 2em; max-width: 75em; }\n"
            "table { border-collapse: collapse; margin-bottom: 1em; }\n"
            "td, th { border: 1px solid #999; padding: 0.2em 0.5em; text-align: left; "
            "vertical-align: top; overflow-wrap: anywhere; }\n"
            "</style>\n</head>\n<body>\n";
    }
    void heading(int level, const std::string& text) override {
        out_ += fmt::format("<h{0}>{1}</h{0}>\n", level, safe(text));
    }
    void paragraph(const std::string& text) override {
        out_ += fmt::format("<p>{}</p>\n", safe(text));
    }
    void table(const Row& header, const std::vector<Row>& rows) override {
        out_ += "<table>\n";
        row(header, "th");
        for (const Row& each : rows) row(each, "td");
        out_ += "</table>\n";
    }
    void list(const std::vector<std::string>& items) override {
        out_ += "<ul>\n";
        for (const std::string& item : items) out_ += fmt::format("<li>{}</li>\n", safe(item));
        out_ += "</ul>\n";
    }
    std::string take() override { return std::move(out_) + "</body>\n</html>\n"; }

private:
    static std::string safe(const std::string& text) {
        std::string result;
        for (const char c : printable(text)) {
            switch (c) {
                case '<':
                    result += "&lt;";
                    break;
                case '>':
                    result += "&gt;";
                    break;
                case '&':
                    result += "&amp;";
                    break;
                case '"':
                    result += "&quot;";
                    break;
                default:
                    result += c;
            }
        }
        return result;
    }
    void row(const Row& cells, std::string_view mark) {
        out_ += "<tr>";
        for (const std::string& cell : cells)
            out_ += fmt::format("<{0}>{1}</{0}>", mark, safe(cell));
        out_ += "</tr>\n";
    }
    std::string out_;
};

void add_identity(const Report& report, Page& page) {
    page.heading(2, "Identity");
    const onnx::Model& model = *report.model;
    std::vector<Row> rows = {{"file", report.file},
                             {"SHA-256", report.hash},
                             {"bytes", fmt::format("{}", report.bytes)},
                             {"ONNX IR version", fmt::format("{}", model.ir_version)}};
    for (const onnx::OperatorSet& set : model.opsets) {
        rows.push_back(
            {"operator set",
             fmt::format(
                 "{} version {}", set.domain.empty() ? "ai.onnx" : set.domain, set.version)});
    }
    rows.push_back({"producer", model.producer + " " + model.producer_version});
    rows.push_back({"model version", fmt::format("{}", model.version)});
    rows.push_back({"graph", model.graphs[model.main].name});
    rows.push_back({"profile", std::string(kReading)});
    rows.push_back({"tool", report.tool});
    page.table({"what", "value"}, rows);
}

void add_rules(const Report& report, Page& page) {
    page.heading(2, "Rules");
    std::vector<Row> rows;
    for (const RuleResult& result : report.results) {
        rows.push_back({std::string(result.rule->id),
                        std::string(result.rule->aliases),
                        std::string(severity_text(result.severity)),
                        std::string(result.rule->title),
                        std::string(verdict_text(result.verdict)),
                        evidence(result)});
    }
    page.table({"id", "also", "severity", "rule", "verdict", "evidence"}, rows);
}

void add_findings(const Report& report, Page& page) {
    page.heading(2, "Findings");
    bool any = false;
    for (const RuleResult& result : report.results) {
        if (result.findings.empty()) continue;
        any = true;
        page.heading(3, fmt::format("{} ({})", result.rule->id, severity_text(result.severity)));
        page.paragraph(fmt::format("{}. Why: {}. From: {}.",
                                   result.rule->title,
                                   result.rule->rationale,
                                   result.rule->origin));
        std::vector<Row> rows;
        for (const Finding& finding : result.findings) {
            if (rows.size() == kMaxFindings) break;
            rows.push_back({place_text(report, finding.place),
                            finding.message,
                            finding.fixable ? "--fix" : "by hand"});
        }
        page.table({"place", "finding", "repair"}, rows);
        if (result.findings.size() > kMaxFindings)
            page.paragraph(fmt::format("and {} more", result.findings.size() - kMaxFindings));
    }
    if (!any) page.paragraph("none");
}

void add_deviations(const Report& report, Page& page) {
    page.heading(2, "Deviations and limits");
    std::vector<std::string> items = report.deviations;
    for (const std::string& problem : report.problems) items.push_back("not checked: " + problem);
    items.emplace_back(
        "there is no released profile: rules follow our reading of the drafts, named above");
    items.emplace_back(
        "operator constraints are checked for Conv, Concat, MaxPool and broadcasting; other "
        "operators are checked against their ONNX definitions");
    page.list(items);
}

void add_changes(const Report& report, Page& page) {
    if (report.fixed_file.empty()) return;
    page.heading(2, "Explicit form");
    page.paragraph(
        fmt::format("{} has the model in explicit form, SHA-256 {}. The verdicts above "
                    "are about the original.",
                    report.fixed_file,
                    report.fixed_hash));
    std::vector<Row> rows;
    for (const Change& change : report.changes)
        rows.push_back(
            {std::string(change.rule), place_text(report, change.place), change.message});
    page.table({"rule", "place", "change"}, rows);
}

void add_signature(Page& page) {
    page.heading(2, "Review");
    page.table({"role", "name", "date", "signature"},
               {{"author", "", "", ""}, {"reviewer", "", "", ""}});
}

std::string write(const Report& report, Page&& page) {
    page.heading(1, "SONNX conformity report");
    page.paragraph(fmt::format("The model {} to the profile.",
                               conclusion(report) == "undecided"
                                   ? "could not be fully checked for conformity"
                                   : conclusion(report)));
    add_identity(report, page);
    add_rules(report, page);
    add_findings(report, page);
    add_deviations(report, page);
    add_changes(report, page);
    add_signature(page);
    return page.take();
}

}  // namespace

std::string report_markdown(const Report& report) { return write(report, Markdown()); }
std::string report_html(const Report& report) { return write(report, Html()); }

}  // namespace lemma::sonnx
