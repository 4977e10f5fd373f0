// SPDX-License-Identifier: Apache-2.0
// model/status.h — the exit status of commands.
#pragma once

namespace lemma::model {

// When several values apply, the largest wins.
enum Status : int {
    kGood = 0,
    kWrong = 1,     // the model or the result is wrong
    kUnusable = 2,  // bad usage, or a file that cannot be read or written
    kFault = 3,     // an internal error
};

}  // namespace lemma::model
