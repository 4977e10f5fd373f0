// SPDX-License-Identifier: Apache-2.0
// Loops that are not unrolled: operations with sub-graphs (spec 2.10.1).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

namespace {

// Port names must differ; a scanned item may have the name of a loop variable.
void add_input(ir::Operation& op, std::string name, const ir::Operand& operand) {
    while (std::ranges::find(op.inputs, name, &ir::Port::name) != op.inputs.end()) name += '\'';
    op.inputs.push_back({std::move(name), operand});
}

}  // namespace

std::optional<Results> Composer::compose_dynamic_loop(Frame& frame,
                                                      const Region& region,
                                                      const Loop& loop,
                                                      const LoopStart& start,
                                                      const std::string& scope) {
    ir::Loop control;
    control.static_count = start.count;
    control.dynamic_count = start.dynamic_count;
    ir::Operation op;
    op.kind = ir::OperationKind::Control;
    op.op = "loop";
    op.assertions = start.assertions;
    op.label = scope;
    op.span = region.span;
    if (control.dynamic_count.valid()) {
        add_input(op, "count", ir::Operand::single(control.dynamic_count));
    }
    const size_t told_before = program_.symbols.size();
    frame.push();
    std::optional<std::vector<ir::Update>> updates;
    if (bind_loop_names(frame, loop, start, control, op)) {
        updates = compose_loop_graphs(frame, loop, scope, control);
    }
    frame.pop();
    if (!updates) return std::nullopt;
    carry_updates(*updates, control, op);
    auto results = loop_outputs(frame, region, loop, control, told_before, op);
    if (!results) return std::nullopt;
    for (size_t i = 0; i < updates->size(); ++i) {
        const ir::Operand& last = op.outputs[loop.carried.size() + i].operand;
        program_.updates.push_back({(*updates)[i].variable, last.items[0]});
    }
    if (!check_updates(frame, region.span)) return std::nullopt;
    op.control = std::move(control);
    op_lists_.back().push_back(program_.operations.add(std::move(op)));
    return results;
}

bool Composer::bind_loop_names(
    Frame& frame, const Loop& loop, const LoopStart& start, ir::Loop& control, ir::Operation& op) {
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        const Name& name = loop.carried[i].name;
        const ir::Operand& initial = start.initial[i].operand;
        if (initial.packed || initial.null()) {
            inner_error(frame,
                        name.span,
                        DiagKind::PackMismatch,
                        fmt::format("the loop variable `{}` is a pack, expected a single tensor",
                                    name.text))
                .note("write `unroll` instead of `do`");
            return false;
        }
        control.carried.push_back(bind_inner(frame, name.text, start.initial[i], op.label));
        add_input(op, std::string(name.text), initial);
    }
    for (size_t i = 0; i < loop.scans.size(); ++i) {
        const std::string_view name = loop.scans[i].name.text;
        control.items.push_back(bind_inner(frame, name, start.packs[i], op.label));
        add_input(op, std::string(name), start.packs[i].operand);
    }
    if (!loop.count || !loop.count->index) return true;
    ir::Tensor index;
    index.name = join_scope(op.label, loop.count->index->text);
    index.dtype = options_.integer;
    control.index = add_tensor(std::move(index));
    frame.bind(loop.count->index->text, {ir::Operand::single(control.index), false});
    return true;
}

std::optional<std::vector<ir::Update>> Composer::compose_loop_graphs(Frame& frame,
                                                                     const Loop& loop,
                                                                     const std::string& scope,
                                                                     ir::Loop& control) {
    bool good = true;
    std::vector<ir::Update> updates;
    const auto compose = [&](RegionId id, const std::string& name, ir::GraphId& graph) {
        if (!id.valid()) return;
        auto composed = compose_subgraph(frame, id, name, scope);
        good = good && composed;
        if (!composed) return;
        graph = composed->graph;
        if (name == "while") {
            good = check_condition(frame, id, *composed) && good;
        } else {
            updates = std::move(composed->updates);
        }
    };
    compose(loop.pre_condition, "while", control.pre_condition);
    compose(loop.body, "body", control.body);
    compose(loop.post_condition, "while", control.post_condition);
    if (!good) return std::nullopt;
    return updates;
}

// The tensor that represents a loop variable or a scanned pack inside the body.
ir::TensorId Composer::bind_inner(Frame& frame,
                                  std::string_view name,
                                  const Binding& outer,
                                  const std::string& scope) {
    ir::Tensor inner;
    inner.name = join_scope(scope, name);
    if (!outer.operand.items.empty()) {
        inner.dtype = program_.tensors[outer.operand.items[0]].dtype;
        inner.shape = program_.tensors[outer.operand.items[0]].shape;
        for (const ir::TensorId item : outer.operand.items) {
            const auto& shape = program_.tensors[item].shape;
            for (size_t axis = 0; axis < inner.shape.size() && axis < shape.size(); ++axis) {
                if (inner.shape[axis] == shape[axis]) continue;
                const int64_t high = std::max(program_.symbols.range(inner.shape[axis]).high,
                                              program_.symbols.range(shape[axis]).high);
                inner.shape[axis] = program_.symbols.symbol("~", ir::ScalarType::Int, {0, high});
            }
        }
    }
    const ir::TensorId id = add_tensor(std::move(inner));
    frame.bind(name, {ir::Operand::single(id), false});
    return id;
}

// The body yields the loop variables, which keep their shapes, and the tensors that packs collect.
std::optional<Results> Composer::loop_outputs(Frame& frame,
                                              const Region& region,
                                              const Loop& loop,
                                              const ir::Loop& control,
                                              size_t told_before,
                                              ir::Operation& op) {
    const auto outputs = program_.graphs[control.body].outputs;
    Results results;
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].operand.packed || outputs[i].operand.null()) {
            inner_error(frame,
                        region.span,
                        DiagKind::PackMismatch,
                        "the body of a loop gives a pack, expected a single tensor");
            return std::nullopt;
        }
        const ir::TensorId inner = outputs[i].operand.items[0];
        ir::Tensor tensor;
        tensor.name = fmt::format("{}.{}", op.label.empty() ? "loop" : op.label, i);
        tensor.dtype = program_.tensors[inner].dtype;
        const bool update = i >= loop.carried.size() && i < control.carried.size();
        if (update) tensor.name = program_.tensors[control.carried[i]].name;
        std::optional<Binding> result;
        if (i < control.carried.size()) {
            tensor.shape = program_.tensors[control.carried[i]].shape;
            if (!update && !check_carried(frame, region, loop.carried[i], inner, control, op)) {
                return std::nullopt;
            }
            result = Binding{ir::Operand::single(add_tensor(std::move(tensor))), false};
        } else {
            tensor.shape = program_.tensors[inner].shape;
            result = scan_output(frame, region, control, std::move(tensor), told_before);
        }
        if (!result) return std::nullopt;
        op.outputs.push_back({fmt::format("{}", i), result->operand});
        if (!update) results.push_back(std::move(*result));
    }
    return results;
}

// A loop variable keeps its shape. Undecided conditions go to the operation in the body that makes
// the new value, or to the loop if the value exists before.
bool Composer::check_carried(Frame& frame,
                             const Region& region,
                             const Loop::Carried& variable,
                             ir::TensorId value,
                             const ir::Loop& control,
                             ir::Operation& op) {
    const size_t index = op.outputs.size();
    const std::vector<ir::SymId>& want = program_.tensors[control.carried[index]].shape;
    const std::vector<ir::SymId>& got = program_.tensors[value].shape;
    std::string message = fmt::format("the loop variable `{}` has the shape {}, its new value {}",
                                      variable.name.text,
                                      shape_text(want),
                                      shape_text(got));
    if (!may_be_equal(want, got)) {
        inner_error(frame, region.span, DiagKind::ExtentMismatch, std::move(message))
            .note(fmt::format("declare the shape to begin with: `with {}: {}{} = …`",
                              variable.name.text,
                              tensor::is_real(program_.tensors[value].dtype) ? "real" : "int",
                              shape_text(got)));
        return false;
    }
    const auto open = open_equalities(got, want, message);
    const ir::OpId maker = maker_of(value, program_.graphs[control.body].operations);
    auto& at = maker.valid() ? program_.operations[maker].assertions : op.assertions;
    at.insert(at.end(), open.begin(), open.end());
    return true;
}

// A tensor for each iteration. An extent that the body defines differs between iterations. `tensor`
// is the result of the body, and symbols from `told_before` on belong to it.
std::optional<Binding> Composer::scan_output(Frame& frame,
                                             const Region& region,
                                             const ir::Loop& control,
                                             ir::Tensor tensor,
                                             size_t told_before) {
    ir::SymbolPool& symbols = program_.symbols;
    const int64_t most = control.static_count.valid() ? symbols.range(control.static_count).high
                                                      : std::numeric_limits<int64_t>::max();
    if (most == std::numeric_limits<int64_t>::max()) {
        inner_error(frame,
                    region.span,
                    DiagKind::UnboundedLoop,
                    "the scan outputs of this loop have no upper bound for their number")
            .note("give the loop a count, or a pack to scan");
        return std::nullopt;
    }
    if (static_cast<uint64_t>(most) > options_.limits.max_pack_length) {
        inner_error(
            frame,
            region.span,
            DiagKind::TooLarge,
            fmt::format("a loop that collects {} tensors (--max-pack-length raises the limit)",
                        most));
        return std::nullopt;
    }
    const size_t nodes = static_cast<size_t>(most) * (2 + tensor.shape.size());
    if (!spend(frame, region.span, nodes)) return std::nullopt;
    Binding result;
    result.operand.packed = true;
    const bool open_end = control.dynamic_count.valid() || control.pre_condition.valid() ||
                          control.post_condition.valid();
    if (open_end) {
        result.operand.length = symbols.symbol("~", ir::ScalarType::Int, {0, most});
    } else if (!symbols.as_int(control.static_count)) {
        result.operand.length = control.static_count;
    }
    for (int64_t i = 0; i < most; ++i) {
        ir::Tensor item = tensor;
        for (ir::SymId& extent : item.shape) {
            const auto told = symbols.symbols_of(extent);
            // Sorted by creation.
            if (told.empty() || told.back().value < told_before) continue;
            const ir::Interval range = symbols.range(extent);
            extent = symbols.symbol(
                "~", ir::ScalarType::Int, {std::max<int64_t>(range.low, 0), range.high});
        }
        result.operand.items.push_back(add_tensor(std::move(item)));
    }
    return result;
}

}  // namespace lemma::sknd
