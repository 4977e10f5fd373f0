// SPDX-License-Identifier: Apache-2.0
// The functions of operations, copies and sequences.
#include "emit/certified/model_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/match.h"
#include "emit/certified/arithmetic.h"
#include "emit/intrinsics.h"

namespace lemma::emit {

namespace {

void add_once(TensorList& list, ir::TensorId id) {
    if (!has(list, id)) list.push_back(id);
}

// Whether two functions write different elements of one tensor.
bool apart(const CBox& a, const CBox& b) {
    for (size_t axis = 0; axis < std::min(a.size(), b.size()); ++axis) {
        if (a[axis].second < b[axis].first || b[axis].second < a[axis].first) return true;
    }
    return false;
}

}  // namespace

void ModelWriter::add(CFunction function, ir::OpId op) {
    CertifiedFunction made{.code = std::move(function), .op = op, .declarations = {}};
    for (const ir::TensorId id : made.code.tensors) made.declarations.push_back(declaration(id));
    functions_.emplace_back(std::exchange(pending_comment_, {}), std::move(made));
}

ModelWriter::Call ModelWriter::call_of(const CFunction& function, ir::OpId op) const {
    Call call{.function = function.name,
              .holds = function.holds,
              .used = function.tensors,
              .written = function.written,
              .box = function.box,
              .assigns = {},
              .faults = function.faults,
              .op = op};
    if (!function.assigns.empty()) call.assigns.push_back(function.assigns);
    return call;
}

std::string ModelWriter::short_name(ir::OpId id) const {
    std::string name = program_.operations[id].op;
    if (const size_t dot = name.rfind('.'); dot != std::string::npos) name = name.substr(dot + 1);
    std::string text;
    for (const char c : name.substr(0, 20)) {
        const auto byte = static_cast<unsigned char>(c);
        text += std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '_';
    }
    return text;
}

std::string ModelWriter::op_comment(const loop::FusionGroup& group) const {
    const ir::Operation& op = program_.operations[group.op];
    std::string text = fmt::format(
        "/* {}{}{}\n", comment_text(op.op), op.label.empty() ? "" : ": ", comment_text(op.label));
    const auto put = [&](std::string_view what, const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            for (const ir::TensorId id : port.operand.items) {
                if (!names_.contains(id)) continue;
                text += fmt::format("   {} {}: {}\n",
                                    what,
                                    array_of(id).declaration(),
                                    comment_text(program_.tensors[id].name));
            }
        }
    };
    put("from", op.inputs);
    put("to", op.outputs);
    return text + " */\n";
}

ModelWriter::Call ModelWriter::group_function(const loop::FusionGroup& group) {
    const std::string id = new_id();
    const std::string name = fmt::format("{}_{}", id, short_name(group.op));
    pending_comment_ = op_comment(group);
    Calls calls;
    size_t stages = 0;
    for (const loop::Stage& stage : group.stages) stages += stage.empty ? 0 : 1;
    size_t number = 0;
    for (const loop::Stage& stage : group.stages) {
        if (stage.empty) continue;
        ++number;
        const StageNames names{.id = stages == 1 ? id : fmt::format("{}_{}", id, number),
                               .function = stages == 1 ? name : fmt::format("{}_{}", name, number),
                               .fault = fault_};
        auto functions = write_stage(graph_, stage, names_, names);
        if (functions.empty()) {
            obstacles_.push_back({group.op, "its formula is too long to be written as C"});
            return {};
        }
        for (size_t i = 0; i < functions.size(); ++i) {
            if (i + 1 == functions.size()) calls.push_back(call_of(functions[i], group.op));
            add(std::move(functions[i]), group.op);
        }
    }
    const bool specified =
        std::ranges::all_of(calls, [](const Call& call) { return !call.holds.empty(); });
    if (!specified) unspecified_.push_back(group.op);
    if (calls.size() == 1) return calls[0];
    if (calls.empty()) return {};
    return sequence_function(name, {}, calls, group.op);
}

// Copies are stages too.
ModelWriter::Call ModelWriter::copy_function(const CopyStep& step, ir::OpId op) {
    const std::string id = new_id();
    loop::Stage stage;
    stage.combine = ir::FormulaOp::Assign;
    loop::Builder& build = graph_.pool.build;
    std::vector<loop::ExprId> index;
    for (const int64_t extent : graph_.shapes.at(step.to)) {
        stage.empty |= extent == 0;
        if (extent <= 1) {
            index.push_back(build.integer(0));
            continue;
        }
        const loop::VarId var = graph_.pool.new_var(extent);
        stage.loops.push_back({var, extent});
        index.push_back(build.index(var));
    }
    if (stage.empty) return {};
    const loop::Kind kind = loop::kind_of(graph_.dtypes.at(step.from));
    const loop::ExprId value = build.read(step.from.value, kind, index);
    stage.writes.push_back({step.to, std::move(index), value});
    auto functions =
        write_stage(graph_, stage, names_, {.id = id, .function = id + "_copy", .fault = fault_});
    const Call call = call_of(functions[0], op);
    add(std::move(functions[0]), op);
    return call;
}

void ModelWriter::put_calls(const Calls& calls, CLines& lines) {
    for (const Call& call : calls) lines.put(call.function + "();");
}

// The function with its calls; its contract names everything that they assign.
ModelWriter::Call ModelWriter::finish_function(CFunction function,
                                               const Calls& inner,
                                               ir::OpId op) {
    Call call{.function = function.name,
              .holds = {},
              .used = {},
              .written = {},
              .assigns = {},
              .faults = false,
              .op = op};
    for (const Call& each : inner) {
        for (const ir::TensorId id : each.used) add_once(call.used, id);
        for (const ir::TensorId id : each.written) add_once(call.written, id);
        for (const std::string& assigned : each.assigns) {
            if (!has(call.assigns, assigned)) call.assigns.push_back(assigned);
        }
        call.faults |= each.faults;
        if (!each.function.empty() && !has(function.calls, each.function)) {
            function.calls.push_back(each.function);
        }
    }
    function.tensors = call.used;
    function.written = call.written;
    function.faults = call.faults;
    function.assigns =
        call.assigns.empty() ? "\\nothing" : fmt::format("{}", fmt::join(call.assigns, ", "));
    function.contract = fmt::format("/*@ assigns {};\n{}", function.assigns, function.contract);
    call.holds = function.holds;
    add(std::move(function), op);
    return call;
}

// Calls one after another. What a call ensures still holds at the end if no later call writes a
// tensor of it, or only other elements, as the parts of a concatenation do.
ModelWriter::Call ModelWriter::sequence_function(const std::string& name,
                                                 const std::string& comment,
                                                 const Calls& calls,
                                                 ir::OpId op) {
    CFunction function{.name = name,
                       .logic = {},
                       .contract = {},
                       .signature = fmt::format("static void {}(void)", name),
                       .body = {}};
    std::vector<std::string> holding;
    for (size_t i = 0; i < calls.size(); ++i) {
        if (calls[i].holds.empty()) continue;
        bool kept = true;
        for (size_t k = i + 1; k < calls.size(); ++k) {
            if (calls[i].written == calls[k].written && apart(calls[i].box, calls[k].box)) continue;
            for (const ir::TensorId id : calls[k].written) {
                kept &= !has(calls[i].used, id);
            }
        }
        if (kept) holding.push_back(calls[i].holds);
    }
    function.composition = true;
    if (!holding.empty()) {
        function.holds = name + "_holds";
        function.logic = fmt::format("/*@ predicate {}{{L}} =\n  @     {};\n  @*/\n",
                                     function.holds,
                                     fmt::join(holding, " && "));
        function.contract += fmt::format("  @ ensures {};\n", function.holds);
    }
    CLines lines;
    lines.open("{");
    put_calls(calls, lines);
    lines.close();
    function.body = lines.take();
    if (!comment.empty()) pending_comment_ = comment;
    return finish_function(std::move(function), calls, op);
}

// The elements of a tensor, in a flat array of a wide type, and back.
void ModelWriter::put_flat_copy(ir::TensorId id, const std::string& flat, bool to, CLines& lines) {
    const CArray array = array_of(id);
    ExprPrinter printer(graph_, names_, Dialect::C);
    std::string index, offset = "0";
    for (size_t axis = 0; axis < array.shape.size(); ++axis) {
        lines.open(
            fmt::format("for (int32_t i{0} = 0; i{0} < {1}; i{0}++) {{", axis, array.shape[axis]));
        index += fmt::format("[i{}]", axis);
        offset =
            axis == 0 ? "i0" : fmt::format("(({} * {}) + i{})", offset, array.shape[axis], axis);
    }
    const bool real = tensor::is_real(array.dtype);
    const std::string element = array.name + index;
    const std::string place = fmt::format("{}[{}]", flat, offset);
    if (to) {
        const std::string load = loading_function(array.dtype);
        const std::string value = load.empty() ? element : fmt::format("{}({})", load, element);
        lines.put(fmt::format("{} = ({}){};", place, real ? "double" : "int64_t", value));
    } else {
        const loop::Kind kind = real ? loop::Kind::F64 : loop::Kind::Int;
        const bool is_bool = array.dtype == tensor::DType::Bool;
        lines.put(fmt::format(
            "{} = {};",
            element,
            printer.stored(is_bool ? fmt::format("({} != 0)", place) : place, kind, array.dtype)));
    }
    for (size_t axis = 0; axis < array.shape.size(); ++axis) lines.close();
}

// The bits of each element, as an element of another type of the same width.
ModelWriter::Call ModelWriter::bit_cast_function(ir::OpId id, ir::TensorId from, ir::TensorId to) {
    const CArray source = array_of(from), target = array_of(to);
    if (tensor::dtype_size(source.dtype) != tensor::dtype_size(target.dtype) ||
        source.shape != target.shape || target.dtype == tensor::DType::Bool) {
        obstacles_.push_back({id, "its elements change their width"});
        return {};
    }
    if (tensor::volume(source.shape).value_or(0) == 0) return {};
    unspecified_.push_back(id);
    CFunction function;
    function.name = fmt::format("{}_{}", new_id(), short_name(id));
    function.signature = fmt::format("static void {}(void)", function.name);
    const bool scalar = source.shape.empty();
    function.body = fmt::format("{{\n    (void)memcpy({0}{1}, {0}{2}, sizeof {1});\n}}\n",
                                scalar ? "&" : "",
                                target.name,
                                source.name);
    uses_memcpy_ = true;
    Call call;
    call.used = {from, to};
    call.written = {to};
    std::string all = target.name;
    for (size_t axis = 0; axis < target.shape.size(); ++axis) all += "[..]";
    call.assigns = {std::move(all)};
    return finish_function(std::move(function), {call}, id);
}

ModelWriter::Call ModelWriter::intrinsic_function(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    std::vector<ir::TensorId> inputs, outputs;
    std::vector<tensor::Shape> shapes;
    for (const ir::Port& port : op.inputs) {
        for (const ir::TensorId tensor : port.operand.items) inputs.push_back(tensor);
    }
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId tensor : port.operand.items) outputs.push_back(tensor);
    }
    for (const ir::TensorId tensor : inputs) {
        if (graph_.shapes.contains(tensor)) shapes.push_back(graph_.shapes.at(tensor));
    }
    if (op.op == "onnx.elementwise.BitCast") return bit_cast_function(id, inputs[0], outputs[0]);
    const auto text = shapes.size() == inputs.size() ? intrinsic_call(op, shapes) : std::nullopt;
    if (!text) {
        obstacles_.push_back({id, "it has no formula, and no C function either"});
        return {};
    }
    intrinsics_ = true;
    unspecified_.push_back(id);
    CFunction function;
    function.name = fmt::format("{}_{}", new_id(), short_name(id));
    function.signature = fmt::format("static void {}(void)", function.name);
    Call call;
    CLines lines;
    lines.open("{");
    const auto declare = [&](ir::TensorId tensor, std::string_view prefix, size_t number) {
        const CArray array = array_of(tensor);
        const int64_t size = std::max<int64_t>(tensor::volume(array.shape).value_or(1), 1);
        lines.put(fmt::format("static {} {}{}[{}];",
                              tensor::is_real(array.dtype) ? "double" : "int64_t",
                              prefix,
                              number,
                              size));
    };
    for (size_t i = 0; i < inputs.size(); ++i) declare(inputs[i], "in", i);
    for (size_t i = 0; i < outputs.size(); ++i) declare(outputs[i], "out", i);
    for (const std::string& declaration : text->declarations) lines.put(declaration);
    for (size_t i = 0; i < inputs.size(); ++i) {
        put_flat_copy(inputs[i], fmt::format("in{}", i), true, lines);
        add_once(call.used, inputs[i]);
    }
    for (const std::string& statement : text->statements) lines.put(statement);
    if (!text->test.empty()) {
        lines.open(fmt::format("if ({} != 0) {{", text->test));
        lines.put(fmt::format("{} = 1;", fault_));
        lines.close();
        call.faults = true;
        call.assigns.push_back(fault_);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        put_flat_copy(outputs[i], fmt::format("out{}", i), false, lines);
        add_once(call.used, outputs[i]);
        add_once(call.written, outputs[i]);
        std::string all = names_.at(outputs[i]);
        for (size_t axis = 0; axis < graph_.shapes.at(outputs[i]).size(); ++axis) all += "[..]";
        call.assigns.push_back(std::move(all));
    }
    lines.close();
    function.body = lines.take();
    return finish_function(std::move(function), {call}, id);
}

}  // namespace lemma::emit
