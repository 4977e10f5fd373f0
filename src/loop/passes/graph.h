// loop/passes/graph.h — the stages of a whole program, between its formulas and its kernels: what
// graph passes read and change.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "loop/ir/numerics.h"
#include "loop/schedule/schedule.h"
#include "loop/stage/dynamic.h"

namespace lemma::loop {

// Tiles pay from here on.
constexpr int32_t kLeastSteps = 4096;
// Products of one operand become one where they take so many times as long by themselves.
constexpr double kLeastGain = 1.04;

// One or more stages in order, which become kernels of their own, or one kernel that runs them row
// by row; or one operation that the interpreter runs.
struct FusionGroup {
    ir::OpId op;
    std::string label;
    std::vector<Stage> stages;
    bool interpreted = false;
    std::string why;
    bool check = false;  // as that of PlanStep
    // Of one that is compiled, but as opaque to passes as if it were not.
    std::optional<DynamicShape> run_time = {};
    std::vector<ir::OpId> within = {};  // of one that passes do not see: as that of PlanStep
    bool once = false;
    std::vector<ir::TensorId> reads, writes;  // each once
    bool dead = false;                        // a pass took it in elsewhere
    std::optional<Contraction> contraction;   // what its one stage is
    ExprId weight_factor;                     // of a contraction: packed with this, if it is there
    std::optional<RowGroup> rows;             // that its stages share
};

struct StageGraph {
    // Kernels that may be made again need it when the graph is gone.
    std::shared_ptr<StagePool> shared_pool = std::make_shared<StagePool>();
    StagePool& pool = *shared_pool;
    std::vector<FusionGroup> units;
    Shapes shapes;
    std::unordered_map<ir::TensorId, tensor::DType, IdHash> dtypes;
    std::unordered_set<ir::TensorId, IdHash> constants;  // values that no run changes
    std::unordered_set<ir::TensorId, IdHash> results;    // outputs and values of updates
    std::unordered_set<ir::TensorId, IdHash> padded;     // elements that are never written are zero
    uint32_t next_tensor = 0;                            // for tensors that passes make
    int32_t least_steps = kLeastSteps;                   // of PlanOptions

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

// Whether a float is stored and then worked on by another stage of the unit, where the interpreter
// has a double.
bool rounds_between(const StageGraph& graph, const FusionGroup& unit);

// ---- Passes -------------------------------------------------------------------------------------

// A sum that is scattered over the elements of its result becomes one that each of them gathers.
void invert_scatter(StageGraph& graph, Stage& stage);
// The formula that gives elements their start becomes part of the one that adds to them.
void merge_starts(StageGraph& graph, FusionGroup& unit);
// Tensors start as zeros; a stage that says so comes first where not all elements are written.
void add_zeros(StageGraph& graph);
// Units whose inputs are constants run once.
void mark_once(StageGraph& graph);

// Units come in an order that the results decide, whatever order they had; for graphs in which what
// is read is all that a unit waits for.
void order_units(StageGraph& graph, const std::vector<ir::TensorId>& results);
// What nobody reads is not computed.
void drop_unused(StageGraph& graph);
// The parts of a split are units of their own, so that each can become part of what reads it.
void separate_parts(StageGraph& graph);
// Flat copies between two shapes vanish.
void compose_reshapes(StageGraph& graph);
// Maps become part of what reads them, where that is not dearer, and of the reductions whose totals
// they take.
void fuse(StageGraph& graph);
// What element-wise stages compute from constants for each channel is computed once, and chains of
// scales and shifts by such values are one of each. Whether there were any.
bool hoist_constants(StageGraph& graph);
// A tensor of floats that are known before the first run, with an element for each point of the
// variables; and the unit that makes such tensors, for the sake of another one.
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
// Products of one operand with several constant weights become one, of which each is a slice, where
// they take so many times as long by themselves.
void merge_siblings(StageGraph& graph, const Target& target, double least_gain);
// A sum of products and the roles of its variables, if the stage is one that pays.
std::optional<Contraction> find_contraction(StageGraph& graph, const Stage& stage);
// Those of all units are found.
void find_contractions(StageGraph& graph);
// What scales and shifts the results of constant weights, channel by channel, goes into them.
void fold_scales(StageGraph& graph);
// Gathers of every so many elements become sums of their own, one for each remainder.
void split_inverses(StageGraph& graph);
// Sums of squared distances get the sums of squares that make products of them.
void find_squares(StageGraph& graph, Numerics numerics);
// The operand that is walked in lanes gets its own, packed copy.
void pack_weights(StageGraph& graph, const BufferViews& places, const Target& target);
// Zeros around the tensor, by axis: below index 0 and above the last one.
struct Halo {
    std::vector<int64_t> below, above;
    friend bool operator==(const Halo&, const Halo&) = default;
};
// So that the read, whose indices are affine, never leaves it.
void widen_halo(const StagePool& pool, const Expr& read, Halo& halo);
struct Layouts {
    std::unordered_map<ir::TensorId, size_t, IdHash> innermost;  // axis, where not the last
    std::unordered_map<ir::TensorId, Halo, IdHash> halos;
};
// Tensors that nobody outside sees are laid out as the contractions want them: channels innermost,
// with zeros around where windows reach over the edge. `fixed` ones stay row-major.
Layouts choose_layouts(StageGraph& graph, const std::unordered_set<ir::TensorId, IdHash>& fixed);
// Which results can have the memory of an operand that nobody needs behind them.
using InPlace = std::unordered_map<ir::TensorId, ir::TensorId, IdHash>;
InPlace find_in_place(const StageGraph& graph,
                      const Layouts& layouts,
                      const std::unordered_set<ir::TensorId, IdHash>& fixed);

// Maps whose elements a reduction reads are done with it, in the same pass. Then stages that need
// of one another's results no more than their own row become one kernel, which takes row after row
// while it is in the cache. `shared` tensors have their place in the memory of others, or others in
// theirs; those that are made `before` a loop stay apart.
using TensorIds = std::unordered_set<ir::TensorId, IdHash>;
void share_rows(StageGraph& graph,
                const Layouts& layouts,
                const TensorIds& shared,
                const TensorIds& before,
                const Target& target);

}  // namespace lemma::loop
