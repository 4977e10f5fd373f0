// loop/stage/dynamic.h — operations whose extents only the run tells: their kernels are made once,
// and take as an argument the numbers that the run has to tell.
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

// A number that the run tells.
struct ShapeArgument {
    ir::SymId symbol;
    bool count = false;        // of steps: less than none is none
    VarId var;                 // what stands for it; missing: it may be any number, and is read
    int64_t most = INT64_MAX;  // if there is a variable: it is in [0, most]
};

// The stages of an operation, which are kernels of their own, and what they have to be told.
struct DynamicShape {
    std::vector<Stage> stages;
    std::vector<ShapeArgument> numbers;
    ir::TensorId told;  // i64: the numbers, and then how many steps an item has
    // Of the tensors without a shape: constants, or numbers that the run tells.
    std::unordered_map<ir::TensorId, std::vector<ExprId>, IdHash> extents;
    std::vector<ir::TensorId> inlined;  // results that fusion left without memory
};

// The tensors that stages read and write.
std::vector<ir::TensorId> tensors_of(const std::vector<Stage>& stages, const StagePool& pool);

// The number as an expression of stages.
ExprId run_number(DynamicShape& run_time,
                  const ir::SymbolPool& symbols,
                  ir::SymId id,
                  bool count,
                  StagePool& pool);

// Whether the index is in [0, extent) for all values that its variables take.
bool always_inside(const ir::SymbolPool& symbols,
                   ir::SymId index,
                   ir::SymId extent,
                   const std::vector<ir::Bound>& bounds);

// Whether the stage writes each element of its one tensor.
bool writes_all(const Stage& stage,
                StagePool& pool,
                const DynamicShape& run_time,
                const Shapes& shapes);
// Whether the stage assigns each element of what it writes, once.
bool assigns_all(const Stage& stage,
                 StagePool& pool,
                 const DynamicShape& run_time,
                 const Shapes& shapes);
// As assigns_all, from elements that are inside of their tensors, none of them its own.
bool is_element_wise(const Stage& stage,
                     StagePool& pool,
                     const DynamicShape& run_time,
                     const Shapes& shapes);
// The formula that gives elements their start becomes part of the one that adds to them.
void merge_starts(DynamicShape& run_time, StagePool& pool, const Shapes& shapes);

}  // namespace lemma::loop
