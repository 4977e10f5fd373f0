// SPDX-License-Identifier: Apache-2.0
#include "emit/certified/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/match.h"
#include "loop/passes/prepare/init.h"
#include "loop/passes/prepare/scatter.h"
#include "loop/passes/prepare/widen.h"
#include "loop/passes/prepare/zeros.h"
#include "loop/schedule/nest.h"
#include "tensor/room.h"

namespace lemma::emit {

using loop::Expr;
using loop::ExprId;
using loop::FusionGroup;
using loop::Kind;
using loop::Op;
using loop::Stage;
using loop::StageGraph;
using loop::StageWrite;
using tensor::DType;

namespace {

// The iterations of a loop without a bound.
constexpr int64_t kMostSteps = INT32_MAX;

// A tensor of this many bytes or more is refused: C arrays of that size do not link everywhere.
constexpr int64_t kMostBytes = int64_t{1} << 31;

class Lowerer {
public:
    Lowerer(const ir::Program& program,
            ir::Accumulate accumulate,
            LoweredProgram& result,
            std::vector<Obstacle>& obstacles)
        : program_(program), result_(result), graph_(result.graph), obstacles_(obstacles) {
        graph_.pool.strict = true;
        graph_.pool.integer_powers = true;
        graph_.pool.accumulate = accumulate;
    }

    void run() {
        find_shapes();
        const ir::Graph& main = program_.graphs[program_.main];
        operations(main.operations, result_.steps);
        for (const ir::Port& port : main.outputs) check_port(port);
        for (const ir::Port& port : main.inputs) check_port(port);
        copy_outputs();
        updates();
        loop::add_zeros(graph_);
        for (FusionGroup& group : graph_.groups) {
            loop::merge_init(graph_, group);
            widen_sums(group);
            for (Stage& stage : group.stages) join_axes(stage);
        }
        drop_unread();
    }

private:
    void obstacle(ir::OpId op, std::string why) { obstacles_.push_back({op, std::move(why)}); }
    void find_shapes();
    void check_port(const ir::Port& port);
    bool check_outputs(ir::OpId id);
    void operations(const std::vector<ir::OpId>& ids, Steps& out);
    void operation(ir::OpId id, Steps& out);
    void primitive(ir::OpId id, Steps& out);
    void control(ir::OpId id, Steps& out);
    void branch(ir::OpId id, const ir::Branch& branch, Steps& out);
    void loop(ir::OpId id, const ir::Loop& loop, Steps& out);
    bool can_unroll(const std::vector<ir::OpId>& operations) const;
    void unroll(ir::OpId id, const ir::Loop& loop, int64_t count, Steps& out);
    void set_index(ir::OpId op, ir::TensorId index, int64_t value, Steps& out);
    void rename(Stage& stage);
    ir::TensorId current(ir::TensorId id) const;
    void copy(ir::TensorId from, ir::TensorId to, std::vector<CopyStep>& out);
    void copy_at_once(const std::vector<CopyStep>& wanted, std::vector<CopyStep>& out);
    void copy_outputs();
    void drop_unread();
    void count_reads(const Steps& steps,
                     std::unordered_map<ir::TensorId, int, IdHash>& reads) const;
    void updates();
    void split_writes(FusionGroup& group);
    void widen_sums(FusionGroup& group);
    void join_axes(Stage& stage);
    bool join_axis(Stage& stage, size_t axis);

    const ir::Program& program_;
    LoweredProgram& result_;
    StageGraph& graph_;
    std::vector<Obstacle>& obstacles_;
    // In an iteration of an unrolled loop: the tensors that stand for those of the body.
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash> renamed_;
    bool unrolling_ = false;
};

// ---- Tensors ------------------------------------------------------------------------------------

void Lowerer::find_shapes() {
    graph_.next_tensor = static_cast<uint32_t>(program_.tensors.size());
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const ir::Tensor& tensor = program_.tensors[id];
        graph_.dtypes[id] = tensor.dtype;
        tensor::Shape shape;
        for (const ir::SymId part : tensor.shape) {
            const auto extent = loop::evaluate(program_.symbols, part, {});
            if (!extent || *extent < 0) break;
            shape.push_back(*extent);
        }
        if (shape.size() != tensor.shape.size()) continue;
        const auto volume = tensor::bounded_volume(shape);
        if (!volume || *volume > kMostBytes / tensor::dtype_size(tensor.dtype)) continue;
        graph_.shapes[id] = std::move(shape);
    }
}

void Lowerer::check_port(const ir::Port& port) {
    for (const ir::TensorId id : port.operand.items) {
        const ir::Tensor& tensor = program_.tensors[id];
        if (tensor.dtype == DType::Str) {
            obstacle({}, fmt::format("`{}` has elements of type str", tensor.name));
        } else if (!graph_.shapes.contains(id)) {
            obstacle({},
                     fmt::format("the shape of `{}` is not known, or its size exceeds 2 GiB: give "
                                 "inputs with `-i` or attributes with `-a` that decide it",
                                 tensor.name));
        }
    }
}

bool Lowerer::check_outputs(ir::OpId id) {
    for (const ir::Port& port : program_.operations[id].outputs) {
        for (const ir::TensorId output : port.operand.items) {
            if (program_.tensors[output].dtype == DType::Str) {
                obstacle(id, "its elements are texts");
                return false;
            }
            if (!graph_.shapes.contains(output)) {
                obstacle(id, "the shape of its result is known only when it runs");
                return false;
            }
        }
    }
    return true;
}

// ---- Stages -------------------------------------------------------------------------------------

void Lowerer::operations(const std::vector<ir::OpId>& ids, Steps& out) {
    for (const ir::OpId id : ids) operation(id, out);
}

void Lowerer::operation(ir::OpId id, Steps& out) {
    const ir::Operation& op = program_.operations[id];
    switch (op.kind) {
        case ir::OperationKind::Compound:
            return operations(op.parts, out);
        case ir::OperationKind::Primitive:
            return primitive(id, out);
        case ir::OperationKind::Intrinsic:
            if (check_outputs(id)) out.push_back({IntrinsicStep{id}});
            return;
        case ir::OperationKind::Control:
            return control(id, out);
    }
}

void Lowerer::primitive(ir::OpId id, Steps& out) {
    const ir::Operation& op = program_.operations[id];
    if (!check_outputs(id)) return;
    FusionGroup group;
    group.op = id;
    group.label = op.label;
    for (const ir::Formula& formula : op.formulas) {
        auto stage = loop::make_stage(program_, formula, {}, graph_.shapes, graph_.pool);
        if (!stage) return obstacle(id, std::move(stage.error().message));
        loop::invert_scatter(graph_, *stage, true);
        group.stages.push_back(std::move(*stage));
    }
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) {
            if (unrolling_) {
                renamed_[output] =
                    graph_.new_tensor(graph_.dtypes.at(output), graph_.shapes.at(output));
            }
            group.writes.push_back(current(output));
        }
    }
    for (Stage& stage : group.stages) rename(stage);
    loop::merge_init(graph_, group);
    loop::widen_results(graph_, group);
    split_writes(group);
    graph_.groups.push_back(std::move(group));
    out.push_back({GroupStep{graph_.groups.size() - 1}});
}

// A step with several writes becomes one stage for each, if none reads what another writes.
void Lowerer::split_writes(FusionGroup& group) {
    std::vector<Stage> stages;
    for (Stage& stage : group.stages) {
        bool apart = stage.writes.size() > 1;
        loop::for_each_value(stage, [&](ExprId value) {
            graph_.pool.visit_reads(value, [&](ExprId, const Expr& e) {
                for (const StageWrite& write : stage.writes) {
                    apart &= loop::tensor_of(e) != write.tensor;
                }
            });
        });
        if (!apart) {
            stages.push_back(std::move(stage));
            continue;
        }
        for (const StageWrite& write : stage.writes) {
            Stage one = stage;
            one.writes = {write};
            stages.push_back(std::move(one));
        }
    }
    group.stages = std::move(stages);
}

// An axis of the result that several loops count together, such as the channels of the groups of a
// convolution, gets one loop. Each loop then fills a slice of the tensor, which proofs need.
bool Lowerer::join_axis(Stage& stage, size_t axis) {
    loop::StagePool& pool = graph_.pool;
    loop::Builder& build = pool.build;
    const StageWrite& write = stage.writes[0];
    const auto affine = pool.affine(write.index[axis]);
    if (!affine || affine->offset != 0 || affine->terms.size() < 2) return false;
    std::vector<loop::AddressTerm> terms = affine->terms;
    std::ranges::sort(terms, {}, &loop::AddressTerm::factor);
    int64_t reach = 1;
    for (const loop::AddressTerm& term : terms) {
        for (size_t other = 0; other < write.index.size(); ++other) {
            if (other != axis && pool.depends(write.index[other], term.var)) return false;
        }
        if (term.factor != reach) return false;
        reach *= pool.extent(term.var);
    }
    if (reach != graph_.shapes.at(write.tensor)[axis]) return false;
    const loop::VarId joined = pool.new_var(reach);
    const ExprId index = build.index(joined);
    const ExprId old = write.index[axis];
    std::unordered_map<loop::VarId, ExprId, IdHash> with;
    for (const loop::AddressTerm& term : terms) {
        const ExprId steps = build.make(Op::Div, {index, build.integer(term.factor)});
        const bool last = term.factor * pool.extent(term.var) == reach;
        with[term.var] =
            last ? steps : build.make(Op::Mod, {steps, build.integer(pool.extent(term.var))});
    }
    loop::for_each_expr(stage, [&](ExprId& value) {
        value = pool.substitute(pool.replace(value, old, index), with);
    });
    const auto first = std::ranges::find(stage.loops, terms.back().var, &loop::StageLoop::var);
    if (first != stage.loops.end()) *first = {joined, reach};
    std::erase_if(stage.loops,
                  [&](const loop::StageLoop& loop) { return with.contains(loop.var); });
    return true;
}

void Lowerer::join_axes(Stage& stage) {
    const bool sum = loop::accumulates(stage) && stage.initial.valid();
    if (stage.writes.size() != 1 || stage.empty || !stage.inverses.empty()) return;
    if (!sum && stage.combine != ir::FormulaOp::Assign) return;
    if (!loop::write_shape(stage, stage.writes[0], graph_.pool).injective) return;
    for (size_t axis = 0; axis < stage.writes[0].index.size(); ++axis) join_axis(stage, axis);
}

// A sum that is added to its tensor step by step must not be rounded at each step.
void Lowerer::widen_sums(FusionGroup& group) {
    std::vector<ir::TensorId> sums;
    for (const Stage& stage : group.stages) {
        if (!loop::accumulates(stage) || stage.initial.valid()) continue;
        for (const StageWrite& write : stage.writes) sums.push_back(write.tensor);
    }
    for (const ir::TensorId id : sums) {
        // The first of several stages may have widened it already.
        const bool written = std::ranges::any_of(group.stages, [&](const Stage& stage) {
            return loop::accumulates(stage) && !stage.initial.valid() &&
                   std::ranges::any_of(stage.writes,
                                       [&](const StageWrite& write) { return write.tensor == id; });
        });
        if (written) loop::widen_result(graph_, group, id);
    }
}

// ---- Control flow -------------------------------------------------------------------------------

void Lowerer::copy(ir::TensorId from, ir::TensorId to, std::vector<CopyStep>& out) {
    if (from == to) return;
    if (!graph_.shapes.contains(from) || !graph_.shapes.contains(to)) {
        return obstacle({}, "a value whose shape is known only when it runs");
    }
    if (graph_.shapes.at(from) != graph_.shapes.at(to)) {
        return obstacle({}, "a value that changes its shape in a loop");
    }
    out.push_back({from, to});
}

// Copies that all read before any of them writes.
void Lowerer::copy_at_once(const std::vector<CopyStep>& wanted, std::vector<CopyStep>& out) {
    std::vector<CopyStep> last;
    for (const CopyStep& step : wanted) {
        const bool overwritten = std::ranges::any_of(
            wanted, [&](const CopyStep& other) { return other.to == step.from; });
        if (!overwritten) {
            last.push_back(step);
            continue;
        }
        const ir::TensorId held =
            graph_.new_tensor(graph_.dtypes.at(step.from), graph_.shapes.at(step.from));
        out.push_back({step.from, held});
        last.push_back({held, step.to});
    }
    out.insert(out.end(), last.begin(), last.end());
}

void Lowerer::control(ir::OpId id, Steps& out) {
    if (!check_outputs(id)) return;
    const ir::Operation& op = program_.operations[id];
    if (const auto* const arms = std::get_if<ir::Branch>(&op.control))
        return branch(id, *arms, out);
    if (const auto* const body = std::get_if<ir::Loop>(&op.control)) return loop(id, *body, out);
}

void Lowerer::branch(ir::OpId id, const ir::Branch& branch, Steps& out) {
    const ir::Operation& op = program_.operations[id];
    BranchStep step{.op = id, .arms = {}};
    const auto add = [&](ir::GraphId condition, ir::GraphId consequent) {
        BranchStep::Arm& arm = step.arms.emplace_back();
        if (condition.valid()) {
            const ir::Graph& graph = program_.graphs[condition];
            operations(graph.operations, arm.condition);
            arm.value = graph.outputs[0].operand.items[0];
        }
        const ir::Graph& graph = program_.graphs[consequent];
        operations(graph.operations, arm.body);
        for (size_t i = 0; i < op.outputs.size(); ++i) {
            const auto& from = graph.outputs[i].operand.items;
            const auto& to = op.outputs[i].operand.items;
            if (from.size() != to.size()) {
                return obstacle(id, "the length of a result is known only when it runs");
            }
            for (size_t k = 0; k < to.size(); ++k) copy(from[k], to[k], arm.results);
        }
    };
    for (const ir::Branch::Arm& arm : branch.arms) add(arm.condition, arm.consequent);
    add({}, branch.alternative);
    out.push_back({std::move(step)});
}

ir::TensorId Lowerer::current(ir::TensorId id) const {
    const auto found = renamed_.find(id);
    return found == renamed_.end() ? id : found->second;
}

// One read at a time: a read in the index of another makes that one a new expression.
void Lowerer::rename(Stage& stage) {
    if (!unrolling_) return;
    loop::StagePool& pool = graph_.pool;
    loop::for_each_expr(stage, [&](ExprId& value) {
        while (true) {
            ExprId read;
            pool.visit_reads(value, [&](ExprId id, const Expr& e) {
                if (current(loop::tensor_of(e)) != loop::tensor_of(e)) read = id;
            });
            if (!read.valid()) return;
            const Expr e = pool[read];
            const ir::TensorId now = current(loop::tensor_of(e));
            value = pool.replace(value, read, pool.build.read(now.value, e.type.kind, e.args));
        }
    });
    for (StageWrite& write : stage.writes) write.tensor = current(write.tensor);
}

bool Lowerer::can_unroll(const std::vector<ir::OpId>& operations) const {
    return std::ranges::all_of(operations, [&](ir::OpId id) {
        const ir::Operation& op = program_.operations[id];
        if (op.kind == ir::OperationKind::Compound) return can_unroll(op.parts);
        return op.kind == ir::OperationKind::Primitive;
    });
}

// The index of an iteration, as a tensor.
void Lowerer::set_index(ir::OpId op, ir::TensorId index, int64_t value, Steps& out) {
    FusionGroup group;
    group.op = op;
    Stage stage;
    stage.combine = ir::FormulaOp::Assign;
    stage.writes.push_back({index, {}, graph_.pool.build.integer(value)});
    group.stages.push_back(std::move(stage));
    group.writes = {index};
    graph_.groups.push_back(std::move(group));
    out.push_back({GroupStep{graph_.groups.size() - 1}});
}

// Each iteration has tensors of its own, so that contracts can speak of all of them.
void Lowerer::unroll(ir::OpId id, const ir::Loop& loop, int64_t count, Steps& out) {
    const ir::Operation& op = program_.operations[id];
    const ir::Graph& body = program_.graphs[loop.body];
    std::vector<ir::TensorId> carried;
    std::vector<CopyStep> copies;
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        carried.push_back(op.inputs[loop.initial_input(i)].operand.items[0]);
    }
    unrolling_ = true;
    for (int64_t step = 0; step < count; ++step) {
        renamed_.clear();
        for (size_t i = 0; i < carried.size(); ++i) renamed_[loop.carried[i]] = carried[i];
        for (size_t i = 0; i < loop.items.size(); ++i) {
            const auto& pack = op.inputs[loop.pack_input(i)].operand.items;
            if (static_cast<size_t>(step) >= pack.size()) {
                return obstacle(id, "it has more iterations than items");
            }
            renamed_[loop.items[i]] = pack[static_cast<size_t>(step)];
        }
        if (loop.index.valid() && graph_.shapes.contains(loop.index)) {
            const ir::TensorId index = graph_.new_tensor(graph_.dtypes.at(loop.index), {});
            set_index(id, index, step, out);
            renamed_[loop.index] = index;
        }
        operations(body.operations, out);
        for (size_t i = 0; i < body.outputs.size(); ++i) {
            const ir::TensorId result = current(body.outputs[i].operand.items[0]);
            if (i < carried.size()) {
                carried[i] = result;
                continue;
            }
            const auto& pack = op.outputs[i].operand.items;
            if (static_cast<size_t>(step) < pack.size()) {
                copy(result, pack[static_cast<size_t>(step)], copies);
            }
        }
        for (const CopyStep& each : copies) out.push_back({each});
        copies.clear();
    }
    unrolling_ = false;
    renamed_.clear();
    for (size_t i = 0; i < carried.size(); ++i) {
        copy(carried[i], op.outputs[i].operand.items[0], copies);
    }
    for (const CopyStep& each : copies) out.push_back({each});
}

void Lowerer::loop(ir::OpId id, const ir::Loop& loop, Steps& out) {
    const ir::Operation& op = program_.operations[id];
    LoopStep step{.op = id};
    auto count = loop.static_count.valid() ? loop::evaluate(program_.symbols, loop.static_count, {})
                                           : std::nullopt;
    if (!count && loop.static_count.valid()) {
        return obstacle(id, "the number of its iterations is known only when it runs");
    }
    if (!count) {
        // As in a run, a loop that does not end by itself is a fault.
        count = kMostSteps;
        step.must_end = !loop.dynamic_count.valid();
    }
    if (*count > INT32_MAX) return obstacle(id, "it has more than 2^31 - 1 iterations");
    step.count = *count;
    step.dynamic_count = loop.dynamic_count;
    step.index = loop.index;
    const bool ends_early =
        loop.dynamic_count.valid() || loop.pre_condition.valid() || loop.post_condition.valid();
    constexpr int64_t kMostUnrolled = 16;
    if (!ends_early && !unrolling_ && *count <= kMostUnrolled &&
        can_unroll(program_.graphs[loop.body].operations)) {
        return unroll(id, loop, *count, out);
    }
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        copy(op.inputs[loop.initial_input(i)].operand.items[0], loop.carried[i], step.before);
    }
    for (size_t i = 0; i < loop.items.size(); ++i) {
        step.taken.push_back({op.inputs[loop.pack_input(i)].operand.items, loop.items[i]});
    }
    const ir::Graph& body = program_.graphs[loop.body];
    operations(body.operations, step.body);
    std::vector<CopyStep> carried;
    for (size_t i = 0; i < body.outputs.size(); ++i) {
        const ir::TensorId result = body.outputs[i].operand.items[0];
        if (i < loop.carried.size()) {
            copy(result, loop.carried[i], carried);
            copy(loop.carried[i], op.outputs[i].operand.items[0], step.after);
            continue;
        }
        if (ends_early) return obstacle(id, "the length of a result is known only when it runs");
        step.collected.push_back({op.outputs[i].operand.items, result});
    }
    copy_at_once(carried, step.after_body);
    const auto condition = [&](ir::GraphId graph, Steps& steps, ir::TensorId& value) {
        if (!graph.valid()) return;
        operations(program_.graphs[graph].operations, steps);
        value = program_.graphs[graph].outputs[0].operand.items[0];
    };
    condition(loop.pre_condition, step.pre, step.pre_value);
    condition(loop.post_condition, step.post, step.post_value);
    for (const auto* const items : {&step.taken, &step.collected}) {
        for (const LoopStep::Item& item : *items) {
            if (std::ssize(item.pack) < step.count) {
                return obstacle(id, "it has more iterations than items");
            }
            for (const ir::TensorId each : item.pack) {
                const auto shape = graph_.shapes.find(each);
                const auto own = graph_.shapes.find(item.item);
                if (shape == graph_.shapes.end() || own == graph_.shapes.end() ||
                    shape->second != own->second) {
                    return obstacle(id, "its items have different shapes");
                }
            }
        }
    }
    out.push_back({std::move(step)});
}

// An output that is a constant or a variable is copied into an array of its own.
void Lowerer::copy_outputs() {
    for (const ir::Port& port : program_.graphs[program_.main].outputs) {
        for (const ir::TensorId id : port.operand.items) {
            const ir::TensorRole role = program_.tensors[id].role;
            const bool fixed = role == ir::TensorRole::Constant || role == ir::TensorRole::Variable;
            if (!fixed || !graph_.shapes.contains(id) || result_.outputs.contains(id)) continue;
            const ir::TensorId own = graph_.new_tensor(graph_.dtypes.at(id), graph_.shapes.at(id));
            result_.outputs[id] = own;
            result_.steps.push_back({CopyStep{id, own}});
        }
    }
}

void Lowerer::count_reads(const Steps& steps,
                          std::unordered_map<ir::TensorId, int, IdHash>& reads) const {
    const auto use = [&](ir::TensorId id) {
        if (id.valid()) ++reads[id];
    };
    const auto copies = [&](const std::vector<CopyStep>& list) {
        for (const CopyStep& step : list) use(step.from);
    };
    for (const Step& step : steps) {
        match(
            step.kind,
            [&](const GroupStep&) {},
            [&](const CopyStep& s) { use(s.from); },
            [&](const IntrinsicStep& s) {
                for (const ir::Port& port : program_.operations[s.op].inputs) {
                    for (const ir::TensorId id : port.operand.items) use(id);
                }
            },
            [&](const LoopStep& s) {
                for (const ir::TensorId id : {s.dynamic_count, s.pre_value, s.post_value}) use(id);
                for (const auto* const list : {&s.before, &s.after_body, &s.after}) copies(*list);
                for (const LoopStep::Item& item : s.taken) {
                    for (const ir::TensorId id : item.pack) use(id);
                }
                for (const LoopStep::Item& item : s.collected) use(item.item);
                for (const Steps* const inner : {&s.pre, &s.body, &s.post}) {
                    count_reads(*inner, reads);
                }
            },
            [&](const BranchStep& s) {
                for (const BranchStep::Arm& arm : s.arms) {
                    use(arm.value);
                    copies(arm.results);
                    count_reads(arm.condition, reads);
                    count_reads(arm.body, reads);
                }
            });
    }
}

// Drops stages whose results nobody reads, such as the indices of a max-pooling.
void Lowerer::drop_unread() {
    std::unordered_map<ir::TensorId, int, IdHash> reads;
    count_reads(result_.steps, reads);
    count_reads(result_.updates, reads);
    for (const ir::Port& port : program_.graphs[program_.main].outputs) {
        for (const ir::TensorId id : port.operand.items) ++reads[id];
    }
    const auto change = [&](const Stage& stage, int by) {
        std::unordered_set<ir::TensorId, IdHash> seen;
        loop::for_each_value(stage, [&](ExprId value) {
            graph_.pool.visit_reads(
                value, [&](ExprId, const Expr& e) { seen.insert(loop::tensor_of(e)); });
        });
        for (const StageWrite& write : stage.writes) seen.erase(write.tensor);
        for (const ir::TensorId id : seen) reads[id] += by;
    };
    for (const FusionGroup& group : graph_.groups) {
        for (const Stage& stage : group.stages) change(stage, 1);
    }
    for (bool again = true; again;) {
        again = false;
        for (FusionGroup& group : graph_.groups) {
            std::erase_if(group.stages, [&](const Stage& stage) {
                const bool read = std::ranges::any_of(
                    stage.writes, [&](const StageWrite& write) { return reads[write.tensor] > 0; });
                if (read) return false;
                change(stage, -1);
                again = true;
                return true;
            });
        }
    }
}

void Lowerer::updates() {
    std::vector<CopyStep> wanted, steps;
    for (const ir::Update& update : program_.updates) copy(update.value, update.variable, wanted);
    copy_at_once(wanted, steps);
    for (const CopyStep& step : steps) result_.updates.push_back({step});
}

}  // namespace

std::unique_ptr<LoweredProgram> lower(const ir::Program& program,
                                      ir::Accumulate accumulate,
                                      std::vector<Obstacle>& obstacles) {
    auto result = std::make_unique<LoweredProgram>();
    Lowerer(program, accumulate, *result, obstacles).run();
    return result;
}

}  // namespace lemma::emit
