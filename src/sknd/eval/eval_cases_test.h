// SPDX-License-Identifier: Apache-2.0
// sknd/eval/eval_cases_test.h — tables of expressions and results, for the tests of the evaluator.
// A row is an expression and the text of its value (`unknown`: no value and no report). An error
// row has the kind, the message and the part of the expression that it points to.
#pragma once

#include <string>
#include <vector>

#include "sknd/eval/eval.h"

namespace lemma::sknd {

struct Row {
    std::string expression, text;
};
struct ErrorRow {
    std::string expression, kind, message, at;
};
using Rows = std::vector<Row>;
using ErrorRows = std::vector<ErrorRow>;

void check(const Rows& rows);
void check(const ErrorRows& rows);

struct Outcome {
    std::string text;  // text of the value; or `unknown`, `error`, `syntax error`
    std::string kind, message, at;
    std::vector<std::string> notes;
};

// Evaluates with the names of the tables: k = 3, a = [10, …, 14], nil is null, n and m are symbols,
// … (all of them in eval_cases_test.cpp).
Outcome run(const std::string& expression, const EvalLimits& limits = {});

}  // namespace lemma::sknd
