// SPDX-License-Identifier: Apache-2.0
// report.h — failures of the C interface as Python exceptions, and its reports as Python values.
#pragma once

#include <lemma/lemma.h>
#include <pybind11/pybind11.h>

#include <memory>

namespace lemma::python {

namespace py = pybind11;

struct FreeReport {
    void operator()(lemma_report* report) const { lemma_report_free(report); }
};

// A place for the report of one call: `lemma_load(…, report.place())`.
class Report {
public:
    Report() = default;
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;
    ~Report() { lemma_report_free(report_); }

    lemma_report** place() { return &report_; }
    const lemma_report* get() const { return report_; }

private:
    lemma_report* report_ = nullptr;
};

// The diagnostics as a list of `lemma.Diagnostic`.
py::list diagnostics_of(const lemma_report* report);

// Throws the exception of a failed call: `lemma.ModelError`, `RunError`, `UsageError`, `Stopped`
// or `Error`. `running` tells a model that is wrong from one that fails on its inputs. A pending
// KeyboardInterrupt comes first.
[[noreturn]] void throw_failure(int status, const lemma_report* report, bool running);

// Throws `lemma.UsageError`.
[[noreturn]] void throw_usage(const std::string& message);

}  // namespace lemma::python
