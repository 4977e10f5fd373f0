// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/hoist.h"

#include <algorithm>
#include <map>

#include "base/checked.h"
#include "loop/passes/contraction/contract.h"

namespace lemma::loop {

namespace {

// Each element of a hoisted tensor must serve at least this many elements of the stage.
constexpr int64_t kLeastReuse = 8;

class Hoister {
public:
    Hoister(StageGraph& graph, FusionGroup& group)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build), group_(group) {}

    // The groups that compute the hoisted values; they run before this one.
    std::vector<FusionGroup> run() {
        for (Stage& stage : group_.stages) {
            if (stage.empty || stage.writes.empty()) continue;
            // Products need elements of tensors as operands; fold moves their scales into the
            // weights. Integers keep their values: their scales stay in the epilogue.
            const bool sum = stage.combine != ir::FormulaOp::Assign;
            const bool integers = pool_[stage.writes[0].value].type.kind == Kind::Int;
            if (sum && !integers && find_contraction(graph_, stage)) continue;
            steps_ = volume(write_shape(stage, stage.writes[0], pool_).vars);
            if (!sum) {
                for (StageWrite& write : stage.writes) write.value = rewrite(write.value);
            }
            if (stage.finish.valid()) stage.finish = rewrite(stage.finish);
        }
        std::vector<FusionGroup> groups;
        for (const auto& [vars, made] : made_) {
            groups.push_back(constants_group(graph_, group_, " constants", vars, made));
        }
        if (!groups.empty()) find_reads(graph_, group_);
        return groups;
    }

private:
    using Vars = std::vector<VarId>;
    // One operation of a chain: its other operand, and the side of the chain.
    struct Link {
        Op op;
        size_t side;
        ExprId other;
    };

    bool is_constant(ExprId id) const;
    Vars vars_of(ExprId id) const;
    int64_t volume(const Vars& vars) const;
    bool few(const Vars& vars) const { return volume(vars) <= steps_ / kLeastReuse; }
    std::vector<Link> chain_of(ExprId id, ExprId& core) const;
    ExprId folded(ExprId id);
    ExprId hoisted(ExprId id, bool always);
    ExprId rewrite(ExprId value);
    bool pays(ExprId id) const;

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    FusionGroup& group_;
    int64_t steps_ = 1;  // elements that the stage writes
    std::map<Vars, std::vector<MadeConstant>> made_;
};

// Whether the value is a float of constants alone with all reads inside their tensors: the group
// that computes it has no guards.
bool Hoister::is_constant(ExprId id) const {
    if (pool_[id].type != Type{Kind::F32}) return false;
    bool good = true;
    pool_.visit_reads(id, [&](ExprId, const Expr& e) {
        good &= graph_.constants.contains(tensor_of(e));
        for (size_t axis = 0; good && axis < e.args.size(); ++axis) {
            const auto index = pool_.affine(e.args[axis]);
            good = index.has_value();
            if (!good) break;
            int64_t low = index->offset;
            int64_t high = index->offset;
            for (const AddressTerm& term : index->terms) {
                const int64_t reach = term.factor * (pool_.extent(term.var) - 1);
                (reach < 0 ? low : high) += reach;
            }
            good = low >= 0 && high < graph_.shapes.at(tensor_of(e))[axis];
        }
    });
    return good;
}

Hoister::Vars Hoister::vars_of(ExprId id) const {
    Vars vars;
    for (const Stage& stage : group_.stages) {
        for (const StageLoop& loop : stage.loops) {
            if (pool_.depends(id, loop.var)) vars.push_back(loop.var);
        }
    }
    std::ranges::sort(vars, {}, &VarId::value);
    vars.erase(std::ranges::unique(vars).begin(), vars.end());
    return vars;
}

int64_t Hoister::volume(const Vars& vars) const {
    int64_t elements = 1;
    for (const VarId var : vars) {
        elements = checked_mul(elements, pool_.extent(var)).value_or(INT64_MAX);
    }
    return elements;
}

// The chain from the last operation down to the first scale, while the other operand is constant.
// Shifts before the first scale stay: for elements far from zero and close to their mean, scaling
// both separately would keep the errors of large numbers.
std::vector<Hoister::Link> Hoister::chain_of(ExprId id, ExprId& core) const {
    std::vector<Link> links;
    size_t kept = 0;  // links down to the first scale
    ExprId at = core = id;
    for (;;) {
        const Expr& e = pool_[at];
        const bool linear =
            e.op == Op::Add || e.op == Op::Sub || e.op == Op::Mul || e.op == Op::Div;
        if (!linear || e.type != Type{Kind::F32}) break;
        const bool first = is_constant(e.args[0]);
        const bool second = is_constant(e.args[1]);
        if (first == second || (first && e.op == Op::Div)) break;
        links.push_back({e.op, first ? size_t{1} : size_t{0}, e.args[first ? 0 : 1]});
        at = e.args[links.back().side];
        if (e.op == Op::Add || e.op == Op::Sub) continue;
        kept = links.size();
        core = at;
    }
    links.erase(links.begin() + static_cast<ptrdiff_t>(kept), links.end());
    return links;
}

// Replaces a longer chain by core * factor + shift; nothing if that does not pay.
ExprId Hoister::folded(ExprId id) {
    ExprId core;
    const std::vector<Link> links = chain_of(id, core);
    bool divides = false, scales = false, shifts = false, reads = false;
    for (const Link& link : links) {
        divides |= link.op == Op::Div;
        (link.op == Op::Mul || link.op == Op::Div ? scales : shifts) = true;
        pool_.visit_reads(link.other, [&](ExprId, const Expr&) { reads = true; });
    }
    if (!scales || !shifts || !reads || (links.size() < 3 && !divides)) return {};
    ExprId factor = build_.real(1, Kind::F32);
    ExprId shift;  // missing: zero
    const auto op = [&](Op o, ExprId a, ExprId b) { return build_.make(o, {a, b}); };
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
        const auto& [kind, side, other] = *link;
        if (kind == Op::Mul || kind == Op::Div) {
            factor = op(kind, factor, other);
            if (shift.valid()) shift = op(kind, shift, other);
        } else if (kind == Op::Add) {
            shift = shift.valid() ? op(Op::Add, shift, other) : other;
        } else if (side == 0) {
            shift = shift.valid() ? op(Op::Sub, shift, other) : build_.make(Op::Neg, {other});
        } else {
            factor = build_.make(Op::Neg, {factor});
            shift = shift.valid() ? op(Op::Sub, other, shift) : other;
        }
    }
    if (!few(vars_of(factor)) || !few(vars_of(shift))) return {};
    return build_.make(Op::Fma, {core, hoisted(factor, true), hoisted(shift, true)});
}

// Cheap sums and products are not worth a kernel.
bool Hoister::pays(ExprId id) const {
    bool expensive = false;
    std::vector<ExprId> work = {id};
    std::unordered_set<ExprId, IdHash> seen;
    while (!work.empty() && !expensive) {
        const ExprId at = work.back();
        work.pop_back();
        if (!seen.insert(at).second) continue;
        const Expr& e = pool_[at];
        if (e.op == Op::Read) continue;
        expensive = is_expensive(e);
        work.insert(work.end(), e.args.begin(), e.args.end());
    }
    return expensive;
}

// Replaces a value of constants by an element of a tensor that holds it.
ExprId Hoister::hoisted(ExprId id, bool always) {
    const Expr& e = pool_[id];
    if (e.op == Op::Read || e.op == Op::Constant || !is_constant(id)) return id;
    const Vars vars = vars_of(id);
    if (!always && (!few(vars) || !pays(id))) return id;
    bool reads = false;
    pool_.visit_reads(id, [&](ExprId, const Expr&) { reads = true; });
    if (!reads) return id;
    std::vector<ExprId> index;
    for (const VarId var : vars) index.push_back(build_.index(var));
    std::vector<MadeConstant>& made = made_[vars];
    auto found = std::ranges::find(made, id, &MadeConstant::value);
    if (found == made.end()) {
        found = made.insert(made.end(), {id, new_constant(graph_, vars)});
    }
    return build_.read(found->tensor.value, Kind::F32, std::move(index));
}

ExprId Hoister::rewrite(ExprId value) {
    std::vector<ExprId> work = {value};
    std::unordered_set<ExprId, IdHash> seen;
    while (!work.empty()) {
        const ExprId at = work.back();
        work.pop_back();
        if (!seen.insert(at).second) continue;
        const Expr e = pool_[at];
        if (e.op == Op::Read || e.op == Op::Constant) continue;
        ExprId other = hoisted(at, false);
        if (other == at) other = folded(at);
        if (!other.valid()) {
            work.insert(work.end(), e.args.begin(), e.args.end());
            continue;
        }
        value = pool_.replace(value, at, other);
        if (pool_[other].op == Op::Fma) work.push_back(pool_[other].args[0]);
    }
    return value;
}

}  // namespace

int hoist_constants(StageGraph& graph) {
    const size_t before = graph.groups.size();
    std::vector<FusionGroup> groups;
    for (FusionGroup& group : graph.groups) {
        if (group.compiled() && !group.once) {
            for (FusionGroup& made : Hoister(graph, group).run()) groups.push_back(std::move(made));
        }
        groups.push_back(std::move(group));
    }
    graph.groups = std::move(groups);
    return static_cast<int>(graph.groups.size() - before);
}

}  // namespace lemma::loop
