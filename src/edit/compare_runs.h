// SPDX-License-Identifier: Apache-2.0
// edit/compare_runs.h — runs two models on the same random inputs and compares their outputs.
#pragma once

#include <string>

#include "base/result.h"
#include "model/finding.h"
#include "session/model.h"

namespace lemma::edit {

// Outputs agree if no element differs by more than this part of the largest one, plus kAbsolute.
inline constexpr double kRelative = 1e-4;
inline constexpr double kRelativeHalf = 1e-2;  // for f16 and bf16
inline constexpr double kAbsolute = 1e-6;

struct Compared {
    double difference = 0;  // the largest
    std::string trouble;    // where they differ too much; empty: they agree
};

// Inputs and outputs correspond by their order. Each run has other inputs; variables keep their
// values from run to run. An error if one of the models does not run.
Result<Compared> compare_runs(const std::string& before,
                              const session::SessionOptions& options,
                              const std::string& after,
                              int64_t runs);

}  // namespace lemma::edit
