// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/memory/in_place.h"

#include <algorithm>

namespace lemma::loop {

namespace {

using InPlace = std::unordered_map<ir::TensorId, ir::TensorId, IdHash>;

// Finds operands whose elements are read once, at the index of the write, by their last reader.
class InPlaceFinder {
public:
    explicit InPlaceFinder(const RegionGraph& region)
        : graph_(region.graph), layouts_(region.layouts), fixed_(region.fixed) {
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            for (const ir::TensorId id : graph_.groups[i].reads) last_read_[id] = i;
        }
    }

    InPlace run() {
        InPlace result;
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            const FusionGroup& group = graph_.groups[i];
            const bool one = group.compiled() && !group.once && group.stages.size() == 1 &&
                             group.writes.size() == 1 && is_free(group.writes[0]);
            if (!one || !writes_once(group.stages[0])) continue;
            for (const ir::TensorId id : group.reads) {
                if (last_read_.at(id) != i || !is_free(id) || !alike(id, group.writes[0])) continue;
                if (!reads_where_it_writes(group.stages[0], id)) continue;
                result[group.writes[0]] = id;
                break;
            }
        }
        return result;
    }

private:
    bool is_free(ir::TensorId id) const {
        return !fixed_.contains(id) && !graph_.constants.contains(id) &&
               !graph_.results.contains(id) && !graph_.padded.contains(id);
    }
    bool alike(ir::TensorId a, ir::TensorId b) const {
        const auto find = [](const auto& map, ir::TensorId id) {
            const auto at = map.find(id);
            return at == map.end() ? nullptr : &at->second;
        };
        const auto same = [](const auto* x, const auto* y) {
            return (!x && !y) || (x && y && *x == *y);
        };
        return graph_.shapes.at(a) == graph_.shapes.at(b) &&
               graph_.dtypes.at(a) == graph_.dtypes.at(b) &&
               same(find(layouts_.innermost, a), find(layouts_.innermost, b)) &&
               same(find(layouts_.halos, a), find(layouts_.halos, b));
    }
    bool writes_once(const Stage& stage) const {
        if (!stage.guards.empty() || stage.condition.valid() || stage.writes.size() != 1) {
            return false;
        }
        const WriteShape shape = write_shape(stage, stage.writes[0], graph_.pool);
        if (!shape.injective) return false;
        return stage.combine == ir::FormulaOp::Assign ? shape.vars.size() == stage.loops.size()
                                                      : stage.initial.valid();
    }
    bool reads_where_it_writes(const Stage& stage, ir::TensorId id) const {
        bool good = true;
        const bool map = stage.combine == ir::FormulaOp::Assign;
        const auto visit = [&](ExprId value, bool may_read) {
            graph_.pool.visit_reads(value, [&](ExprId at, const Expr& e) {
                if (at == stage.total || e.integer != id.value) return;
                good &= may_read && e.args == stage.writes[0].index;
            });
        };
        visit(stage.writes[0].value, map);
        for (const ExprId index : stage.writes[0].index) visit(index, false);
        visit(stage.initial, false);
        visit(stage.finish, true);
        return good;
    }

    const StageGraph& graph_;
    const Layouts& layouts_;
    const TensorSet& fixed_;
    std::unordered_map<ir::TensorId, size_t, IdHash> last_read_;
};

}  // namespace

// A result takes the memory of its operand if no other tensor shares it and no other iteration
// needs it.
int find_in_place(RegionGraph& region) {
    const TensorSet shared = find_shared(region);
    region.in_place = InPlaceFinder(region).run();
    std::erase_if(region.in_place, [&](const auto& item) {
        const auto& [result, operand] = item;
        const bool kept = region.lifted.contains(operand) && !region.lifted.contains(result);
        return kept || shared.contains(result) || shared.contains(operand);
    });
    return static_cast<int>(region.in_place.size());
}

}  // namespace lemma::loop
