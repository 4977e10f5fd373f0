// SPDX-License-Identifier: Apache-2.0
// loop/passes/graph.h — the stages of a region, between its formulas and its kernels: the input and
// output of graph passes.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "loop/ir/numerics.h"
#include "loop/schedule/schedule.h"
#include "loop/stage/dynamic.h"

namespace lemma::loop {

// Tiles pay from this number of steps on.
constexpr int32_t kLeastSteps = 4096;
// Products of one operand are merged if the separate products take this many times as long.
constexpr double kLeastGain = 1.04;
// A sum over windows on transformed tiles must take at most this share of the time of a plain sum.
constexpr double kWindowShare = 0.92;
// Likewise a sum of products on tile registers, of floats as two terms of bf16 each.
constexpr double kTermShare = 0.8;

// The kinds of groups. Passes see the stages of compiled groups only; any other group is one
// operation.
struct CompiledGroup {};  // its stages become kernels
struct DynamicGroup {     // kernels with run-time extents
    DynamicShape shape;
    std::vector<ir::OpId> within;  // as in DynamicKernel
};
struct InterpretedGroup {
    std::string why;               // as in InterpretedStep
    std::vector<ir::OpId> within;  // as in InterpretedStep
};
struct CheckGroup {};    // only the assertions of an operation
struct ControlGroup {};  // a loop or a branch; its graphs are regions

// One or more stages in order, which become separate kernels or one kernel that runs them row by
// row; or one operation that is opaque to passes.
struct FusionGroup {
    ir::OpId op;
    std::string label;
    std::variant<CompiledGroup, DynamicGroup, InterpretedGroup, CheckGroup, ControlGroup> kind = {};
    std::vector<Stage> stages = {};  // of a compiled group
    bool once = false;
    std::vector<ir::TensorId> reads, writes;  // each once
    bool dead = false;                        // fused into another group
    std::optional<Contraction> contraction;   // of its only stage
    ExprId weight_factor;                     // scale to pack into the weights; may be missing
    std::optional<RowGroup> rows;             // that its stages share

    bool compiled() const { return std::holds_alternative<CompiledGroup>(kind); }
    bool control() const { return std::holds_alternative<ControlGroup>(kind); }
};

using TensorSet = std::unordered_set<ir::TensorId, IdHash>;

struct StageGraph {
    // Kernels with narrower forms need the pool after the graph is gone.
    std::shared_ptr<StagePool> shared_pool = std::make_shared<StagePool>();
    StagePool& pool = *shared_pool;
    std::vector<FusionGroup> groups;
    Shapes shapes;
    std::unordered_map<ir::TensorId, tensor::DType, IdHash> dtypes;
    TensorSet constants;                // values that no run changes
    TensorSet results;                  // outputs and values of updates
    std::vector<CarriedPair> carried;   // from run to run (carry.h)
    TensorSet padded;                   // elements that are never written are zero
    TensorSet scratch;                  // memory of an item; each thread has its own
    uint32_t next_tensor = 0;           // for tensors that passes add
    int32_t least_steps = kLeastSteps;  // as in PlanOptions
    bool byte_products = false;         // kernels may add products of bytes in 32 bits
    bool bf16_products = false;         // kernels may multiply pairs of bf16
    int64_t lanes = 16;                 // floats in a vector of the target
    bool device = false;                // kernels are for a device

    ir::TensorId new_tensor(tensor::DType dtype, tensor::Shape shape);
};

// Finds the tensors that the stages read; `group.writes` is given.
void find_reads(StageGraph& graph, FusionGroup& group);

// Visits all groups. `make` may return a group to run before the one it visits. Returns their
// number.
template <class Make>
int add_before(StageGraph& graph, Make&& make) {
    int count = 0;
    std::vector<FusionGroup> groups;
    for (FusionGroup& group : graph.groups) {
        if (std::optional<FusionGroup> made = make(group)) {
            groups.push_back(std::move(*made));
            ++count;
        }
        groups.push_back(std::move(group));
    }
    graph.groups = std::move(groups);
    return count;
}

// Whether every element of the tensor is written, once for each step of the loops that are not in
// its index.
bool covers(const Stage& stage, const StageGraph& graph);
// Whether the stage assigns each element once, with its variables as the index and without guards.
bool is_map(const Stage& stage, const StageGraph& graph);

// A stage that assigns each element of the tensor; its value is missing.
Stage assign_all(StageGraph& graph, ir::TensorId id);

// Whether storing a value in this type rounds it no further: a fused value stays the same.
bool keeps_values(tensor::DType dtype);
// Whether every read of the value is inside its tensor.
bool in_range(const StageGraph& graph, ExprId value);

// A float tensor with values known before the first run and one element per point of the variables;
// and the group that makes such tensors for another group.
struct MadeConstant {
    ExprId value;
    ir::TensorId tensor;
};
ir::TensorId new_constant(StageGraph& graph, const std::vector<VarId>& vars);
FusionGroup constants_group(StageGraph& graph,
                            const FusionGroup& of,
                            const char* what,
                            const std::vector<VarId>& vars,
                            const std::vector<MadeConstant>& made);
// Whether the value reads only constants.
bool reads_constants(const StageGraph& graph, ExprId value);

}  // namespace lemma::loop
