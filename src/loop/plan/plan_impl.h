// SPDX-License-Identifier: Apache-2.0
// loop/plan/plan_impl.h — the planner; see plan.h.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "loop/passes/pipeline.h"
#include "loop/plan/plan.h"

namespace lemma::loop {

class Planner {
public:
    Planner(const ir::Program& program, const KnownExtents& known, const PlanOptions& options)
        : program_(program), known_(known), options_(options) {}

    Plan make();

private:
    // The operations of one graph, whose groups are planned together. Inner graphs are separate
    // regions.
    struct Scope : RegionGraph {
        Region* before = nullptr;  // of a loop: steps that every iteration would repeat
        double repeated = 1;       // number of runs of the region, as far as known
    };
    Scope new_scope(RegionKind kind) { return {{program_, plan_.places, constants_, kind}}; }
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
    void add_opaque(Scope& scope, ir::OpId id, decltype(FusionGroup::kind) kind);
    void add_interpreted(Scope& scope, ir::OpId id, std::string why);
    void add_check(Scope& scope, ir::OpId id);
    void place_groups(Scope& scope);
    int64_t alignment(const Scope& scope, ir::TensorId id, const Storage& storage) const;
    StorageId place(Scope& scope, ir::TensorId id);
    StorageRole role_of(const Scope& scope, ir::TensorId id) const;
    void add_steps(Scope& scope, Region& region, const FusionGroup& group);
    void add_kernels(Scope& scope, Region& region, const FusionGroup& group);
    void add_step(Scope& scope, Region& region, const FusionGroup& group, PlanStep step);

    // ---- plan_dynamic.cpp -----------------------------------------------------------------------
    void add_dynamic(Scope& scope, ir::OpId id, std::string why);  // `why`: reason if interpreted
    void place_dynamic(Scope& scope, const FusionGroup& group, const DynamicGroup& kind);
    StorageId place_any(Scope& scope, ir::TensorId id);
    bool is_open(const std::vector<ir::Assertion>& assertions) const;
    void add_dynamic_steps(Scope& scope,
                           Region& region,
                           const FusionGroup& group,
                           const DynamicGroup& kind);

    // ---- plan_control.cpp -----------------------------------------------------------------------
    std::string why_not(const Scope& scope, const ir::Operation& op) const;
    void add_control(Scope& scope, ir::OpId id);
    void add_control_step(Scope& scope, Region& region, const FusionGroup& group);
    PlanLoop plan_loop(Scope& scope, Region& region, const ir::Operation& op);
    PlanBranch plan_branch(Scope& scope, const ir::Operation& op);
    Body plan_graph(Scope& parent,
                    ir::GraphId id,
                    Scope& scope,
                    const TensorSet& needed = {});  // besides the results
    StorageId new_storage(tensor::DType dtype, int64_t elements);
    std::optional<StoragePack> as_pack(Scope& scope, const std::vector<ir::TensorId>& items);
    StoragePack read_pack(Scope& scope, PlanLoop& loop, const std::vector<ir::TensorId>& items);
    StoragePack written_pack(Scope& scope, PlanLoop& loop, const std::vector<ir::TensorId>& items);
    void plan_results(Scope& scope,
                      const ir::Operation& op,
                      const ir::Loop& control,
                      const Body& body,
                      PlanLoop& loop);
    void add_made_items(Scope& scope, const Scope& body, PlanLoop& loop);
    void make_moving(StorageId id, std::vector<StorageId> targets);
    int64_t elements_of(const Scope& scope, ir::TensorId id) const;

    const ir::Program& program_;
    const KnownExtents& known_;
    const PlanOptions& options_;
    // The graph of the region under construction borrows these three.
    Shapes shapes_;
    std::unordered_map<ir::TensorId, tensor::DType, IdHash> dtypes_;
    uint32_t next_tensor_ = 0;
    TensorSet constants_;              // values that no run changes
    std::vector<ir::OpId> compounds_;  // around the operation under construction
    Plan plan_;
};

}  // namespace lemma::loop
