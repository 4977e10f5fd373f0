// SPDX-License-Identifier: Apache-2.0
// lsp/analysis/analysis.h — the work of `lemma check` for an open text, and what it finds out.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lsp/workspace/overlay.h"
#include "model/checked_model.h"
#include "model/finding.h"

namespace lemma::lsp {

// An open text at one moment, with all other open texts.
struct Job {
    std::string uri;
    std::string path;  // empty: no file
    Language language{};
    int64_t version = 0;
    uint64_t revision = 0;
    SharedText text;
    Buffers buffers;
    std::vector<std::string> roots;
};

struct Analysis {
    std::string uri;
    std::string path;
    int64_t version = 0;
    uint64_t revision = 0;
    bool stopped = false;  // before the end, because the text has changed
    SharedText text;
    model::Finding finding;
    model::CheckedModel model;  // points into the finding
    diag::FileId file;          // of the text itself; invalid if it was not read

    // The files that it depends on.
    std::vector<std::string> paths() const;
};

std::shared_ptr<const Analysis> analyse(const Job& job, const std::atomic<bool>& stop);

}  // namespace lemma::lsp
