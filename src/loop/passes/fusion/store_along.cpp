// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/store_along.h"

#include "loop/passes/fusion/rows_impl.h"

namespace lemma::loop {

namespace {

// Whether all steps do the same and no index leaves its tensor.
bool is_pure(const Stage& stage, const StageGraph& graph) {
    if (stage.empty || !stage.guards.empty() || stage.condition.valid()) return false;
    if (stage.writes.size() != 1) return false;
    const StageWrite& write = stage.writes[0];
    bool good = write_shape(stage, write, graph.pool).injective;
    for (const ExprId value : {write.value, stage.initial, stage.finish}) {
        if (value.valid()) good &= in_range(graph, value);
    }
    for (size_t axis = 0; axis < write.index.size(); ++axis) {
        const StagePool::Range range = graph.pool.range(write.index[axis]);
        good &= range.low >= 0 && range.high < graph.shapes.at(write.tensor)[axis];
    }
    visit_elements(stage, graph.pool, [&](const Expr& e) { good &= tensor_of(e) != write.tensor; });
    return good;
}

}  // namespace

bool is_assignment(const Stage& stage, const StageGraph& graph) {
    return stage.combine == ir::FormulaOp::Assign && is_pure(stage, graph) &&
           write_shape(stage, stage.writes[0], graph.pool).vars.size() == stage.loops.size();
}

bool is_reduction(const Stage& stage, const StageGraph& graph) {
    return stage.initial.valid() && is_pure(stage, graph) &&
           keeps_values(graph.dtypes.at(stage.writes[0].tensor));
}

namespace {

class MapKeeper {
public:
    explicit MapKeeper(RegionGraph& region)
        : graph_(region.graph),
          pool_(region.graph.pool),
          shared_(find_shared(region)),
          before_(region.lifted) {}

    int run() {
        for (size_t i = graph_.groups.size(); i-- > 0;) {
            for (const ir::TensorId id : graph_.groups[i].reads) first_read_[id] = i;
            for (const ir::TensorId id : graph_.groups[i].writes) makers_[id] = i;
        }
        for (size_t i = 0; i < graph_.groups.size(); ++i) keep_map(i);
        return static_cast<int>(
            std::erase_if(graph_.groups, [](const FusionGroup& group) { return group.dead; }));
    }

private:
    bool is_before(const FusionGroup& group) const { return before_.contains(group.writes[0]); }
    void keep_map(size_t at);
    bool keep(size_t from, size_t at, ir::TensorId id);
    std::optional<std::vector<ExprId>> read_at(const Stage& stage, ir::TensorId id) const;

    StageGraph& graph_;
    StagePool& pool_;
    const TensorSet shared_;   // they share memory with other tensors
    const TensorSet& before_;  // made before a loop, kept apart
    std::unordered_map<ir::TensorId, size_t, IdHash> makers_, first_read_;
};

void MapKeeper::keep_map(size_t at) {
    const FusionGroup& group = graph_.groups[at];
    if (!is_one_stage(group) || !is_reduction(group.stages[0], graph_)) return;
    const std::vector<VarId> rows =
        write_shape(group.stages[0], group.stages[0].writes[0], pool_).vars;
    int64_t count = 1;
    for (const VarId var : rows) count *= pool_.extent(var);
    if (count < kEnoughRows && steps_of(group.stages[0].loops) > kFewSteps) return;
    const std::vector<ir::TensorId> reads = group.reads;
    for (const ir::TensorId id : reads) {
        const auto from = makers_.find(id);
        const bool first = from != makers_.end() && first_read_.at(id) == at;
        if (first && keep(from->second, at, id)) return;
    }
}

// The index at which a reduction reads the tensor, if it reads one element in each step.
std::optional<std::vector<ExprId>> MapKeeper::read_at(const Stage& stage, ir::TensorId id) const {
    std::optional<std::vector<ExprId>> index;
    bool plain = true;
    visit_elements(stage, pool_, [&](const Expr& e) {
        if (tensor_of(e) != id) return;
        plain &= !index || *index == e.args;
        index = e.args;
    });
    if (!index || !plain) return std::nullopt;
    for (const ExprId other : {stage.initial, stage.finish}) {
        pool_.visit_reads(other, [&](ExprId at, const Expr& e) {
            plain &= at == stage.total || tensor_of(e) != id;
        });
    }
    std::vector<VarId> vars;
    for (size_t axis = 0; axis < index->size() && plain; ++axis) {
        const int64_t extent = graph_.shapes.at(id)[axis];
        const auto var = as_var(pool_, (*index)[axis]);
        plain &= var ? pool_.extent(*var) == extent && std::ranges::find(vars, *var) == vars.end()
                     : extent == 1;
        if (var) vars.push_back(*var);
    }
    if (!plain || vars.size() != stage.loops.size()) return std::nullopt;
    return index;
}

bool MapKeeper::keep(size_t from, size_t at, ir::TensorId id) {
    FusionGroup& map = graph_.groups[from];
    FusionGroup& group = graph_.groups[at];
    const bool good = is_one_stage(map) && map.writes.size() == 1 &&
                      is_map(map.stages[0], graph_) && is_assignment(map.stages[0], graph_) &&
                      keeps_values(graph_.dtypes.at(id)) && !shared_.contains(id) &&
                      is_before(map) == is_before(group);
    if (!good) return false;
    Stage& stage = group.stages[0];
    const auto index = read_at(stage, id);
    if (!index) return false;
    const StageWrite& write = map.stages[0].writes[0];
    std::unordered_map<VarId, ExprId, IdHash> with;
    for (size_t axis = 0; axis < index->size(); ++axis) {
        if (const auto var = as_var(pool_, write.index[axis])) with[*var] = (*index)[axis];
    }
    const Kind kind = kind_of(graph_.dtypes.at(id));
    const ExprId read = pool_.build.read(id.value, kind, *index);
    const ExprId value = pool_.build.cast(pool_.substitute(write.value, with), kind);
    stage.writes[0].value = pool_.replace(stage.writes[0].value, read, value);
    stage.kept = StageWrite{id, *index, value};
    group.writes.push_back(id);
    map.dead = true;
    find_reads(graph_, group);
    return true;
}

}  // namespace

int store_along(RegionGraph& region) { return MapKeeper(region).run(); }

}  // namespace lemma::loop
