// api/report.h — problems for the public headers, and the barrier for exceptions.
#pragma once

#include <exception>
#include <lemma/lemma.hpp>
#include <new>

#include "base/result.h"
#include "model/finding.h"

namespace lemma::api {

// Sets the status and adds the problems of a finding, in the order of their places.
void report(model::Finding& finding, Outcome& outcome);
void report_unusable(const Error& error, Outcome& outcome);
void report_fault(const char* what, Outcome& outcome);

// Runs a step, which fills in the outcome. Exceptions can only come from libraries below us.
template <class Step>
void guarded(Outcome& outcome, Step step) {
    try {
        step();
    } catch (const std::bad_alloc&) {
        report_unusable({"out of memory"}, outcome);
    } catch (const std::exception& error) {
        report_fault(error.what(), outcome);
    }
}

}  // namespace lemma::api
