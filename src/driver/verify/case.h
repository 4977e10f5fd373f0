// driver/verify/case.h — recorded cases: a model with inputs and the outputs that are expected.
//
//     CASE/case.json                    tolerances, attributes, number of steps
//     CASE/model/                       the model
//     CASE/inputs/NAME.npy              and CASE/outputs/NAME.npy; or, for stateful models,
//     CASE/steps/0/inputs/NAME.npy      or CASE/inputs/0/NAME.npy, for each step
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "interpret/array.h"
#include "session/session.h"

namespace lemma::driver {

struct Tolerance {
    double relative = 1e-5;
    double absolute = 1e-6;
};

// Where two arrays differ most; empty when they agree. Reals agree within the tolerance, and where
// both are nan or the same infinity; all else must be equal.
struct Difference {
    std::string text;   // `y[1, 2] is 3.5, expected 3.25`
    double amount = 0;  // |got - want|, infinite for shapes and kinds
    int64_t count = 0;  // of elements that differ
};
std::optional<Difference> compare(const std::string& name,
                                  const interpret::Array& got,
                                  const interpret::Array& want,
                                  const Tolerance& tolerance);

struct CaseOptions {
    session::SessionOptions session;
    std::optional<double> relative, absolute;  // instead of the case's own
};
struct CaseResult {
    std::string name;
    std::vector<std::string> failures;  // none: passed
    std::vector<std::string> remarks;   // what is worth knowing about how it ran

    bool passed() const { return failures.empty(); }
};

// The cases that a path names: itself, or all in the folders below it. An error if there is none.
Result<std::vector<std::string>> find_cases(const std::string& path);
void add_remarks(const model::Finding& finding, CaseResult& result);
CaseResult run_case(const std::string& folder, const CaseOptions& options);

}  // namespace lemma::driver
