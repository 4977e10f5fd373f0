#include "driver/finding.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "diag/render.h"

namespace lemma::driver {

namespace {

// Keeps the order of the fields.
using Json = nlohmann::ordered_json;

Json document_of(const Finding& finding) {
    if (!finding.unusable) return Json::parse(diag::render_json(finding.sources, finding.diag));
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add(finding.model, "");
    diag.error({file, 0, 0}, DiagKind::UnreadableFile, finding.unusable->message);
    return Json::parse(diag::render_json(sources, diag));
}

Json remarks_of(const Finding& finding) {
    Json remarks = Json::array();
    for (const diag::Note& remark : finding.remarks) {
        Json item = {{"message", remark.message}, {"file", finding.sources.name(remark.span.file)}};
        if (!finding.sources.is_binary(remark.span.file)) {
            const diag::Place place = finding.sources.place(remark.span.file, remark.span.begin);
            item["line"] = place.line;
            item["column"] = place.column;
        }
        remarks.push_back(std::move(item));
    }
    return remarks;
}

}  // namespace

std::string remarks_text(const Finding& finding) {
    std::string text;
    for (const diag::Note& remark : finding.remarks) {
        text += finding.sources.name(remark.span.file);
        if (!finding.sources.is_binary(remark.span.file)) {
            const diag::Place place = finding.sources.place(remark.span.file, remark.span.begin);
            text += fmt::format(":{}:{}", place.line, place.column);
        }
        text += fmt::format(": note: {}\n", remark.message);
    }
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
        if (!finding.remarks.empty()) models.back()["remarks"] = remarks_of(finding);
    }
    all["models"] = std::move(models);
    return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lemma::driver
