// SPDX-License-Identifier: Apache-2.0
#include "api/report.h"

#include <fmt/format.h>

#include "diag/render.h"
#include "model/files.h"

namespace lemma::api {

namespace {

using Item = lemma_report::Item;

void set_place(const diag::SourceMap& sources, Span span, Item& item) {
    if (!span.valid()) return;
    item.file = sources.name(span.file);
    const diag::LineColumn begin = sources.place(span.file, span.begin);
    if (sources.is_binary(span.file)) {
        if (span.end > span.begin) item.path = sources.line(span.file, begin.line);
        return;
    }
    const diag::LineColumn end = sources.place(span.file, span.end);
    item.view.line = static_cast<int>(begin.line);
    item.view.column = static_cast<int>(begin.column);
    item.view.end_line = static_cast<int>(end.line);
    item.view.end_column = static_cast<int>(end.column);
}

void add(const diag::SourceMap& sources, const diag::Diagnostic& diagnostic, lemma_report& report) {
    Item& item = report.items.emplace_back();
    const bool error = diagnostic.severity == diag::Severity::Error;
    item.view.severity = error ? LEMMA_ERROR : LEMMA_WARNING;
    item.kind = diag::shown_id(diagnostic);
    item.message = diagnostic.message;
    set_place(sources, diagnostic.span, item);
    if (!diagnostic.path.empty()) item.path = diagnostic.path;
    Diagnostics alone;
    alone.add(diagnostic);
    item.text = diag::render(sources, alone, {});
}

void add(const model::Finding& finding, const diag::Note& remark, lemma_report& report) {
    Item& item = report.items.emplace_back();
    item.view.severity = LEMMA_NOTE;
    item.message = remark.message;
    set_place(finding.sources, remark.span, item);
    item.text = model::remark_text(finding, remark);
}

void add(const Error& error, lemma_report& report) {
    Item& item = report.items.emplace_back();
    item.kind = model::error_id(error);
    item.message = error.message;
    item.text = model::error_line(error);
}

// The pointers of the views, once all texts are in place.
void complete(lemma_report& report) {
    for (Item& item : report.items) {
        item.view.kind = item.kind.c_str();
        item.view.message = item.message.c_str();
        item.view.file = item.file.c_str();
        item.view.path = item.path.c_str();
        item.view.text = item.text.c_str();
        report.text += item.text;
    }
}

std::string json_of(model::Finding& finding) {
    std::vector<model::Finding> all;
    all.push_back(std::move(finding));
    std::string json = model::as_json(all);
    finding = std::move(all[0]);
    return json;
}

}  // namespace

bool has_news(const model::Finding& finding) {
    return !finding.diag.items().empty() || !finding.remarks.empty() || finding.unusable;
}

lemma_report* make_report(model::Finding& finding) {
    if (!has_news(finding)) return nullptr;
    auto report = std::make_unique<lemma_report>();
    finding.diag.sort_by_place();
    for (const diag::Diagnostic& diagnostic : finding.diag.items()) {
        add(finding.sources, diagnostic, *report);
    }
    for (const diag::Note& remark : finding.remarks) add(finding, remark, *report);
    if (finding.unusable) add(*finding.unusable, *report);
    complete(*report);
    report->json = json_of(finding);
    return report.release();
}

int hand_over(model::Finding& finding, lemma_report** report) {
    if (!report) return finding.status;
    try {
        *report = make_report(finding);
    } catch (const std::exception&) {  // no memory for the report
        *report = nullptr;
    }
    return finding.status;
}

int refuse(std::string message, lemma_report** report) {
    return call(report, [&](model::Finding& finding) { finding.fail({std::move(message)}); });
}

int report_stopped(const Error& why, lemma_report** report) {
    refuse(why.message, report);
    return LEMMA_STOPPED;
}

void report_fault(const char* what, model::Finding& finding) {
    finding.fail({fmt::format("internal fault: {}", what)});
    finding.status = model::kFault;
}

}  // namespace lemma::api

size_t lemma_report_count(const lemma_report* report) { return report ? report->items.size() : 0; }

const lemma_diagnostic* lemma_report_at(const lemma_report* report, size_t index) {
    return index < lemma_report_count(report) ? &report->items[index].view : nullptr;
}

const char* lemma_report_text(const lemma_report* report) {
    return report ? report->text.c_str() : "";
}

const char* lemma_report_json(const lemma_report* report) {
    constexpr const char* kNothing =
        "{\n \"diagnostics\": [],\n \"errors\": 0,\n \"warnings\": 0,\n \"dropped\": 0,\n"
        " \"dropped_warnings\": 0,\n \"models\": []\n}\n";
    return report ? report->json.c_str() : kNothing;
}

void lemma_report_free(lemma_report* report) { delete report; }
