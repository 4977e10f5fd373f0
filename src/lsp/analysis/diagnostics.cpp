// SPDX-License-Identifier: Apache-2.0
#include "lsp/analysis/diagnostics.h"

#include "lsp/analysis/places.h"
#include "model/files.h"

namespace lemma::lsp {

namespace {

// Severities and tags of the protocol.
constexpr int kError = 1;
constexpr int kWarning = 2;
constexpr int kInformation = 3;
constexpr int kUnnecessary = 1;

Json beginning() { return {{"start", to_json(Position{})}, {"end", to_json(Position{})}}; }

class Lists {
public:
    Lists(const Analysis& analysis, const Workspace& workspace)
        : analysis_(analysis), workspace_(workspace), places_(analysis, workspace) {
        lists_[analysis.uri] = Json::array();
    }

    void add(const diag::Diagnostic& item) {
        Json related = Json::array();
        for (const diag::Note& note : item.notes) {
            const auto location = places_.location(note.span);
            if (location) related.push_back({{"location", *location}, {"message", note.message}});
        }
        add(item.span, item.path, [&](Json range) {
            return diagnostic_json(
                item, std::move(range), workspace_.client.related_information ? related : Json());
        });
    }
    void add_error(const Error& error) {
        Json item = {{"range", beginning()},
                     {"severity", kError},
                     {"source", "lemma"},
                     {"message", error.message}};
        const std::string_view id = model::error_id(error);
        if (!id.empty()) item["code"] = id;
        lists_[analysis_.uri].push_back(std::move(item));
    }
    void add_remark(const diag::Note& remark) {
        add(remark.span, "", [&](Json range) {
            return Json{{"range", std::move(range)},
                        {"severity", kInformation},
                        {"source", "lemma"},
                        {"message", remark.message}};
        });
    }
    DiagnosticLists take() { return std::move(lists_); }

private:
    // Faults inside of the standard library, or without a place, are shown at the top of the text.
    template <class Make>
    void add(Span span, const std::string&, const Make& make) {
        const bool here =
            span.valid() && analysis_.finding.sources.name(span.file).starts_with('/');
        const bool main = span.valid() && span.file == analysis_.file;
        const auto uri = here || main ? places_.uri(span.file) : std::nullopt;
        if (uri) {
            lists_.try_emplace(*uri, Json::array())
                .first->second.push_back(make(places_.range(span)));
        } else {
            lists_[analysis_.uri].push_back(make(beginning()));
        }
    }

    const Analysis& analysis_;
    const Workspace& workspace_;
    Places places_;
    DiagnosticLists lists_;
};

}  // namespace

std::string message_of(const diag::Diagnostic& diagnostic) {
    std::string text = diagnostic.message;
    for (const diag::Note& note : diagnostic.notes) {
        if (!note.span.valid()) text += "\n" + note.message;
    }
    return text;
}

Json diagnostic_json(const diag::Diagnostic& diagnostic, Json range, Json related) {
    Json item = {{"range", std::move(range)},
                 {"severity", diagnostic.severity == diag::Severity::Error ? kError : kWarning},
                 {"code", diag::shown_id(diagnostic)},
                 {"source", "lemma"},
                 {"message", message_of(diagnostic)}};
    if (related.is_array() && !related.empty()) item["relatedInformation"] = std::move(related);
    if (diagnostic.kind == DiagKind::UnusedName) item["tags"] = Json::array({kUnnecessary});
    return item;
}

DiagnosticLists diagnostics_of(const Analysis& analysis, const Workspace& workspace) {
    Lists lists(analysis, workspace);
    if (analysis.finding.unusable) lists.add_error(*analysis.finding.unusable);
    for (const diag::Diagnostic& item : analysis.finding.diag.items()) lists.add(item);
    for (const diag::Note& remark : analysis.finding.remarks) lists.add_remark(remark);
    return lists.take();
}

}  // namespace lemma::lsp
