// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/terms.h"

#include <algorithm>
#include <map>

#include "loop/passes/contraction/contract.h"
#include "loop/schedule/tiles.h"
#include "tensor/room.h"

namespace lemma::loop {

namespace {

bool contains(const std::vector<VarId>& vars, VarId var) {
    return std::ranges::find(vars, var) != vars.end();
}

class TermFinder {
public:
    TermFinder(StageGraph& graph, const Target& target, double share)
        : graph_(graph), pool_(graph.pool), target_(target), share_(share) {
        target_.threads = 1;
    }

    int run() {
        int count = 0;
        std::vector<std::optional<Contraction>> possible;
        for (const FusionGroup& group : graph_.groups) {
            possible.push_back(group.contraction && !group.once ? find(group) : std::nullopt);
            if (possible.back()) ++readers_[key_of(*possible.back())];
        }
        std::vector<FusionGroup> groups;
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            FusionGroup& group = graph_.groups[i];
            if (possible[i] && pays(*group.contraction, *possible[i])) {
                group.contraction = std::move(possible[i]);
                take_terms(group, groups);
                ++count;
            }
            // Terms of an earlier value serve no later reader.
            std::erase_if(copies_, [&](const auto& item) {
                return std::ranges::find(group.writes, item.first.first) != group.writes.end();
            });
            groups.push_back(std::move(group));
        }
        graph_.groups = std::move(groups);
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
    bool pays(Contraction now, const Contraction& with) const {
        const double before =
            now.window ? choose_window(pool_, target_, now) : direct_cost(pool_, target_, now);
        return terms_cost(pool_, target_, with) + making_cost(with) <= share_ * before;
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
        if (a.op != Op::Read || graph_.dtypes.at(tensor_of(a)) != tensor::DType::F32) return false;
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
    double making_cost(const Contraction& c) const {
        constexpr double kA = 1, kB = 0.5;  // of an element
        const auto volume = *tensor::volume(graph_.shapes.at(tensor_of(pool_[c.a])));
        const double a = kA * static_cast<double>(volume) / readers_.at(key_of(c));
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
            shape.insert(shape.begin(), 2);
            copy = graph_.new_tensor(tensor::DType::BF16, std::move(shape));
            groups.push_back(making_group(group, id, copy));
        }
        std::vector<ExprId> index = a.args;
        index.insert(index.begin(), pool_.build.integer(0));
        const ExprId now = pool_.build.read(copy.value, Kind::F32, std::move(index));
        stage.writes[0].value = pool_.replace(stage.writes[0].value, c.a, now);
        c.a = now;
        find_reads(graph_, group);
    }
    FusionGroup making_group(const FusionGroup& group, ir::TensorId from, ir::TensorId to) {
        FusionGroup made;
        made.op = group.op;
        made.label = group.label + " terms";
        Stage stage;
        stage.combine = ir::FormulaOp::Assign;
        std::vector<ExprId> index;
        for (const int64_t extent : graph_.shapes.at(from)) {
            if (extent == 1) {
                index.push_back(pool_.build.integer(0));
                continue;
            }
            const VarId var = pool_.new_var(extent);
            stage.loops.push_back({var, extent});
            index.push_back(pool_.build.index(var));
        }
        const ExprId value = pool_.build.read(from.value, Kind::F32, index);
        const std::vector<ExprId> terms = terms_of(pool_.build, value);
        for (size_t i = 0; i < terms.size(); ++i) {
            StageWrite write{to, index, terms[i]};
            write.index.insert(write.index.begin(), pool_.build.integer(static_cast<int64_t>(i)));
            stage.writes.push_back(std::move(write));
        }
        made.stages.push_back(std::move(stage));
        made.writes = {to};
        made.once = graph_.constants.contains(from);
        if (made.once) graph_.constants.insert(to);
        find_reads(graph_, made);
        return made;
    }

    StageGraph& graph_;
    StagePool& pool_;
    Target target_;
    double share_;
    std::map<Key, int> readers_;
    std::map<Key, ir::TensorId> copies_;
};

}  // namespace

std::vector<ExprId> terms_of(Builder& build, ExprId value) {
    const ExprId first = build.make(Op::FirstTerm, {value});
    return {first, build.make(Op::Sub, {value, first})};
}

int find_terms(StageGraph& graph, const Target& target, Numerics numerics, double share) {
    if (numerics != Numerics::Fast || !has_term_tiles(target)) return 0;
    return TermFinder(graph, target, share).run();
}

}  // namespace lemma::loop
