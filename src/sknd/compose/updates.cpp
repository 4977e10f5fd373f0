// SPDX-License-Identifier: Apache-2.0
// Updates of variables (spec 2.11), including those of calls inside branches and loops.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/match.h"
#include "sknd/compose/composer.h"

namespace lemma::sknd {

// @update runs after @compose. It reads the old values of variables, whatever the order of the
// assignments. All variables take their new values at the end of the step.
void Composer::compose_update(Frame& frame, std::vector<OpenCheck>& open) {
    const Definition& definition = frame.definition();
    if (definition.updates.empty()) return;
    frame.push();
    Frame::NewValues new_values;
    for (const ParamDecl& decl : definition.variables) new_values.try_emplace(decl.name.text);
    frame.new_values = &new_values;
    compose_components(frame, definition.updates);
    frame.new_values = nullptr;
    std::vector<ir::Update> updates;
    for (const ParamDecl& decl : definition.variables) {
        const std::optional<Binding>& after = new_values.at(decl.name.text);
        if (!after || after->poison) continue;
        const Binding before = *frame.find(decl.name.text);
        if (before.operand.items.size() != after->operand.items.size()) {
            inner_error(frame,
                        decl.span,
                        DiagKind::LengthMismatch,
                        fmt::format("the variable `{}` has {} tensors, its new value {}",
                                    decl.name.text,
                                    before.operand.items.size(),
                                    after->operand.items.size()));
            continue;
        }
        for (size_t i = 0; i < before.operand.items.size(); ++i) {
            const ir::Tensor& variable = program_.tensors[before.operand.items[i]];
            const ir::Tensor& value = program_.tensors[after->operand.items[i]];
            const std::string message =
                fmt::format("the variable `{}` has the shape {}, its new value {}",
                            decl.name.text,
                            shape_text(variable.shape),
                            shape_text(value.shape));
            if (!may_be_equal(variable.shape, value.shape)) {
                inner_error(frame, decl.span, DiagKind::ExtentMismatch, message);
                continue;
            }
            for (ir::Assertion& assertion : open_equalities(value.shape, variable.shape, message)) {
                open.push_back({std::move(assertion), after->operand.items[i]});
            }
            // `w = w` changes nothing.
            if (before.operand.items[i] == after->operand.items[i]) continue;
            updates.push_back({before.operand.items[i], after->operand.items[i]});
        }
    }
    program_.updates.insert(program_.updates.end(), updates.begin(), updates.end());
    frame.pop();
    if (frame.caller) check_updates(*frame.caller, frame.call_span);
}

// A variable that several invocations of a graph share must have one new value.
bool Composer::check_updates(const Frame& frame, Span span) {
    if (roots_.size() == 1) return true;
    std::set<ir::TensorId> updated;
    for (const ir::Update& update : program_.updates) {
        if (updated.insert(update.variable).second) continue;
        const std::string& name = program_.tensors[update.variable].name;
        inner_error(frame,
                    span,
                    DiagKind::DuplicateLabel,
                    fmt::format("the variable `{}` is updated twice in a run", name))
            .note(
                "give one of the invocations a label, as `label: graph(…)`, for variables of its "
                "own");
        return false;
    }
    return true;
}

// ---- Inside sub-graphs --------------------------------------------------------------------------

// A variable that some arm updates is a result of the branch; in the other arms it keeps its value.
void Composer::merge_updates(const std::vector<SubGraph>& arms, ir::Operation& op) {
    std::vector<ir::TensorId> variables;
    for (const SubGraph& arm : arms) {
        for (const ir::Update& update : arm.updates) {
            const bool known = std::ranges::find(variables, update.variable) != variables.end();
            if (!known) variables.push_back(update.variable);
        }
    }
    for (const ir::TensorId variable : variables) {
        for (const SubGraph& arm : arms) {
            const auto update = std::ranges::find(arm.updates, variable, &ir::Update::variable);
            const ir::TensorId value = update == arm.updates.end() ? variable : update->value;
            auto& outputs = program_.graphs[arm.graph].outputs;
            outputs.push_back({std::to_string(outputs.size()), ir::Operand::single(value)});
        }
        const ir::TensorId after = add_state(variable);
        op.outputs.push_back({std::to_string(op.outputs.size()), ir::Operand::single(after)});
        program_.updates.push_back({variable, after});
    }
}

// An iteration reads the values of the previous one: variables that the body updates are carried,
// after the loop variables.
void Composer::carry_updates(const std::vector<ir::Update>& updates,
                             ir::Loop& control,
                             ir::Operation& op) {
    if (updates.empty()) return;
    auto& outputs = program_.graphs[control.body].outputs;
    TensorMap states;
    for (const ir::Update& update : updates) {
        const auto carried = static_cast<ptrdiff_t>(control.carried.size());
        const auto input = static_cast<ptrdiff_t>(control.initial_input(control.carried.size()));
        op.inputs.insert(op.inputs.begin() + input,
                         {"update." + program_.tensors[update.variable].name,
                          ir::Operand::single(update.variable)});
        outputs.insert(outputs.begin() + carried, {"", ir::Operand::single(update.value)});
        control.carried.push_back(add_state(update.variable));
        states.emplace(update.variable, control.carried.back());
    }
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].name = std::to_string(i);
    replace_tensors(control.body, states);
}

// An intermediate value of the variable.
ir::TensorId Composer::add_state(ir::TensorId variable) {
    ir::Tensor state = program_.tensors[variable];
    state.role = ir::TensorRole::Intermediate;
    return add_tensor(std::move(state));
}

void Composer::replace_tensors(std::vector<ir::Port>& ports, const TensorMap& with) {
    for (ir::Port& port : ports) {
        for (ir::TensorId& id : port.operand.items) {
            if (const auto found = with.find(id); found != with.end()) id = found->second;
        }
    }
}

// Replaces them in everything that the graph reads and passes on.
void Composer::replace_tensors(ir::GraphId graph, const TensorMap& with) {
    replace_tensors(program_.graphs[graph].outputs, with);
    for (const ir::OpId op : program_.graphs[graph].operations) {
        replace_tensors(program_.operations[op], with);
    }
}

void Composer::replace_tensors(ir::Operation& op, const TensorMap& with) {
    replace_tensors(op.inputs, with);
    replace_tensors(op.outputs, with);
    for (ir::Formula& formula : op.formulas) {
        for (ir::Access& access : formula.accesses) {
            if (const auto found = with.find(access.tensor); found != with.end()) {
                access.tensor = found->second;
            }
        }
    }
    for (const ir::OpId part : op.parts) replace_tensors(program_.operations[part], with);
    match(
        op.control,
        [](std::monostate) {},
        [&](const ir::Branch& branch) {
            for (const ir::Branch::Arm& arm : branch.arms) {
                replace_tensors(arm.condition, with);
                replace_tensors(arm.consequent, with);
            }
            replace_tensors(branch.alternative, with);
        },
        [&](ir::Loop& loop) {
            if (const auto count = with.find(loop.dynamic_count); count != with.end()) {
                loop.dynamic_count = count->second;
            }
            for (const ir::GraphId graph : {loop.pre_condition, loop.body, loop.post_condition}) {
                if (graph.valid()) replace_tensors(graph, with);
            }
        });
}

}  // namespace lemma::sknd
