// emit/intrinsics.h — operators without a formula, as functions of a C support file. They work on
// flat arrays of double and int64_t; the caller converts elements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "tensor/shape.h"

namespace lemma::emit {

// A call of a support function. The arrays of inputs and outputs come first, then the arguments.
struct IntrinsicText {
    std::string function;
    std::vector<std::string> arguments;
};

// Nothing if the operator has no support function.
std::optional<IntrinsicText> intrinsic_call(const ir::Operation& op,
                                            const std::vector<tensor::Shape>& inputs);

// The support file and its header.
extern const char* const kIntrinsicsHeader;
extern const char* const kIntrinsicsSource;

}  // namespace lemma::emit
