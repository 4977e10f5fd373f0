// model/status.h — how a command ends.
#pragma once

namespace lemma::model {

// The exit status of every command; when several apply, the largest wins.
enum Status : int {
    kGood = 0,
    kWrong = 1,     // the model or the result is wrong
    kUnusable = 2,  // bad usage, or a file that cannot be read or written
    kFault = 3,     // our own fault
};

}  // namespace lemma::model
