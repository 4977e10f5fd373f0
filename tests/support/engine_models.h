// SPDX-License-Identifier: Apache-2.0
// tests/support/engine_models.h — small models for tests of compiled code, with values for their
// variables.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "interpret/interpret.h"

namespace lemma::testing_support {

// Element i of a variable.
using WeightOf = std::function<double(const std::string& name, uint64_t i)>;
// From 0.5 to 1.5; a third of the elements is negative if the name begins with `w`.
double large_weight(const std::string& name, uint64_t i);
// From -0.1 to 0.1.
double small_weight(const std::string& name, uint64_t i);

// The graph of a SkriptND text, after a change; null, with failures reported, if it is wrong.
std::unique_ptr<interpret::State> load_text(
    const std::string& text,
    const WeightOf& weight = large_weight,
    ir::DType real = ir::DType::F32,
    const std::function<void(ir::Program&)>& change = [](ir::Program&) {});

// For `load_text`: changes the types of tensors x, f and y.
std::function<void(ir::Program&)> with_types(ir::DType x, ir::DType f, ir::DType y);
// Random bytes instead of the integers.
void fill_with_bytes(interpret::NamedArrays& inputs);

// One run by the oracle.
Result<interpret::NamedArrays> run_interpreter(interpret::State& state,
                                               const interpret::NamedArrays& inputs);

// Random values for all inputs.
interpret::NamedArrays random_inputs(const ir::Program& program);

}  // namespace lemma::testing_support
