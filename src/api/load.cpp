// SPDX-License-Identifier: Apache-2.0
// Loads models: options, files and memory.
#include <fmt/format.h>

#include <functional>

#include "api/control.h"
#include "api/convert.h"
#include "api/memory_model.h"
#include "api/model.h"
#include "api/options.h"
#include "api/report.h"
#include "base/version.h"

namespace lemma::api {

namespace {

Result<session::EngineKind> engine_kind(int engine) {
    switch (engine) {
        case LEMMA_AUTO:
            return session::EngineKind::Auto;
        case LEMMA_INTERPRET:
            return session::EngineKind::Interpret;
        case LEMMA_COMPILE:
            return session::EngineKind::Jit;
        default:
            return bad(fmt::format("there is no engine {}", engine));
    }
}

Result<session::SessionOptions> session_options(const lemma_load_options& given) {
    session::SessionOptions options;
    model::GraphOptions& graph = options.check.graph;
    LEMMA_TRY(graph.attributes, attributes_of(given.attributes, given.attribute_count));
    LEMMA_TRY(graph.compose.real, real_of(given.real));
    graph.graph = text_of(given.graph);
    if (given.random_weights != 0) options.random_weights = given.weights_seed;
    options.weights = text_of(given.weights);
    options.quantize = given.quantize != 0;
    LEMMA_TRY(options.extra_outputs,
              texts_of(given.extra_outputs, given.extra_output_count, "extra output"));
    if (given.value_count > 0 && !given.values)
        return bad("the options have a number of values, but their pointer is NULL");
    for (size_t i = 0; i < given.value_count; ++i) {
        const std::string name = text_of(given.values[i].name);
        LEMMA_TRY(options.values[name], internal_tensor(name, given.values[i].tensor));
    }
    LEMMA_TRY(options.engine, engine_kind(given.engine));
    LEMMA_TRY(options.compile.numerics, numerics_of(given.numerics));
    if (given.accumulate_f32 != 0) options.run.accumulate = ir::Accumulate::F32;
    options.compile.target = text_of(given.target);
    if (given.cache && given.cache[0] == '\0') options.compile.no_cache = true;
    options.compile.cache_folder = text_of(given.cache);
    options.compile.device = text_of(given.device);
    return options;
}

// Finds the model; `name` is what the caller calls it.
using Finder = std::function<Result<model::ModelFile>(const tensor::SourceLimits&)>;

int load(const std::string& name,
         const Finder& find,
         const lemma_load_options* options,
         lemma_model** model,
         lemma_report** report) {
    if (report) *report = nullptr;
    model::Finding finding;
    std::unique_ptr<lemma_model> made;
    CallControl control;
    guarded(finding, [&] {
        const auto known = options_of(options, "lemma_load_options");
        if (!known) return finding.fail(known.error());
        auto session = session_options(*known);
        if (!session) return finding.fail(session.error());
        auto wanted = CallControl::make(known->control);
        if (!wanted) return finding.fail(wanted.error());
        control = std::move(*wanted);
        session->control = control.get();
        finding.model = name;
        auto loaded = session::Model::open(find(session->source), *session, finding);
        if (!loaded) return;
        made = std::make_unique<lemma_model>();
        made->loaded = std::move(loaded);
        made->about = inspect(made->program());
        made->target = made->loaded->target();
        if (made->loaded->device()) made->device = made->loaded->device()->name();
    });
    if (control.stopped()) return report_stopped(control.get()->error(), report);
    const int status = hand_over(finding, report);
    if (status != LEMMA_GOOD || !made) return status;
    made->texts = std::move(finding.sources);
    *model = made.release();
    return status;
}

}  // namespace

}  // namespace lemma::api

const char* lemma_version(void) { return lemma::kVersion.data(); }

int lemma_api_version(void) { return LEMMA_API_VERSION; }

int lemma_load(const char* path,
               const lemma_load_options* options,
               lemma_model** model,
               lemma_report** report) {
    namespace api = lemma::api;
    if (!model) return api::refuse("no place for the model is given", report);
    *model = nullptr;
    if (!path) return api::refuse("no path is given", report);
    return api::load(
        path,
        [&](const auto& limits) { return lemma::model::find_model(path, limits); },
        options,
        model,
        report);
}

int lemma_load_memory(const lemma_file* files,
                      size_t count,
                      const lemma_load_options* options,
                      lemma_model** model,
                      lemma_report** report) {
    namespace api = lemma::api;
    if (!model) return api::refuse("no place for the model is given", report);
    *model = nullptr;
    const char* const name = count > 0 && files && files[0].name ? files[0].name : "";
    return api::load(
        name,
        [&](const auto& limits) { return api::memory_model(files, count, limits); },
        options,
        model,
        report);
}

lemma_model* lemma_model_share(lemma_model* model) {
    if (model) model->references.fetch_add(1, std::memory_order_relaxed);
    return model;
}

void lemma_model_free(lemma_model* model) {
    if (model && model->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete model;
}
