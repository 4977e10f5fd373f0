// loop/passes/fusion/siblings_impl.h — the parts of merging products of one operand; see
// siblings.h.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "loop/passes/graph.h"

namespace lemma::loop {

// One of several values each, in the order of the stages.
using Values = std::vector<ExprId>;

// ---- siblings_unify.cpp -------------------------------------------------------------------------

// The values are over the same variables, but for the lanes: those of each stage are its own, and
// so is its total.
struct UnifiedStage {
    VarId lane;
    ExprId total;
};

// Finds the expression over `lane` and `total` that is each of the values for the lanes of its
// stage. What each computes from constants may differ: it becomes an element of a tensor with the
// values of all lanes. So may a scale or a shift that some of them do not have; the others get one
// that changes no bit.
class Unifier {
public:
    // What differs, and the tensor for it, which is still to be made: its number is `next`, and so
    // on.
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
    // A scale or a shift by constants: its operation, what it is done to, and with what.
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

// Whether the value is made of constants alone, none of which is read outside of its tensor.
bool is_made_of_constants(const StageGraph& graph, ExprId value);

// ---- siblings_find.cpp --------------------------------------------------------------------------

// A product that may become one with others.
struct Sibling {
    size_t unit = 0;
    ir::TensorId result;
    size_t axis = 0;  // of the result, along the lanes
    VarId lane;
    int64_t lanes = 0;
    int64_t begin = 0;  // of its lanes, among those of all
    ExprId a, b;
    std::vector<VarId> points, reduced;
    Stage stage;  // always with a total and a finish
};
// All are over the variables of the first one, but for the lanes.
using Family = std::vector<Sibling>;

void place_lanes(Family& family);
int64_t lanes_of(const Family& family);
Unifier unifier_of(StageGraph& graph, const Family& family, UnifiedStage as);
Values values_of(const Family& family, ExprId Stage::* value);
// Reads the slice of the whole in place of the sibling's result.
void read_slices(StageGraph& graph, FusionGroup& unit, const Sibling& sibling, ir::TensorId whole);

class FamilyFinder {
public:
    FamilyFinder(StageGraph& graph, const Target& target, double least_gain)
        : graph_(graph),
          pool_(graph.pool),
          build_(graph.pool.build),
          target_(target),
          least_gain_(least_gain) {}

    // Those that can become one each, and take `least_gain` times as long by themselves.
    std::vector<Family> run();
    // The family as it is now: what it reads may have become a slice.
    Family refreshed(const Family& family);
    // Units that read the tensor, or did.
    const std::vector<size_t>& readers(ir::TensorId id) const;

private:
    std::optional<Sibling> sibling_of(size_t unit);
    Sibling over_vars_of(const Sibling& first, Sibling other);
    bool matches(const Sibling& first, const Sibling& other) const;
    bool unifies(const Family& family);
    bool joins(Family& family, const Sibling& other);
    std::vector<Family> find_families();
    bool reads_evenly(const FusionGroup& unit, ir::TensorId id) const;
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
