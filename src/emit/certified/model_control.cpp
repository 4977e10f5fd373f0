// SPDX-License-Identifier: Apache-2.0
// Loops and branches.
#include "emit/certified/model_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/match.h"

namespace lemma::emit {

ModelWriter::Calls ModelWriter::calls_of(const Steps& steps) {
    Calls calls;
    for (const Step& step : steps) {
        Call call;
        match(
            step.kind,
            [&](const GroupStep& s) { call = group_function(graph_.groups[s.group]); },
            [&](const CopyStep& s) { call = copy_function(s, {}); },
            [&](const IntrinsicStep& s) { call = intrinsic_function(s.op); },
            [&](const LoopStep& s) { call = loop_function(s); },
            [&](const BranchStep& s) { call = branch_function(s); });
        if (!call.function.empty()) calls.push_back(std::move(call));
    }
    return calls;
}

void ModelWriter::put_item_switch(
    const LoopStep::Item& item, bool take, int64_t count, ir::OpId op, CLines& lines, Calls& all) {
    lines.open("switch (step) {");
    for (int64_t i = 0; i < count; ++i) {
        const ir::TensorId each = item.pack[static_cast<size_t>(i)];
        const Call call =
            copy_function(take ? CopyStep{each, item.item} : CopyStep{item.item, each}, op);
        if (call.function.empty()) continue;
        lines.put(fmt::format("case {}:", i));
        lines.put(fmt::format("    {}();", call.function));
        lines.put("    break;");
        all.push_back(call);
    }
    lines.put("default:");
    lines.put("    break;");
    lines.close();
}

// What the function reads or writes itself, between its calls.
ModelWriter::Call ModelWriter::own_access(ir::TensorId id, bool written, ir::OpId op) const {
    Call call;
    call.op = op;
    call.used = {id};
    if (written) {
        call.written = {id};
        call.assigns = {names_.at(id)};
    }
    return call;
}

void ModelWriter::put_steps(const Steps& steps, CLines& lines, Calls& all) {
    const Calls made = calls_of(steps);
    put_calls(made, lines);
    all.insert(all.end(), made.begin(), made.end());
}

void ModelWriter::put_copies(const std::vector<CopyStep>& copies,
                             ir::OpId op,
                             CLines& lines,
                             Calls& all) {
    for (const CopyStep& copy : copies) {
        Call call = copy_function(copy, op);
        if (call.function.empty()) continue;
        put_calls({call}, lines);
        all.push_back(std::move(call));
    }
}

// Ends the loop unless the condition holds.
void ModelWriter::put_condition(
    const Steps& steps, ir::TensorId value, const LoopStep& loop, CLines& lines, Calls& all) {
    if (!value.valid()) return;
    put_steps(steps, lines, all);
    lines.open(fmt::format("if ({} == 0U) {{", names_.at(value)));
    if (loop.must_end) lines.put("ended = 1;");
    lines.put("break;");
    lines.close();
    all.push_back(own_access(value, false, loop.op));
}

void ModelWriter::put_iteration(const LoopStep& step, CLines& lines, Calls& all) {
    if (step.dynamic_count.valid()) {
        lines.open(fmt::format("if (step >= {}) {{", names_.at(step.dynamic_count)));
        lines.put("break;");
        lines.close();
        all.push_back(own_access(step.dynamic_count, false, step.op));
    }
    if (step.index.valid()) {
        lines.put(fmt::format("{} = step;", names_.at(step.index)));
        all.push_back(own_access(step.index, true, step.op));
    }
    for (const LoopStep::Item& item : step.taken) {
        put_item_switch(item, true, step.count, step.op, lines, all);
    }
    put_condition(step.pre, step.pre_value, step, lines, all);
    put_steps(step.body, lines, all);
    for (const LoopStep::Item& item : step.collected) {
        put_item_switch(item, false, step.count, step.op, lines, all);
    }
    put_copies(step.after_body, step.op, lines, all);
    put_condition(step.post, step.post_value, step, lines, all);
}

ModelWriter::Call ModelWriter::loop_function(const LoopStep& step) {
    const std::string name = new_id() + "_loop";
    Calls all;
    CLines body(2), lines;
    put_iteration(step, body, all);
    std::vector<std::string> assigned = {"step"};
    for (const Call& call : all) {
        for (const std::string& each : call.assigns) {
            if (!has(assigned, each)) assigned.push_back(each);
        }
    }
    lines.open("{");
    if (step.must_end) {
        lines.put("int32_t ended = 0;");
        assigned.push_back("ended");
        Call fault;
        fault.assigns = {fault_};
        fault.faults = true;
        all.push_back(std::move(fault));
    }
    put_copies(step.before, step.op, lines, all);
    lines.annotate({fmt::format("loop invariant 0 <= step <= {};", step.count),
                    fmt::format("loop assigns {};", fmt::join(assigned, ", ")),
                    fmt::format("loop variant {} - step;", step.count)});
    lines.open(fmt::format("for (int32_t step = 0; step < {}; step++) {{", step.count));
    lines.append(body.take());
    lines.close();
    if (step.must_end) {
        lines.open("if (ended == 0) {");
        lines.put(fmt::format("{} = 1;", fault_));
        lines.close();
    }
    put_copies(step.after, step.op, lines, all);
    lines.close();
    unspecified_.push_back(step.op);
    CFunction function;
    function.name = name;
    function.signature = fmt::format("static void {}(void)", name);
    function.body = lines.take();
    return finish_function(std::move(function), all, step.op);
}

ModelWriter::Call ModelWriter::branch_function(const BranchStep& step) {
    const std::string name = new_id() + "_branch";
    Calls all;
    CLines lines;
    lines.open("{");
    for (const BranchStep::Arm& arm : step.arms) {
        if (arm.value.valid()) {
            put_steps(arm.condition, lines, all);
            lines.open(fmt::format("if ({} != 0U) {{", names_.at(arm.value)));
            all.push_back(own_access(arm.value, false, step.op));
        }
        put_steps(arm.body, lines, all);
        put_copies(arm.results, step.op, lines, all);
        if (arm.value.valid()) lines.between("} else {");
    }
    while (lines.depth() > 0) lines.close();
    unspecified_.push_back(step.op);
    CFunction function;
    function.name = name;
    function.signature = fmt::format("static void {}(void)", name);
    function.body = lines.take();
    return finish_function(std::move(function), all, step.op);
}

}  // namespace lemma::emit
