// sknd/compose/compose.h — a graph of a package becomes an ir::Program: calls meet definitions and
// come out as operations with dtypes, symbolic shapes and formulas (spec chapter 3).
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
    std::vector<ir::Attribute> attributes;  // of the graph
    ir::DType real = ir::DType::F32;
    ir::DType integer = ir::DType::I64;
    // max_work counts operations, tensors, formulas, accesses and iterations too, see kNodeWork.
    EvalLimits limits;
    size_t max_operations = 250'000;  // --max-operations
    int64_t max_unroll = 100'000;     // --max-unroll, iterations of one loop
    int64_t max_rank = 1024;          // --max-rank
    int max_call_depth = 200;         // --max-call-depth
};

// The package has passed check_types. Empty when something is wrong, which is then reported.
std::optional<ir::Program> compose(const Package& package,
                                   const ComposeOptions& options,
                                   Diagnostics& diag);

}  // namespace lemma::sknd
