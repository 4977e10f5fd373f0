// loop/plan/plan_impl.h — the parts of planning; see plan.h.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "loop/passes/graph.h"
#include "loop/passes/graph_text.h"
#include "loop/plan/plan.h"
#include "loop/plan/plan_text.h"

namespace lemma::loop {

using TensorSet = std::unordered_set<ir::TensorId, IdHash>;

// A stage that copies elements to elements in the same order, both one behind the other.
struct PlainCopy {
    ir::TensorId from, to;
    int64_t from_begin = 0, to_begin = 0;
    int64_t elements = 0;
};
std::optional<PlainCopy> plain_copy(const Stage& stage, const StageGraph& graph);

class Planner {
public:
    Planner(const ir::Program& program, const KnownExtents& known, const PlanOptions& options)
        : program_(program), known_(known), options_(options) {}

    Plan make();

private:
    enum class RegionKind : uint8_t { Main, Loop, Once };
    // The operations of one graph. Its units are planned together; those of graphs inside of it
    // are regions of their own.
    struct Scope {
        RegionKind kind{};
        Region* before = nullptr;  // of a loop: where steps go that every iteration would repeat
        TensorSet changing;        // of a loop: what differs from step to step
        // Of a loop: items that lie one behind the other, each with one for every step.
        std::unordered_map<ir::TensorId, PlanPack, IdHash> packs;
        int64_t steps = 0;  // of a loop that has such items: at most
        StageGraph graph;
        Layouts layouts;
        TensorSet fixed;  // row-major, for others see them
        // Tensors that lie inside of another one, and where.
        std::unordered_map<ir::TensorId, std::pair<ir::TensorId, int64_t>, IdHash> parents;
        // Tensors that are a part of another one, by axis from some index on.
        std::unordered_map<ir::TensorId, std::pair<ir::TensorId, std::vector<int64_t>>, IdHash>
            inside;
        InPlace in_place;
        TensorSet outer;   // read, but made elsewhere
        TensorSet lifted;  // made before the loop
        // Of the items that sums before the loop read: all in one tensor. And what those sums make:
        // an item for each step, and all of them in one tensor.
        std::unordered_map<ir::TensorId, ir::TensorId, IdHash> wholes;
        std::vector<std::pair<ir::TensorId, ir::TensorId>> made_items;
        TensorSet written;    // by a step of this region that is no control flow
        double repeated = 1;  // how often the region runs, as far as it is known
    };
    struct Body {
        size_t region = 0;
        TensorSet written;
    };

    // ---- plan.cpp -------------------------------------------------------------------------------
    void find_shapes();
    bool has_open_items(const ir::Tensor& tensor) const;
    void find_constants();
    Body plan_region(const std::vector<ir::OpId>& operations,
                     const TensorSet& results,
                     Scope& scope);
    void add_operation(Scope& scope, ir::OpId id);
    void add_primitive(Scope& scope, ir::OpId id);
    void add_interpreted(Scope& scope, ir::OpId id, std::string why);
    void add_check(Scope& scope, ir::OpId id);
    void find_outer(Scope& scope);
    void find_fixed(Scope& scope);
    void order(StageGraph& graph) const;
    void optimise(Scope& scope);
    TensorSet find_shared(const Scope& scope) const;
    void find_in_place(Scope& scope, const TensorSet& shared);
    void place_units(Scope& scope);
    StorageId place(Scope& scope, ir::TensorId id);
    Layout layout_of(const Scope& scope, ir::TensorId id, int64_t& elements) const;
    StorageRole role_of(const Scope& scope, ir::TensorId id) const;
    void add_steps(Scope& scope, Region& region, FusionGroup& unit);
    void add_step(Scope& scope, Region& region, const FusionGroup& unit, PlanStep step);
    void sort_units(Scope& scope);
    // Behind a pass, for those who want to see it.
    template <class... Parts>
    void show(const char* pass, const Parts&... parts) {
        if (options_.log && options_.log->pass == pass) {
            options_.log->text += print(parts..., program_);
        }
    }

    // ---- plan_dynamic.cpp -----------------------------------------------------------------------
    void add_dynamic(Scope& scope, ir::OpId id, std::string why);  // else
    void place_dynamic(Scope& scope, const FusionGroup& unit);
    StorageId place_any(Scope& scope, ir::TensorId id);
    bool is_open(const std::vector<ir::Assertion>& assertions) const;
    void add_dynamic_steps(Scope& scope, Region& region, FusionGroup& unit);

    // ---- plan_views.cpp -------------------------------------------------------------------------
    void find_views(Scope& scope);
    void find_parts(Scope& scope);
    bool is_row_major(const Scope& scope, ir::TensorId id) const;
    bool is_free(const Scope& scope, ir::TensorId id) const;

    // ---- plan_concat.cpp ------------------------------------------------------------------------
    void find_insertions(Scope& scope);

    // ---- plan_lift.cpp --------------------------------------------------------------------------
    void lift_sums(Scope& scope);
    int64_t liftable_steps(const Scope& scope, const FusionGroup& unit) const;
    Stage lifted_stage(Scope& scope, const FusionGroup& unit, int64_t count);
    ir::TensorId whole_of(Scope& scope, ir::TensorId item, int64_t count);
    void add_made_items(Scope& scope, const Scope& body, PlanLoop& loop);

    // ---- plan_control.cpp -----------------------------------------------------------------------
    std::string why_not(const Scope& scope, const ir::Operation& op) const;
    void add_control(Scope& scope, ir::OpId id);
    void add_control_step(Scope& scope, Region& region, const FusionGroup& unit);
    PlanLoop plan_loop(Scope& scope, Region& region, const ir::Operation& op);
    PlanBranch plan_branch(Scope& scope, const ir::Operation& op);
    Body plan_graph(Scope& parent,
                    ir::GraphId id,
                    Scope& scope,
                    const TensorSet& needed = {});  // of others than the results
    StorageId new_storage(tensor::DType dtype, int64_t elements);
    std::optional<PlanPack> as_pack(Scope& scope, const std::vector<ir::TensorId>& items);
    PlanPack read_pack(Scope& scope, PlanLoop& loop, const std::vector<ir::TensorId>& items);
    PlanPack written_pack(Scope& scope, PlanLoop& loop, const std::vector<ir::TensorId>& items);
    void plan_results(Scope& scope,
                      const ir::Operation& op,
                      const ir::Loop& control,
                      const Body& body,
                      PlanLoop& loop);
    void make_moving(StorageId id, std::vector<StorageId> targets);
    int64_t elements_of(const Scope& scope, ir::TensorId id) const;

    const ir::Program& program_;
    const KnownExtents& known_;
    const PlanOptions& options_;
    // Lent to the graph of the region that is being planned.
    Shapes shapes_;
    std::unordered_map<ir::TensorId, tensor::DType, IdHash> dtypes_;
    uint32_t next_tensor_ = 0;
    TensorSet constants_;              // values that no run changes
    std::vector<ir::OpId> compounds_;  // around the operation that is added
    Plan plan_;
};

}  // namespace lemma::loop
