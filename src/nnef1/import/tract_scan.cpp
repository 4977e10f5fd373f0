// SPDX-License-Identifier: Apache-2.0
// Scans of tract: a loop whose body is a fragment of the document. Each step takes a chunk of each
// scanned tensor and passes on its state. Result chunks are joined.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

// A tensor scanned along an axis, a state, or a tensor that every step sees.
struct Expander::ScanInput {
    std::string param;
    ir::TensorId tensor;
    int64_t axis = 0;
    int64_t chunk = 0;   // of a scanned tensor; negative: from the end
    std::string result;  // of a state: its value for the next step
};
struct Expander::ScanOutput {
    std::string result;
    bool full = false;  // of all steps; otherwise of the last one
    int64_t axis = 0;
    int64_t chunk = 1;
};
struct Expander::Scan {
    ExprId expr;
    Span span;
    const Frame& frame;
    std::string label;
    const Signature* body = nullptr;
    std::vector<ScanInput> inputs;
    std::vector<ScanOutput> outputs;
    ir::SymId steps;
};

namespace {

// Tensor names are strings here and identifiers in the fragment: `Y.h` is `Y_h`.
std::string identifier(std::string name) {
    std::ranges::replace_if(
        name,
        [](char c) {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            return !letter && !(c >= '0' && c <= '9') && c != '_';
        },
        '_');
    return name;
}

const std::string* text_at(const Values& items, size_t index) {
    return index < items.size() ? std::get_if<std::string>(&items[index].node) : nullptr;
}

std::optional<int64_t> number_at(const Values& items, size_t index) {
    const auto* number = index < items.size() ? std::get_if<int64_t>(&items[index].node) : nullptr;
    return number ? std::optional(*number) : std::nullopt;
}

ir::Scalar count_scalar(int64_t number) { return number; }

}  // namespace

bool Expander::refuse_scan(const Scan& scan, std::string message) {
    report(scan.span, DiagKind::NotSupported, std::move(message), scan.frame);
    return false;
}

// ---- Arguments ----------------------------------------------------------------------------------

// `("param", tensor, axis, chunk)`, `("param", tensor)` or `("param", initial, "result")`.
bool Expander::add_scan_inputs(Scan& scan, const Value& list, std::string_view kind) {
    const Values* const entries = list.items();
    if (!entries) return refuse_scan(scan, fmt::format("`{}` is no array of tuples", kind));
    for (const Value& entry : *entries) {
        if (has_unknown(entry)) return false;
        const Values none;
        const Values& items = entry.items() ? *entry.items() : none;
        const std::string* const name = text_at(items, 0);
        const std::string* const result = text_at(items, 2);
        const auto unclear = [&] {
            return refuse_scan(scan, fmt::format("an item of `{}` is not understood", kind));
        };
        if (!name || items.size() < 2 || (kind == "state" && !result)) return unclear();
        ScanInput input{.param = identifier(*name), .tensor = {}, .result = ""};
        const std::string label = fmt::format("{}.{}", scan.label, input.param);
        const Value tensor = cast(items[1], ValueType::tensor(std::nullopt), label, scan.span);
        if (tensor.unknown()) return false;  // it was reported
        const auto* id = std::get_if<ir::TensorId>(&tensor.node);
        if (!id) return unclear();
        input.tensor = *id;
        if (kind == "state") input.result = identifier(*result);
        if (kind == "scan") {
            const auto rank = builder_.program().tensors[*id].shape.size();
            input.axis = number_at(items, 2).value_or(-1);
            input.chunk = number_at(items, 3).value_or(0);
            const bool axis = input.axis >= 0 && input.axis < static_cast<int64_t>(rank);
            if (!axis || input.chunk == 0 || input.chunk == INT64_MIN) return unclear();
        }
        scan.inputs.push_back(std::move(input));
    }
    return true;
}

// `("result", "full", axis, chunk)` or `("result", "last", axis, chunk)`.
bool Expander::add_scan_outputs(Scan& scan, const Value& list) {
    for (const Value& entry : list.items() ? *list.items() : Values{}) {
        const Values none;
        const Values& items = entry.items() ? *entry.items() : none;
        const std::string* const name = text_at(items, 0);
        const std::string* const kind = text_at(items, 1);
        const auto axis = number_at(items, 2);
        const int64_t chunk = number_at(items, 3).value_or(1);
        const bool good = name && kind && (*kind == "full" || *kind == "last") && axis &&
                          *axis >= 0 && chunk != 0 && chunk != INT64_MIN;
        if (!good) return refuse_scan(scan, "an item of `output` is not understood");
        scan.outputs.push_back({identifier(*name), *kind == "full", *axis, chunk});
    }
    return true;
}

// One step per chunk. All scanned tensors must have the same number of chunks.
bool Expander::count_steps(Scan& scan) {
    for (const ScanInput& input : scan.inputs) {
        if (input.chunk == 0) continue;
        const ir::SymId extent =
            builder_.program().tensors[input.tensor].shape[static_cast<size_t>(input.axis)];
        const auto number = builder_.program().symbols.as_int(extent);
        if (number && *number % input.chunk != 0) {
            return refuse_scan(
                scan,
                fmt::format("the extent {} of `{}` is no multiple of its chunks of {}",
                            *number,
                            input.param,
                            std::abs(input.chunk)));
        }
        const ir::SymId chunk = builder_.symbols().integer(std::abs(input.chunk));
        const auto steps = builder_.symbols().apply(ir::SymOp::Div, {extent, chunk});
        if (!steps) return refuse_scan(scan, "the number of steps is not known");
        if (scan.steps.valid() && scan.steps != *steps) {
            return refuse_scan(scan,
                               fmt::format("tensors of {} and {} steps are scanned together",
                                           builder_.program().symbols.text(scan.steps),
                                           builder_.program().symbols.text(*steps)));
        }
        scan.steps = *steps;
    }
    return scan.steps.valid() || refuse_scan(scan, "nothing is scanned");
}

// ---- The loop -----------------------------------------------------------------------------------

ir::TensorId Expander::call_scan_operator(const Scan& scan,
                                          std::string op,
                                          std::vector<ir::Attribute> attributes,
                                          const std::vector<ir::TensorId>& inputs) {
    ir::Call call{.op = "nnef1." + op,
                  .label = fmt::format("{}.{}", scan.label, op),
                  .types = {},
                  .attributes = std::move(attributes),
                  .inputs = {},
                  .results = {},
                  .span = scan.span};
    for (const ir::TensorId id : inputs) call.inputs.push_back(ir::Operand::single(id));
    const auto outputs = builder_.call(call);
    if (!calls_.items().empty()) hand_on_reports(scan.frame);
    return outputs ? outputs->at(0).items.at(0) : ir::TensorId{};
}

// A tensor that the body reads or the loop makes.
ir::TensorId Expander::loop_tensor(std::string name,
                                   ir::DType dtype,
                                   std::vector<ir::SymId> shape) {
    ir::Tensor tensor{.name = std::move(name), .dtype = dtype};
    tensor.shape = std::move(shape);
    return builder_.add_tensor(std::move(tensor));
}

ir::TensorId Expander::like_tensor(std::string name, ir::TensorId other) {
    const ir::Tensor& tensor = builder_.program().tensors[other];
    return loop_tensor(std::move(name), tensor.dtype, tensor.shape);
}

// Zeros, for results that no step has made yet.
ir::TensorId Expander::scan_zeros(const Scan& scan, ir::TensorId other) {
    const ir::Tensor tensor = builder_.program().tensors[other];
    ir::Tensor zero{.name = fmt::format("{}.zero", scan.label), .dtype = tensor.dtype};
    zero.role = ir::TensorRole::Constant;
    if (tensor.dtype == ir::DType::Bool) {
        zero.items = {false};
    } else if (tensor::is_integer(tensor.dtype)) {
        zero.items = {int64_t{0}};
    } else {
        zero.items = {0.0};
    }
    ir::Pack shape{.items = {}, .uniform = {}, .type = ir::ScalarType::Int};
    for (const ir::SymId extent : tensor.shape) {
        const auto number = builder_.program().symbols.as_int(extent);
        shape.items.push_back(number ? count_scalar(*number) : ir::Scalar(extent));
    }
    const ir::TensorId value = builder_.add_tensor(std::move(zero));
    return call_scan_operator(scan, "tract_core_broadcast", {{"shape", shape}}, {value});
}

// The position of a step's chunk. Chunks of negative size are counted from the end.
ir::TensorId Expander::scan_place(const Scan& scan, ir::TensorId step, int64_t chunk) {
    if (chunk > 0) return step;
    const auto number = builder_.program().symbols.as_int(scan.steps);
    const ir::Scalar count = number ? count_scalar(*number) : ir::Scalar(scan.steps);
    return call_scan_operator(scan, "tract_scan_from_end", {{"count", count}}, {step});
}

// The results of one step, in the order of the fragment.
std::optional<Values> Expander::scan_step(const Scan& scan,
                                          ir::TensorId step,
                                          const std::map<std::string, ir::TensorId>& states,
                                          Frame& frame) {
    Call call{.expr = scan.expr,
              .span = scan.span,
              .signature = *scan.body,
              .generic = std::nullopt,
              .target = {},
              .label = scan.label};
    for (const Param& param : scan.body->fragment->params) {
        const std::string name(param.name.text);
        const auto input = std::ranges::find(scan.inputs, name, &ScanInput::param);
        if (input == scan.inputs.end()) {
            refuse_scan(scan, fmt::format("the parameter `{}` of the body is not given", name));
            return std::nullopt;
        }
        ir::TensorId seen = input->tensor;
        if (const auto state = states.find(name); state != states.end()) seen = state->second;
        if (input->chunk != 0) {
            const ir::TensorId place = scan_place(scan, step, input->chunk);
            if (!place.valid()) return std::nullopt;
            seen = call_scan_operator(scan,
                                      "tract_scan_chunk",
                                      {{"axis", count_scalar(input->axis)},
                                       {"chunk", count_scalar(std::abs(input->chunk))}},
                                      {input->tensor, place});
        }
        if (!seen.valid()) return std::nullopt;
        call.arguments.push_back({seen});
        call.spans.push_back(scan.span);
    }
    const Value results = expand_fragment(call, frame);
    if (has_unknown(results)) return std::nullopt;
    return results.items() ? *results.items() : Values{results};
}

// Carries an output: all chunks of the result so far, or the last one.
bool Expander::carry_output(const Scan& scan,
                            const ScanOutput& output,
                            ir::TensorId made,
                            ir::TensorId step,
                            LoopParts& parts) {
    std::vector<ir::SymId> shape = builder_.program().tensors[made].shape;
    const ir::DType dtype = builder_.program().tensors[made].dtype;
    if (!output.full) {
        parts.carried.push_back(loop_tensor(scan.label + ".last", dtype, shape));
        parts.next.push_back(made);
        return true;
    }
    const int64_t chunk = std::abs(output.chunk);
    if (output.axis >= static_cast<int64_t>(shape.size())) {
        return refuse_scan(scan, fmt::format("`{}` has no axis {}", output.result, output.axis));
    }
    // Runtime extents are checked during the run.
    const auto extent = builder_.program().symbols.as_int(shape[static_cast<size_t>(output.axis)]);
    if (extent && *extent != chunk) {
        return refuse_scan(scan,
                           fmt::format("`{}` has the extent {} at axis {}, expected chunks of {}",
                                       output.result,
                                       *extent,
                                       output.axis,
                                       chunk));
    }
    const auto whole =
        builder_.symbols().apply(ir::SymOp::Mul, {scan.steps, builder_.symbols().integer(chunk)});
    if (!whole) return refuse_scan(scan, "the extent of a result is too large");
    shape[static_cast<size_t>(output.axis)] = *whole;
    const ir::TensorId sofar = loop_tensor(scan.label + ".all", dtype, shape);
    const ir::TensorId place = scan_place(scan, step, output.chunk);
    if (!place.valid()) return false;
    const ir::TensorId now =
        call_scan_operator(scan,
                           "tract_scan_store",
                           {{"axis", count_scalar(output.axis)}, {"chunk", count_scalar(chunk)}},
                           {sofar, made, place});
    if (!now.valid()) return false;
    parts.carried.push_back(sofar);
    parts.next.push_back(now);
    return true;
}

// The result of a step by its name.
ir::TensorId Expander::scan_result(const Scan& scan, const Values& results, std::string_view name) {
    const auto& declared = scan.body->fragment->results;
    for (size_t i = 0; i < declared.size() && i < results.size(); ++i) {
        if (declared[i].name.text != name) continue;
        const auto* id = std::get_if<ir::TensorId>(&results[i].node);
        return id ? *id : ir::TensorId{};
    }
    refuse_scan(scan, fmt::format("the body has no result `{}`", name));
    return {};
}

// The calls of a step, and the values for the next step: states first, then outputs.
bool Expander::add_scan_step(const Scan& scan, ir::TensorId step, LoopParts& parts, Frame& frame) {
    std::map<std::string, ir::TensorId> states;
    for (const ScanInput& input : scan.inputs) {
        if (input.result.empty()) continue;
        parts.initial.push_back(input.tensor);
        parts.carried.push_back(like_tensor(scan.label + "." + input.param, input.tensor));
        states[input.param] = parts.carried.back();
    }
    const auto results = scan_step(scan, step, states, frame);
    if (!results) return false;
    for (const ScanInput& input : scan.inputs) {
        if (input.result.empty()) continue;
        parts.next.push_back(scan_result(scan, *results, input.result));
        if (!parts.next.back().valid()) return false;
    }
    return std::ranges::all_of(scan.outputs, [&](const ScanOutput& output) {
        const ir::TensorId made = scan_result(scan, *results, output.result);
        return made.valid() && carry_output(scan, output, made, step, parts);
    });
}

// The body as a graph.
std::optional<Expander::LoopParts> Expander::scan_body(const Scan& scan,
                                                       ir::TensorId step,
                                                       Frame& frame) {
    LoopParts parts;
    builder_.begin_graph();
    const bool good = add_scan_step(scan, step, parts, frame);
    ir::Graph graph;
    for (size_t i = 0; good && i < parts.next.size(); ++i) {
        graph.outputs.push_back({fmt::format("y{}", i), ir::Operand::single(parts.next[i])});
    }
    parts.body = builder_.end_graph(std::move(graph));
    if (!good) return std::nullopt;
    const auto& tensors = builder_.program().tensors;
    for (size_t i = 0; i < parts.carried.size(); ++i) {
        const ir::Tensor& before = tensors[parts.carried[i]];
        const ir::Tensor& after = tensors[parts.next[i]];
        if (before.shape == after.shape && before.dtype == after.dtype) continue;
        refuse_scan(scan,
                    fmt::format("a state of shape {} becomes one of {}",
                                shape_text(before.shape),
                                shape_text(after.shape)));
        return std::nullopt;
    }
    return parts;
}

Value Expander::build_scan(const Scan& scan, Frame& frame) {
    const ir::TensorId step = loop_tensor(scan.label + ".step", options_.integer, {});
    auto parts = scan_body(scan, step, frame);
    if (!parts) return {};
    ir::Operation operation{.kind = ir::OperationKind::Control, .op = "loop"};
    const size_t states = parts->initial.size();
    for (size_t i = states; i < parts->carried.size(); ++i) {
        parts->initial.push_back(scan_zeros(scan, parts->carried[i]));
        if (!parts->initial.back().valid()) return {};
    }
    Values results;
    for (size_t i = 0; i < parts->carried.size(); ++i) {
        operation.inputs.push_back({fmt::format("v{}", i), ir::Operand::single(parts->initial[i])});
        const ir::TensorId made =
            like_tensor(fmt::format("{}.{}", scan.label, i), parts->carried[i]);
        operation.outputs.push_back({fmt::format("y{}", i), ir::Operand::single(made)});
        if (i >= states) results.push_back({made});
    }
    ir::Loop loop;
    loop.carried = parts->carried;
    loop.index = step;
    loop.static_count = scan.steps;
    loop.body = parts->body;
    operation.label = scan.label;
    operation.span = scan.span;
    operation.control = std::move(loop);
    builder_.add_control(std::move(operation));
    return results.size() == 1 ? results[0] : Value::tuple(std::move(results));
}

// Arguments by name; the first ones may be positional.
std::map<std::string_view, Value> Expander::scan_arguments(const Invocation& invocation,
                                                           Frame& frame) {
    constexpr std::array<std::string_view, 5> kOrder = {"body", "scan", "full", "state", "output"};
    std::map<std::string_view, Value> given;
    size_t position = 0;
    for (const Argument& argument : document_.items(invocation.args)) {
        const std::string_view usual = position < kOrder.size() ? kOrder[position] : "";
        ++position;
        const std::string_view name = argument.name.empty() ? usual : argument.name.view();
        given[name] = eval(argument.value, frame);
    }
    return given;
}

Value Expander::call_scan(ExprId id, const Invocation& invocation, ExprId target, Frame& frame) {
    Scan scan{.expr = id,
              .span = name_span(expr(id), invocation),
              .frame = frame,
              .label = std::string(first_name(target))};
    if (!frame.label.empty()) scan.label = fmt::format("{}.{}", frame.label, scan.label);
    if (scan.label.empty()) scan.label = "scan";
    if (!spend(kCallWork, scan.span, frame)) return {};
    auto given = scan_arguments(invocation, frame);
    const auto* body = std::get_if<std::string>(&given["body"].node);
    scan.body = body ? model_.operations.find(*body) : nullptr;
    if (!scan.body || scan.body->standard || scan.body->custom()) {
        refuse_scan(scan, "the body of a scan is no fragment of the document");
        return {};
    }
    const auto* skip = std::get_if<int64_t>(&given["skip"].node);
    const auto* lengths = std::get_if<int64_t>(&given["seq_length"].node);
    if ((skip && *skip != 0) || (lengths && *lengths != -1)) {
        refuse_scan(scan, "a scan with `skip` or `seq_length` is not supported");
        return {};
    }
    for (const std::string_view kind : {"scan", "full", "state"}) {
        if (given.contains(kind) && !add_scan_inputs(scan, given[kind], kind)) return {};
    }
    if (!add_scan_outputs(scan, given["output"]) || !count_steps(scan)) return {};
    return build_scan(scan, frame);
}

}  // namespace lemma::nnef1
