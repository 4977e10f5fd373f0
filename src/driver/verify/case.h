// SPDX-License-Identifier: Apache-2.0
// driver/verify/case.h — recorded cases: a model with inputs and expected outputs.
//
//     CASE/case.json                    tolerances, attributes, number of steps
//     CASE/model/                       the model
//     CASE/inputs/NAME.npy              and CASE/outputs/NAME.npy; or, for stateful models,
//     CASE/steps/0/inputs/NAME.npy      or CASE/inputs/0/NAME.npy, for each step
#pragma once

#include <functional>
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

// The largest difference of two arrays; empty if they agree. Reals agree within the tolerance, or
// if both are NaN or the same infinity. Other values must be equal.
struct Difference {
    std::string text;      // `y[1, 2] is 3.5, expected 3.25`
    double amount = 0;     // |got - want|, infinite for shapes and kinds
    int64_t count = 0;     // number of differing elements
    int64_t element = -1;  // where, in row-major order; -1 for shapes and kinds
};
std::optional<Difference> compare(const std::string& name,
                                  const interpret::Array& got,
                                  const interpret::Array& want,
                                  const Tolerance& tolerance);

struct CaseOptions {
    session::SessionOptions session;
    std::optional<double> relative, absolute;  // override those of the case
};
struct CaseResult {
    std::string name;
    std::vector<std::string> failures;  // none: passed
    std::vector<std::string> remarks;   // remarks about the run

    bool passed() const { return failures.empty(); }
};

// The cases in a path: the path itself, or all in the folders below it. An error if there is none.
Result<std::vector<std::string>> find_cases(const std::string& path);
void add_remarks(const model::Finding& finding, CaseResult& result);
CaseResult run_case(const std::string& folder, const CaseOptions& options);

// A case before its run. Of an ONNX case, the first data set.
struct PreparedCase {
    std::string model;
    session::SessionOptions session;
    Tolerance tolerance;
    int64_t steps = 1;
    // The inputs of a step, complete.
    std::function<Result<interpret::NamedArrays>(const ir::Program&, int64_t)> inputs;
};
Result<PreparedCase> prepare_case(const std::string& folder, const CaseOptions& options);

}  // namespace lemma::driver
