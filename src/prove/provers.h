// SPDX-License-Identifier: Apache-2.0
// prove/provers.h — Frama-C and the provers on this machine, and the set-up of Why3 that connects
// them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lemma::prove {

struct Provers {
    std::string frama_c;                // path
    std::vector<std::string> provers;   // as Why3 names them, in the order in which they try a goal
    std::vector<std::string> versions;  // `Frama-C 25.0-beta (Manganese)`, `CVC4 1.8`, `Z3 4.8.12`
    std::string why3_config;            // file; the user's own one is not touched
};

// Writes the configuration of Why3 into the folder. The error names everything that is missing and
// the Debian packages that have it.
Result<Provers> find_provers(const std::string& folder);

}  // namespace lemma::prove
