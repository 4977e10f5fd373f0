// SPDX-License-Identifier: Apache-2.0
// tests/support/number_file.h — the expected results of operators, as a text of cases:
//
//     # a comment; blank lines mean nothing
//     case one row for all                begins a case, with its name
//     compose z = math.add(x, y);         the computation of the graph; further lines add to it
//     input x: real[2,3] =                type, shape, and the values in row-major order;
//         1 2 3                           an indented line continues the line above
//         4 5 6
//     input y: real[3] = 10 20 30
//     output z: real[2,3] = 11 22 33 14 25 36
//
// Values are numbers, `inf`, `-inf`, `nan`, `true`, `false`, and words for str. Reals may differ by
// 1e-6 + 1e-5 * |expected|, other values are exact. Further lines of a case:
//
//     variable z.bias: real[2] = 1 2      a variable of an operator, by its scoped name
//     declare y: real[n|8]                declares this input other than by its shape,
//                                         or an output without an expected value
//     after z.bias: real[2] = 1 3         the value of this variable after the run
//     step                                the following lines belong to another run
//     error outside of its extent         this run fails with a message that contains these words
//     tolerance 1e-3 1e-4                 relative and absolute, for the reals of the case
//     sample r: real[500] = least 0 greatest 1 mean 0.5 deviation 0.289
//                                         random numbers: their range, and estimates that must hold
//                                         within five standard errors; they repeat after a restart
//                                         and differ in the next run
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "interpret/array.h"

namespace lemma::testing {

struct NumberTensor {
    std::string name;
    std::string type;         // "real", "int", "bool" or "str"
    interpret::Array values;  // reals as written, not rounded to f32
};

struct NumberSample {
    std::string name;
    std::string type;
    tensor::Shape shape;
    double least = 0, greatest = 0, mean = 0, deviation = 0;
};

struct NumberStep {
    std::vector<NumberTensor> inputs;
    std::vector<NumberTensor> outputs;
    std::vector<NumberTensor> variables;  // after the run
    std::vector<NumberSample> samples;
    std::string error;
};

struct NumberCase {
    std::string name;
    size_t line = 0;
    std::string compose;
    std::map<std::string, std::string> declared;  // by name, from `declare`
    std::vector<NumberTensor> variables;
    std::set<std::string> weights;  // inputs that the graph turns into variables; not from the file
    std::vector<NumberStep> steps;
    double rtol = 1e-5, atol = 1e-6;
};

// The error begins with the line number. A text without a case is an error, and so is a case that
// computes or expects nothing.
Result<std::vector<NumberCase>> read_numbers(std::string_view text);

}  // namespace lemma::testing
