// model/finding.h — what a command found out about one model, and a list of these as JSON.
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
    std::vector<diag::Note> remarks;  // what is worth knowing and no fault; a place may be missing
    std::string dump;
    std::string conformity;  // what a profile says, as a JSON document

    // Something other than the model's contents is in the way.
    void fail(Error error) {
        unusable = std::move(error);
        status = kUnusable;
    }
};

// `file:line:column: note: …`, with an end of line; `file:path: note: …` for binary files.
std::string remark_text(const Finding& finding, const diag::Note& remark);
// All of them.
std::string remarks_text(const Finding& finding);

// The document of diag/render.h for all models together; `model` says whose each diagnostic is, and
// `models` lists them all.
std::string as_json(const std::vector<Finding>& findings);

}  // namespace lemma::model
