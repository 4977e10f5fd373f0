// SPDX-License-Identifier: Apache-2.0
// loop/passes/fusion/siblings_impl.h — the parts of horizontal fusion; see siblings.h.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "loop/passes/graph.h"

namespace lemma::loop {

// One value per stage, in the order of the stages.
using Values = std::vector<ExprId>;

// ---- siblings_unify.cpp -------------------------------------------------------------------------

// The values use the same variables, except for the lane and the total of each stage.
struct UnifiedStage {
    VarId lane;
    ExprId total;
};

// Finds one expression over `lane` and `total` that equals each value for the lanes of its stage.
// Values of constants may differ: they become elements of one tensor over all lanes. Some stages
// may lack a scale or a shift; they get one that changes no bit.
class Unifier {
public:
    // Values that differ, and the tensor that will hold them. Tensors are numbered from `next` on.
    struct Part {
        Values values;
        ir::TensorId tensor;
    };

    Unifier(StageGraph& graph,
            std::vector<UnifiedStage> stages,
            std::vector<VarId> others,  // variables that no part may depend on
            UnifiedStage as)
        : graph_(graph),
          pool_(graph.pool),
          build_(graph.pool.build),
          stages_(std::move(stages)),
          others_(std::move(others)),
          as_(as) {}

    // Nothing if there is none.
    ExprId operator()(const Values& values);
    const std::vector<Part>& parts() const { return parts_; }

private:
    // A scale or a shift by constants: its operation and its two operands.
    struct Link {
        Op op{};
        ExprId inner, other;
    };

    bool is_total(const Values& values) const;
    bool is_common(const Values& values) const;
    bool is_by_lane(const Values& values) const;
    bool is_by_lane(size_t stage, ExprId value) const;
    bool has_total(size_t stage, ExprId value) const;
    std::optional<Link> link_of(size_t stage, ExprId value) const;
    size_t links_of(size_t stage, ExprId value) const;
    ExprId part(const Values& values);
    ExprId by_operands(const Values& values);
    ExprId by_link(const Values& values);

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    std::vector<UnifiedStage> stages_;
    std::vector<VarId> others_;
    UnifiedStage as_;
    std::vector<Part> parts_;
    std::map<std::vector<uint32_t>, ExprId> known_;
};

// Whether the value consists of constants that are all read inside their tensors.
bool is_made_of_constants(const StageGraph& graph, ExprId value);

// ---- siblings_find.cpp --------------------------------------------------------------------------

// A product that may be merged with others.
struct Sibling {
    size_t group = 0;
    ir::TensorId result;
    size_t axis = 0;  // of the result, along the lanes
    VarId lane;
    int64_t lanes = 0;
    int64_t begin = 0;  // of its lanes, among all lanes
    ExprId a, b;
    std::vector<VarId> points, reduced;
    Stage stage;  // always with a total and a finish
};
// All siblings use the variables of the first one, except for the lanes.
using Family = std::vector<Sibling>;

void place_lanes(Family& family);
int64_t lanes_of(const Family& family);
Unifier unifier_of(StageGraph& graph, const Family& family, UnifiedStage as);
Values values_of(const Family& family, ExprId Stage::* value);
// Replaces reads of the sibling's result by reads of its slice.
void read_slices(StageGraph& graph, FusionGroup& group, const Sibling& sibling, ir::TensorId whole);

class FamilyFinder {
public:
    FamilyFinder(StageGraph& graph, const Target& target, double least_gain)
        : graph_(graph),
          pool_(graph.pool),
          build_(graph.pool.build),
          target_(target),
          least_gain_(least_gain) {}

    // The families that can be merged and take `least_gain` times as long as separate products.
    std::vector<Family> run();
    // The family in its present state: its operand may have become a slice.
    Family refreshed(const Family& family);
    // Units that read the tensor, or did before a merge.
    const std::vector<size_t>& readers(ir::TensorId id) const;

private:
    std::optional<Sibling> sibling_of(size_t group);
    Sibling over_vars_of(const Sibling& first, Sibling other);
    bool matches(const Sibling& first, const Sibling& other) const;
    bool unifies(const Family& family);
    bool joins(Family& family, const Sibling& other);
    std::vector<Family> find_families();
    bool reads_evenly(const FusionGroup& group, ir::TensorId id) const;
    bool can_be_slice(const Sibling& sibling, ir::TensorId whole);
    void keep_slices(Family& family);
    bool pays(const Family& family) const;
    bool choose(Family& family);

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    const Target& target_;
    double least_gain_;
    std::unordered_map<ir::TensorId, std::vector<size_t>, IdHash> readers_;
};

}  // namespace lemma::loop
