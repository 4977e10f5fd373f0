// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "diag/render.h"

namespace lemma::diag {
namespace {

// Keeps the order of the fields, which reads better than alphabetical order.
using Json = nlohmann::ordered_json;

void add_place(Json& object, const SourceMap& sources, Span span) {
    if (!span.valid()) return;
    const LineColumn begin = sources.place(span.file, span.begin);
    const LineColumn end = sources.place(span.file, span.end);
    object["file"] = sources.name(span.file);
    if (sources.is_binary(span.file)) {
        object["path"] = sources.line(span.file, begin.line);
        return;
    }
    object["line"] = begin.line;
    object["column"] = begin.column;
    object["end_line"] = end.line;
    object["end_column"] = end.column;
    object["begin"] = span.begin;
    object["end"] = span.end;
}

Json to_json(const SourceMap& sources, const Diagnostic& diagnostic) {
    Json object;
    object["severity"] = diagnostic.severity == Severity::Error ? "error" : "warning";
    object["kind"] = shown_id(diagnostic);
    object["message"] = diagnostic.message;
    if (diagnostic.path.empty()) {
        add_place(object, sources, diagnostic.span);
    } else {
        object["path"] = diagnostic.path;
        if (diagnostic.span.valid()) object["file"] = sources.name(diagnostic.span.file);
    }
    object["notes"] = Json::array();
    for (const Note& note : diagnostic.notes) {
        Json item;
        item["message"] = note.message;
        add_place(item, sources, note.span);
        object["notes"].push_back(std::move(item));
    }
    object["fixes"] = Json::array();
    for (const FixIt& fix : diagnostic.fixes) {
        Json item;
        item["replacement"] = fix.replacement;
        add_place(item, sources, fix.span);
        object["fixes"].push_back(std::move(item));
    }
    return object;
}

}  // namespace

std::string render_json(const SourceMap& sources, const Diagnostics& diagnostics) {
    Json document;
    document["diagnostics"] = Json::array();
    for (const Diagnostic& diagnostic : diagnostics.items()) {
        document["diagnostics"].push_back(to_json(sources, diagnostic));
    }
    document["errors"] = diagnostics.error_count();
    document["warnings"] = diagnostics.warning_count();
    document["dropped"] = diagnostics.dropped_errors();
    document["dropped_warnings"] = diagnostics.dropped_warnings();
    constexpr int kIndent = 2;
    // Names and messages may quote bytes of the source that are not UTF-8.
    return document.dump(kIndent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lemma::diag
