// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/memory/carry.h"

#include <algorithm>

namespace lemma::loop {

namespace {

bool contains(const std::vector<ir::TensorId>& ids, ir::TensorId id) {
    return std::ranges::find(ids, id) != ids.end();
}

class Carrier {
public:
    explicit Carrier(StageGraph& graph) : graph_(graph), pool_(graph.pool) {}

    bool join(const CarriedPair& pair) {
        DynamicGroup* const maker = find_maker(pair);
        if (!maker) return false;
        std::vector<Stage>& stages = maker->shape.stages;
        const auto copy =
            std::ranges::find_if(stages, [&](const Stage& stage) { return is_copy(stage, pair); });
        // A group without stages would not check the extents.
        if (copy == stages.end() || stages.size() < 2) return false;
        const bool reads_back = std::ranges::any_of(stages, [&](const Stage& stage) {
            return &stage != &*copy && contains(tensors_of({stage}, pool_), pair.input);
        });
        if (reads_back) return false;
        stages.erase(copy);
        return true;
    }

    // The pairs of a group get their room as further shape arguments.
    void add_rooms(DynamicGroup& group, const std::vector<CarriedPair>& pairs) {
        DynamicShape& shape = group.shape;
        const std::vector<ir::TensorId> used = tensors_of(shape.stages, pool_);
        for (const CarriedPair& pair : pairs) {
            const bool here = contains(used, pair.input) || contains(used, pair.output);
            if (!here) continue;
            ShapeArgument number;
            number.room_of = pair.output;
            number.most = kMostExtent;
            number.var = pool_.new_var(kMostExtent + 1);
            shape.numbers.push_back(number);
            for (const ir::TensorId id : {pair.input, pair.output}) {
                const auto extents = shape.extents.find(id);
                if (extents == shape.extents.end()) continue;
                std::vector<ExprId> room = extents->second;
                room[pair.axis] = pool_.build.index(number.var);
                shape.rooms[id] = std::move(room);
            }
        }
        graph_.shapes[shape.told] = {static_cast<int64_t>(shape.numbers.size()) + 1};
    }

private:
    // The only group that makes the output; all others that use the pair know its room, too.
    DynamicGroup* find_maker(const CarriedPair& pair) {
        if (graph_.shapes.contains(pair.input) || graph_.shapes.contains(pair.output)) {
            return nullptr;
        }
        DynamicGroup* maker = nullptr;
        for (FusionGroup& group : graph_.groups) {
            const bool writes = contains(group.writes, pair.output);
            const bool uses =
                writes || contains(group.reads, pair.output) || contains(group.reads, pair.input);
            if (!uses) continue;
            auto* const dynamic = std::get_if<DynamicGroup>(&group.kind);
            const bool good = dynamic && !contains(group.writes, pair.input) && !(writes && maker);
            if (!good) return nullptr;
            if (writes) maker = dynamic;
        }
        return maker;
    }
    // Whether the stage assigns each element of the input to the same element of the output.
    bool is_copy(const Stage& stage, const CarriedPair& pair) const {
        if (!is_plain(stage) || stage.writes[0].tensor != pair.output) return false;
        const StageWrite& write = stage.writes[0];
        const Expr& value = pool_[write.value];
        // Without what is known about the range.
        const auto plain = [this](ExprId index) {
            return pool_[index].op == Op::Assume ? pool_[index].args[0] : index;
        };
        return value.op == Op::Read && tensor_of(value) == pair.input &&
               std::ranges::equal(value.args, write.index, {}, plain, plain);
    }
    StageGraph& graph_;
    StagePool& pool_;
};

}  // namespace

int carry_in_place(StageGraph& graph) {
    Carrier carrier(graph);
    std::erase_if(graph.carried, [&](const CarriedPair& pair) { return !carrier.join(pair); });
    if (graph.carried.empty()) return 0;
    for (FusionGroup& group : graph.groups) {
        auto* const dynamic = std::get_if<DynamicGroup>(&group.kind);
        if (dynamic) carrier.add_rooms(*dynamic, graph.carried);
    }
    return static_cast<int>(graph.carried.size());
}

}  // namespace lemma::loop
