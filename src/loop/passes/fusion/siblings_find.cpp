// SPDX-License-Identifier: Apache-2.0
// Finds products of one operand that can be merged, and decides where it pays.
#include <algorithm>

#include "base/check.h"
#include "loop/passes/contraction/contract.h"
#include "loop/passes/fusion/siblings_impl.h"

namespace lemma::loop {

// ---- Similar products ---------------------------------------------------------------------------

std::optional<Sibling> FamilyFinder::sibling_of(size_t number) {
    const FusionGroup& group = graph_.groups[number];
    if (!group.compiled() || group.once || group.stages.size() != 1 || group.writes.size() != 1) {
        return std::nullopt;
    }
    const auto found = find_contraction(graph_, group.stages[0], true);
    const bool plain = found && found->kind == Kind::F32 && found->product && !found->lane_in_a &&
                       found->batch.empty();
    if (!plain || !is_made_of_constants(graph_, found->b)) return std::nullopt;
    Sibling result;
    result.group = number;
    result.result = group.writes[0];
    const bool own = !graph_.results.contains(result.result) &&
                     graph_.dtypes.at(result.result) == tensor::DType::F32;
    if (!own) return std::nullopt;
    // Another group may write the remaining elements.
    if (!covers(group.stages[0], graph_)) return std::nullopt;
    result.lane = found->lane;
    result.lanes = pool_.extent(found->lane);
    result.a = found->a;
    result.b = found->b;
    result.points = found->points;
    result.reduced = found->reduced;
    result.stage = group.stages[0];
    const StageWrite& write = result.stage.writes[0];
    const auto at = std::ranges::find(write.index, build_.index(result.lane));
    if (at == write.index.end()) return std::nullopt;
    result.axis = static_cast<size_t>(at - write.index.begin());
    if (graph_.shapes.at(result.result)[result.axis] != result.lanes) return std::nullopt;
    Stage& stage = result.stage;
    stage.initial = build_.cast(stage.initial, Kind::F32);
    if (!stage.finish.valid()) {
        stage.total = build_.read(result.result.value, Kind::F32, write.index);
        stage.finish = stage.total;
    }
    return result;
}

Sibling FamilyFinder::over_vars_of(const Sibling& first, Sibling other) {
    std::unordered_map<VarId, ExprId, IdHash> with;
    for (size_t i = 0; i < first.points.size(); ++i) {
        with[other.points[i]] = build_.index(first.points[i]);
    }
    for (size_t i = 0; i < first.reduced.size(); ++i) {
        with[other.reduced[i]] = build_.index(first.reduced[i]);
    }
    other.points = first.points;
    other.reduced = first.reduced;
    for (StageLoop& loop : other.stage.loops) {
        const auto found = with.find(loop.var);
        if (found == with.end()) continue;
        loop.var = make_id<VarId>(static_cast<size_t>(pool_[found->second].integer));
    }
    const auto rewrite = [&](ExprId& value) { value = pool_.substitute(value, with); };
    // The stage sums the product of these two, so its value need not be rewritten.
    rewrite(other.a);
    rewrite(other.b);
    for (StageGuard& guard : other.stage.guards) rewrite(guard.index);
    for (ExprId& index : other.stage.writes[0].index) rewrite(index);
    rewrite(other.stage.initial);
    rewrite(other.stage.finish);
    rewrite(other.stage.total);
    return other;
}

namespace {

constexpr size_t kMostSiblings = 32;
constexpr size_t kMostFamilies = 8;  // of one operand

bool same_extents(const StagePool& pool,
                  const std::vector<VarId>& left,
                  const std::vector<VarId>& right) {
    return std::ranges::equal(
        left, right, [&](VarId a, VarId b) { return pool.extent(a) == pool.extent(b); });
}

}  // namespace

// Whether both use the same variables: they read and write the same elements in the same order.
bool FamilyFinder::matches(const Sibling& first, const Sibling& other) const {
    if (first.a != other.a || first.axis != other.axis) return false;
    const bool guards = std::ranges::equal(
        first.stage.guards, other.stage.guards, [](const StageGuard& a, const StageGuard& b) {
            return a.index == b.index && a.extent == b.extent;
        });
    const std::vector<ExprId>& left = first.stage.writes[0].index;
    const std::vector<ExprId>& right = other.stage.writes[0].index;
    if (!guards || left.size() != right.size()) return false;
    for (size_t axis = 0; axis < left.size(); ++axis) {
        if (axis == first.axis) continue;
        const bool same = left[axis] == right[axis] && graph_.shapes.at(first.result)[axis] ==
                                                           graph_.shapes.at(other.result)[axis];
        if (!same) return false;
    }
    return true;
}

Unifier unifier_of(StageGraph& graph, const Family& family, UnifiedStage as) {
    std::vector<UnifiedStage> stages;
    for (const Sibling& sibling : family) stages.push_back({sibling.lane, sibling.stage.total});
    std::vector<VarId> others = family[0].points;
    others.insert(others.end(), family[0].reduced.begin(), family[0].reduced.end());
    return {graph, std::move(stages), std::move(others), as};
}

Values values_of(const Family& family, ExprId Stage::* value) {
    Values values;
    for (const Sibling& sibling : family) values.push_back(sibling.stage.*value);
    return values;
}

bool FamilyFinder::unifies(const Family& family) {
    Unifier unify = unifier_of(graph_, family, {family[0].lane, family[0].stage.total});
    return unify(values_of(family, &Stage::initial)).valid() &&
           unify(values_of(family, &Stage::finish)).valid();
}

bool FamilyFinder::joins(Family& family, const Sibling& other) {
    const Sibling& first = family[0];
    if (family.size() == kMostSiblings || !same_extents(pool_, first.points, other.points) ||
        !same_extents(pool_, first.reduced, other.reduced)) {
        return false;
    }
    Sibling alike = over_vars_of(first, other);
    if (!matches(first, alike)) return false;
    family.push_back(std::move(alike));
    if (unifies(family)) return true;
    family.pop_back();
    return false;
}

std::vector<Family> FamilyFinder::find_families() {
    std::vector<Family> families;
    std::unordered_map<ir::TensorId, std::vector<size_t>, IdHash> of_operand;
    for (size_t i = 0; i < graph_.groups.size(); ++i) {
        auto found = sibling_of(i);
        if (!found) continue;
        std::vector<size_t>& known = of_operand[tensor_of(pool_[found->a])];
        const bool taken = std::ranges::any_of(
            known, [&](size_t family) { return joins(families[family], *found); });
        if (taken || known.size() == kMostFamilies) continue;
        known.push_back(families.size());
        families.push_back({std::move(*found)});
    }
    return families;
}

// ---- Slices -------------------------------------------------------------------------------------

void read_slices(StageGraph& graph,
                 FusionGroup& group,
                 const Sibling& sibling,
                 ir::TensorId whole) {
    StagePool& pool = graph.pool;
    Builder& build = pool.build;
    const auto rewrite = [&](ExprId& value) {
        std::vector<std::pair<ExprId, Expr>> reads;
        pool.visit_reads(value, [&](ExprId at, const Expr& e) {
            if (tensor_of(e) == sibling.result) reads.emplace_back(at, e);
        });
        for (const auto& [at, e] : reads) {
            std::vector<ExprId> index = e.args;
            index[sibling.axis] =
                build.make(Op::Add, {build.integer(sibling.begin), index[sibling.axis]});
            const ExprId slice = build.read(whole.value, e.type.kind, std::move(index));
            value = pool.replace(value, at, slice);
        }
    };
    for (Stage& stage : group.stages) for_each_value(stage, rewrite);
    find_reads(graph, group);
}

// A read with a computed index cannot be a slice.
bool FamilyFinder::reads_evenly(const FusionGroup& group, ir::TensorId id) const {
    bool even = true;
    const auto visit = [&](ExprId, const Expr& e) {
        if (tensor_of(e) != id) return;
        even &= std::ranges::all_of(e.args, [&](ExprId i) { return pool_.affine(i).has_value(); });
    };
    for (const Stage& stage : group.stages) {
        for_each_value(stage, [&](ExprId value) { pool_.visit_reads(value, visit); });
    }
    return even;
}

// Whether all readers can read a slice: none has to copy it, and none loses its tiles or its
// channel order.
bool FamilyFinder::can_be_slice(const Sibling& sibling, ir::TensorId whole) {
    const bool innermost = sibling.axis + 1 == graph_.shapes.at(sibling.result).size();
    for (const size_t number : readers(sibling.result)) {
        const FusionGroup& group = graph_.groups[number];
        if (!group.compiled() || !reads_evenly(group, sibling.result)) return false;
        for (const Stage& stage : group.stages) {
            // A copy is removed: a concatenation gets the result in place, and a reshape shares its
            // memory.
            for (const StageWrite& write : stage.writes) {
                const Expr& e = pool_[write.value];
                const bool copy = stage.combine == ir::FormulaOp::Assign && e.op == Op::Read;
                if (copy && tensor_of(e) == sibling.result) return false;
            }
        }
        FusionGroup sliced = group;
        read_slices(graph_, sliced, sibling, whole);
        const bool tiled = group.stages.size() == 1 && find_contraction(graph_, group.stages[0]);
        const bool tiled_still = tiled && find_contraction(graph_, sliced.stages[0]);
        if (tiled ? !tiled_still : !innermost) return false;
    }
    return true;
}

void place_lanes(Family& family) {
    int64_t lanes = 0;
    for (Sibling& sibling : family) {
        sibling.begin = lanes;
        lanes += sibling.lanes;
    }
}

int64_t lanes_of(const Family& family) { return family.back().begin + family.back().lanes; }

void FamilyFinder::keep_slices(Family& family) {
    place_lanes(family);
    tensor::Shape shape = graph_.shapes.at(family[0].result);
    shape[family[0].axis] = lanes_of(family);
    // A temporary tensor for the trial.
    const ir::TensorId whole = graph_.new_tensor(tensor::DType::F32, std::move(shape));
    std::erase_if(family, [&](const Sibling& sibling) { return !can_be_slice(sibling, whole); });
    graph_.shapes.erase(whole);
    graph_.dtypes.erase(whole);
    --graph_.next_tensor;
}

// ---- Profit -------------------------------------------------------------------------------------

// Products of whole vectors are as fast one by one, or a little faster, because readers of their
// results have shorter strides. Measured gains: where vectors are not full, where a tile is one
// vector wide, and where few points share the weights and sums wait for each other.
bool FamilyFinder::pays(const Family& family) const {
    constexpr int64_t kPage = 4096;  // rows whole pages apart conflict in the cache
    constexpr double kSumsInFlight = 8;
    int64_t points = 1;
    for (const VarId var : family[0].points) points *= pool_.extent(var);
    const auto cost = [&](int64_t lanes) {
        const int64_t vectors = (lanes + target_.lanes() - 1) / target_.lanes();
        const auto sums = static_cast<double>(vectors * points);
        return std::max(vectors == 1 ? 1.1 * sums : sums, kSumsInFlight);
    };
    double apart = 0;
    for (const Sibling& sibling : family) apart += cost(sibling.lanes);
    const int64_t lanes = lanes_of(family);
    const bool pages = points > 1 && lanes * int64_t{sizeof(float)} % kPage == 0;
    return apart >= least_gain_ * cost(lanes) && (!pages || least_gain_ == 0);
}

// Keeps all siblings that can be slices, or only those that leave tiles empty.
bool FamilyFinder::choose(Family& family) {
    if (family.size() > 1) keep_slices(family);
    if (family.size() < 2) return false;
    place_lanes(family);
    if (pays(family)) return true;
    const int64_t width = target_.lanes();
    std::erase_if(family, [&](const Sibling& sibling) {
        return sibling.lanes % width == 0 && sibling.lanes > width;
    });
    if (family.size() < 2) return false;
    place_lanes(family);
    return pays(family);
}

Family FamilyFinder::refreshed(const Family& family) {
    Family result;
    for (const Sibling& sibling : family) {
        auto now = sibling_of(sibling.group);
        LEMMA_CHECK(now.has_value());
        result.push_back(result.empty() ? std::move(*now)
                                        : over_vars_of(result[0], std::move(*now)));
    }
    place_lanes(result);
    return result;
}

const std::vector<size_t>& FamilyFinder::readers(ir::TensorId id) const {
    static const std::vector<size_t> kNone;
    const auto found = readers_.find(id);
    return found == readers_.end() ? kNone : found->second;
}

std::vector<Family> FamilyFinder::run() {
    for (size_t i = 0; i < graph_.groups.size(); ++i) {
        for (const ir::TensorId id : graph_.groups[i].reads) readers_[id].push_back(i);
    }
    std::vector<Family> families = find_families();
    std::erase_if(families, [&](Family& family) { return !choose(family) || !unifies(family); });
    return families;
}

}  // namespace lemma::loop
