// SPDX-License-Identifier: Apache-2.0
// emit/intrinsics.h — operators without a formula, as functions of a C support file. They work on
// flat arrays of double and int64_t; the caller converts elements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "tensor/shape.h"

namespace lemma::emit {

// The C text of a call. Its arrays are `in0`, `in1`, … and `out0`, …; support functions that return
// a number return 1 for a fault, and the caller tests them.
struct IntrinsicText {
    std::vector<std::string> declarations;  // of further arrays
    std::vector<std::string> statements;
    std::string test;  // a call of a function that may find a fault; may be empty
};

// Nothing if the operator has no support function. Shapes of all inputs, then of all outputs.
std::optional<IntrinsicText> intrinsic_call(const ir::Operation& op,
                                            const std::vector<tensor::Shape>& shapes);

// The support file and its header.
extern const char* const kIntrinsicsHeader;
extern const char* const kIntrinsicsSource;

}  // namespace lemma::emit
