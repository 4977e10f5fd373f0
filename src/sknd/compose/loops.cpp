// Loops: unrolled here, or kept as operations with sub-graphs (spec 2.10.1).
#include <fmt/format.h>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

// ---- Loops --------------------------------------------------------------------------------------

std::optional<Results> Composer::compose_loop(Frame& frame,
                                              RegionId id,
                                              const Loop& loop,
                                              const std::string& scope) {
    const Region& region = frame.module().regions[id];
    return loop.unroll ? compose_unrolled(frame, region, loop, scope)
                       : compose_dynamic_loop(frame, region, loop, scope);
}

std::optional<std::vector<Binding>> Composer::initial_values(Frame& frame, const Loop& loop) {
    std::vector<Binding> values;
    for (const Loop::Carried& carried : loop.carried) {
        const size_t made_here = program_.tensors.size();
        auto value = tensor_value(frame, carried.initial);
        if (!value || value->poison || !fit_initial(frame, carried, *value, made_here)) {
            return std::nullopt;
        }
        values.push_back(std::move(*value));
    }
    return values;
}

// An initial value has the declared shape; a single number stands for all of its elements.
bool Composer::fit_initial(Frame& frame,
                           const Loop::Carried& carried,
                           Binding& value,
                           size_t made_here) {
    if (!carried.type || !carried.type->shape) return true;
    auto& items = value.operand.items;
    const auto shapes = declared_shapes(frame, *carried.type, items.size());
    if (!shapes) return false;
    for (size_t i = 0; i < items.size(); ++i) {
        const ir::Tensor& tensor = program_.tensors[items[i]];
        const bool number = tensor.role == ir::TensorRole::Constant && tensor.shape.empty();
        if (number && !(*shapes)[i].empty()) {
            // A constant that others know stays as it is.
            if (items[i].value < made_here) items[i] = add_tensor(ir::Tensor(tensor));
            program_.tensors[items[i]].shape = (*shapes)[i];
            continue;
        }
        if (may_be_equal(tensor.shape, (*shapes)[i])) continue;
        inner_error(frame,
                    frame.module().exprs[carried.initial].span,
                    tensor.shape.size() == (*shapes)[i].size() ? DiagKind::ExtentMismatch
                                                               : DiagKind::RankMismatch,
                    fmt::format("the loop variable `{}` starts with the shape {}, expected {}",
                                carried.name.text,
                                shape_text(tensor.shape),
                                shape_text((*shapes)[i])));
        return false;
    }
    return true;
}

std::optional<std::vector<Binding>> Composer::scanned_packs(Frame& frame, const Loop& loop) {
    std::vector<Binding> packs;
    for (const Loop::Scan& scan : loop.scans) {
        auto pack = tensor_value(frame, scan.pack);
        if (!pack || pack->poison) return std::nullopt;
        if (!packs.empty() && packs.front().operand.items.size() != pack->operand.items.size()) {
            inner_error(frame,
                        frame.module().exprs[scan.pack].span,
                        DiagKind::LengthMismatch,
                        fmt::format("scanned packs of {} and {} tensors, expected equal lengths",
                                    packs.front().operand.items.size(),
                                    pack->operand.items.size()));
            return std::nullopt;
        }
        packs.push_back(std::move(*pack));
    }
    return packs;
}

std::optional<Results> Composer::compose_unrolled(Frame& frame,
                                                  const Region& region,
                                                  const Loop& loop,
                                                  const std::string& scope) {
    auto carried = initial_values(frame, loop);
    const auto packs = scanned_packs(frame, loop);
    if (!carried || !packs) return std::nullopt;
    int64_t count = packs->empty() ? 0 : static_cast<int64_t>(packs->front().operand.items.size());
    if (loop.count && loop.count->count.valid()) {
        const auto given = evaluate_count(frame, loop.count->count, "the count of `unroll`");
        if (!given) return std::nullopt;
        count = *given;
    }
    if (count > options_.max_unroll) {
        inner_error(
            frame,
            region.span,
            DiagKind::TooLarge,
            fmt::format("`unroll` with {} iterations (--max-unroll raises the limit)", count));
        return std::nullopt;
    }
    std::vector<Binding> scans;
    for (int64_t i = 0; i < count; ++i) {
        frame.push();
        for (size_t c = 0; c < loop.carried.size(); ++c)
            frame.bind(loop.carried[c].name.text, (*carried)[c]);
        for (size_t s = 0; s < loop.scans.size(); ++s) {
            const auto& items = (*packs)[s].operand.items;
            if (static_cast<size_t>(i) < items.size()) {
                frame.bind(loop.scans[s].name.text,
                           {ir::Operand::single(items[static_cast<size_t>(i)]), false});
            }
        }
        if (loop.count && loop.count->index) frame.set(loop.count->index->text, Scalar(i));
        const std::string inner =
            join_scope(labelled_scope(frame, loop.body, scope), std::to_string(i));
        auto results = compose_region(frame, loop.body, inner);
        frame.pop();
        if (!results) return std::nullopt;
        for (size_t r = 0; r < results->size(); ++r) {
            if (r < carried->size()) {
                (*carried)[r] = (*results)[r];
                continue;
            }
            const size_t s = r - carried->size();
            if (s >= scans.size()) scans.resize(s + 1);
            scans[s].operand.packed = true;
            scans[s].operand.items.insert(scans[s].operand.items.end(),
                                          (*results)[r].operand.items.begin(),
                                          (*results)[r].operand.items.end());
        }
    }
    if (loop.count && loop.count->index) frame.forget(loop.count->index->text);
    carried->insert(carried->end(), scans.begin(), scans.end());
    return carried;
}

std::optional<Results> Composer::compose_dynamic_loop(Frame& frame,
                                                      const Region& region,
                                                      const Loop& loop,
                                                      const std::string& scope) {
    const auto initial = initial_values(frame, loop);
    const auto packs = scanned_packs(frame, loop);
    if (!initial || !packs) return std::nullopt;
    ir::Loop control;
    ir::Operation op;
    op.kind = ir::OperationKind::Control;
    op.op = "loop";
    op.label = scope;
    op.span = region.span;
    if (!set_loop_count(frame, loop, *packs, control, op)) return std::nullopt;

    frame.push();
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        control.carried.push_back(
            bind_inner(frame, loop.carried[i].name.text, (*initial)[i], scope));
        op.inputs.push_back({loop.carried[i].name.text, (*initial)[i].operand});
    }
    for (size_t i = 0; i < loop.scans.size(); ++i) {
        control.items.push_back(bind_inner(frame, loop.scans[i].name.text, (*packs)[i], scope));
        op.inputs.push_back({loop.scans[i].name.text, (*packs)[i].operand});
    }
    if (loop.count && loop.count->index) {
        ir::Tensor index;
        index.name = join_scope(scope, loop.count->index->text);
        index.dtype = options_.integer;
        control.index = add_tensor(std::move(index));
        frame.bind(loop.count->index->text, {ir::Operand::single(control.index), false});
    }
    bool good = true;
    const auto subgraph = [&](RegionId id, const std::string& name) -> ir::GraphId {
        if (!id.valid()) return {};
        const auto graph = compose_subgraph(frame, id, name, scope);
        good = good && graph;
        return graph.value_or(ir::GraphId{});
    };
    control.pre_condition = subgraph(loop.pre_condition, "while");
    control.body = subgraph(loop.body, "body");
    control.post_condition = subgraph(loop.post_condition, "while");
    frame.pop();
    if (!good) return std::nullopt;
    for (const RegionId id : {loop.pre_condition, loop.post_condition}) {
        if (!id.valid()) continue;
        const ir::GraphId graph =
            id == loop.pre_condition ? control.pre_condition : control.post_condition;
        if (!check_condition(frame, id, graph)) return std::nullopt;
    }
    auto results = loop_outputs(frame, region, loop, control, op);
    if (!results) return std::nullopt;
    op.control = std::move(control);
    op_lists_.back().push_back(program_.operations.add(std::move(op)));
    return results;
}

// What the body sees of a loop variable or a scanned pack: a tensor of its own.
ir::TensorId Composer::bind_inner(Frame& frame,
                                  const std::string& name,
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

bool Composer::set_loop_count(Frame& frame,
                              const Loop& loop,
                              const std::vector<Binding>& packs,
                              ir::Loop& control,
                              ir::Operation& op) {
    if (!packs.empty()) {
        control.static_count =
            program_.symbols.integer(static_cast<int64_t>(packs.front().operand.items.size()));
    }
    if (!loop.count || !loop.count->count.valid()) return true;
    const ExprId id = loop.count->count;
    if (!is_tensor_expr(frame, id)) {
        const auto count = evaluate_in(frame, id);
        if (!count) return false;
        if (std::holds_alternative<Null>(*count)) return true;  // the length of the scan
        control.static_count = to_sym(std::get<Scalar>(*count));
        return true;
    }
    const auto count = tensor_value(frame, id);
    if (!count || count->poison) return false;
    if (count->operand.null()) return true;
    control.dynamic_count = count->operand.items[0];
    op.inputs.push_back({"count", count->operand});
    return true;
}

std::optional<Results> Composer::loop_outputs(Frame& frame,
                                              const Region& region,
                                              const Loop& loop,
                                              const ir::Loop& control,
                                              ir::Operation& op) {
    const bool open_end = control.dynamic_count.valid() || control.pre_condition.valid() ||
                          control.post_condition.valid();
    const auto outputs = program_.graphs[control.body].outputs;
    Results results;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Binding result;
        const ir::Operand& body = outputs[i].operand;
        const ir::Tensor inner = program_.tensors[body.items[0]];
        size_t copies = 1;
        if (i < control.carried.size()) {
            const std::vector<ir::SymId>& before = program_.tensors[control.carried[i]].shape;
            if (!may_be_equal(before, inner.shape)) {
                inner_error(frame,
                            region.span,
                            DiagKind::ExtentMismatch,
                            fmt::format("the loop variable `{}` has the shape {}, its new value {}",
                                        loop.carried[i].name.text,
                                        shape_text(before),
                                        shape_text(inner.shape)));
                return std::nullopt;
            }
        } else {
            result.operand.packed = true;
            const auto most = control.static_count.valid()
                                  ? program_.symbols.range(control.static_count).high
                                  : int64_t{-1};
            if (most < 0 || static_cast<uint64_t>(most) > options_.limits.max_pack_length) {
                inner_error(frame,
                            region.span,
                            DiagKind::UnboundedLoop,
                            "the scan outputs of this loop have no upper bound for their number")
                    .note("give the loop a count, or a pack to scan");
                return std::nullopt;
            }
            copies = static_cast<size_t>(most);
            if (open_end) {
                result.operand.length =
                    program_.symbols.symbol("~", ir::ScalarType::Int, {0, most});
            }
        }
        for (size_t copy = 0; copy < copies; ++copy) {
            ir::Tensor tensor;
            tensor.name = fmt::format("{}.{}", op.label.empty() ? "loop" : op.label, i);
            tensor.dtype = inner.dtype;
            tensor.shape = inner.shape;
            result.operand.items.push_back(add_tensor(std::move(tensor)));
        }
        op.outputs.push_back({fmt::format("{}", i), result.operand});
        results.push_back(std::move(result));
    }
    return results;
}

}  // namespace lemma::sknd
