// SPDX-License-Identifier: Apache-2.0
// api/model.h — the model behind the public header.
#pragma once

#include <lemma/lemma.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "api/inspect.h"
#include "model/finding.h"
#include "session/model.h"

struct lemma_model {
    std::atomic<size_t> references{1};
    std::shared_ptr<const lemma::session::Model> loaded;
    lemma::api::Inspection about;
    std::string target;
    std::string device;            // its name; empty: there is none
    mutable std::mutex places;     // look-ups in the texts belong to one thread
    lemma::diag::SourceMap texts;  // of the model, for the places of diagnostics

    const lemma::ir::Program& program() const { return loaded->program(); }
};

namespace lemma::api {

// The finding of a session, with places in the texts of its model.
int hand_over(lemma_model& model, model::Finding& finding, lemma_report** report);

}  // namespace lemma::api
