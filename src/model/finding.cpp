// SPDX-License-Identifier: Apache-2.0
#include "model/finding.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "diag/render.h"
#include "diag/utf8.h"
#include "model/files.h"

namespace lemma::model {

namespace {

// Keeps the order of the fields.
using Json = nlohmann::ordered_json;

Json document_of(const Finding& finding) {
    if (!finding.unusable) return Json::parse(diag::render_json(finding.sources, finding.diag));
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add(finding.model, "");
    diag.error({file, 0, 0}, DiagKind::UnreadableFile, finding.unusable->message);
    Json document = Json::parse(diag::render_json(sources, diag));
    document["diagnostics"][0]["kind"] = error_id(*finding.unusable);
    return document;
}

Json remarks_of(const Finding& finding) {
    Json remarks = Json::array();
    for (const diag::Note& remark : finding.remarks) {
        if (!remark.span.valid()) {
            remarks.push_back({{"message", remark.message}});
            continue;
        }
        const diag::LineColumn place = finding.sources.place(remark.span.file, remark.span.begin);
        Json item = {{"message", remark.message}, {"file", finding.sources.name(remark.span.file)}};
        if (finding.sources.is_binary(remark.span.file)) {
            if (remark.span.end > remark.span.begin)
                item["path"] = finding.sources.line(remark.span.file, place.line);
        } else {
            item["line"] = place.line;
            item["column"] = place.column;
        }
        remarks.push_back(std::move(item));
    }
    return remarks;
}

}  // namespace

std::string remark_text(const Finding& finding, const diag::Note& remark) {
    const std::string message = diag::printable(remark.message);
    if (!remark.span.valid()) return fmt::format("note: {}\n", message);
    const diag::SourceMap& sources = finding.sources;
    const diag::LineColumn place = sources.place(remark.span.file, remark.span.begin);
    std::string text = diag::printable(sources.name(remark.span.file));
    if (!sources.is_binary(remark.span.file)) {
        text += fmt::format(":{}:{}", place.line, place.column);
    } else if (remark.span.end > remark.span.begin) {
        text += ":" + diag::printable(sources.line(remark.span.file, place.line));
    }
    return fmt::format("{}: note: {}\n", text, message);
}

std::string remarks_text(const Finding& finding) {
    std::string text;
    for (const diag::Note& remark : finding.remarks) text += remark_text(finding, remark);
    return text;
}

std::string as_json(const std::vector<Finding>& findings) {
    const std::vector<std::string> counts = {"errors", "warnings", "dropped", "dropped_warnings"};
    Json all = {{"diagnostics", Json::array()}};
    for (const std::string& count : counts) all[count] = 0;
    Json models = Json::array();
    for (const Finding& finding : findings) {
        Json one = document_of(finding);
        for (Json& item : one["diagnostics"]) {
            item["model"] = finding.model;
            all["diagnostics"].push_back(std::move(item));
        }
        for (const std::string& count : counts) {
            all[count] = all[count].get<size_t>() + one[count].get<size_t>();
        }
        models.push_back({{"model", finding.model},
                          {"status", finding.status},
                          {"errors", one["errors"]},
                          {"warnings", one["warnings"]}});
        if (!finding.conformity.empty())
            models.back()["conformity"] = Json::parse(finding.conformity);
        if (!finding.remarks.empty()) models.back()["remarks"] = remarks_of(finding);
    }
    all["models"] = std::move(models);
    return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lemma::model
