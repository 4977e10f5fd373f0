// SPDX-License-Identifier: Apache-2.0
// prove/process.h — runs a program without a shell, with a time limit. The program and all that it
// starts form one process group, so that nothing is left over.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lemma::prove {

struct ProcessOptions {
    std::vector<std::string> environment = {};  // `NAME=VALUE`, besides those of this process
    double seconds = 0;                         // limit on its wall time; 0: none
};

struct ProcessResult {
    int status = 0;  // its exit status, or 128 + the signal that ended it
    bool timed_out = false;
    bool stopped = false;  // because of a signal to this process
    std::string output;    // stdout and stderr together
    double seconds = 0;
};

// The first element is the program: a path, or a name that PATH finds. An error means that it did
// not start.
Result<ProcessResult> run_process(const std::vector<std::string>& command,
                                  const ProcessOptions& options);

// The path of a program; empty if PATH has none of that name.
std::string find_program(const std::string& name);

// While an object lives, SIGINT, SIGTERM and SIGHUP do not end this process: run_process stops its
// program and returns. The last destructor sends the signal again. One object at a time.
class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    static bool arrived();
};

}  // namespace lemma::prove
