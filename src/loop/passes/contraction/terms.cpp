// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/terms.h"

#include <algorithm>
#include <map>
#include <set>

#include "loop/passes/contraction/contract.h"
#include "loop/schedule/nest.h"
#include "loop/schedule/tiles.h"
#include "tensor/room.h"

namespace lemma::loop {

namespace {

constexpr int64_t kTerms = 2;
// Of f16, both terms are exact. The product of the two rests, which is left out, is at most 2^-18
// of the product: not more than the rounding of so many additions.
constexpr int64_t kLeastProducts = 64;

bool contains(const std::vector<VarId>& vars, VarId var) {
    return std::ranges::find(vars, var) != vars.end();
}

class TermFinder {
public:
    TermFinder(RegionGraph& region, const Target& target, Numerics numerics, double share)
        : graph_(region.graph),
          pool_(region.graph.pool),
          fixed_(region.fixed),
          target_(target),
          fast_(numerics == Numerics::Fast),
          share_(share) {
        target_.threads = 1;
    }

    int run() {
        int count = 0;
        std::vector<std::optional<Contraction>> possible;
        for (const FusionGroup& group : graph_.groups) {
            possible.push_back(group.contraction && !group.once ? find(group) : std::nullopt);
            if (!possible.back()) continue;
            const Key key = key_of(*possible.back());
            ++readers_[key];
            if (reaches_over(possible.back()->a)) surrounded_.insert(key);
        }
        find_makers();
        std::vector<FusionGroup> groups;
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            FusionGroup& group = graph_.groups[i];
            if (possible[i] && pays(*group.contraction, *possible[i], groups)) {
                group.contraction = std::move(possible[i]);
                take_terms(group, groups);
                ++count;
            }
            // Terms of an earlier value serve no later reader.
            std::erase_if(copies_, [&](const auto& item) {
                return std::ranges::find(group.writes, item.first.first) != group.writes.end();
            });
            for (const ir::TensorId id : group.writes) made_[id] = groups.size();
            groups.push_back(std::move(group));
        }
        graph_.groups = std::move(groups);
        drop_unread();
        return count;
    }

private:
    // The tensor with terms, and the axis along which they lie side by side.
    using Key = std::pair<ir::TensorId, size_t>;
    Key key_of(const Contraction& c) const { return {tensor_of(pool_[c.a]), *axis_of(c)}; }

    // The contraction on terms, if it is possible.
    std::optional<Contraction> find(const FusionGroup& group) {
        const Contraction& now = *group.contraction;
        const Stage& stage = group.stages[0];
        if (now.kind != Kind::F32 || now.inner.valid() || now.squares.valid() || stage.kept) {
            return std::nullopt;
        }
        std::optional<Contraction> found = now;
        if (now.in_place) {
            // The halo would be around the other operand.
            if (reaches_over(now.a) || reaches_over(now.b)) return std::nullopt;
            found = find_contraction(graph_, stage, true);
        }
        return found && prepare(*found) ? found : std::nullopt;
    }
    bool pays(Contraction now,
              const Contraction& with,
              const std::vector<FusionGroup>& before_it) const {
        // Processors with tile registers convert an f16 for each product with a vector; by
        // measurement of ResNet-50.
        constexpr double kHalves = 1.6;
        const double each = is_f16(with.a) ? kHalves : 1;
        const double before = now.window ? choose_window(pool_, target_, now)
                                         : each * direct_cost(pool_, target_, now);
        // By measurement of VGG-19: beside transformed tiles, the cost of terms is underestimated.
        constexpr double kBesideWindows = 0.25;
        const double share = now.window ? kBesideWindows * share_ : share_;
        return terms_cost(pool_, target_, with) + making_cost(with, before_it) <= share * before;
    }
    bool reaches_over(ExprId operand) const {
        const auto& args = pool_[operand].args;
        return std::ranges::any_of(args, [&](ExprId i) { return pool_[i].op == Op::Assume; });
    }
    // The variable along which pairs of terms lie side by side. Finds only contractions that suit
    // tiles in every layout.
    bool prepare(Contraction& c) const {
        if (!c.product || c.in_place || c.lane_in_a || c.points.empty()) return false;
        const Expr& a = pool_[c.a];
        if (a.op != Op::Read || !suits(c)) return false;
        if (2 * *tensor::volume(graph_.shapes.at(tensor_of(a))) > tensor::kMaxElements)
            return false;
        if (pool_.extent(c.points.back()) < kLeastTileRows || !grows(a, c.points.back())) {
            return false;
        }
        c.inner = find_inner(pool_, a, c.reduced);
        if (!c.inner.valid()) c.inner = find_part(a, c.reduced);
        c.window.reset();
        c.terms = true;
        return c.inner.valid() && is_whole(c);
    }
    bool is_f16(ExprId operand) const {
        const Expr& e = pool_[operand];
        return e.op == Op::Read && graph_.dtypes.at(tensor_of(e)) == tensor::DType::F16;
    }
    bool suits(const Contraction& c) const {
        if (graph_.dtypes.at(tensor_of(pool_[c.a])) == tensor::DType::F32) return fast_;
        if (!is_f16(c.a)) return false;
        int64_t products = 1;
        for (const VarId var : c.reduced) {
            products = total_elements(products, pool_.extent(var));
        }
        return fast_ || (is_f16(c.b) && products >= kLeastProducts);
    }
    // Whether later points lie behind earlier ones in every layout.
    bool grows(const Expr& a, VarId point) const {
        bool found = false;
        for (const ExprId index : a.args) {
            const auto affine = pool_.affine(index);
            if (!affine) return false;
            for (const AddressTerm& term : affine->terms) {
                if (term.var != point) continue;
                if (term.factor <= 0) return false;
                found = true;
            }
        }
        return found;
    }
    // The longest reduced variable that counts the elements of a part of an axis, such as those of
    // a group of channels.
    VarId find_part(const Expr& a, const std::vector<VarId>& reduced) const {
        VarId best;
        for (const ExprId index : a.args) {
            const auto affine = pool_.affine(index);
            if (!affine || pool_[index].op == Op::Assume) continue;
            for (const AddressTerm& term : affine->terms) {
                const bool good = term.factor == 1 && contains(reduced, term.var) &&
                                  pool_.extent(term.var) % 2 == 0 && axes_of(a, term.var) == 1;
                if (good && (!best.valid() || pool_.extent(term.var) > pool_.extent(best))) {
                    best = term.var;
                }
            }
        }
        return best;
    }
    int64_t axes_of(const Expr& a, VarId var) const {
        return std::ranges::count_if(a.args, [&](ExprId i) { return pool_.depends(i, var); });
    }
    // Whether a pair with only one element to count has a zero behind it, not another element.
    bool is_whole(const Contraction& c) const {
        if (pool_.extent(c.inner) % 2 == 0) return true;
        const Expr& a = pool_[c.a];
        const tensor::Shape& shape = graph_.shapes.at(tensor_of(a));
        return pool_.extent(c.inner) == shape[*axis_of(c)];
    }
    std::optional<size_t> axis_of(const Contraction& c) const {
        const Expr& a = pool_[c.a];
        for (size_t axis = 0; axis < a.args.size(); ++axis) {
            if (pool_.depends(a.args[axis], c.inner)) return axis;
        }
        return std::nullopt;
    }
    // Cycles to make the terms of A, which its readers share, and those of B if it changes. Without
    // terms, B would be packed, too.
    double making_cost(const Contraction& c, const std::vector<FusionGroup>& before_it) const {
        constexpr double kMap = 1, kStored = 0.25, kB = 0.5;  // of an element
        const auto volume = *tensor::volume(graph_.shapes.at(tensor_of(pool_[c.a])));
        const double each = maker_of(key_of(c), before_it) ? kStored : kMap;
        const double a = each * static_cast<double>(volume) / readers_.at(key_of(c));
        if (reads_constants(graph_, c.b)) return a;
        double b = kB * static_cast<double>(pool_.extent(c.lane));
        for (const auto* vars : {&c.batch, &c.reduced}) {
            for (const VarId var : *vars) {
                if (pool_.depends(c.b, var)) b *= static_cast<double>(pool_.extent(var));
            }
        }
        return a + b;
    }

    // Replaces A by the first of its terms. Contractions with the same operand share them.
    void take_terms(FusionGroup& group, std::vector<FusionGroup>& groups) {
        Contraction& c = *group.contraction;
        Stage& stage = group.stages[0];
        const Expr a = pool_[c.a];
        const ir::TensorId id = tensor_of(a);
        ir::TensorId& copy = copies_[key_of(c)];
        if (!copy.valid()) {
            tensor::Shape shape = graph_.shapes.at(id);
            shape.insert(shape.begin(), kTerms);
            copy = graph_.new_tensor(tensor::DType::BF16, std::move(shape));
            if (const auto maker = maker_of(key_of(c), groups)) {
                store_terms(groups[*maker], copy);
                makers_.push_back(*maker);
            } else {
                groups.push_back(making_group(group, id, copy));
            }
        }
        std::vector<ExprId> index = a.args;
        index.insert(index.begin(), pool_.build.integer(0));
        const ExprId now = pool_.build.read(copy.value, Kind::F32, std::move(index));
        stage.writes[0].value = pool_.replace(stage.writes[0].value, c.a, now);
        c.a = now;
        find_reads(graph_, group);
    }
    // Finds tensors that one group writes and only contractions read, and results of other sums.
    void find_makers() {
        TensorSet others;
        for (const FusionGroup& group : graph_.groups) {
            for (const ir::TensorId id : group.writes) {
                if (!simple_.insert(id).second) others.insert(id);
            }
            if (group.contraction) continue;
            others.insert(group.reads.begin(), group.reads.end());
            const bool sums =
                group.compiled() && !group.once &&
                std::ranges::any_of(group.stages, [](const Stage& s) { return accumulates(s); });
            if (sums) reduced_.insert(group.writes.begin(), group.writes.end());
        }
        for (const ir::TensorId id : others) simple_.erase(id);
    }
    // The group that makes the tensor, if it can store the terms, too.
    std::optional<size_t> maker_of(const Key& key, const std::vector<FusionGroup>& groups) const {
        const auto found = made_.find(key.first);
        if (found == made_.end() || !stores_terms(groups[found->second], key)) return std::nullopt;
        return found->second;
    }
    bool stores_terms(const FusionGroup& group, const Key& key) const {
        const ir::TensorId id = key.first;
        const bool own =
            simple_.contains(id) && !fixed_.contains(id) && !graph_.results.contains(id);
        if (!own || !group.compiled() || group.once || group.stages.size() != 1) return false;
        const Stage& stage = group.stages[0];
        if (stage.writes.size() != 1 || stage.writes[0].tensor != id || stage.kept) return false;
        return group.contraction ? sum_stores_terms(group, key) : map_stores_terms(group);
    }
    // In the order of its lanes. Zeros around terms keep a sum from merging rows of points, which
    // is too slow for short rows.
    bool sum_stores_terms(const FusionGroup& group, const Key& key) const {
        constexpr int64_t kLongRow = 14;
        const Stage& stage = group.stages[0];
        const Contraction& c = *group.contraction;
        if (c.in_place || !stage.initial.valid() || !covers(stage, graph_)) return false;
        if (!pool_.depends(stage.writes[0].index[key.second], c.lane)) return false;
        const int64_t row = c.points.empty() ? 1 : pool_.extent(c.points.back());
        return !surrounded_.contains(key) || part_of(row, kMostTileRows) >= kLongRow;
    }
    // A map of sums along rows should stay in one kernel with them (rows.h).
    bool map_stores_terms(const FusionGroup& group) const {
        const Stage& stage = group.stages[0];
        return is_map(stage, graph_) && pool_[stage.writes[0].value].type.kind == Kind::F32 &&
               std::ranges::none_of(group.reads,
                                    [&](ir::TensorId id) { return reduced_.contains(id); });
    }
    void store_terms(FusionGroup& group, ir::TensorId to) {
        Stage& stage = group.stages[0];
        const StageWrite result = stage.writes[0];
        if (group.contraction && !stage.finish.valid()) {
            const ir::TensorId total =
                graph_.new_tensor(tensor::DType::F32, graph_.shapes.at(result.tensor));
            stage.total = pool_.build.read(total.value, Kind::F32, result.index);
            stage.finish = stage.total;
        }
        const ExprId value =
            group.contraction ? pool_.build.cast(stage.finish, Kind::F32) : result.value;
        std::vector<StageWrite>& writes = group.contraction ? stage.also : stage.writes;
        add_terms(writes, to, result.index, value);
        group.writes.push_back(to);
        find_reads(graph_, group);
    }
    void add_terms(std::vector<StageWrite>& writes,
                   ir::TensorId to,
                   const std::vector<ExprId>& index,
                   ExprId value) {
        const std::vector<ExprId> terms = terms_of(pool_.build, value);
        for (size_t i = 0; i < terms.size(); ++i) {
            StageWrite write{to, index, terms[i]};
            write.index.insert(write.index.begin(), pool_.build.integer(static_cast<int64_t>(i)));
            writes.push_back(std::move(write));
        }
    }
    // A result that nobody reads but as terms is not stored.
    void drop_unread() {
        TensorSet read;
        for (const FusionGroup& group : graph_.groups) {
            read.insert(group.reads.begin(), group.reads.end());
        }
        for (const size_t maker : makers_) {
            FusionGroup& group = graph_.groups[maker];
            Stage& stage = group.stages[0];
            const ir::TensorId id = stage.writes[0].tensor;
            if (read.contains(id)) continue;
            std::erase(group.writes, id);
            if (!group.contraction) {
                stage.writes.erase(stage.writes.begin());
                continue;
            }
            stage.writes[0].tensor = stage.also[0].tensor;
            stage.writes[0].index = stage.also[0].index;
            stage.finish = stage.also[0].value;
            stage.also.erase(stage.also.begin());
        }
    }
    FusionGroup making_group(const FusionGroup& group, ir::TensorId from, ir::TensorId to) {
        FusionGroup made;
        made.op = group.op;
        made.label = group.label + " terms";
        Stage stage = assign_all(graph_, from);
        const std::vector<ExprId> index = std::move(stage.writes[0].index);
        stage.writes.clear();
        const ExprId value = pool_.build.read(from.value, Kind::F32, index);
        add_terms(stage.writes, to, index, value);
        made.stages.push_back(std::move(stage));
        made.writes = {to};
        made.once = graph_.constants.contains(from);
        if (made.once) graph_.constants.insert(to);
        find_reads(graph_, made);
        return made;
    }

    StageGraph& graph_;
    StagePool& pool_;
    const TensorSet& fixed_;
    Target target_;
    bool fast_;
    double share_;
    std::map<Key, int> readers_;
    std::set<Key> surrounded_;  // some reader wants zeros around them
    TensorSet simple_;
    TensorSet reduced_;                                      // results of other sums
    std::unordered_map<ir::TensorId, size_t, IdHash> made_;  // by which new group
    std::vector<size_t> makers_;                             // groups that store terms
    std::map<Key, ir::TensorId> copies_;
};

}  // namespace

std::vector<ExprId> terms_of(Builder& build, ExprId value) {
    const ExprId first = build.make(Op::FirstTerm, {value});
    return {first, build.make(Op::Sub, {value, first})};
}

int find_terms(RegionGraph& region, const Target& target, Numerics numerics, double share) {
    if (numerics == Numerics::Strict || !has_term_tiles(target)) return 0;
    return TermFinder(region, target, numerics, share).run();
}

}  // namespace lemma::loop
