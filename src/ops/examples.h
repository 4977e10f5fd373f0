// SPDX-License-Identifier: Apache-2.0
// ops/examples.h — an example of each standard operator: a model that calls it, and a test with the
// numbers that come out. They are in examples/operators and become part of the program.
#pragma once

#include <span>
#include <string_view>

namespace lemma::ops {

struct OperatorExample {
    std::string_view module;  // `nn`
    std::string_view name;    // `conv`
    std::string_view model;   // the text of `conv.sknd`
    std::string_view test;    // the text of `conv.test`, as `lemma test` reads it
};
// Sorted by module and name.
std::span<const OperatorExample> operator_examples();

// Nothing if the operator has no example; operators of other formats have none.
const OperatorExample* example_of(std::string_view module, std::string_view name);

}  // namespace lemma::ops
