// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/siblings.h"

#include <algorithm>

#include "base/check.h"
#include "loop/passes/fusion/siblings_impl.h"

namespace lemma::loop {

namespace {

class Merger {
public:
    Merger(StageGraph& graph, const Target& target, double least_gain)
        : graph_(graph),
          pool_(graph.pool),
          build_(graph.pool.build),
          finder_(graph, target, least_gain) {}

    int run();

private:
    std::vector<VarId> weight_axes(const Family& family) const;
    FusionGroup constants_group(const Family& family,
                                const char* what,
                                ir::TensorId to,
                                const std::vector<VarId>& axes);
    bool reads(const Stage& stage, ir::TensorId id) const;
    Stage joined_stage(const Family& family, std::vector<FusionGroup>& constants);
    void add_makers(const FusionGroup& group, size_t behind, std::vector<FusionGroup>& to);
    void merge(const Family& family);

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    FamilyFinder finder_;
    std::unordered_map<ir::TensorId, size_t, IdHash> makers_;  // of constants
    // The replacement of the first sibling's group.
    std::unordered_map<size_t, std::vector<FusionGroup>> in_place_of_;
};

// The axes in the memory order of the first sibling's weights.
std::vector<VarId> Merger::weight_axes(const Family& family) const {
    std::vector<VarId> axes = {family[0].lane};
    for (const VarId var : family[0].reduced) {
        const bool used = std::ranges::any_of(
            family, [&](const Sibling& sibling) { return pool_.depends(sibling.b, var); });
        if (used) axes.push_back(var);
    }
    Expr read;
    pool_.visit_reads(family[0].b, [&](ExprId, const Expr& e) {
        if (e.args.size() > read.args.size()) read = e;
    });
    const auto place = [&](VarId var) {
        const auto at = std::ranges::find_if(
            read.args, [&](ExprId index) { return pool_.depends(index, var); });
        return at - read.args.begin();
    };
    std::ranges::stable_sort(axes, {}, place);
    return axes;
}

// Stores `b` of all siblings in one tensor, with a stage for each sibling.
FusionGroup Merger::constants_group(const Family& family,
                                    const char* what,
                                    ir::TensorId to,
                                    const std::vector<VarId>& axes) {
    const Sibling& first = family[0];
    FusionGroup group;
    group.op = graph_.groups[first.group].op;
    group.label = graph_.groups[first.group].label + what;
    group.once = true;
    group.writes = {to};
    for (const Sibling& sibling : family) {
        Stage stage;
        stage.combine = ir::FormulaOp::Assign;
        StageWrite write{to, {}, {}};
        std::unordered_map<VarId, ExprId, IdHash> with;
        for (const VarId axis : axes) {
            const bool lane = axis == first.lane;
            const VarId of = lane ? sibling.lane : axis;
            const VarId var = pool_.new_var(pool_.extent(of));
            stage.loops.push_back({var, pool_.extent(of)});
            with[of] = build_.index(var);
            write.index.push_back(
                lane ? build_.make(Op::Add, {build_.integer(sibling.begin), with[of]}) : with[of]);
        }
        write.value = pool_.substitute(sibling.b, with);
        stage.writes.push_back(std::move(write));
        group.stages.push_back(std::move(stage));
    }
    find_reads(graph_, group);
    graph_.constants.insert(to);
    return group;
}

bool Merger::reads(const Stage& stage, ir::TensorId id) const {
    bool found = false;
    const auto visit = [&](ExprId, const Expr& e) { found |= tensor_of(e) == id; };
    pool_.visit_reads(stage.initial, visit);
    pool_.visit_reads(stage.finish, visit);
    return found;
}

Stage Merger::joined_stage(const Family& family, std::vector<FusionGroup>& constants) {
    const Sibling& first = family[0];
    const VarId lane = pool_.new_var(lanes_of(family));
    tensor::Shape shape = graph_.shapes.at(first.result);
    shape[first.axis] = lanes_of(family);
    const ir::TensorId whole = graph_.new_tensor(tensor::DType::F32, std::move(shape));
    tensor::Shape extents;
    std::vector<ExprId> index;
    const std::vector<VarId> axes = weight_axes(family);
    for (const VarId axis : axes) {
        const VarId var = axis == first.lane ? lane : axis;
        extents.push_back(pool_.extent(var));
        index.push_back(build_.index(var));
    }
    const ir::TensorId weights = graph_.new_tensor(tensor::DType::F32, std::move(extents));
    constants.push_back(constants_group(family, " weights", weights, axes));

    Stage stage = first.stage;
    for (StageLoop& loop : stage.loops) {
        if (loop.var == first.lane) loop = {lane, pool_.extent(lane)};
    }
    StageWrite& write = stage.writes[0];
    write.tensor = whole;
    write.index[first.axis] = build_.index(lane);
    write.value =
        build_.make(Op::Mul, {first.a, build_.read(weights.value, Kind::F32, std::move(index))});
    stage.total = build_.read(whole.value, Kind::F32, write.index);
    Unifier unify = unifier_of(graph_, family, {lane, stage.total});
    stage.initial = unify(values_of(family, &Stage::initial));
    stage.finish = unify(values_of(family, &Stage::finish));
    LEMMA_CHECK(stage.initial.valid() && stage.finish.valid());
    if (stage.finish == stage.total) stage.finish = stage.total = {};
    for (const Unifier::Part& part : unify.parts()) {
        const ir::TensorId id = graph_.new_tensor(tensor::DType::F32, {lanes_of(family)});
        LEMMA_CHECK(id == part.tensor);
        if (!reads(stage, id)) continue;  // tried, not used
        Family values = family;
        for (size_t i = 0; i < values.size(); ++i) values[i].b = part.values[i];
        constants.push_back(constants_group(values, " constants", id, {first.lane}));
    }
    return stage;
}

// Adds the makers of the group's constants that come later than group `behind`, in their order.
void Merger::add_makers(const FusionGroup& group, size_t behind, std::vector<FusionGroup>& to) {
    std::vector<size_t> needed;
    std::vector<ir::TensorId> work = group.reads;
    while (!work.empty()) {
        const auto found = makers_.find(work.back());
        work.pop_back();
        if (found == makers_.end() || found->second <= behind) continue;
        FusionGroup& maker = graph_.groups[found->second];
        if (maker.dead) continue;
        maker.dead = true;
        needed.push_back(found->second);
        work.insert(work.end(), maker.reads.begin(), maker.reads.end());
    }
    std::ranges::sort(needed);
    for (const size_t number : needed) {
        to.push_back(std::move(graph_.groups[number]));
        to.back().dead = false;
        graph_.groups[number].dead = true;
    }
}

void Merger::merge(const Family& family) {
    const FusionGroup& first = graph_.groups[family[0].group];
    FusionGroup joined;
    joined.op = first.op;
    joined.label = first.label;
    std::vector<FusionGroup> constants;
    joined.stages.push_back(joined_stage(family, constants));
    const ir::TensorId whole = joined.stages[0].writes[0].tensor;
    joined.writes = {whole};
    find_reads(graph_, joined);
    for (const Sibling& sibling : family) {
        graph_.groups[sibling.group].dead = true;
        for (const size_t reader : finder_.readers(sibling.result)) {
            read_slices(graph_, graph_.groups[reader], sibling, whole);
        }
    }
    std::vector<FusionGroup>& groups = in_place_of_[family[0].group];
    for (FusionGroup& group : constants) {
        add_makers(group, family[0].group, groups);
        groups.push_back(std::move(group));
    }
    groups.push_back(std::move(joined));
}

int Merger::run() {
    std::vector<Family> families = finder_.run();
    if (families.empty()) return 0;
    for (size_t i = 0; i < graph_.groups.size(); ++i) {
        const FusionGroup& group = graph_.groups[i];
        if (!group.once || !group.compiled()) continue;
        for (const ir::TensorId id : group.writes) makers_[id] = i;
    }
    // Makers of constants move forward to the first family that needs them.
    std::ranges::sort(families, {}, [](const Family& family) { return family[0].group; });
    for (const Family& family : families) merge(finder_.refreshed(family));
    std::vector<FusionGroup> groups;
    for (size_t i = 0; i < graph_.groups.size(); ++i) {
        if (const auto found = in_place_of_.find(i); found != in_place_of_.end()) {
            for (FusionGroup& group : found->second) groups.push_back(std::move(group));
        }
        if (!graph_.groups[i].dead) groups.push_back(std::move(graph_.groups[i]));
    }
    graph_.groups = std::move(groups);
    return static_cast<int>(families.size());
}

}  // namespace

int merge_siblings(StageGraph& graph, const Target& target, double least_gain) {
    return Merger(graph, target, least_gain).run();
}

}  // namespace lemma::loop
