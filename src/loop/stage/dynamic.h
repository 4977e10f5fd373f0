// SPDX-License-Identifier: Apache-2.0
// loop/stage/dynamic.h — operations with run-time extents: their kernels are compiled once and take
// the extents as an argument.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/program/program.h"
#include "loop/stage/stage.h"

namespace lemma::loop {

// Upper bound of a run-time extent; below it, affine index arithmetic cannot overflow.
constexpr int64_t kMostExtent = int64_t{1} << 33;

// A number that is known at run time: an extent, or a term of an index.
struct ShapeArgument {
    ir::SymId symbol;
    bool count = false;        // a number of steps: negative means none
    VarId var;                 // stands for it; missing: any number, read from memory
    int64_t most = INT64_MAX;  // with a variable: upper bound of its range [0, most]
    ir::TensorId room_of;      // instead of a symbol: the room of a carried output
};

// The stages of an operation, which are separate kernels, and their shape arguments.
struct DynamicShape {
    std::vector<Stage> stages;
    std::vector<ShapeArgument> numbers;
    ir::TensorId told;  // i64: the numbers, then the steps of an item
    // Extents of the tensors without a shape: constants, or shape arguments.
    std::unordered_map<ir::TensorId, std::vector<ExprId>, IdHash> extents;
    // Of carried tensors: the extents that their strides are products of (carry.h).
    std::unordered_map<ir::TensorId, std::vector<ExprId>, IdHash> rooms;
    std::vector<ir::TensorId> inlined;  // results that fusion left without memory
};

// An output whose value is the input of the next run, and continues it along an axis.
struct CarriedPair {
    ir::TensorId input, output;
    size_t axis = 0;
};

// The tensors that stages read and write.
std::vector<ir::TensorId> tensors_of(const std::vector<Stage>& stages, const StagePool& pool);

// The shape argument as an expression of stages; `count`: it is a number of steps.
ExprId run_number(DynamicShape& run_time,
                  const ir::SymbolPool& symbols,
                  ir::SymId id,
                  bool count,
                  StagePool& pool);

// Whether the index is in [0, extent) for all values of its variables.
bool always_inside(const ir::SymbolPool& symbols,
                   ir::SymId index,
                   ir::SymId extent,
                   const std::vector<ir::Bound>& bounds);

// Whether the stage writes each element of its only tensor.
bool writes_all(const Stage& stage,
                StagePool& pool,
                const DynamicShape& run_time,
                const Shapes& shapes);
// Whether the stage assigns each element of its tensor once.
bool assigns_all(const Stage& stage,
                 StagePool& pool,
                 const DynamicShape& run_time,
                 const Shapes& shapes);
// As assigns_all; every read is inside its tensor, and none is of the tensor that it writes.
bool is_element_wise(const Stage& stage,
                     StagePool& pool,
                     const DynamicShape& run_time,
                     const Shapes& shapes);
// Merges the formula that assigns initial values into the following reduction.
void merge_starts(DynamicShape& run_time, StagePool& pool, const Shapes& shapes);

}  // namespace lemma::loop
