// SPDX-License-Identifier: Apache-2.0
// lsp/run.h — the language server on two descriptors.
#pragma once

#include <string>

#include "base/result.h"

namespace lemma::lsp {

struct RunOptions {
    int input = 0;
    int output = 1;
    std::string log;                          // a file for a line per message; empty: none
    int64_t max_message = int64_t{64} << 20;  // bytes
    int delay_ms = 2;                         // from a change to its analysis
};

// Returns when the client ends the server: 0, or 1 if it did so without `shutdown`. The error is
// about the log file.
Result<int> run(const RunOptions& options);

}  // namespace lemma::lsp
