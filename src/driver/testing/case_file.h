// SPDX-License-Identifier: Apache-2.0
// driver/testing/case_file.h — the files of `lemma test`: inputs and expected outputs of operators
// and models, written by hand. docs/howto/test-an-operator.md describes them.
//
//     # a comment; blank lines mean nothing
//     model ops.sknd                      for all cases below; without it, the file beside the test
//     import nn                           a module that the calls use
//     case halves large values            begins a case, with its name
//     call y = softsign(x);               statements of a graph; further lines add to it
//     input x = [[1, -3], [0, 7]]         nested lists; an indented line continues the line above
//     output y = [[0.5, -0.75], [0, 0.875]]
//
// Further lines of a case:
//
//     input x: int = [1, 2]               numbers are reals unless the type says otherwise
//     declare x: real[n|8]                declares this input of a call other than by its shape
//     graph Main                          instead of a call: a graph of the model
//     attribute depth=3                   of the graph
//     variable y.bias = [1, 2]            the value of a variable, by its scoped name
//     after y.bias = [1, 3]               its value after the run
//     step                                the following lines belong to another run
//     tolerance 1e-3 1e-4                 relative and absolute
//     error assert-failed: a vector       this run fails with this kind of error, and these words
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/verify/case.h"
#include "interpret/array.h"

namespace lemma::driver {

struct TestTensor {
    std::string name;
    std::string type;  // `real`, `int`, `bool` or `str`
    interpret::Array values;
};

struct ExpectedError {
    std::string kind;   // an id of kinds.def
    std::string words;  // in the message; may be empty
};

struct TestStep {
    std::vector<TestTensor> inputs, outputs, after;
    std::optional<ExpectedError> error;
};

struct TestCase {
    std::string name;
    size_t line = 0;
    std::string model;  // a path from the folder of the file; empty: the file beside it, or none
    std::vector<std::string> imports;
    std::string call;  // statements; empty: the model itself runs
    std::string graph;
    std::vector<std::string> attributes;  // NAME=VALUE
    std::vector<std::string> declared;    // NAME: TYPE
    std::vector<TestTensor> variables;
    std::vector<TestStep> steps;
    Tolerance tolerance;
};

// The error begins with the number of the line. A text without a case is an error, and so is a case
// that expects nothing.
Result<std::vector<TestCase>> read_test_cases(std::string_view text);

}  // namespace lemma::driver
