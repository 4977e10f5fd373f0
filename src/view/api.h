// SPDX-License-Identifier: Apache-2.0
// view/api.h — the answers to a page: itself, the document, and what takes longer
// (docs/view-json.md, Endpoints).
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "view/http.h"
#include "view/workbench.h"

namespace lemma::view {

class Api {
public:
    // `viewed` outlives it.
    Api(const ViewedModel& viewed, WorkbenchOptions options, std::string token);

    // Of any thread. `port` is the one that the server listens on.
    HttpResponse answer(const HttpRequest& request, int port);
    // Ends what runs and refuses the rest.
    void end() { ended_ = true; }

private:
    HttpResponse answer_api(const HttpRequest& request);
    Result<Json> work(const HttpRequest& request, const RunControl& control);

    const std::string document_;
    Workbench bench_;
    const std::string token_;
    std::mutex one_at_a_time_;
    std::atomic<bool> ended_ = false;
};

}  // namespace lemma::view
