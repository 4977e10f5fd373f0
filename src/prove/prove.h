// SPDX-License-Identifier: Apache-2.0
// prove/prove.h — proves functions with Frama-C, several at a time. A function is proved once for
// its text: later runs take the result from a cache.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "prove/function_text.h"
#include "prove/proof.h"
#include "prove/provers.h"

namespace lemma::prove {

struct ProveOptions {
    int64_t jobs = 1;
    int64_t timeout = 20;      // seconds for a goal and a prover
    int64_t limit = 3600;      // seconds for a function
    bool force = false;        // do not take results from the cache
    std::string cache_folder;  // empty: no cache
    std::string folder;        // for the files of functions and the output of Frama-C
};

struct Progress {
    size_t done = 0;
    size_t all = 0;
    std::string running;  // names of functions
};

struct Proofs {
    std::vector<FunctionProof> functions;  // in the order in which they were given
    std::vector<std::string> command;      // that proved them, without the name of the file
    std::string cache_trouble;             // why there is no cache; empty if there is one
};

// Arrived signals leave the rest without a result. `show` may be empty; it is called in this
// thread, several times a second.
Result<Proofs> prove_functions(const std::vector<FunctionText>& functions,
                               const Provers& provers,
                               const ProveOptions& options,
                               const std::function<void(const Progress&)>& show);

}  // namespace lemma::prove
