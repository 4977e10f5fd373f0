// SPDX-License-Identifier: Apache-2.0
// sknd/compose/compose.h — composes a graph of a package into an ir::Program: calls and definitions
// become operations with dtypes, symbolic shapes and formulas (spec chapter 3).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/program.h"
#include "sknd/types/types.h"

namespace lemma::sknd {

struct ComposeOptions {
    std::string graph;                      // empty: the first graph of the main module
    std::vector<ir::Attribute> attributes;  // attributes of the graph
    ir::DType real = ir::DType::F32;
    ir::DType integer = ir::DType::I64;
    // max_work also counts operations, tensors, formulas, accesses and iterations, see kNodeWork.
    EvalLimits limits;
    size_t max_operations = 250'000;  // --max-operations
    int64_t max_unroll = 100'000;     // --max-unroll, iterations of one loop
    int64_t max_rank = 1024;          // --max-rank
    int max_call_depth = 200;         // --max-call-depth
};

// The package has passed check_types. Empty if there is an error, which is reported.
std::optional<ir::Program> compose(const Package& package,
                                   const ComposeOptions& options,
                                   Diagnostics& diag);

}  // namespace lemma::sknd
