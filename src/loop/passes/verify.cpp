// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "loop/passes/graph_text.h"

namespace lemma::loop {

namespace {

bool contains(const std::vector<ir::TensorId>& ids, ir::TensorId id) {
    return std::ranges::find(ids, id) != ids.end();
}

class RegionVerifier {
public:
    explicit RegionVerifier(const RegionGraph& region)
        : region_(region),
          graph_(region.graph),
          pool_(region.graph.pool),
          shared_(find_shared(region)) {}

    std::string run() {
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            for (const ir::TensorId id : graph_.groups[i].writes) last_writer_[id] = i;
        }
        for (size_t i = 0; i < graph_.groups.size() && fault_.empty(); ++i) {
            const FusionGroup& group = graph_.groups[i];
            if (group.dead) fail(group, "is dead");
            if (!group.compiled()) continue;
            check_lists(group);
            for (const Stage& stage : group.stages) check_stage(group, stage);
            if (group.contraction) check_contraction(group);
            check_order(group, i);
        }
        return fault_;
    }

private:
    template <class... Parts>
    void fail(const FusionGroup& group, fmt::format_string<Parts...> text, Parts&&... parts) {
        if (!fault_.empty()) return;
        fault_ = fmt::format(
            "group `{}` {}", group.label, fmt::format(text, std::forward<Parts>(parts)...));
    }
    std::string name(ir::TensorId id) const { return name_of(region_.program, id); }

    void check_lists(const FusionGroup& group) {
        if (group.stages.empty()) fail(group, "has no stage");
        if (group.writes.empty()) fail(group, "writes nothing");
        for (const auto* list : {&group.reads, &group.writes}) {
            for (const ir::TensorId id : *list) {
                if (std::ranges::count(*list, id) > 1) fail(group, "lists `{}` twice", name(id));
                if (!graph_.shapes.contains(id)) fail(group, "uses `{}`, without shape", name(id));
                if (!graph_.dtypes.contains(id)) fail(group, "uses `{}`, without dtype", name(id));
            }
        }
    }

    static bool is_number(const FusionGroup& group, ir::TensorId id) {
        return group.rows && group.rows->numbers.contains(id);
    }
    void check_rank(const FusionGroup& group, ir::TensorId id, size_t indices) {
        const auto shape = graph_.shapes.find(id);
        const bool same = shape != graph_.shapes.end() && shape->second.size() == indices;
        if (!same) fail(group, "has {} indices for `{}`", indices, name(id));
    }
    void check_write(const FusionGroup& group, const StageWrite& write) {
        const bool listed = contains(group.writes, write.tensor) || is_number(group, write.tensor);
        if (!listed) fail(group, "does not list `{}`, which it writes", name(write.tensor));
        check_rank(group, write.tensor, write.index.size());
    }

    void check_stage(const FusionGroup& group, const Stage& stage) {
        for (const StageLoop& loop : stage.loops) {
            if (loop.extent != pool_.extent(loop.var)) {
                fail(group, "has a loop of {} steps over v{}", loop.extent, loop.var.value);
            }
        }
        for (const StageWrite& write : stage.writes) check_write(group, write);
        if (stage.kept) check_write(group, *stage.kept);
        for (const StageWrite& write : stage.also) check_write(group, write);
        if (!stage.also.empty() && !(group.contraction && stage.finish.valid())) {
            fail(group, "assigns more than results without a finish");
        }
        for_each_expr(stage, [&](ExprId id) { check_value(group, stage, id); });
    }
    void check_value(const FusionGroup& group, const Stage& stage, ExprId value) {
        std::vector<ExprId> work = {value};
        std::unordered_set<ExprId, IdHash> seen;
        while (!work.empty()) {
            const ExprId id = work.back();
            work.pop_back();
            if (!id.valid() || !seen.insert(id).second) continue;
            const Expr& e = pool_[id];
            work.insert(work.end(), e.args.begin(), e.args.end());
            if (e.op == Op::Read && id != stage.total) check_read(group, e);
            if (e.op != Op::Var) continue;
            const auto var = make_id<VarId>(static_cast<size_t>(e.integer));
            if (std::ranges::find(stage.loops, var, &StageLoop::var) == stage.loops.end()) {
                fail(group, "uses v{}, which is no loop", var.value);
            }
        }
    }
    void check_read(const FusionGroup& group, const Expr& e) {
        const ir::TensorId id = tensor_of(e);
        const bool listed = contains(group.reads, id) || is_number(group, id);
        if (!listed) fail(group, "does not list `{}`, which it reads", name(id));
        check_rank(group, id, e.args.size());
    }

    void check_contraction(const FusionGroup& group) {
        if (group.stages.size() != 1) return fail(group, "is a contraction of several stages");
        const Contraction& c = *group.contraction;
        std::vector<VarId> vars = {c.lane};
        for (const auto* role : {&c.points, &c.batch, &c.reduced}) {
            vars.insert(vars.end(), role->begin(), role->end());
        }
        const auto& loops = group.stages[0].loops;
        for (const VarId var : vars) {
            if (std::ranges::find(loops, var, &StageLoop::var) == loops.end()) {
                fail(group, "contracts over v{}, which is no loop", var.value);
            }
        }
        if (vars.size() != loops.size()) fail(group, "has loops without a role");
    }

    bool comes_from_outside(ir::TensorId id) const {
        if (shared_.contains(id)) return true;
        if (id.value >= region_.program.tensors.size()) return region_.places.contains(id);
        if (region_.kind != RegionKind::Main) return true;
        return region_.program.tensors[id].role != ir::TensorRole::Intermediate;
    }
    void check_order(const FusionGroup& group, size_t at) {
        for (const ir::TensorId id : group.reads) {
            const auto writer = last_writer_.find(id);
            if (writer == last_writer_.end()) {
                if (!comes_from_outside(id))
                    fail(group, "reads `{}`, which nobody makes", name(id));
            } else if (writer->second > at && !contains(group.writes, id)) {
                fail(group, "reads `{}`, which is not made before", name(id));
            }
        }
    }

    const RegionGraph& region_;
    const StageGraph& graph_;
    const StagePool& pool_;
    const TensorSet shared_;  // written through other tensors, too
    std::unordered_map<ir::TensorId, size_t, IdHash> last_writer_;
    std::string fault_;
};

}  // namespace

std::string verify(const RegionGraph& region) { return RegionVerifier(region).run(); }

}  // namespace lemma::loop
