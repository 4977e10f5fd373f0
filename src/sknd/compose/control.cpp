// SPDX-License-Identifier: Apache-2.0
// Branches: decided at compile time if possible, else kept as operations with sub-graphs (spec
// 2.10.1).
#include <fmt/format.h>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

// A condition is static when it is a compile-time expression.
bool Composer::is_static(const Frame& frame, RegionId condition) const {
    const auto* value = std::get_if<Value>(&frame.module().regions[condition].node);
    return value && !is_tensor_expr(frame, value->expr);
}

std::optional<bool> Composer::static_condition(Frame& frame, RegionId condition) {
    const auto& value = std::get<Value>(frame.module().regions[condition].node);
    const size_t reports = reports_;
    const auto result = evaluate_in(frame, value.expr);
    const auto* scalar = result ? std::get_if<Scalar>(&*result) : nullptr;
    if (scalar) {
        const ir::SymId id = to_sym(*scalar);
        if (program_.symbols.type(id) == ir::ScalarType::Bool) {
            if (const auto decided = program_.symbols.prove(id)) return *decided;
        }
    }
    if (reports_ == reports) {
        inner_error(frame,
                    frame.module().regions[condition].span,
                    DiagKind::TypeMismatch,
                    "this condition depends on extents that only a run can tell")
            .note("a dynamic branch takes a bool tensor as its condition");
    }
    return std::nullopt;
}

std::optional<Results> Composer::compose_branch(Frame& frame,
                                                RegionId id,
                                                const Branch& branch,
                                                const std::string& scope) {
    for (size_t i = 0; i < branch.arms.size(); ++i) {
        if (!is_static(frame, branch.arms[i].condition)) {
            return compose_dynamic_branch(frame, frame.module().regions[id], branch, i, scope);
        }
        const auto taken = static_condition(frame, branch.arms[i].condition);
        if (!taken) return std::nullopt;
        if (*taken) return compose_labelled(frame, branch.arms[i].consequent, scope);
    }
    return compose_labelled(frame, branch.alternative, scope);
}

// An own label replaces the label around it.
std::string Composer::labelled_scope(const Frame& frame,
                                     RegionId id,
                                     const std::string& scope) const {
    const auto& label = frame.module().regions[id].label;
    return label ? join_scope(frame.scope, label->text) : scope;
}

std::optional<Results> Composer::compose_labelled(Frame& frame,
                                                  RegionId id,
                                                  const std::string& scope) {
    return compose_region(frame, id, labelled_scope(frame, id, scope));
}

std::optional<Composer::SubGraph> Composer::compose_subgraph(Frame& frame,
                                                             RegionId id,
                                                             const std::string& name,
                                                             const std::string& scope) {
    op_lists_.emplace_back();
    std::vector<ir::Update> outer = std::exchange(program_.updates, {});
    frame.push();
    const auto results = compose_labelled(frame, id, scope);
    frame.pop();
    std::vector<ir::Update> updates = std::exchange(program_.updates, std::move(outer));
    ir::Graph graph;
    graph.name = name;
    graph.operations = std::move(op_lists_.back());
    op_lists_.pop_back();
    if (!results) return std::nullopt;
    for (size_t i = 0; i < results->size(); ++i) {
        if ((*results)[i].poison) return std::nullopt;
        graph.outputs.push_back({fmt::format("{}", i), (*results)[i].operand});
    }
    return SubGraph{program_.graphs.add(std::move(graph)), std::move(updates)};
}

std::optional<Results> Composer::compose_dynamic_branch(Frame& frame,
                                                        const Region& region,
                                                        const Branch& branch,
                                                        size_t first,
                                                        const std::string& scope) {
    ir::Branch control;
    std::vector<SubGraph> arms;
    bool good = true;
    for (size_t i = first; i < branch.arms.size(); ++i) {
        const auto condition =
            compose_subgraph(frame, branch.arms[i].condition, "condition", scope);
        const auto consequent = compose_subgraph(frame, branch.arms[i].consequent, "then", scope);
        good = good && condition && consequent;
        if (condition && consequent) {
            control.arms.push_back({condition->graph, consequent->graph});
            arms.push_back(*consequent);
        }
        if (condition) good = check_condition(frame, branch.arms[i].condition, *condition) && good;
    }
    const auto alternative = compose_subgraph(frame, branch.alternative, "else", scope);
    if (!good || !alternative) return std::nullopt;
    control.alternative = alternative->graph;
    arms.push_back(*alternative);

    ir::Operation op;
    op.kind = ir::OperationKind::Control;
    op.op = "if";
    op.label = scope;
    op.span = region.span;
    Results results;
    for (size_t i = 0; i < program_.graphs[arms[0].graph].outputs.size(); ++i) {
        auto merged = merge_outputs(frame, region, arms, i, scope);
        if (!merged) return std::nullopt;
        op.outputs.push_back({fmt::format("{}", i), merged->operand});
        results.push_back(std::move(*merged));
    }
    merge_updates(arms, op);
    if (!check_updates(frame, region.span)) return std::nullopt;
    op.control = std::move(control);
    op_lists_.back().push_back(program_.operations.add(std::move(op)));
    return results;
}

bool Composer::check_condition(Frame& frame, RegionId region, const SubGraph& condition) {
    if (!condition.updates.empty()) {
        const ir::TensorId variable = condition.updates.front().variable;
        inner_error(frame,
                    frame.module().regions[region].span,
                    DiagKind::NotAssignable,
                    fmt::format("this condition updates the variable `{}`",
                                program_.tensors[variable].name))
            .note("call the operator before, and use its result as the condition");
        return false;
    }
    const auto& outputs = program_.graphs[condition.graph].outputs;
    const bool single =
        outputs.size() == 1 && !outputs[0].operand.packed && outputs[0].operand.items.size() == 1;
    const ir::Tensor* tensor = single ? &program_.tensors[outputs[0].operand.items[0]] : nullptr;
    bool fits = tensor && tensor->dtype == ir::DType::Bool;
    if (fits) {
        for (const ir::SymId extent : tensor->shape) {
            fits = fits && !surely_differ(extent, program_.symbols.integer(1));
        }
    }
    if (fits) return true;
    inner_error(frame,
                frame.module().regions[region].span,
                DiagKind::ExtentMismatch,
                fmt::format("a condition has the shape {}, expected a single bool",
                            tensor ? shape_text(tensor->shape) : "of a pack"));
    return false;
}

// One result of a branch: the arms must agree in dtype and rank; extents that differ become
// dynamic.
std::optional<Binding> Composer::merge_outputs(Frame& frame,
                                               const Region& region,
                                               const std::vector<SubGraph>& arms,
                                               size_t index,
                                               const std::string& scope) {
    const ir::Operand& first = program_.graphs[arms[0].graph].outputs[index].operand;
    Binding merged;
    merged.operand.packed = first.packed;
    for (size_t item = 0; item < first.items.size(); ++item) {
        ir::Tensor tensor;
        tensor.name = fmt::format("{}.{}", scope.empty() ? "if" : scope, index);
        tensor.dtype = program_.tensors[first.items[item]].dtype;
        tensor.shape = program_.tensors[first.items[item]].shape;
        for (const SubGraph& arm : arms) {
            const auto& outputs = program_.graphs[arm.graph].outputs;
            const bool there = index < outputs.size() &&
                               item < outputs[index].operand.items.size() &&
                               outputs[index].operand.items.size() == first.items.size();
            const ir::Tensor* other =
                there ? &program_.tensors[outputs[index].operand.items[item]] : nullptr;
            if (!other || other->dtype != tensor.dtype ||
                other->shape.size() != tensor.shape.size()) {
                inner_error(
                    frame,
                    region.span,
                    DiagKind::RankMismatch,
                    fmt::format("the branches give {} and {}",
                                shape_text(tensor.shape),
                                other ? shape_text(other->shape) : "another number of tensors"));
                return std::nullopt;
            }
            for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
                if (tensor.shape[axis] == other->shape[axis]) continue;
                const int64_t high = std::max(program_.symbols.range(tensor.shape[axis]).high,
                                              program_.symbols.range(other->shape[axis]).high);
                tensor.shape[axis] = program_.symbols.symbol(
                    "~", ir::ScalarType::Int, {0, std::max<int64_t>(high, 0)});
            }
        }
        merged.operand.items.push_back(add_tensor(std::move(tensor)));
    }
    return merged;
}

}  // namespace lemma::sknd
