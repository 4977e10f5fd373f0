// SPDX-License-Identifier: Apache-2.0
// driver/testing/case_run.h — runs the cases of `lemma test` in the interpreter and as compiled
// code.
#pragma once

#include <string>
#include <vector>

#include "driver/testing/case_file.h"
#include "session/session.h"

namespace lemma::driver {

// How one engine fails a case.
struct TestFailure {
    std::string engine;  // `interpret`, `jit`, or both with a comma
    std::string message;
    std::string expected, found;  // values, if they are few
};

struct TestOptions {
    std::string folder;  // of the test file
    std::string beside;  // the model beside the file, as a path from the folder; may be empty
    session::SessionOptions session;
    std::vector<session::EngineKind> engines;
};

// Failures of all engines; the same failure of both is one. Empty: passed.
std::vector<TestFailure> run_test_case(const TestCase& test, const TestOptions& options);

}  // namespace lemma::driver
