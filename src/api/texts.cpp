// SPDX-License-Identifier: Apache-2.0
// The functions of lemma/tools.h that give texts to the caller.
#include <lemma/tools.h>

#include <cstdlib>
#include <cstring>

#include "api/model.h"
#include "api/report.h"
#include "api/tool_options.h"
#include "model/format_text.h"
#include "ops/select.h"
#include "ops/text.h"
#include "show/json.h"

namespace api = lemma::api;
namespace model = lemma::model;
namespace ops = lemma::ops;

namespace {

// A copy that lemma_text_free frees.
void give(const std::string& text, char** place, model::Finding& finding) {
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (!copy) return finding.fail({"out of memory"});
    std::memcpy(copy, text.c_str(), text.size() + 1);
    *place = copy;
}

// A function that gives a text: the step returns it, or fills in the finding.
template <class Step>
int text_call(char** place, lemma_report** report, Step step) {
    if (place) *place = nullptr;
    return api::call(report, [&](model::Finding& finding) {
        if (!place) return finding.fail({"no place for the text is given"});
        const std::optional<std::string> text = step(finding);
        if (text) give(*text, place, finding);
    });
}

std::nullopt_t fail(lemma::Error error, model::Finding& finding) {
    finding.fail(std::move(error));
    return std::nullopt;
}

}  // namespace

void lemma_text_free(char* text) { std::free(text); }

int lemma_format(const char* text,
                 size_t size,
                 const lemma_format_options* options,
                 char** formatted,
                 lemma_report** report) {
    return text_call(formatted, report, [&](model::Finding& finding) -> std::optional<std::string> {
        if (!text && size > 0) return fail({"no text is given"}, finding);
        if (size > lemma::diag::kMaxSourceBytes) return fail({"the text is too long"}, finding);
        const std::string given(text ? text : "", size);
        const auto request = api::format_request(options, given);
        if (!request) return fail(request.error(), finding);
        return model::format_text(request->name, given, request->options, finding);
    });
}

int lemma_graph_json(const lemma_model* model, int level, char** json, lemma_report** report) {
    return text_call(json, report, [&](model::Finding& finding) -> std::optional<std::string> {
        if (!model) return fail({"no model is given"}, finding);
        if (level != LEMMA_CALLS && level != LEMMA_PRIMITIVES)
            return fail({"there is no such level of a graph"}, finding);
        const auto shown =
            level == LEMMA_CALLS ? lemma::show::Level::Compound : lemma::show::Level::Primitive;
        const model::LoadedModel& loaded = model->loaded->loaded();
        const std::scoped_lock lock(model->places);
        return lemma::show::show_json(
            model->program(), shown, {&model->texts, loaded.metadata, loaded.deciding});
    });
}

int lemma_operators_json(const char* name, char** json, lemma_report** report) {
    return text_call(json, report, [&](model::Finding& finding) -> std::optional<std::string> {
        if (!name) return ops::operators_json(ops::listed_library({}, false));
        const auto selection = ops::select_operators(ops::listed_library({name}, false), name);
        if (!selection) return fail(selection.error(), finding);
        return ops::operators_json(selection->modules);
    });
}

int lemma_definitions_json(
    const char* text, size_t size, const char* name, char** json, lemma_report** report) {
    return text_call(json, report, [&](model::Finding& finding) -> std::optional<std::string> {
        if (!text && size > 0) return fail({"no text is given"}, finding);
        if (size > lemma::diag::kMaxSourceBytes) return fail({"the text is too long"}, finding);
        const auto file =
            finding.sources.add(name ? name : "<text>", std::string(text ? text : "", size));
        const auto described = ops::describe_text(finding.sources, file, finding.diag);
        if (!finding.diag.has_errors()) return ops::operators_json({described});
        finding.status = model::kWrong;
        return std::nullopt;
    });
}
