// SPDX-License-Identifier: Apache-2.0
// api/report.h — diagnostics for the public headers, and the barrier for exceptions.
#pragma once

#include <lemma/lemma.h>

#include <deque>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/finding.h"

// A diagnostic and its texts; the report never moves them.
struct lemma_report {
    struct Item {
        std::string kind, message, file, path, text;
        lemma_diagnostic view = {};
    };
    std::deque<Item> items;
    std::string text;
    std::string json;
};

namespace lemma::api {

// Whether a finding has diagnostics, remarks or an error.
bool has_news(const model::Finding& finding);
// All of them; null if there are none.
lemma_report* make_report(model::Finding& finding);

// Hands a finding over to the caller, who may not want it, and returns the status.
int hand_over(model::Finding& finding, lemma_report** report);
// The same for a single error.
int refuse(std::string message, lemma_report** report);
// The error of a call that was cancelled or ran out of time.
int report_stopped(const Error& why, lemma_report** report);

void report_fault(const char* what, model::Finding& finding);

// Runs a step, which fills in the finding. Exceptions can only come from libraries below us.
template <class Step>
void guarded(model::Finding& finding, Step step) {
    try {
        step();
    } catch (const std::bad_alloc&) {
        finding.fail({"out of memory"});
    } catch (const std::exception& error) {
        report_fault(error.what(), finding);
    }
}

// A whole function of the library: the step fills in the finding, the caller gets the report.
template <class Step>
int call(lemma_report** report, Step step) {
    if (report) *report = nullptr;
    model::Finding finding;
    guarded(finding, [&] { step(finding); });
    return hand_over(finding, report);
}

}  // namespace lemma::api
