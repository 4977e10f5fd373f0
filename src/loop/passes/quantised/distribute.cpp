// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/quantised/distribute.h"

#include <algorithm>

namespace lemma::loop {

namespace {

bool is_byte(tensor::DType dtype) {
    return dtype == tensor::DType::I8 || dtype == tensor::DType::U8;
}

class Distributor {
public:
    explicit Distributor(StageGraph& graph)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build) {}

    int run() {
        int count = 0;
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            if (!is_concatenation(graph_.groups[i])) continue;
            const auto reader = only_reader(i);
            if (!reader || !is_quantisation(graph_.groups[*reader], graph_.groups[i].writes[0])) {
                continue;
            }
            join(graph_.groups[i], graph_.groups[*reader]);
            ++count;
        }
        std::erase_if(graph_.groups, [](const FusionGroup& group) { return group.dead; });
        return count;
    }

private:
    bool is_concatenation(const FusionGroup& group) const {
        if (!group.compiled() || group.once || group.dead || group.stages.size() < 2 ||
            group.writes.size() != 1)
            return false;
        const ir::TensorId id = group.writes[0];
        const bool inner = graph_.dtypes.at(id) == tensor::DType::F32 &&
                           !graph_.results.contains(id) &&
                           std::ranges::find(group.reads, id) == group.reads.end();
        return inner && std::ranges::all_of(group.stages,
                                            [](const Stage& stage) { return is_plain(stage); });
    }
    std::optional<size_t> only_reader(size_t at) const {
        const ir::TensorId id = graph_.groups[at].writes[0];
        std::optional<size_t> found;
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            const std::vector<ir::TensorId>& reads = graph_.groups[i].reads;
            if (graph_.groups[i].dead || std::ranges::find(reads, id) == reads.end()) continue;
            if (found || i < at) return std::nullopt;
            found = i;
        }
        return found;
    }
    // A map to bytes that reads each element of the tensor at its own place.
    bool is_quantisation(const FusionGroup& group, ir::TensorId from) const {
        if (!group.compiled() || group.stages.size() != 1 || group.writes.size() != 1) return false;
        const Stage& stage = group.stages[0];
        const StageWrite& write = stage.writes[0];
        bool same = is_byte(graph_.dtypes.at(write.tensor)) && is_map(stage, graph_) &&
                    in_range(graph_, write.value);
        pool_.visit_reads(write.value, [&](ExprId, const Expr& e) {
            same &= tensor_of(e) != from || e.args == write.index;
        });
        return same;
    }
    void join(FusionGroup& parts, FusionGroup& reader) {
        const Stage map = reader.stages[0];
        const StageWrite& to = map.writes[0];
        const ExprId whole = build_.read(parts.writes[0].value, Kind::F32, to.index);
        reader.stages.clear();
        for (const Stage& part : parts.stages) {
            Stage stage = part;
            StageWrite& write = stage.writes[0];
            std::unordered_map<VarId, ExprId, IdHash> with;
            for (size_t axis = 0; axis < to.index.size(); ++axis) {
                const Expr& e = pool_[to.index[axis]];
                if (e.op != Op::Var) continue;
                with[make_id<VarId>(static_cast<size_t>(e.integer))] = write.index[axis];
            }
            const ExprId element = build_.cast(write.value, Kind::F32);
            const ExprId here = pool_.substitute(whole, with);
            write.value = pool_.replace(pool_.substitute(to.value, with), here, element);
            write.tensor = to.tensor;
            reader.stages.push_back(std::move(stage));
        }
        parts.dead = true;
        find_reads(graph_, reader);
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
};

}  // namespace

int distribute_quantisation(StageGraph& graph) { return Distributor(graph).run(); }

}  // namespace lemma::loop
