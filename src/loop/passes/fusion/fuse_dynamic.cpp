// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/fuse_dynamic.h"

#include <algorithm>

#include "loop/passes/fusion/fuse.h"

namespace lemma::loop {

namespace {

DynamicGroup* dynamic(FusionGroup& group) { return std::get_if<DynamicGroup>(&group.kind); }
DynamicShape& shape_of(FusionGroup& group) { return std::get<DynamicGroup>(group.kind).shape; }
const DynamicShape& shape_of(const FusionGroup& group) {
    return std::get<DynamicGroup>(group.kind).shape;
}

bool contains(const std::vector<ir::TensorId>& ids, ir::TensorId id) {
    return std::ranges::find(ids, id) != ids.end();
}

// Translates expressions of one group to the shape arguments of another group, and adds missing
// arguments.
class Renumbering {
public:
    Renumbering(StagePool& pool, const DynamicShape& from, DynamicShape& to)
        : pool_(pool), from_(from), to_(to) {
        for (const ShapeArgument& number : from.numbers) {
            const auto same = std::ranges::find_if(to.numbers, [&](const ShapeArgument& n) {
                return n.symbol == number.symbol && n.count == number.count;
            });
            position_.push_back(same - to.numbers.begin());
            if (same == to.numbers.end()) {
                to.numbers.push_back(number);
            } else if (number.var.valid()) {
                with_[number.var] = pool.build.index(same->var);
            }
        }
        for (const auto& [tensor, extents] : from.extents) {
            std::vector<ExprId>& here = to.extents[tensor];
            if (!here.empty()) continue;
            for (const ExprId extent : extents) here.push_back((*this)(extent));
        }
    }

    ExprId operator()(ExprId id) {
        id = pool_.substitute(id, with_);
        std::vector<std::pair<ExprId, int64_t>> told;
        pool_.visit_reads(id, [&](ExprId at, const Expr& e) {
            if (tensor_of(e) != from_.told) return;
            const auto before = static_cast<size_t>(pool_[e.args[0]].integer);
            told.emplace_back(at, position_[before]);
        });
        for (const auto& [at, position] : told) {
            const ExprId slot = pool_.build.integer(position);
            id = pool_.replace(id, at, pool_.build.read(to_.told.value, Kind::Int, {slot}));
        }
        return id;
    }

private:
    StagePool& pool_;
    const DynamicShape& from_;
    DynamicShape& to_;
    std::vector<int64_t> position_;  // new positions of the arguments
    std::unordered_map<VarId, ExprId, IdHash> with_;
};

class DynamicFuser {
public:
    explicit DynamicFuser(StageGraph& graph) : graph_(graph), pool_(graph.pool) {
        for (FusionGroup& group : graph.groups) {
            count(group, 1);
            if (!dynamic(group)) continue;
            for (const ir::TensorId id : group.writes) producers_[id] = &group;
        }
    }

    int run() {
        for (FusionGroup& reader : graph_.groups) take_in_producers(reader);
        for (FusionGroup& reader : graph_.groups) become_epilogue(reader);
        return static_cast<int>(
            std::erase_if(graph_.groups, [](const FusionGroup& group) { return group.dead; }));
    }

private:
    static bool reads(const FusionGroup& group, ir::TensorId id) {
        return !group.dead && contains(group.reads, id) && !contains(group.writes, id);
    }
    // Adds `by` to the reader counts of the tensors that the group reads.
    void count(const FusionGroup& group, int by) {
        for (const ir::TensorId id : group.reads) {
            if (!contains(group.writes, id)) readers_[id] += by;
        }
    }
    void remove(FusionGroup& group) {
        count(group, -1);
        group.dead = true;
    }
    FusionGroup* producer_of(ir::TensorId id);
    bool is_map(const FusionGroup& group) const;
    bool reads_well(const Stage& stage,
                    const DynamicShape& shape,
                    ir::TensorId id,
                    bool copy) const;
    bool takes(const FusionGroup& reader, const FusionGroup& producer) const;
    void take_in(FusionGroup& reader, FusionGroup& producer);
    void take_in_producers(FusionGroup& reader);
    std::optional<std::vector<ExprId>> plain_index(const FusionGroup& reader,
                                                   ir::TensorId id) const;
    bool is_total(const FusionGroup& group) const;
    void join(FusionGroup& total, FusionGroup& reader, const std::vector<ExprId>& index);
    void become_epilogue(FusionGroup& reader);
    void merge_lists(FusionGroup& reader, FusionGroup& producer);

    StageGraph& graph_;
    StagePool& pool_;
    std::unordered_map<ir::TensorId, FusionGroup*, IdHash> producers_;
    std::unordered_map<ir::TensorId, int, IdHash> readers_;
};

bool is_short(const StagePool& pool, ExprId value) {
    std::vector<ExprId> work = {value};
    std::unordered_set<ExprId, IdHash> seen;
    while (!work.empty() && std::ssize(seen) <= kMostFused) {
        const ExprId at = work.back();
        work.pop_back();
        if (!seen.insert(at).second) continue;
        work.insert(work.end(), pool[at].args.begin(), pool[at].args.end());
    }
    return std::ssize(seen) <= kMostFused;
}

// The group that makes this tensor only, in one stage.
FusionGroup* DynamicFuser::producer_of(ir::TensorId id) {
    const auto found = producers_.find(id);
    if (found == producers_.end()) return nullptr;
    FusionGroup& group = *found->second;
    const bool good = !group.dead && group.writes.size() == 1 &&
                      shape_of(group).stages.size() == 1 && !graph_.results.contains(id) &&
                      !graph_.shapes.contains(id) && keeps_values(graph_.dtypes.at(id));
    return good ? &group : nullptr;
}

bool DynamicFuser::is_map(const FusionGroup& group) const {
    const Stage& stage = shape_of(group).stages[0];
    return is_element_wise(stage, pool_, shape_of(group), graph_.shapes) &&
           is_short(pool_, stage.writes[0].value);
}

// ---- Producers ----------------------------------------------------------------------------------

// Whether every index is inside, and no element is computed repeatedly unless it is a copy.
bool DynamicFuser::reads_well(const Stage& stage,
                              const DynamicShape& shape,
                              ir::TensorId id,
                              bool copy) const {
    bool good = true;
    const std::vector<ExprId>& extents = shape.extents.at(id);
    const auto read = [&](ExprId, const Expr& e) {
        if (tensor_of(e) != id) return;
        for (size_t axis = 0; axis < e.args.size(); ++axis) {
            good &= pool_.is_inside(e.args[axis], extents[axis]);
        }
        good &= copy || std::ranges::all_of(stage.loops, [&](const StageLoop& loop) {
                    return std::ranges::any_of(
                        e.args, [&](ExprId index) { return pool_.depends(index, loop.var); });
                });
    };
    for_each_value(stage, [&](ExprId value) { pool_.visit_reads(value, read); });
    return good;
}

bool DynamicFuser::takes(const FusionGroup& reader, const FusionGroup& producer) const {
    const ir::TensorId id = producer.writes[0];
    if (!is_map(producer)) return false;
    const Expr& value = pool_[shape_of(producer).stages[0].writes[0].value];
    const bool copy = value.op == Op::Read && std::ranges::all_of(value.args, [&](ExprId index) {
                          return pool_.affine(index).has_value();
                      });
    if (!copy && readers_.at(id) != 1) return false;
    const DynamicShape& shape = shape_of(reader);
    return shape.extents.contains(id) && std::ranges::all_of(shape.stages, [&](const Stage& stage) {
               return reads_well(stage, shape, id, copy);
           });
}

// Replaces reads of the producer's tensor by the producer's value.
void DynamicFuser::take_in(FusionGroup& reader, FusionGroup& producer) {
    const Stage& from = shape_of(producer).stages[0];
    const ir::TensorId id = producer.writes[0];
    Renumbering renumber(pool_, shape_of(producer), shape_of(reader));
    const ExprId made =
        pool_.build.cast(renumber(from.writes[0].value), kind_of(graph_.dtypes.at(id)));
    const auto rewrite = [&](ExprId& value) {
        std::vector<std::pair<ExprId, Expr>> reads;
        pool_.visit_reads(value, [&](ExprId at, const Expr& e) {
            if (tensor_of(e) == id) reads.emplace_back(at, e);
        });
        // A read in the index of another has the smaller number.
        std::ranges::sort(reads, {}, [](const auto& read) { return read.first.value; });
        for (const auto& [at, e] : reads) {
            std::unordered_map<VarId, ExprId, IdHash> with;
            for (size_t axis = 0; axis < e.args.size(); ++axis) {
                const Expr& index = pool_[from.writes[0].index[axis]];
                if (index.op != Op::Var) continue;
                with[make_id<VarId>(static_cast<size_t>(index.integer))] = e.args[axis];
            }
            value = pool_.replace(value, at, pool_.substitute(made, with));
        }
    };
    DynamicShape& shape = shape_of(reader);
    const std::vector<ir::TensorId>& inlined = shape_of(producer).inlined;
    shape.inlined.insert(shape.inlined.end(), inlined.begin(), inlined.end());
    for (Stage& stage : shape.stages) {
        for_each_value(stage, rewrite);
        for (const ExprId size : from.sizes) stage.sizes.push_back(renumber(size));
    }
    merge_lists(reader, producer);
}

// Adds the inputs and run-time checks of the producer to the reader.
void DynamicFuser::merge_lists(FusionGroup& reader, FusionGroup& producer) {
    DynamicShape& shape = shape_of(reader);
    const ir::TensorId id = producer.writes[0];
    count(reader, -1);
    std::erase(reader.reads, id);
    for (const ir::TensorId read : producer.reads) {
        if (read != id && !contains(reader.reads, read)) reader.reads.push_back(read);
    }
    count(reader, 1);
    std::vector<ir::OpId> checks = dynamic(producer)->within;
    checks.push_back(producer.op);
    std::vector<ir::OpId>& within = dynamic(reader)->within;
    for (const ir::OpId op : within) {
        if (std::ranges::find(checks, op) == checks.end()) checks.push_back(op);
    }
    within = std::move(checks);
    shape.inlined.push_back(id);
    graph_.shapes[shape.told] = {static_cast<int64_t>(shape.numbers.size()) + 1};
}

void DynamicFuser::take_in_producers(FusionGroup& reader) {
    if (!dynamic(reader) || reader.dead) return;
    for (size_t i = 0; i < reader.reads.size();) {
        const ir::TensorId id = reader.reads[i];
        FusionGroup* const producer = reads(reader, id) ? producer_of(id) : nullptr;
        if (!producer || !takes(reader, *producer)) {
            ++i;
            continue;
        }
        take_in(reader, *producer);
        if (readers_[id] == 0) remove(*producer);
        i = 0;
    }
}

// ---- Epilogues ----------------------------------------------------------------------------------

// The index at which a map reads the tensor, if there is one index and it consists of the map's
// variables.
std::optional<std::vector<ExprId>> DynamicFuser::plain_index(const FusionGroup& reader,
                                                             ir::TensorId id) const {
    const Stage& stage = shape_of(reader).stages[0];
    std::vector<std::vector<ExprId>> found;
    pool_.visit_reads(stage.writes[0].value, [&](ExprId, const Expr& e) {
        if (tensor_of(e) == id) found.push_back(e.args);
    });
    const auto extents = shape_of(reader).extents.find(id);
    if (found.size() != 1 || extents == shape_of(reader).extents.end()) return std::nullopt;
    std::vector<VarId> vars;
    for (size_t axis = 0; axis < found[0].size(); ++axis) {
        const Expr& e = pool_[found[0][axis]];
        const Expr& extent = pool_[extents->second[axis]];
        const bool one = extent.op == Op::Constant && extent.integer == 1;
        if (e.op == Op::Constant && one) continue;
        if (e.op != Op::Var) return std::nullopt;
        const auto var = make_id<VarId>(static_cast<size_t>(e.integer));
        const bool whole = pool_.end(var).valid()
                               ? pool_.end(var) == extents->second[axis]
                               : extent.op == Op::Constant && extent.integer == pool_.extent(var);
        if (!whole || std::ranges::find(vars, var) != vars.end()) return std::nullopt;
        vars.push_back(var);
    }
    return vars.size() == stage.loops.size() ? std::optional(found[0]) : std::nullopt;
}

// Whether the group is a reduction that stores each element once.
bool DynamicFuser::is_total(const FusionGroup& group) const {
    const Stage& stage = shape_of(group).stages[0];
    return stage.initial.valid() && !stage.finish.valid() &&
           writes_all(stage, pool_, shape_of(group), graph_.shapes);
}

// The reduction gets the reader as its epilogue and runs in the reader's place.
void DynamicFuser::join(FusionGroup& total, FusionGroup& reader, const std::vector<ExprId>& index) {
    const ir::TensorId id = total.writes[0];
    DynamicShape shape = std::move(shape_of(total));
    Renumbering renumber(pool_, shape_of(reader), shape);
    const Stage& map = shape_of(reader).stages[0];
    Stage& stage = shape.stages[0];
    std::unordered_map<VarId, ExprId, IdHash> with;
    for (size_t axis = 0; axis < index.size(); ++axis) {
        const Expr& e = pool_[index[axis]];
        if (e.op != Op::Var) continue;
        with[make_id<VarId>(static_cast<size_t>(e.integer))] = stage.writes[0].index[axis];
    }
    const ExprId read = pool_.build.read(id.value, kind_of(graph_.dtypes.at(id)), index);
    stage.total = pool_.substitute(read, with);
    stage.finish = pool_.substitute(renumber(map.writes[0].value), with);
    stage.writes[0].tensor = map.writes[0].tensor;
    stage.writes[0].index.clear();
    for (const ExprId part : map.writes[0].index) {
        stage.writes[0].index.push_back(pool_.substitute(part, with));
    }
    for (const ExprId size : map.sizes) stage.sizes.push_back(renumber(size));
    shape.inlined.insert(
        shape.inlined.end(), shape_of(reader).inlined.begin(), shape_of(reader).inlined.end());
    shape_of(reader) = std::move(shape);
    merge_lists(reader, total);
    remove(total);
}

void DynamicFuser::become_epilogue(FusionGroup& reader) {
    if (!dynamic(reader) || reader.dead || shape_of(reader).stages.size() != 1 ||
        reader.writes.size() != 1 || !is_map(reader)) {
        return;
    }
    for (const ir::TensorId id : reader.reads) {
        FusionGroup* const total = reads(reader, id) ? producer_of(id) : nullptr;
        if (!total || !is_total(*total) || readers_.at(id) != 1) continue;
        const auto index = plain_index(reader, id);
        if (!index) continue;
        return join(*total, reader, *index);
    }
}

}  // namespace

int fuse_dynamic(StageGraph& graph) { return DynamicFuser(graph).run(); }

}  // namespace lemma::loop
