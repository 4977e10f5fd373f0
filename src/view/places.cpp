// SPDX-License-Identifier: Apache-2.0
#include "view/places.h"

#include <algorithm>

#include "model/files.h"
#include "show/cost.h"

namespace lemma::view {

OperationPlaces::OperationPlaces(const ir::Program& program, const diag::SourceMap& sources) {
    add(program, sources, program.graphs[program.main].operations);
}

void OperationPlaces::add(const ir::Program& program,
                          const diag::SourceMap& sources,
                          const std::vector<ir::OpId>& ops) {
    for (const ir::OpId id : ops) {
        const ir::Operation& op = program.operations[id];
        for (const show::Body& body : show::bodies(op))
            add(program, sources, program.graphs[body.graph].operations);
        if (!op.span.valid()) continue;
        const std::string& file = sources.name(op.span.file);
        const diag::LineColumn place = sources.place(op.span.file, op.span.begin);
        if (sources.is_binary(op.span.file)) {
            paths_.emplace(sources.line(op.span.file, place.line), id.value);
        } else {
            texts_[file].push_back({op.span.begin, op.span.end, place.line, id.value});
        }
    }
}

Json OperationPlaces::at(const diag::SourceMap& sources, Span span) const {
    const auto ranges = texts_.find(sources.name(span.file));
    if (ranges == texts_.end()) return nullptr;
    const uint32_t line = sources.place(span.file, span.begin).line;
    const Range* best = nullptr;
    const Range* beside = nullptr;  // `y` of `y = nn.relu(x)`
    for (const Range& range : ranges->second) {
        // A diagnostic may be about the whole statement around the call.
        const bool around = range.begin <= span.begin && span.end <= range.end;
        const bool inside = span.begin <= range.begin && range.end <= span.end;
        if (range.line == line && (!beside || range.begin < beside->begin)) beside = &range;
        if (!around && !inside) continue;
        if (!best || range.end - range.begin < best->end - best->begin) best = &range;
    }
    if (!best) best = beside;
    return best ? Json(best->id) : Json();
}

// Names may contain slashes, so every prefix that ends before one is tried, from the longest on.
Json OperationPlaces::at_path(std::string path) const {
    while (true) {
        if (const auto found = paths_.find(path); found != paths_.end()) return found->second;
        const size_t slash = path.rfind('/');
        if (slash == std::string::npos) return nullptr;
        path.resize(slash);
    }
}

namespace {

Json place_json(const diag::SourceMap& sources, Span span) {
    Json json = {{"file", sources.name(span.file)}};
    const diag::LineColumn begin = sources.place(span.file, span.begin);
    if (!sources.is_binary(span.file)) {
        json["line"] = begin.line;
        json["column"] = begin.column;
    } else if (span.end > span.begin) {
        json["path"] = sources.line(span.file, begin.line);
    }
    return json;
}

std::string note_text(const diag::SourceMap& sources, const diag::Note& note) {
    if (!note.span.valid() || sources.name(note.span.file).starts_with("stdlib/"))
        return note.message;
    const Json place = place_json(sources, note.span);
    if (place.contains("line")) {
        return note.message + " (" + place.value("file", "") + ":" +
               std::to_string(place["line"].get<uint32_t>()) + ")";
    }
    return note.message;
}

Json diagnostic_json(const diag::SourceMap& sources,
                     const diag::Diagnostic& item,
                     const OperationPlaces& places,
                     const ErrorPages& pages) {
    const std::string_view kind = diag::shown_id(item);
    Json json = {{"severity", item.severity == diag::Severity::Error ? "error" : "warning"},
                 {"kind", kind},
                 {"message", item.message}};
    Json notes = Json::array();
    for (const diag::Note& note : item.notes) notes.push_back(note_text(sources, note));
    if (!notes.empty()) json["notes"] = std::move(notes);
    json["operation"] = nullptr;
    if (item.span.valid()) {
        json["place"] = place_json(sources, item.span);
        if (!item.path.empty()) json["place"]["path"] = item.path;
        json["operation"] = sources.is_binary(item.span.file)
                                ? places.at_path(json["place"].value("path", ""))
                                : places.at(sources, item.span);
    } else if (!item.path.empty()) {
        json["place"] = {{"path", item.path}};
        json["operation"] = places.at_path(item.path);
    }
    const std::string_view page = pages ? pages(kind) : std::string_view();
    if (!page.empty()) json["page"] = page;
    return json;
}

Json failure_json(const model::Finding& finding, const ErrorPages& pages) {
    const std::string_view kind = model::error_id(*finding.unusable);
    Json json = {{"severity", "error"},
                 {"kind", kind},
                 {"message", finding.unusable->message},
                 {"operation", nullptr}};
    const std::string_view page = pages ? pages(kind) : std::string_view();
    if (!page.empty()) json["page"] = page;
    return json;
}

}  // namespace

Json diagnostics_json(const model::Finding& finding,
                      const OperationPlaces& places,
                      const ErrorPages& pages) {
    Json list = Json::array();
    if (finding.unusable) list.push_back(failure_json(finding, pages));
    for (const diag::Diagnostic& item : finding.diag.items()) {
        if (!item.code.empty()) continue;  // a verdict of a profile
        list.push_back(diagnostic_json(finding.sources, item, places, pages));
    }
    for (const diag::Note& remark : finding.remarks) {
        Json json = {{"severity", "note"},
                     {"kind", ""},
                     {"message", remark.message},
                     {"operation", nullptr}};
        if (remark.span.valid()) json["place"] = place_json(finding.sources, remark.span);
        list.push_back(std::move(json));
    }
    return list;
}

Json profile_json(const std::string& conformity, const OperationPlaces& places) {
    const Json report = Json::parse(conformity, nullptr, false);
    if (!report.is_object()) return nullptr;
    Json verdicts = Json::array();
    for (const Json& rule : report["rules"]) {
        const std::string verdict = rule.value("verdict", "");
        if (verdict == "not applicable") continue;
        const char* const status = verdict == "pass"   ? "pass"
                                   : verdict == "fail" ? "fail"
                                                       : "unknown";
        const Json& findings = rule["findings"];
        if (findings.empty()) {
            verdicts.push_back({{"rule", rule["id"]},
                                {"status", status},
                                {"severity", rule["severity"]},
                                {"message", rule["title"]},
                                {"operation", nullptr}});
        }
        for (const Json& finding : findings) {
            const std::string place = finding.value("place", "");
            verdicts.push_back({{"rule", rule["id"]},
                                {"status", status},
                                {"severity", rule["severity"]},
                                {"message", finding["message"]},
                                {"place", place},
                                {"operation", places.at_path(place)}});
        }
    }
    return {{"name", "sonnx"},
            {"reading", report["reading"]},
            {"conclusion", report["conclusion"]},
            {"verdicts", std::move(verdicts)}};
}

}  // namespace lemma::view
