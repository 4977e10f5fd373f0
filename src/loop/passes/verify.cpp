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
        for (size_t i = 0; i < graph_.units.size(); ++i) {
            for (const ir::TensorId id : graph_.units[i].writes) last_writer_[id] = i;
        }
        for (size_t i = 0; i < graph_.units.size() && fault_.empty(); ++i) {
            const FusionGroup& unit = graph_.units[i];
            if (unit.dead) fail(unit, "is dead");
            if (!unit.compiled()) continue;
            check_lists(unit);
            for (const Stage& stage : unit.stages) check_stage(unit, stage);
            if (unit.contraction) check_contraction(unit);
            check_order(unit, i);
        }
        return fault_;
    }

private:
    template <class... Parts>
    void fail(const FusionGroup& unit, fmt::format_string<Parts...> text, Parts&&... parts) {
        if (!fault_.empty()) return;
        fault_ = fmt::format(
            "group `{}` {}", unit.label, fmt::format(text, std::forward<Parts>(parts)...));
    }
    std::string name(ir::TensorId id) const { return name_of(region_.program, id); }

    void check_lists(const FusionGroup& unit) {
        if (unit.stages.empty()) fail(unit, "has no stage");
        if (unit.writes.empty()) fail(unit, "writes nothing");
        for (const auto* list : {&unit.reads, &unit.writes}) {
            for (const ir::TensorId id : *list) {
                if (std::ranges::count(*list, id) > 1) fail(unit, "lists `{}` twice", name(id));
                if (!graph_.shapes.contains(id)) fail(unit, "uses `{}`, without shape", name(id));
                if (!graph_.dtypes.contains(id)) fail(unit, "uses `{}`, without dtype", name(id));
            }
        }
    }

    static bool is_number(const FusionGroup& unit, ir::TensorId id) {
        return unit.rows && unit.rows->numbers.contains(id);
    }
    void check_rank(const FusionGroup& unit, ir::TensorId id, size_t indices) {
        const auto shape = graph_.shapes.find(id);
        const bool same = shape != graph_.shapes.end() && shape->second.size() == indices;
        if (!same) fail(unit, "has {} indices for `{}`", indices, name(id));
    }
    void check_write(const FusionGroup& unit, const StageWrite& write) {
        const bool listed = contains(unit.writes, write.tensor) || is_number(unit, write.tensor);
        if (!listed) fail(unit, "does not list `{}`, which it writes", name(write.tensor));
        check_rank(unit, write.tensor, write.index.size());
    }

    void check_stage(const FusionGroup& unit, const Stage& stage) {
        for (const StageLoop& loop : stage.loops) {
            if (loop.extent != pool_.extent(loop.var)) {
                fail(unit, "has a loop of {} steps over v{}", loop.extent, loop.var.value);
            }
        }
        for (const StageWrite& write : stage.writes) check_write(unit, write);
        if (stage.kept) check_write(unit, *stage.kept);
        for_each_expr(stage, [&](ExprId id) { check_value(unit, stage, id); });
    }
    void check_value(const FusionGroup& unit, const Stage& stage, ExprId value) {
        std::vector<ExprId> work = {value};
        std::unordered_set<ExprId, IdHash> seen;
        while (!work.empty()) {
            const ExprId id = work.back();
            work.pop_back();
            if (!id.valid() || !seen.insert(id).second) continue;
            const Expr& e = pool_[id];
            work.insert(work.end(), e.args.begin(), e.args.end());
            if (e.op == Op::Read && id != stage.total) check_read(unit, e);
            if (e.op != Op::Var) continue;
            const auto var = make_id<VarId>(static_cast<size_t>(e.integer));
            if (std::ranges::find(stage.loops, var, &StageLoop::var) == stage.loops.end()) {
                fail(unit, "uses v{}, which is no loop", var.value);
            }
        }
    }
    void check_read(const FusionGroup& unit, const Expr& e) {
        const ir::TensorId id = tensor_of(e);
        const bool listed = contains(unit.reads, id) || is_number(unit, id);
        if (!listed) fail(unit, "does not list `{}`, which it reads", name(id));
        check_rank(unit, id, e.args.size());
    }

    void check_contraction(const FusionGroup& unit) {
        if (unit.stages.size() != 1) return fail(unit, "is a contraction of several stages");
        const Contraction& c = *unit.contraction;
        std::vector<VarId> vars = {c.lane};
        for (const auto* role : {&c.points, &c.batch, &c.reduced}) {
            vars.insert(vars.end(), role->begin(), role->end());
        }
        const auto& loops = unit.stages[0].loops;
        for (const VarId var : vars) {
            if (std::ranges::find(loops, var, &StageLoop::var) == loops.end()) {
                fail(unit, "contracts over v{}, which is no loop", var.value);
            }
        }
        if (vars.size() != loops.size()) fail(unit, "has loops without a role");
    }

    bool comes_from_outside(ir::TensorId id) const {
        if (shared_.contains(id)) return true;
        if (id.value >= region_.program.tensors.size()) return region_.places.contains(id);
        if (region_.kind != RegionKind::Main) return true;
        return region_.program.tensors[id].role != ir::TensorRole::Intermediate;
    }
    void check_order(const FusionGroup& unit, size_t at) {
        for (const ir::TensorId id : unit.reads) {
            const auto writer = last_writer_.find(id);
            if (writer == last_writer_.end()) {
                if (!comes_from_outside(id)) fail(unit, "reads `{}`, which nobody makes", name(id));
            } else if (writer->second > at && !contains(unit.writes, id)) {
                fail(unit, "reads `{}`, which is not made before", name(id));
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
