// api/model.h — the model behind the public header.
#pragma once

#include <lemma/lemma.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "api/inspect.h"
#include "model/finding.h"
#include "session/session.h"

struct lemma_model {
    std::atomic<size_t> references{1};
    std::string path;
    lemma::session::SessionOptions options;
    std::unique_ptr<lemma::session::Session> loaded;  // with the program
    lemma::api::Inspection about;
    std::string format, target, reason;
    mutable std::mutex places;             // look-ups in the texts belong to one thread
    lemma::diag::SourceMap texts;  // of the model, for the places of diagnostics

    const lemma::ir::Program& program() const { return loaded->program(); }
};

namespace lemma::api {

// The finding of a session, with places in the texts of its model.
int hand_over(lemma_model& model, model::Finding& finding, lemma_report** report);

}  // namespace lemma::api
