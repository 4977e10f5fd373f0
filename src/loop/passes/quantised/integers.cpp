// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/quantised/integers.h"

#include <algorithm>

#include "loop/passes/contraction/contract.h"
#include "loop/passes/prepare/unused.h"
#include "loop/passes/quantised/factor.h"
#include "loop/passes/quantised/padded.h"

namespace lemma::loop {

namespace {

// A sum of this many products of differences of bytes fits 31 bits.
constexpr int64_t kMostSummed = (int64_t{1} << 31) / (255 * 255) - 1;

class IntegerSums {
public:
    explicit IntegerSums(RegionGraph& region)
        : region_(region),
          graph_(region.graph),
          pool_(region.graph.pool),
          build_(region.graph.pool.build),
          finder_(region.graph),
          paddings_(region.graph) {}

    int run() {
        int count = 0;
        std::vector<FusionGroup> groups;
        for (const FusionGroup& group : graph_.groups) {
            made_.clear();
            std::optional<FusionGroup> changed;
            if (is_candidate(group)) changed = rewritten(group);
            count += changed ? 1 : 0;
            for (FusionGroup& made : made_) {
                if (changed) {
                    groups.push_back(std::move(made));
                } else {
                    paddings_.forget(made.writes[0]);
                }
            }
            groups.push_back(changed ? std::move(*changed) : group);
        }
        graph_.groups = std::move(groups);
        for (const auto& [id, fits] : totals_) use_total(id, fits);
        if (count > 0) drop_unused(graph_);
        return count;
    }

private:
    bool is_candidate(const FusionGroup& group) const {
        if (!group.compiled() || group.once || group.stages.size() != 1) return false;
        const Stage& stage = group.stages[0];
        if (stage.combine != ir::FormulaOp::Sum || stage.writes.size() != 1) return false;
        const bool plain = stage.initial.valid() && !stage.finish.valid() && !stage.empty &&
                           !stage.condition.valid() && !stage.kept && stage.inverses.empty();
        const Expr& value = pool_[stage.writes[0].value];
        return plain && (value.type.kind == Kind::F32 || value.type.kind == Kind::Int);
    }

    std::optional<FusionGroup> rewritten(const FusionGroup& group) {
        const Stage& stage = group.stages[0];
        const StageWrite& write = stage.writes[0];
        const Expr value = pool_[write.value];
        summed_.clear();
        const std::vector<VarId> outputs = write_shape(stage, write, pool_).vars;
        int64_t steps = 1;
        for (const StageLoop& loop : stage.loops) {
            if (std::ranges::find(outputs, loop.var) != outputs.end()) continue;
            summed_.push_back(loop.var);
            steps = total_elements(steps, loop.extent);
        }
        if (steps > kMostSummed) return std::nullopt;
        const auto product = finder_.find_product(write.value, summed_);
        if (!product) return std::nullopt;
        auto [a, b] = *product;
        if (reads_constants(graph_, a.read)) std::swap(a, b);
        FusionGroup changed = group;
        Stage& sum = changed.stages[0];
        shift_weights(group, b);
        if (!remove_padding(group, sum, a, b)) return std::nullopt;
        sum.writes[0].value = build_.make(Op::Mul, {a.read, b.read});
        const ExprId correction = corrected(group, a, b, steps);
        if (value.type.kind == Kind::Int) {
            sum.initial = build_.make(Op::Add, {stage.initial, correction});
            sum.narrow_total = build_.is_integer(stage.initial, 0);
        } else {
            sum.initial = correction;
            sum.narrow_total = true;
            scale(group, sum, a, b);
        }
        find_reads(graph_, changed);
        if (!find_contraction(graph_, sum)) return std::nullopt;
        if (value.type.kind == Kind::Int && is_small(stage.initial)) {
            totals_.emplace_back(write.tensor, build_.is_integer(stage.initial, 0));
        }
        return changed;
    }

    // Whether the initial value leaves the total within 53 bits: then double would have it.
    bool is_small(ExprId initial) const {
        const Expr& e = pool_[initial];
        if (e.op == Op::Constant) return std::abs(e.integer) < int64_t{1} << 31;
        return e.op == Op::Read && graph_.dtypes.at(tensor_of(e)) == tensor::DType::I32;
    }

    // Constant weights of unsigned bytes become signed ones: instructions multiply an unsigned by a
    // signed byte.
    void shift_weights(const FusionGroup& group, QuantisedFactor& b) {
        constexpr int64_t kShift = 128;
        const Expr read = pool_[b.read];
        const ir::TensorId from = tensor_of(read);
        const bool wanted = graph_.dtypes.at(from) == tensor::DType::U8 &&
                            graph_.constants.contains(from) && graph_.shapes.contains(from);
        if (!wanted) return;
        const ir::TensorId to = graph_.new_tensor(tensor::DType::I8, graph_.shapes.at(from));
        graph_.constants.insert(to);
        Stage stage = assign_all(graph_, to);
        const ExprId element = build_.read(from.value, Kind::Int, stage.writes[0].index);
        stage.writes[0].value = build_.make(Op::Sub, {element, build_.integer(kShift)});
        add_made(group, " signed", std::move(stage), true);
        b.read = build_.read(to.value, Kind::Int, read.args);
        const ExprId zero = b.zero.valid() ? b.zero : build_.integer(0);
        b.zero = build_.make(Op::Sub, {zero, build_.integer(kShift)});
        if (build_.is_integer(b.zero, 0)) b.zero = {};
    }

    // Steps outside the first operand count as its zero point, which is 0 or lies around a copy.
    bool remove_padding(const FusionGroup& group,
                        Stage& sum,
                        QuantisedFactor& a,
                        const QuantisedFactor& b) {
        if (sum.guards.empty()) return true;
        // Their number would differ from element to element.
        if (b.zero.valid()) return false;
        if (!a.zero.valid()) return true;
        auto padded = paddings_.find(sum, a);
        if (!padded) return false;
        if (padded->group) {
            padded->group->op = group.op;
            padded->group->label = group.label + " padding";
            made_.push_back(std::move(*padded->group));
        }
        a.read = padded->read;
        sum.guards.clear();
        return true;
    }

    // Σ (a - za) (b - zb) is Σ a b plus this.
    ExprId corrected(const FusionGroup& group,
                     const QuantisedFactor& a,
                     const QuantisedFactor& b,
                     int64_t steps) {
        ExprId result = build_.integer(0);
        const auto subtract = [&](ExprId zero, ExprId sum) {
            const ExprId product = build_.make(Op::Mul, {zero, sum});
            result = build_.make(Op::Sub, {result, product});
        };
        if (a.zero.valid()) subtract(a.zero, summed(group, b.read));
        if (b.zero.valid()) subtract(b.zero, summed(group, a.read));
        if (a.zero.valid() && b.zero.valid()) {
            const ExprId zeros = build_.make(Op::Mul, {a.zero, b.zero});
            const ExprId all = build_.make(Op::Mul, {zeros, build_.integer(steps)});
            result = build_.make(Op::Add, {result, all});
        }
        return result;
    }
    // The sum of the element over the summed variables.
    ExprId summed(const FusionGroup& group, ExprId read) {
        std::vector<VarId> kept;
        for (const StageLoop& loop : group.stages[0].loops) {
            const bool sums = std::ranges::find(summed_, loop.var) != summed_.end();
            if (!sums && pool_.depends(read, loop.var)) kept.push_back(loop.var);
        }
        tensor::Shape shape;
        std::vector<ExprId> index;
        Stage stage;
        stage.combine = ir::FormulaOp::Sum;
        StageWrite write;
        std::unordered_map<VarId, ExprId, IdHash> with;
        const auto add = [&](VarId var) {
            const VarId own = pool_.new_var(pool_.extent(var));
            stage.loops.push_back({own, pool_.extent(var)});
            with[var] = build_.index(own);
            return with[var];
        };
        for (const VarId var : kept) {
            shape.push_back(pool_.extent(var));
            index.push_back(build_.index(var));
            write.index.push_back(add(var));
        }
        for (const VarId var : summed_) add(var);
        const bool once = reads_constants(graph_, read);
        write.tensor = graph_.new_tensor(tensor::DType::I32, std::move(shape));
        if (once) graph_.constants.insert(write.tensor);
        write.value = pool_.substitute(read, with);
        const ir::TensorId id = write.tensor;
        stage.writes.push_back(std::move(write));
        stage.initial = build_.integer(0);
        add_made(group, " sums", std::move(stage), once);
        return build_.read(id.value, Kind::Int, std::move(index));
    }

    // Scales the total and adds the initial value of the sum of floats.
    void scale(const FusionGroup& group,
               Stage& sum,
               const QuantisedFactor& a,
               const QuantisedFactor& b) {
        const StageWrite& write = sum.writes[0];
        const ir::TensorId total =
            graph_.new_tensor(tensor::DType::I32, graph_.shapes.at(write.tensor));
        sum.total = build_.read(total.value, Kind::Int, write.index);
        ExprId factor = build_.real(1, Kind::F32);
        if (a.scale.valid() && b.scale.valid()) {
            factor = build_.make(Op::Mul, {a.scale, b.scale});
        } else if (a.scale.valid() || b.scale.valid()) {
            factor = a.scale.valid() ? a.scale : b.scale;
        }
        const ExprId real = build_.cast(sum.total, Kind::F32);
        const ExprId shift = group.stages[0].initial;
        const Expr& none = pool_[shift];
        const ExprId constant = hoisted(group, factor);
        sum.finish = none.op == Op::Constant && none.real == 0
                         ? build_.make(Op::Mul, {real, constant})
                         : build_.make(Op::Add,
                                       {build_.make(Op::Mul, {real, constant}),
                                        build_.cast(shift, Kind::F32)});
    }
    // A constant product of scales by channel, as an element of a tensor.
    ExprId hoisted(const FusionGroup& group, ExprId factor) {
        const Expr& e = pool_[factor];
        if (e.op != Op::Mul || !reads_constants(graph_, factor)) return factor;
        std::vector<VarId> vars;
        for (const StageLoop& loop : group.stages[0].loops) {
            if (pool_.depends(factor, loop.var)) vars.push_back(loop.var);
        }
        if (vars.size() > 1 || !in_range(graph_, factor)) return factor;
        const ir::TensorId id = new_constant(graph_, vars);
        made_.push_back(constants_group(graph_, group, " scales", vars, {{factor, id}}));
        std::vector<ExprId> index;
        for (const VarId var : vars) index.push_back(build_.index(var));
        return build_.read(id.value, Kind::F32, std::move(index));
    }

    void add_made(const FusionGroup& group, const char* what, Stage stage, bool once) {
        FusionGroup made;
        made.op = group.op;
        made.label = group.label + what;
        made.once = once;
        made.writes = {stage.writes[0].tensor};
        made.stages.push_back(std::move(stage));
        find_reads(graph_, made);
        made_.push_back(std::move(made));
    }

    // Whether other groups of stages alone use the tensor.
    bool is_inner(ir::TensorId id) const {
        if (graph_.results.contains(id) || region_.fixed.contains(id)) return false;
        return std::ranges::none_of(graph_.groups, [&](const FusionGroup& group) {
            return !group.compiled() && std::ranges::find(group.reads, id) != group.reads.end();
        });
    }
    // Totals become floats without the way by double, which would have them. Those that fit 32 bits
    // may be held in a wider type, so that fusion need not store them.
    void use_total(ir::TensorId id, bool fits) {
        const bool narrow = fits && graph_.dtypes.at(id) == tensor::DType::I32 && is_inner(id);
        const ir::TensorId wide =
            narrow ? graph_.new_tensor(tensor::DType::I64, graph_.shapes.at(id)) : id;
        const auto redirect = [&](ExprId& value) {
            std::vector<std::pair<ExprId, Expr>> reads;
            pool_.visit_reads(value, [&](ExprId at, const Expr& e) {
                if (tensor_of(e) == id) reads.emplace_back(at, e);
            });
            for (const auto& [at, e] : reads) {
                const ExprId total = build_.read(wide.value, Kind::Int, e.args);
                const ExprId rounded = build_.cast(build_.cast(at, Kind::F64), Kind::F32);
                value = pool_.replace(value, rounded, build_.cast(total, Kind::F32));
                value = pool_.replace(value, at, total);
            }
        };
        for (FusionGroup& group : graph_.groups) {
            const bool writes = std::ranges::find(group.writes, id) != group.writes.end();
            const bool reads = std::ranges::find(group.reads, id) != group.reads.end();
            if (!group.compiled() || (!writes && !reads)) continue;
            std::ranges::replace(group.writes, id, wide);
            for (Stage& stage : group.stages) {
                for (StageWrite& write : stage.writes) {
                    if (write.tensor == id) write.tensor = wide;
                }
                for_each_value(stage, redirect);
            }
            find_reads(graph_, group);
        }
    }

    RegionGraph& region_;
    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    FactorFinder finder_;
    Paddings paddings_;
    std::vector<VarId> summed_;      // of the stage
    std::vector<FusionGroup> made_;  // run before the group
    // The tensors of sums of integers, and whether the totals fit 32 bits.
    std::vector<std::pair<ir::TensorId, bool>> totals_;
};

}  // namespace

int find_integer_sums(RegionGraph& region) { return IntegerSums(region).run(); }

}  // namespace lemma::loop
