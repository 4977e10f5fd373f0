// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/rows.h"

#include "loop/passes/fusion/rows_impl.h"

namespace lemma::loop {

namespace {

class RowSharer {
public:
    RowSharer(RegionGraph& region, const Target& target)
        : graph_(region.graph),
          pool_(region.graph.pool),
          layouts_(region.layouts),
          shared_(find_shared(region)),
          before_(region.lifted),
          target_(target) {}

    int run() {
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            for (const ir::TensorId id : graph_.groups[i].reads) last_read_[id] = i;
        }
        for (size_t i = 0; i < graph_.groups.size(); ++i) share_from(i);
        return static_cast<int>(
            std::erase_if(graph_.groups, [](const FusionGroup& group) { return group.dead; }));
    }

private:
    // Stages of one kernel, and the row variables of each.
    struct Bundle {
        std::vector<size_t> members;
        std::vector<VarId> rows;
        bool side_by_side = false;             // elements of different rows
        std::vector<std::vector<VarId>> vars;  // by group
        // The tensors that are written row by row: the row variable of each axis, if any.
        std::unordered_map<ir::TensorId, std::vector<std::optional<size_t>>, IdHash> axes;
    };

    bool is_before(const FusionGroup& group) const { return before_.contains(group.writes[0]); }
    size_t last_reader(ir::TensorId id) const {
        const auto found = last_read_.find(id);
        return found == last_read_.end() ? 0 : found->second;
    }
    void share_from(size_t first);
    bool extend(Bundle& bundle, size_t at) const;
    bool fits(const Bundle& bundle, const FusionGroup& group) const;
    bool are_side_by_side(const Stage& stage, const std::vector<VarId>& rows) const;
    void add_writes(Bundle& bundle, const FusionGroup& group, const std::vector<VarId>& vars) const;
    void make(const Bundle& bundle);
    bool needs_memory(const Bundle& bundle, ir::TensorId id) const;
    void place_in_results(const Bundle& bundle, FusionGroup& group);
    bool place_in_result(FusionGroup& group, size_t at, ir::TensorId id);

    StageGraph& graph_;
    StagePool& pool_;
    const Layouts& layouts_;
    const TensorSet shared_;   // they share memory with other tensors
    const TensorSet& before_;  // made before a loop, kept apart
    const Target& target_;
    std::unordered_map<ir::TensorId, size_t, IdHash> last_read_;  // last reader
};

void RowSharer::add_writes(Bundle& bundle,
                           const FusionGroup& group,
                           const std::vector<VarId>& vars) const {
    const auto add = [&](const StageWrite& write) {
        std::vector<std::optional<size_t>> axes(write.index.size());
        size_t found = 0;
        for (size_t axis = 0; axis < axes.size(); ++axis) {
            const auto var = as_var(pool_, write.index[axis]);
            const auto row = var ? std::ranges::find(vars, *var) : vars.end();
            if (row == vars.end()) continue;
            axes[axis] = static_cast<size_t>(row - vars.begin());
            ++found;
        }
        // Otherwise the row of an element is unknown.
        if (found == vars.size()) bundle.axes[write.tensor] = std::move(axes);
    };
    for (const StageWrite& write : group.stages[0].writes) add(write);
    if (group.stages[0].kept) add(*group.stages[0].kept);
}

// Whether the data of a row stays in the cache from one stage to the next.
bool RowSharer::fits(const Bundle& bundle, const FusionGroup& group) const {
    const Stage& stage = group.stages[0];
    int64_t rows = 1;
    for (const VarId var : bundle.rows) rows *= pool_.extent(var);
    const int64_t steps = steps_of(stage.loops);
    if (rows < kEnoughRows && steps > kFewSteps) return false;
    int64_t bytes = 0;
    for (const auto* tensors : {&group.reads, &group.writes}) {
        for (const ir::TensorId id : *tensors) {
            const auto elements = tensor::volume(graph_.shapes.at(id)).value_or(INT64_MAX);
            bytes += std::min(elements, steps / rows) * tensor::dtype_size(graph_.dtypes.at(id));
        }
    }
    return bytes <= target_.l2_bytes / 4;
}

// Whether neighbours in memory are elements of different rows: in the tensor that a map writes, or
// in the largest tensor that a reduction reads. The stages of a kernel should agree on it.
bool RowSharer::are_side_by_side(const Stage& stage, const std::vector<VarId>& rows) const {
    ir::TensorId largest = stage.writes[0].tensor;
    std::vector<ExprId> index = stage.writes[0].index;
    const auto volume = [&](ir::TensorId id) {
        return tensor::volume(graph_.shapes.at(id)).value_or(0);
    };
    if (stage.initial.valid()) {
        visit_elements(stage, pool_, [&](const Expr& e) {
            if (volume(tensor_of(e)) <= volume(largest)) return;
            largest = tensor_of(e);
            index = e.args;
        });
    }
    const tensor::Shape& shape = graph_.shapes.at(largest);
    size_t axis = shape.size();
    while (axis > 0 && shape[axis - 1] == 1) --axis;
    if (const auto other = layouts_.innermost.find(largest); other != layouts_.innermost.end()) {
        axis = other->second + 1;
    }
    return axis > 0 && pool_.depends_on_any(index[axis - 1], rows);
}

// Adds the group to the bundle if it reads only its own row of the bundle's results.
bool RowSharer::extend(Bundle& bundle, size_t at) const {
    const FusionGroup& group = graph_.groups[at];
    // The bundle runs in the place of its last group. A reader that knows the result by the name of
    // another tensor in the same memory would not wait for it.
    for (const size_t member : bundle.members) {
        for (const ir::TensorId id : graph_.groups[member].writes) {
            if (shared_.contains(id)) return false;
        }
    }
    if (!is_one_stage(group) || is_before(group) != is_before(graph_.groups[bundle.members[0]]) ||
        !fits(bundle, group)) {
        return false;
    }
    const Stage& stage = group.stages[0];
    const bool reduction = stage.initial.valid();
    if (reduction ? !is_reduction(stage, graph_) : !is_assignment(stage, graph_)) return false;
    std::vector<VarId> vars(bundle.rows.size());
    bool good = true;
    visit_elements(stage, pool_, [&](const Expr& e) {
        const auto axes = bundle.axes.find(tensor_of(e));
        if (axes == bundle.axes.end()) return;
        for (size_t axis = 0; axis < e.args.size(); ++axis) {
            const auto row = axes->second[axis];
            if (!row) continue;
            const auto var = as_var(pool_, e.args[axis]);
            good &= var && (!vars[*row].valid() || vars[*row] == *var);
            if (var) vars[*row] = *var;
        }
    });
    // It may read only those results of the bundle that are written row by row.
    for (const size_t member : bundle.members) {
        for (const ir::TensorId id : graph_.groups[member].writes) {
            good &= bundle.axes.contains(id) || !contains(group.reads, id);
        }
    }
    for (size_t i = 0; i < vars.size(); ++i) {
        good = good && vars[i].valid() && pool_.extent(vars[i]) == pool_.extent(bundle.rows[i]) &&
               std::ranges::count(vars, vars[i]) == 1;
    }
    const bool number = stage.loops.size() == vars.size();
    if (number && !keeps_values(graph_.dtypes.at(stage.writes[0].tensor))) return false;
    if (!good || (!number && are_side_by_side(stage, vars) != bundle.side_by_side)) return false;
    if (reduction) {
        std::vector<VarId> sorted = vars;
        std::ranges::sort(sorted);
        if (write_shape(stage, stage.writes[0], pool_).vars != sorted) return false;
    }
    bundle.members.push_back(at);
    bundle.vars.push_back(vars);
    add_writes(bundle, group, vars);
    return true;
}

void RowSharer::share_from(size_t first) {
    const FusionGroup& group = graph_.groups[first];
    if (!is_one_stage(group) || !is_reduction(group.stages[0], graph_)) return;
    Bundle bundle;
    bundle.rows = write_shape(group.stages[0], group.stages[0].writes[0], pool_).vars;
    if (!fits(bundle, group)) return;
    bundle.members = {first};
    bundle.vars = {bundle.rows};
    bundle.side_by_side = are_side_by_side(group.stages[0], bundle.rows);
    add_writes(bundle, group, bundle.rows);
    if (bundle.axes.size() != group.writes.size()) return;
    const auto end_of = [&](const FusionGroup& member) {
        size_t last = 0;
        for (const ir::TensorId id : member.writes) last = std::max(last, last_reader(id));
        return last + 1;
    };
    size_t end = end_of(group);
    for (size_t at = first + 1; at < end; ++at) {
        const FusionGroup& next = graph_.groups[at];
        if (next.dead) continue;
        const bool reads = std::ranges::any_of(bundle.members, [&](size_t member) {
            return std::ranges::any_of(graph_.groups[member].writes,
                                       [&](ir::TensorId id) { return contains(next.reads, id); });
        });
        if (reads && !extend(bundle, at)) break;
        if (reads) end = std::max(end, end_of(next));
    }
    if (bundle.members.size() > 1) make(bundle);
}

bool RowSharer::needs_memory(const Bundle& bundle, ir::TensorId id) const {
    if (graph_.results.contains(id) || shared_.contains(id)) return true;
    for (size_t i = bundle.members[0]; i <= last_reader(id); ++i) {
        const bool member = std::ranges::find(bundle.members, i) != bundle.members.end();
        const FusionGroup& group = graph_.groups[i];
        if (!member && !group.dead && contains(group.reads, id)) return true;
    }
    return false;
}

// The bundle runs in the place of its last group, whose inputs may not exist before.
void RowSharer::make(const Bundle& bundle) {
    FusionGroup made;
    RowGroup rows;
    for (const VarId var : bundle.rows) rows.loops.push_back({var, pool_.extent(var)});
    for (size_t i = 0; i < bundle.members.size(); ++i) {
        FusionGroup& group = graph_.groups[bundle.members[i]];
        Stage& stage = group.stages[0];
        std::unordered_map<VarId, ExprId, IdHash> with;
        for (size_t k = 0; k < bundle.rows.size(); ++k) {
            with[bundle.vars[i][k]] = pool_.build.index(bundle.rows[k]);
            const auto loop = std::ranges::find(stage.loops, bundle.vars[i][k], &StageLoop::var);
            if (loop != stage.loops.end()) loop->var = bundle.rows[k];
        }
        for_each_expr(stage, [&](ExprId& id) { id = pool_.substitute(id, with); });
        for (const ir::TensorId id : group.writes) {
            const bool number = makes_number(stage, rows) && id == stage.writes[0].tensor;
            if (number && !needs_memory(bundle, id)) {
                const tensor::Shape& shape = graph_.shapes.at(id);
                Layout layout;  // one for all rows
                layout.strides.resize(shape.size());
                rows.numbers[id] = {{}, graph_.dtypes.at(id), shape, std::move(layout)};
            } else {
                made.writes.push_back(id);
            }
        }
        made.stages.push_back(std::move(stage));
        group.dead = true;
    }
    made.rows = std::move(rows);
    place_in_results(bundle, made);
    FusionGroup& last = graph_.groups[bundle.members.back()];
    made.op = last.op;
    made.label = last.label;
    find_reads(graph_, made);
    for (const ir::TensorId id : made.reads) {
        last_read_[id] = std::max(last_reader(id), bundle.members.back());
    }
    last = std::move(made);
}

// Rows that only the bundle needs are stored in the memory of its result.
void RowSharer::place_in_results(const Bundle& bundle, FusionGroup& group) {
    const std::vector<ir::TensorId> writes = group.writes;
    for (const ir::TensorId id : writes) {
        if (needs_memory(bundle, id)) continue;
        size_t last = group.stages.size();  // its last reader
        for (size_t i = 0; i < group.stages.size(); ++i) {
            visit_elements(group.stages[i], pool_, [&](const Expr& e) {
                if (tensor_of(e) == id) last = i;
            });
        }
        if (last == group.stages.size() || !place_in_result(group, last, id)) continue;
        std::erase(group.writes, id);
    }
}

// The stage is the tensor's last reader, and must read it at the index that it writes.
bool RowSharer::place_in_result(FusionGroup& group, size_t at, ir::TensorId id) {
    const StageWrite& write = group.stages[at].writes[0];
    const ir::TensorId to = write.tensor;
    const bool alike = !group.stages[at].initial.valid() &&
                       graph_.shapes.at(to) == graph_.shapes.at(id) &&
                       graph_.dtypes.at(to) == graph_.dtypes.at(id);
    if (!alike) return false;
    bool good = true;
    visit_elements(group.stages[at], pool_, [&](const Expr& e) {
        good &= tensor_of(e) != id || e.args == write.index;
        good &= tensor_of(e) != to;  // the memory is in use
    });
    if (!good) return false;
    const auto move = [&](ExprId& value) {
        std::vector<std::pair<ExprId, Expr>> reads;
        pool_.visit_reads(value, [&](ExprId read, const Expr& e) {
            if (tensor_of(e) == id) reads.emplace_back(read, e);
        });
        for (const auto& [read, e] : reads) {
            value = pool_.replace(value, read, pool_.build.read(to.value, e.type.kind, e.args));
        }
    };
    for (Stage& stage : group.stages) {
        for_each_expr(stage, move);
        for (StageWrite& made : stage.writes) {
            if (made.tensor == id) made.tensor = to;
        }
        if (stage.kept && stage.kept->tensor == id) stage.kept->tensor = to;
    }
    return true;
}

}  // namespace

int share_rows(RegionGraph& region, const Target& target) {
    return RowSharer(region, target).run();
}

}  // namespace lemma::loop
