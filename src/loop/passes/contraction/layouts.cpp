// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/layouts.h"

#include <algorithm>
#include <map>

#include "loop/passes/contraction/block_lanes.h"
#include "loop/passes/contraction/contract.h"
#include "loop/passes/contraction/halo.h"

namespace lemma::loop {

namespace {

constexpr int64_t kFewChannels = 4;                  // not worth another order
constexpr int64_t kManyElements = int64_t{1} << 12;  // if more, transposed instead of scattered

class LayoutChooser {
public:
    LayoutChooser(StageGraph& graph, const TensorSet& fixed)
        : graph_(graph), pool_(graph.pool), fixed_(fixed) {}

    Layouts run() {
        keep_natural();
        block_lanes(graph_, fixed_);
        copy_operands();
        copy_results();
        gather_apart();
        find_makers();
        for (const FusionGroup& group : graph_.groups) {
            if (group.contraction) ask_operand(group);
        }
        for (const FusionGroup& group : graph_.groups) {
            if (group.contraction) {
                put_lane_innermost(group.stages[0].writes[0], group.contraction->lane);
            } else if (group.compiled()) {
                follow_inputs(group);
            }
        }
        for (const FusionGroup& group : graph_.groups) {
            if (group.contraction) add_halo(group);
        }
        return std::move(result_);
    }

private:
    bool is_free(ir::TensorId id) const { return !fixed_.contains(id); }

    std::optional<size_t> axis_of(const std::vector<ExprId>& index, VarId var) const {
        for (size_t axis = 0; axis < index.size(); ++axis) {
            const auto affine = pool_.affine(index[axis]);
            if (!affine) continue;
            const auto& terms = affine->terms;
            if (std::ranges::find(terms, AddressTerm{var, 1}) != terms.end()) return axis;
        }
        return std::nullopt;
    }
    void put_lane_innermost(const StageWrite& write, VarId lane) {
        if (!is_free(write.tensor) || result_.innermost.contains(write.tensor)) return;
        const auto axis = axis_of(write.index, lane);
        if (axis) result_.innermost[write.tensor] = *axis;
    }
    // A sum reads its operand in place if that is faster, its result keeps its layout, and no other
    // sum gives the operand another layout.
    void keep_natural() {
        TensorSet turned;
        for (FusionGroup& group : graph_.groups) {
            const bool follows = std::ranges::any_of(
                group.reads, [&](ir::TensorId id) { return turned.contains(id); });
            const bool packed = group.contraction && !group.contraction->in_place;
            const bool direct = packed && !group.contraction->window;
            if (direct && !follows && group.writes.size() == 1 && !is_free(group.writes[0]) &&
                !group.weight_factor.valid()) {
                auto other = find_natural(graph_, group.stages[0], *group.contraction);
                if (other) group.contraction = std::move(other);
            }
            if (!packed && !follows) continue;
            for (const ir::TensorId id : group.writes) {
                if (is_free(id)) turned.insert(id);
            }
        }
    }
    void find_makers() {
        for (const FusionGroup& group : graph_.groups) {
            for (const ir::TensorId id : group.writes) makers_[id] = &group;
        }
    }
    // Chooses the layout of an operand that a copy makes: the lanes innermost, or the longest
    // summed axis.
    void ask_operand(const FusionGroup& group) {
        const Contraction& c = *group.contraction;
        const Expr& a = pool_[c.surrounded()];
        const ir::TensorId id = tensor_of(a);
        const auto maker = makers_.find(id);
        if (maker == makers_.end() || !is_free(id) || result_.innermost.contains(id)) return;
        if (c.in_place) {
            result_.innermost[id] = a.args.size() - 1;
            return;
        }
        if (c.terms) {
            if (const auto axis = axis_of(a.args, c.inner)) result_.innermost[id] = *axis;
            return;
        }
        if (!maker->second->compiled() || maker->second->contraction) return;
        if (c.lane_in_a || c.inner.valid()) {
            const VarId wanted = c.lane_in_a ? c.lane : c.inner;
            if (const auto axis = axis_of(a.args, wanted)) result_.innermost[id] = *axis;
            return;
        }
        std::optional<size_t> best;
        int64_t longest = kFewChannels;
        for (const VarId var : c.reduced) {
            for (size_t axis = 0; axis < a.args.size(); ++axis) {
                if (!is_channel(a.args[axis], var, c) || pool_.extent(var) <= longest) continue;
                longest = pool_.extent(var);
                best = axis;
            }
        }
        if (best) result_.innermost[id] = *best;
    }
    // Whether the index is the variable, maybe in a group of channels.
    bool is_channel(ExprId index, VarId var, const Contraction& c) const {
        const auto affine = pool_.affine(index);
        if (!affine || pool_[index].op == Op::Assume) return false;
        const auto& terms = affine->terms;
        if (std::ranges::find(terms, AddressTerm{var, 1}) == terms.end()) return false;
        return std::ranges::all_of(terms, [&](const AddressTerm& term) {
            return term.var == var || std::ranges::find(c.batch, term.var) != c.batch.end();
        });
    }
    // Element-wise and pooling stages keep the layout of their inputs.
    void follow_inputs(const FusionGroup& group) {
        for (const Stage& stage : group.stages) {
            for (const StageWrite& write : stage.writes) {
                if (!is_free(write.tensor) || result_.innermost.contains(write.tensor)) continue;
                const auto follow = [&](ExprId, const Expr& e) {
                    const auto from = result_.innermost.find(tensor_of(e));
                    if (from == result_.innermost.end()) return;
                    const size_t axis = from->second;
                    if (e.args.size() != write.index.size()) return;
                    const Expr& index = pool_[e.args[axis]];
                    if (index.op != Op::Var) return;
                    const auto var = make_id<VarId>(static_cast<size_t>(index.integer));
                    const auto to = axis_of(write.index, var);
                    if (to && *to == axis) result_.innermost.emplace(write.tensor, axis);
                };
                pool_.visit_reads(write.value, follow);
                pool_.visit_reads(stage.finish, follow);
            }
        }
    }

    // A group has four bytes.
    int64_t whole_groups(const Contraction& c) const {
        return 4 / tensor::dtype_size(graph_.dtypes.at(tensor_of(pool_[c.a])));
    }
    bool reaches_over(const Contraction& c) const {
        const Expr& a = pool_[c.surrounded()];
        Halo halo;
        widen_halo(pool_, c, graph_.shapes.at(tensor_of(a)), halo);
        const auto positive = [](int64_t extent) { return extent > 0; };
        return std::ranges::any_of(halo.above, positive) ||
               std::ranges::any_of(halo.below, positive);
    }
    // Operands with a fixed layout get a copy, which can have a halo. So do those that are read in
    // place and that another contraction makes with its own lanes innermost.
    void copy_operands() {
        std::vector<FusionGroup> groups;
        std::map<std::pair<uint32_t, std::optional<size_t>>, ir::TensorId> copies;
        TensorSet sideways;
        for (FusionGroup& group : graph_.groups) {
            if (group.contraction) {
                const Contraction& c = *group.contraction;
                const Expr a = pool_[c.surrounded()];
                const ir::TensorId id = tensor_of(a);
                const bool wanted = reaches_over(c) || c.lane_in_a || !has_groups(c);
                if ((wanted && fixed_.contains(id)) || (c.in_place && sideways.contains(id))) {
                    const auto axis = inner_axis(c);
                    ir::TensorId& copy = copies[{id.value, axis}];
                    if (!copy.valid()) {
                        copy = graph_.new_tensor(graph_.dtypes.at(id), graph_.shapes.at(id));
                        groups.push_back(copy_group(group, id, copy));
                        if (axis) result_.innermost[copy] = *axis;
                    }
                    replace_operand(group, copy);
                }
                const StageWrite& write = group.stages[0].writes[0];
                const auto axis = axis_of(write.index, group.contraction->lane);
                if (is_free(write.tensor) && axis && *axis + 1 < write.index.size()) {
                    sideways.insert(write.tensor);
                }
            }
            groups.push_back(std::move(group));
        }
        graph_.groups = std::move(groups);
    }
    // Whether whole groups of elements of A lie side by side in a row-major tensor.
    bool has_groups(const Contraction& c) const {
        if (!c.inner.valid()) return true;
        const auto axis = axis_of(pool_[c.a].args, c.inner);
        return axis && *axis + 1 == pool_[c.a].args.size() &&
               pool_.extent(c.inner) % whole_groups(c) == 0;
    }
    // The axis of the operand along the lanes.
    std::optional<size_t> inner_axis(const Contraction& c) const {
        if (c.in_place) return pool_[c.b].args.size() - 1;
        const VarId wanted = c.lane_in_a ? c.lane : c.inner;
        return wanted.valid() ? axis_of(pool_[c.a].args, wanted) : std::nullopt;
    }
    // Large results with distant lanes are computed with the lanes innermost, then transposed.
    void copy_results() {
        std::unordered_map<ir::TensorId, size_t, IdHash> last;  // its last writer
        TensorSet good;
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            const FusionGroup& group = graph_.groups[i];
            for (const ir::TensorId id : group.writes) {
                if (is_scattered(group) && !last.contains(id)) good.insert(id);
                if (!is_scattered(group)) good.erase(id);
                last[id] = i;
            }
        }
        if (good.empty()) return;
        std::unordered_map<ir::TensorId, ir::TensorId, IdHash> copies;
        std::vector<FusionGroup> groups;
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            FusionGroup& group = graph_.groups[i];
            const ir::TensorId id = group.writes.empty() ? ir::TensorId() : group.writes[0];
            if (!good.contains(id)) {
                groups.push_back(std::move(group));
                continue;
            }
            if (!copies.contains(id)) {
                copies[id] = graph_.new_tensor(graph_.dtypes.at(id), graph_.shapes.at(id));
            }
            group.stages[0].writes[0].tensor = copies[id];
            group.writes = {copies[id]};
            groups.push_back(std::move(group));
            if (last[id] == i) groups.push_back(copy_group(groups.back(), copies[id], id));
        }
        graph_.groups = std::move(groups);
    }
    bool is_scattered(const FusionGroup& group) const {
        if (!group.contraction || group.once || group.writes.size() != 1) return false;
        const ir::TensorId id = group.writes[0];
        const tensor::Shape& shape = graph_.shapes.at(id);
        const auto axis = axis_of(group.stages[0].writes[0].index, group.contraction->lane);
        return fixed_.contains(id) && axis && *axis + 1 < shape.size() &&
               *tensor::volume(shape) >= kManyElements;
    }

    // ---- Results that lie apart -----------------------------------------------------------------

    // An index of a result as factor * block + rest, with the rest below the factor.
    struct Apart {
        int64_t factor = 1;
        Address block, rest;
    };
    std::optional<Apart> apart_of(ExprId index) const {
        const auto affine = pool_.affine(index);
        if (!affine) return std::nullopt;
        Apart result;
        for (const AddressTerm& term : affine->terms) {
            if (term.factor < 1) return std::nullopt;
            result.factor = std::max(result.factor, term.factor);
        }
        if (affine->offset < 0) return std::nullopt;
        int64_t most = affine->offset % result.factor;
        result.block.offset = affine->offset / result.factor;
        result.rest.offset = most;
        for (const AddressTerm& term : affine->terms) {
            if (term.factor % result.factor == 0) {
                result.block.add(term.var, 1);
            } else {
                result.rest.add(term.var, term.factor);
                most += term.factor * (pool_.extent(term.var) - 1);
            }
        }
        return most < result.factor ? std::optional(result) : std::nullopt;
    }
    using AllApart = std::vector<Apart>;
    // The parts of the index, if the group reads an operand in place and its lanes write elements
    // that lie apart.
    std::optional<AllApart> all_apart(const FusionGroup& group) const {
        if (!group.contraction || !group.contraction->in_place) return std::nullopt;
        AllApart result;
        bool found = false;
        for (const ExprId index : group.stages[0].writes[0].index) {
            const auto apart = apart_of(index);
            if (!apart) return std::nullopt;
            result.push_back(*apart);
            const auto& terms = apart->block.terms;
            const VarId lane = group.contraction->lane;
            found |=
                apart->factor > 1 && std::ranges::find(terms, AddressTerm{lane, 1}) != terms.end();
        }
        return found ? std::optional(result) : std::nullopt;
    }
    // Such results are computed side by side, with an axis for each rest. A copy then puts them in
    // their places.
    void gather_apart() {
        struct Whole {
            std::vector<int64_t> factors;
            size_t writers = 0, last = 0;
            ir::TensorId copy;
        };
        std::map<uint32_t, Whole> wholes;
        TensorSet bad;
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            const FusionGroup& group = graph_.groups[i];
            const auto apart = all_apart(group);
            for (const ir::TensorId id : group.writes) {
                Whole& whole = wholes[id.value];
                std::vector<int64_t> factors;
                for (const Apart& axis : apart.value_or(AllApart{})) factors.push_back(axis.factor);
                if (!apart || (whole.writers > 0 && whole.factors != factors)) bad.insert(id);
                whole.factors = std::move(factors);
                whole.last = i;
                ++whole.writers;
            }
        }
        std::vector<FusionGroup> groups;
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            FusionGroup& group = graph_.groups[i];
            const auto apart = all_apart(group);
            if (!apart || bad.contains(group.writes[0])) {
                groups.push_back(std::move(group));
                continue;
            }
            const ir::TensorId id = group.writes[0];
            Whole& whole = wholes.at(id.value);
            if (!whole.copy.valid()) whole.copy = blocked(id, whole.factors);
            StageWrite& write = group.stages[0].writes[0];
            write.tensor = whole.copy;
            write.index.clear();
            for (const Apart& axis : *apart) write.index.push_back(pool_.build.sum(axis.rest));
            for (const Apart& axis : *apart) write.index.push_back(pool_.build.sum(axis.block));
            group.writes = {whole.copy};
            groups.push_back(std::move(group));
            if (whole.last != i) continue;
            const FusionGroup last = groups.back();
            copy_blocks(last, whole.copy, id, whole.factors, groups);
        }
        graph_.groups = std::move(groups);
    }
    static int64_t blocks_of(int64_t extent, int64_t factor) {
        return (extent + factor - 1) / factor;
    }
    ir::TensorId blocked(ir::TensorId id, const std::vector<int64_t>& factors) {
        const tensor::Shape whole = graph_.shapes.at(id);
        tensor::Shape shape(factors.begin(), factors.end());
        for (size_t axis = 0; axis < whole.size(); ++axis) {
            shape.push_back(blocks_of(whole[axis], factors[axis]));
        }
        return graph_.new_tensor(tensor::DType::F32, shape);
    }
    // Copies the blocks to their places. Where an axis ends within a block, other groups copy that
    // block, so that no kernel has to check each element.
    void copy_blocks(const FusionGroup& group,
                     ir::TensorId from,
                     ir::TensorId to,
                     const std::vector<int64_t>& factors,
                     std::vector<FusionGroup>& out) {
        const tensor::Shape shape = graph_.shapes.at(to);
        std::vector<std::vector<Span>> all = {{}};
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const int64_t whole = shape[axis] / factors[axis], rest = shape[axis] % factors[axis];
            std::vector<std::vector<Span>> longer;
            for (std::vector<Span>& spans : all) {
                for (const Span& span : {Span{0, whole, factors[axis]}, Span{whole, 1, rest}}) {
                    if (span.blocks == 0 || span.rests == 0) continue;
                    longer.push_back(spans);
                    longer.back().push_back(span);
                }
            }
            all = std::move(longer);
        }
        for (const std::vector<Span>& spans : all) {
            out.push_back(from_blocks(group, from, to, factors, spans));
        }
    }
    // Blocks of an axis, with the elements of each.
    struct Span {
        int64_t first, blocks, rests;
    };
    FusionGroup from_blocks(const FusionGroup& group,
                            ir::TensorId from,
                            ir::TensorId to,
                            const std::vector<int64_t>& factors,
                            const std::vector<Span>& spans) {
        FusionGroup made;
        made.op = group.op;
        made.label = group.label + " copy";
        Stage stage;
        stage.combine = ir::FormulaOp::Assign;
        Builder& build = pool_.build;
        const auto add = [&](int64_t first, int64_t extent) {
            if (extent == 1) return build.integer(first);
            const VarId var = pool_.new_var(extent);
            stage.loops.push_back({var, extent});
            const ExprId index = build.index(var);
            return first == 0 ? index : build.make(Op::Add, {index, build.integer(first)});
        };
        std::vector<ExprId> index, rests, blocks;
        for (size_t axis = 0; axis < spans.size(); ++axis) {
            blocks.push_back(add(spans[axis].first, spans[axis].blocks));
            rests.push_back(add(0, spans[axis].rests));
            const ExprId block = build.make(Op::Mul, {blocks.back(), build.integer(factors[axis])});
            index.push_back(build.make(Op::Add, {block, rests.back()}));
        }
        rests.insert(rests.end(), blocks.begin(), blocks.end());
        const ExprId value = build.read(from.value, Kind::F32, std::move(rests));
        stage.writes.push_back({to, std::move(index), value});
        made.stages.push_back(std::move(stage));
        made.writes = {to};
        find_reads(graph_, made);
        return made;
    }
    FusionGroup copy_group(const FusionGroup& group, ir::TensorId from, ir::TensorId to) {
        FusionGroup made;
        made.op = group.op;
        made.label = group.label + " copy";
        Stage stage = assign_all(graph_, from);
        StageWrite& write = stage.writes[0];
        const Kind kind = kind_of(graph_.dtypes.at(from));
        write.tensor = to;
        write.value = pool_.build.read(from.value, kind, write.index);
        made.stages.push_back(std::move(stage));
        made.writes = {to};
        made.once = graph_.constants.contains(from);
        if (made.once) graph_.constants.insert(to);
        find_reads(graph_, made);
        return made;
    }
    void replace_operand(FusionGroup& group, ir::TensorId with) {
        Contraction& c = *group.contraction;
        Stage& stage = group.stages[0];
        ExprId& operand = c.in_place ? c.b : c.a;
        const Expr read = pool_[operand];
        const ExprId now = pool_.build.read(with.value, read.type.kind, read.args);
        stage.writes[0].value = pool_.replace(stage.writes[0].value, operand, now);
        operand = now;
        find_reads(graph_, group);
    }
    void add_halo(const FusionGroup& group) {
        const Contraction& c = *group.contraction;
        const Expr a = pool_[c.surrounded()];
        const ir::TensorId id = tensor_of(a);
        if (reaches_over(c)) widen_halo(pool_, c, graph_.shapes.at(id), result_.halos[id]);
        // Zeros complete the last group.
        const auto axis = c.inner.valid() ? axis_of(a.args, c.inner) : std::nullopt;
        if (!axis || !is_free(id)) return;
        const int64_t whole = whole_groups(c);
        const int64_t missing = (whole - graph_.shapes.at(id)[*axis] % whole) % whole;
        if (missing == 0) return;
        Halo& halo = result_.halos[id];
        halo.below.resize(a.args.size());
        halo.above.resize(a.args.size());
        halo.above[*axis] = std::max(halo.above[*axis], missing);
    }

    StageGraph& graph_;
    StagePool& pool_;
    const TensorSet& fixed_;
    Layouts result_;
    std::unordered_map<ir::TensorId, const FusionGroup*, IdHash> makers_;
};

}  // namespace

Layouts choose_layouts(StageGraph& graph, const TensorSet& fixed) {
    return LayoutChooser(graph, fixed).run();
}

}  // namespace lemma::loop
