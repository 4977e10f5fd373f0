// loop/graph.h — the stages of a whole program, between its formulas and its kernels: what graph
// passes read and change.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "loop/plan.h"

namespace lemma::loop {

// One or more stages in order, which become kernels of their own; or one operation that the
// interpreter runs.
struct Unit {
    ir::OpId op;
    std::string label;
    std::vector<Stage> stages;
    bool interpreted = false;
    std::string why;
    bool once = false;
    std::vector<ir::TensorId> reads, writes;  // each once
};

struct StageGraph {
    StagePool pool;
    std::vector<Unit> units;
    Shapes shapes;
    std::unordered_map<ir::TensorId, tensor::DType, IdHash> dtypes;
    std::unordered_set<ir::TensorId, IdHash> constants;  // values that no run changes
    std::unordered_set<ir::TensorId, IdHash> results;    // outputs and values of updates
    uint32_t next_tensor = 0;                            // for tensors that passes make

    ir::TensorId new_tensor(tensor::DType dtype, tensor::Shape shape);
};

// Which tensors the stages read; those that it writes are told.
void find_reads(StageGraph& graph, Unit& unit);

// ---- Passes -------------------------------------------------------------------------------------

// The formula that gives elements their start becomes part of the one that adds to them.
void merge_starts(StageGraph& graph, Unit& unit);
// Tensors start as zeros; a stage that says so comes first where not all elements are written.
void add_zeros(StageGraph& graph);
// Units whose inputs are constants run once.
void mark_once(StageGraph& graph);

}  // namespace lemma::loop
