// SPDX-License-Identifier: Apache-2.0
// The functions of lemma/tools.h that read and write files.
#include <lemma/tools.h>

#include "api/memory_model.h"
#include "api/report.h"
#include "api/tool_options.h"
#include "compile/compile.h"
#include "convert/convert.h"

namespace api = lemma::api;
namespace model = lemma::model;

int lemma_check(const char* path, const lemma_check_options* options, lemma_report** report) {
    return api::call(report, [&](model::Finding& finding) {
        if (!path) return finding.fail({"no path is given"});
        const auto request = api::check_request(options);
        if (!request) return finding.fail(request.error());
        finding = model::checked(path, request->load, request->limits);
    });
}

int lemma_check_memory(const lemma_file* files,
                       size_t count,
                       const lemma_check_options* options,
                       lemma_report** report) {
    return api::call(report, [&](model::Finding& finding) {
        const auto request = api::check_request(options);
        if (!request) return finding.fail(request.error());
        const auto file = api::memory_model(files, count, request->load.source);
        if (!file) return finding.fail(file.error());
        finding = model::checked(*file, request->load, request->limits);
    });
}

int lemma_convert(const char* path,
                  const char* out,
                  const lemma_convert_options* options,
                  lemma_report** report) {
    return api::call(report, [&](model::Finding& finding) {
        if (!path || !out) return finding.fail({"a path of a model and one to write are needed"});
        auto request = api::convert_request(options);
        if (!request) return finding.fail(request.error());
        finding.model = request->model = path;
        request->out = out;
        lemma::convert::convert_model(*request, finding);
    });
}

int lemma_compile(const char* path,
                  const char* out,
                  const lemma_compile_options* options,
                  lemma_report** report) {
    return api::call(report, [&](model::Finding& finding) {
        if (!path || !out) return finding.fail({"a path of a model and one to write are needed"});
        auto request = api::compile_request(options);
        if (!request) return finding.fail(request.error());
        finding.model = request->model = path;
        request->out = out;
        lemma::compile::compile_model(*request, finding);
    });
}
