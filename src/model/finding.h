// SPDX-License-Identifier: Apache-2.0
// model/finding.h — the results of a command for one model, and a list of them as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diag/diagnostic.h"
#include "diag/source.h"
#include "model/status.h"

namespace lemma::model {

struct Finding {
    std::string model;  // as the user named it
    int status = kGood;
    diag::SourceMap sources;
    Diagnostics diag;
    std::optional<Error> unusable;    // why it could not be used at all
    std::vector<diag::Note> remarks;  // hints that are no faults; a place may be missing
    std::string dump;
    std::string conformity;  // the report of a profile, as a JSON document

    // For problems outside the model's contents.
    void fail(Error error) {
        unusable = std::move(error);
        status = kUnusable;
    }
};

// `file:line:column: note: …`, with a line break; `file:path: note: …` for binary files.
std::string remark_text(const Finding& finding, const diag::Note& remark);
// All remarks.
std::string remarks_text(const Finding& finding);

// The document of diag/render.h for all models together; `model` names the model of each
// diagnostic, and `models` lists all models.
std::string as_json(const std::vector<Finding>& findings);

}  // namespace lemma::model
