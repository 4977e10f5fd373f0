// loop/passes/graph.h — the stages of a whole program, between its formulas and its kernels: what
// graph passes read and change.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "loop/ir/numerics.h"
#include "loop/schedule/schedule.h"
#include "loop/stage/dynamic.h"

namespace lemma::loop {

// Tiles pay from here on.
constexpr int32_t kLeastSteps = 4096;
// Products of one operand become one where they take so many times as long by themselves.
constexpr double kLeastGain = 1.04;

// What becomes of a group. Passes see into compiled ones alone; the others are one operation each.
struct CompiledGroup {};  // its stages become kernels
struct DynamicGroup {     // kernels with run-time extents
    DynamicShape shape;
    std::vector<ir::OpId> within;  // as that of DynamicKernel
};
struct InterpretedGroup {
    std::string why;               // as that of InterpretedStep
    std::vector<ir::OpId> within;  // as that of InterpretedStep
};
struct CheckGroup {};    // the assertions of the operation alone
struct ControlGroup {};  // a loop or a branch: its graphs are regions of their own

// One or more stages in order, which become kernels of their own, or one kernel that runs them row
// by row; or one operation that passes do not see into.
struct FusionGroup {
    ir::OpId op;
    std::string label;
    std::variant<CompiledGroup, DynamicGroup, InterpretedGroup, CheckGroup, ControlGroup> kind = {};
    std::vector<Stage> stages = {};  // of a compiled group
    bool once = false;
    std::vector<ir::TensorId> reads, writes;  // each once
    bool dead = false;                        // a pass took it in elsewhere
    std::optional<Contraction> contraction;   // what its one stage is
    ExprId weight_factor;                     // of a contraction: packed with this, if it is there
    std::optional<RowGroup> rows;             // that its stages share

    bool compiled() const { return std::holds_alternative<CompiledGroup>(kind); }
    bool control() const { return std::holds_alternative<ControlGroup>(kind); }
};

using TensorSet = std::unordered_set<ir::TensorId, IdHash>;

struct StageGraph {
    // Kernels that may be made again need it when the graph is gone.
    std::shared_ptr<StagePool> shared_pool = std::make_shared<StagePool>();
    StagePool& pool = *shared_pool;
    std::vector<FusionGroup> units;
    Shapes shapes;
    std::unordered_map<ir::TensorId, tensor::DType, IdHash> dtypes;
    TensorSet constants;                // values that no run changes
    TensorSet results;                  // outputs and values of updates
    TensorSet padded;                   // elements that are never written are zero
    uint32_t next_tensor = 0;           // for tensors that passes make
    int32_t least_steps = kLeastSteps;  // of PlanOptions

    ir::TensorId new_tensor(tensor::DType dtype, tensor::Shape shape);
};

// Which tensors the stages read; those that it writes are told.
void find_reads(StageGraph& graph, FusionGroup& unit);

// Every element of the tensor is written, as often as there are steps that its index is not made
// of.
bool covers(const Stage& stage, const StageGraph& graph);
// One assignment to each element, whose index is the variables themselves, and no guards.
bool is_map(const Stage& stage, const StageGraph& graph);

// What stays the same value when it is not stored: stores of these round nothing more.
bool keeps_values(tensor::DType dtype);
// No read of the value can leave its tensor.
bool in_range(const StageGraph& graph, ExprId value);

// A float tensor whose values are known before the first run, with an element for each point of the
// variables; and the group that makes such tensors, for the sake of another one.
struct MadeConstant {
    ExprId value;
    ir::TensorId tensor;
};
ir::TensorId new_constant(StageGraph& graph, const std::vector<VarId>& vars);
FusionGroup constants_unit(StageGraph& graph,
                           const FusionGroup& of,
                           const char* what,
                           const std::vector<VarId>& vars,
                           const std::vector<MadeConstant>& made);
// Whether the value reads constants alone.
bool reads_constants(const StageGraph& graph, ExprId value);

}  // namespace lemma::loop
