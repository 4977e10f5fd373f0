// SPDX-License-Identifier: Apache-2.0
// tests/certify/soundness.h — tests a certificate on random inputs: results and their distance from
// the 128-bit reference must stay within the bounds of every output element.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "certify/exact_run.h"

namespace lemma::testing_support {

struct Soundness {
    size_t samples = 0;
    size_t violations = 0;
    std::string first;  // violation
    struct Output {
        std::string name;
        double bound = 0;     // largest over the elements
        double observed = 0;  // largest distance
        double closest = 0;   // largest distance / bound of the same element
    };
    std::vector<Output> outputs;
};

struct SoundnessOptions {
    size_t samples = 100;
    uint64_t seed = 1;
    size_t lanes = 16;
    bool fast = false;  // double-double arithmetic instead of binary128
};

// One run of the program in its own arithmetic.
using Step = std::function<Result<interpret::NamedArrays>(const interpret::NamedArrays&)>;

Result<Soundness> check_soundness(const ir::Program& program,
                                  const certify::VariableReader& variables,
                                  const Step& step,
                                  const std::map<std::string, certify::InputRange>& ranges,
                                  const certify::Certificate& certificate,
                                  SoundnessOptions options);

}  // namespace lemma::testing_support
