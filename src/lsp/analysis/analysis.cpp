// SPDX-License-Identifier: Apache-2.0
#include "lsp/analysis/analysis.h"

#include "base/control.h"
#include "model/checked.h"

namespace lemma::lsp {

std::vector<std::string> Analysis::paths() const {
    std::vector<std::string> paths;
    for (uint32_t i = 0; i < finding.sources.size(); ++i) {
        const std::string& name = finding.sources.name(make_id<diag::FileId>(i));
        if (name.starts_with('/')) paths.push_back(name);
    }
    return paths;
}

std::shared_ptr<const Analysis> analyse(const Job& job, const std::atomic<bool>& stop) {
    auto analysis = std::make_shared<Analysis>();
    analysis->uri = job.uri;
    analysis->path = job.path;
    analysis->version = job.version;
    analysis->revision = job.revision;
    analysis->text = job.text;
    const ModelPlace place = model_place(job.path, *job.text, job.roots, job.buffers);
    const auto file = model_of(job.path, job.text, job.language, place.folder, job.buffers);
    if (!file) {
        analysis->finding.fail(file.error());
        return analysis;
    }
    const RunControl control(&stop, 0, nullptr);
    model::LoadOptions options;
    options.control = &control;
    options.check.library = place.library;
    analysis->finding = model::checked(*file, options, {}, analysis->model);
    analysis->stopped = control.stopped();
    // The main file is read first.
    if (analysis->finding.sources.size() > 0) analysis->file = make_id<diag::FileId>(0);
    return analysis;
}

}  // namespace lemma::lsp
