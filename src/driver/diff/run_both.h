// SPDX-License-Identifier: Apache-2.0
// driver/diff/run_both.h — runs two compared models on the same inputs, for `lemma diff --run`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diff/compare.h"
#include "diff/numbers.h"
#include "driver/driver.h"
#include "session/session.h"

namespace lemma::driver {

struct RunBoth {
    std::vector<std::string> inputs;  // as for `-i`, by the names of A
    uint64_t seed = 1;                // of the other inputs
    session::SessionOptions a, b;
    diff::Tolerance tolerance;
};

// Empty after a fault of a model, which its finding reports. An error concerns the inputs.
Result<std::optional<diff::Numbers>> run_both(const diff::Comparison& comparison,
                                              const RunBoth& options,
                                              const Terminal& terminal,
                                              model::Finding& a,
                                              model::Finding& b);

}  // namespace lemma::driver
