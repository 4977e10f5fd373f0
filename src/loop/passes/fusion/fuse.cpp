// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/fuse.h"

#include <algorithm>

#include "loop/passes/contraction/contract.h"

namespace lemma::loop {

namespace {

bool reads(const FusionGroup& group, ir::TensorId id) {
    return !group.dead && std::ranges::find(group.reads, id) != group.reads.end();
}

class Fuser {
public:
    explicit Fuser(StageGraph& graph) : graph_(graph), pool_(graph.pool) {}

    int run() {
        // Scales and shifts join the sums first, so that they can be folded into the weights.
        count_uses();
        for (size_t i = 0; i < graph_.groups.size(); ++i) join_totals(i, false);
        count_uses();
        for (size_t i = 0; i < graph_.groups.size(); ++i) take_in_producers(i);
        count_uses();
        for (size_t i = 0; i < graph_.groups.size(); ++i) join_totals(i, true);
        return static_cast<int>(
            std::erase_if(graph_.groups, [](const FusionGroup& group) { return group.dead; }));
    }

private:
    void count_uses() {
        uses_.clear();
        readers_.clear();
        producers_.clear();
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            const FusionGroup& group = graph_.groups[i];
            if (group.dead) continue;
            for (const ir::TensorId id : group.reads) {
                ++uses_[id];
                readers_[id] = i;
            }
            for (const ir::TensorId id : group.writes) producers_[id] = i;
        }
    }
    struct Cost {
        int operations = 0;
        bool expensive = false;  // functions, divisions
        bool gathers = false;
    };
    Cost cost(ExprId value) const;
    bool is_free_map(const FusionGroup& group) const;
    bool keeps_value(ir::TensorId id, const Stage& stage) const;
    bool reads_bytes(const FusionGroup& group) const;
    bool is_read_at_end(const Stage& stage, ir::TensorId id) const;
    bool pays(const FusionGroup& producer, const FusionGroup& consumer) const;
    void take_in_producers(size_t at);
    void take_in(FusionGroup& consumer, const FusionGroup& producer);
    bool loses_tiles(const FusionGroup& consumer, const FusionGroup& producer);
    void count_changes(const std::vector<ir::TensorId>& before,
                       const std::vector<ir::TensorId>& after);
    void join_totals(size_t at, bool bytes);
    bool joins(const FusionGroup& first, const FusionGroup& then, bool bytes) const;
    bool takes_readers(const Stage& stage) const;
    bool join(FusionGroup& first, const Stage& then);
    bool reads_plainly(const Stage& stage, ir::TensorId id, std::vector<ExprId>& index) const;

    StageGraph& graph_;
    StagePool& pool_;
    std::unordered_map<ir::TensorId, size_t, IdHash> uses_;
    std::unordered_map<ir::TensorId, size_t, IdHash> readers_;  // the last one
    std::unordered_map<ir::TensorId, size_t, IdHash> producers_;
};

Fuser::Cost Fuser::cost(ExprId value) const {
    Cost result;
    std::vector<ExprId> work = {value};
    std::unordered_set<ExprId, IdHash> seen;
    while (!work.empty()) {
        const ExprId id = work.back();
        work.pop_back();
        if (!seen.insert(id).second) continue;
        const Expr& e = pool_[id];
        if (e.op == Op::Read) {
            for (const ExprId index : e.args) result.gathers |= !pool_.affine(index);
            continue;
        }
        if (e.op == Op::Constant) continue;
        result.expensive |= is_expensive(e);
        result.operations += 1;
        work.insert(work.end(), e.args.begin(), e.args.end());
    }
    return result;
}

bool Fuser::is_free_map(const FusionGroup& group) const {
    if (!group.compiled() || group.dead || group.stages.size() != 1 || group.writes.size() != 1) {
        return false;
    }
    const Stage& stage = group.stages[0];
    const ir::TensorId id = group.writes[0];
    return is_map(stage, graph_) && !graph_.results.contains(id) && keeps_value(id, stage) &&
           in_range(graph_, stage.writes[0].value);
}

// Whether the tensor stores the values of the stage as they are: a byte does if they are limited to
// its range.
bool Fuser::keeps_value(ir::TensorId id, const Stage& stage) const {
    const tensor::DType dtype = graph_.dtypes.at(id);
    if (keeps_values(dtype)) return true;
    const bool sum = stage.combine != ir::FormulaOp::Assign;
    const ExprId value = sum ? stage.finish : stage.writes[0].value;
    const bool byte = dtype == tensor::DType::U8 || dtype == tensor::DType::I8;
    if (!byte || !value.valid() || pool_[value].op != Op::Cast) return false;
    const double low = dtype == tensor::DType::U8 ? 0 : -128;
    const Expr& upper = pool_[pool_[value].args[0]];
    if (upper.op != Op::Min || !upper.type.real()) return false;
    const Expr& lower = pool_[upper.args[0]];
    const auto constant = [&](ExprId limit, double least, double most) {
        const Expr& e = pool_[limit];
        return e.op == Op::Constant && e.real >= least && e.real <= most;
    };
    return lower.op == Op::Max && constant(upper.args[1], low, low + 255) &&
           constant(lower.args[1], low, low + 255);
}

// A sum of products of elements.
bool is_product_sum(const Stage& stage, const StagePool& pool) {
    if (stage.combine != ir::FormulaOp::Sum || stage.writes.size() != 1) return false;
    std::vector<ExprId> factors = {stage.writes[0].value};
    for (size_t i = 0; i < factors.size(); ++i) {
        const Expr& e = pool[factors[i]];
        if (e.op != Op::Mul && e.op != Op::Read) return false;
        if (e.op == Op::Mul) factors.insert(factors.end(), e.args.begin(), e.args.end());
    }
    return factors.size() > 1;
}

// Whether the group computes with bytes alone. It is cheaper than storing its wider result.
bool Fuser::reads_bytes(const FusionGroup& group) const {
    return !group.reads.empty() && std::ranges::all_of(group.reads, [&](ir::TensorId id) {
        const tensor::DType dtype = graph_.dtypes.at(id);
        return dtype == tensor::DType::U8 || dtype == tensor::DType::I8;
    });
}

// Whether only the epilogue reads the tensor: once for each element of the result.
bool Fuser::is_read_at_end(const Stage& stage, ir::TensorId id) const {
    if (!stage.finish.valid()) return false;
    bool before = false;
    const auto visit = [&](ExprId, const Expr& e) { before |= tensor_of(e) == id; };
    for_each_value(stage, [&](ExprId value) {
        if (value != stage.finish) pool_.visit_reads(value, visit);
    });
    return !before;
}

bool Fuser::pays(const FusionGroup& producer, const FusionGroup& consumer) const {
    const ExprId value = producer.stages[0].writes[0].value;
    // A literal may decide how the consumer computes: an exponent, for example.
    const bool literal = pool_[value].op == Op::Constant &&
                         tensor::volume(graph_.shapes.at(producer.writes[0])) == 1;
    if (producer.once != consumer.once && !literal) return false;
    const Cost price = cost(value);
    if (price.operations > kMostFused) return false;
    const bool copy = pool_[value].op == Op::Read && !price.gathers;  // at an affine index
    const size_t uses = uses_.at(producer.writes[0]);
    for (const Stage& stage : consumer.stages) {
        if (reads_bytes(producer) && is_read_at_end(stage, producer.writes[0])) continue;
        // Products need elements of tensors as operands, for packing and tiling.
        if (is_product_sum(stage, pool_)) {
            if (!copy) return false;
            continue;
        }
        if (stage.initial.valid() && !copy) {
            double steps = 1;
            for (const StageLoop& loop : stage.loops) steps *= static_cast<double>(loop.extent);
            const auto elements =
                static_cast<double>(*tensor::volume(graph_.shapes.at(producer.writes[0])));
            if (steps > 1.5 * elements && (price.expensive || price.operations > 1)) return false;
        }
    }
    if (copy) return true;
    if (uses == 1) return true;
    const int most = reads_bytes(producer) ? 3 : 2;
    return uses <= 3 && !price.expensive && price.operations <= most;
}

void Fuser::take_in(FusionGroup& consumer, const FusionGroup& producer) {
    const Stage& from = producer.stages[0];
    const ir::TensorId id = producer.writes[0];
    const Kind kind = kind_of(graph_.dtypes.at(id));
    const auto rewrite = [&](ExprId& value) {
        std::vector<std::pair<ExprId, Expr>> reads;
        pool_.visit_reads(value, [&](ExprId at, const Expr& e) {
            if (tensor_of(e) == id) reads.emplace_back(at, e);
        });
        // Inner reads have smaller numbers; an outer read with an inner one in its index comes
        // later.
        std::ranges::sort(reads, {}, [](const auto& read) { return read.first.value; });
        for (const auto& [at, e] : reads) {
            std::unordered_map<VarId, ExprId, IdHash> with;
            for (size_t axis = 0; axis < e.args.size(); ++axis) {
                const Expr& index = pool_[from.writes[0].index[axis]];
                if (index.op != Op::Var) continue;
                with[make_id<VarId>(static_cast<size_t>(index.integer))] = e.args[axis];
            }
            const ExprId inlined =
                pool_.build.cast(pool_.substitute(from.writes[0].value, with), kind);
            value = pool_.replace(value, at, inlined);
        }
    };
    for (Stage& stage : consumer.stages) for_each_value(stage, rewrite);
}

// A window over the edge of a slice would read the neighbours of the slice instead of zeros.
bool Fuser::loses_tiles(const FusionGroup& consumer, const FusionGroup& producer) {
    const bool windows =
        !consumer.once && consumer.stages.size() == 1 && !consumer.stages[0].guards.empty();
    if (!windows || !find_contraction(graph_, consumer.stages[0])) return false;
    FusionGroup whole = consumer;
    take_in(whole, producer);
    return !find_contraction(graph_, whole.stages[0]);
}

void Fuser::take_in_producers(size_t at) {
    FusionGroup& consumer = graph_.groups[at];
    if (!consumer.compiled() || consumer.dead) return;
    std::unordered_set<ir::TensorId, IdHash> tried;
    for (size_t i = 0; i < consumer.reads.size();) {
        const ir::TensorId id = consumer.reads[i];
        const auto found = producers_.find(id);
        const bool other = found != producers_.end() && found->second != at;
        if (!other || !tried.insert(id).second || !is_free_map(graph_.groups[found->second]) ||
            !pays(graph_.groups[found->second], consumer) ||
            loses_tiles(consumer, graph_.groups[found->second])) {
            ++i;
            continue;
        }
        const std::vector<ir::TensorId> before = consumer.reads;
        take_in(consumer, graph_.groups[found->second]);
        find_reads(graph_, consumer);
        count_changes(before, consumer.reads);
        i = 0;
    }
}

// Updates the reader counts. A producer without readers is dead.
void Fuser::count_changes(const std::vector<ir::TensorId>& before,
                          const std::vector<ir::TensorId>& after) {
    const auto in = [](const std::vector<ir::TensorId>& ids, ir::TensorId id) {
        return std::ranges::find(ids, id) != ids.end();
    };
    for (const ir::TensorId id : after) {
        if (!in(before, id)) ++uses_[id];
    }
    for (const ir::TensorId id : before) {
        if (in(after, id) || --uses_[id] > 0) continue;
        const auto made = producers_.find(id);
        if (made == producers_.end() || graph_.results.contains(id)) continue;
        FusionGroup& producer = graph_.groups[made->second];
        if (!producer.compiled() || producer.writes.size() != 1) continue;
        producer.dead = true;
        count_changes(producer.reads, {});
    }
}

// Whether all reads of the tensor have the same index, made of different variables or zeros, and
// these variables are all loops of the stage.
bool Fuser::reads_plainly(const Stage& stage, ir::TensorId id, std::vector<ExprId>& index) const {
    bool plain = true;
    bool found = false;
    pool_.visit_reads(stage.writes[0].value, [&](ExprId, const Expr& e) {
        if (tensor_of(e) != id) return;
        if (found && e.args != index) plain = false;
        index = e.args;
        found = true;
    });
    if (!found || !plain) return false;
    std::vector<VarId> vars;
    for (size_t axis = 0; axis < index.size(); ++axis) {
        const Expr& e = pool_[index[axis]];
        if (e.op == Op::Constant) {
            if (e.integer != 0 || graph_.shapes.at(id)[axis] != 1) return false;
            continue;
        }
        if (e.op != Op::Var) return false;
        const auto var = make_id<VarId>(static_cast<size_t>(e.integer));
        if (std::ranges::find(vars, var) != vars.end()) return false;
        if (pool_.extent(var) != graph_.shapes.at(id)[axis]) return false;
        vars.push_back(var);
    }
    return vars.size() == stage.loops.size();
}

// Adds the second stage to the first as its epilogue.
bool Fuser::join(FusionGroup& first, const Stage& then) {
    Stage& stage = first.stages[0];
    const ir::TensorId id = first.writes[0];
    std::vector<ExprId> index;
    if (!is_plain(then) || !reads_plainly(then, id, index) ||
        !in_range(graph_, then.writes[0].value))
        return false;
    const WriteShape shape = write_shape(then, then.writes[0], pool_);
    if (!shape.injective || shape.vars.size() != then.loops.size()) return false;
    std::unordered_map<VarId, ExprId, IdHash> with;
    for (size_t axis = 0; axis < index.size(); ++axis) {
        const Expr& e = pool_[index[axis]];
        if (e.op != Op::Var) continue;
        with[make_id<VarId>(static_cast<size_t>(e.integer))] = stage.writes[0].index[axis];
    }
    const ExprId read = pool_.build.read(id.value, kind_of(graph_.dtypes.at(id)), index);
    const ExprId here = pool_.substitute(read, with);
    const ExprId value = pool_.substitute(then.writes[0].value, with);
    Stage joined = stage;
    if (stage.combine == ir::FormulaOp::Assign) {
        const ExprId made = pool_.build.cast(stage.writes[0].value, kind_of(graph_.dtypes.at(id)));
        joined.writes[0].value = pool_.replace(value, here, made);
    } else if (!stage.total.valid()) {
        joined.total = here;
        joined.finish = value;
    } else {
        joined.finish = pool_.replace(value, here, stage.finish);
    }
    joined.writes[0].tensor = then.writes[0].tensor;
    joined.writes[0].index.clear();
    for (const ExprId part : then.writes[0].index) {
        joined.writes[0].index.push_back(pool_.substitute(part, with));
    }
    // A scattering store must not prevent tiles.
    if (find_contraction(graph_, stage) && !find_contraction(graph_, joined)) return false;
    stage = std::move(joined);
    return true;
}

// Whether the stage can have an element-wise reader as its epilogue. A map moves into its readers
// instead.
bool Fuser::takes_readers(const Stage& stage) const {
    if (stage.initial.valid()) return true;
    return is_plain(stage) && covers(stage, graph_) && !is_map(stage, graph_) &&
           in_range(graph_, stage.writes[0].value);
}

// Whether the reader may be the epilogue. Bytes are worth storing, unless the reader makes bytes.
bool Fuser::joins(const FusionGroup& first, const FusionGroup& then, bool bytes) const {
    if (!then.compiled() || then.stages.size() != 1 || then.writes.size() != 1) return false;
    const tensor::DType dtype = graph_.dtypes.at(then.writes[0]);
    const bool byte = dtype == tensor::DType::U8 || dtype == tensor::DType::I8;
    return keeps_values(graph_.dtypes.at(first.writes[0])) || (bytes && byte);
}

void Fuser::join_totals(size_t at, bool bytes) {
    for (;;) {
        FusionGroup& first = graph_.groups[at];
        const bool one = first.compiled() && !first.dead && !first.once &&
                         first.stages.size() == 1 && first.writes.size() == 1;
        if (!one || !takes_readers(first.stages[0])) return;
        const ir::TensorId id = first.writes[0];
        if (graph_.results.contains(id) || uses_[id] != 1 || !keeps_value(id, first.stages[0])) {
            return;
        }
        const size_t reader = readers_.at(id);
        if (reader <= at || !reads(graph_.groups[reader], id)) return;
        FusionGroup& then = graph_.groups[reader];
        if (!joins(first, then, bytes)) return;
        if (!join(first, then.stages[0])) return;
        // The joined group runs at the place of the second, whose inputs may not exist before.
        then.stages[0] = std::move(first.stages[0]);
        then.label = first.label;
        then.op = first.op;
        first.dead = true;
        for (const ir::TensorId read : first.reads) --uses_[read];
        for (const ir::TensorId read : then.reads) --uses_[read];
        find_reads(graph_, then);
        for (const ir::TensorId read : then.reads) {
            ++uses_[read];
            readers_[read] = reader;
        }
        at = reader;
    }
}

}  // namespace

int fuse(StageGraph& graph) { return Fuser(graph).run(); }

}  // namespace lemma::loop
