// SPDX-License-Identifier: Apache-2.0
// prove/wp_output.h — reads what Frama-C's WP prints about the goals of one function.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::prove {

struct WpOutput {
    int64_t goals = 0;
    int64_t proved = 0;
    std::map<std::string, int64_t> by;  // goals by prover: `Qed`, `Z3`, `CVC4`
    std::vector<std::string> unproved;  // names of goals, such as `typed_real_n0_relu_ensures`
    double slowest = 0;                 // seconds of a prover for one goal
    std::vector<std::string> warnings;
    std::vector<std::string> errors;  // why there are no goals, or fewer
    bool complete = false;            // WP came to its end
};

WpOutput read_wp_output(std::string_view text);

}  // namespace lemma::prove
