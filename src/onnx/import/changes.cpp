// SPDX-License-Identifier: Apache-2.0
// The changes of the operator table (onnx/operators.h), one function each.
#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"
#include "onnx/import/normalise.h"
#include "onnx/validate.h"

namespace lemma::onnx {

namespace {

ir::Value value_of(const Default& value) {
    return match(
        value,
        [](int64_t number) { return ir::Value(Scalar(number)); },
        [](float number) { return ir::Value(Scalar(static_cast<double>(number))); },
        [](std::string_view text) { return ir::Value(Scalar(std::string(text))); },
        [](const auto&) { return ir::Value(ir::Null()); });
}

bool apply(const Call& change, Importer&, NodeCall& call) {
    // Operators that ONNX Runtime shares with ONNX have the newest form.
    if (call.op.starts_with(kMicrosoftDomain)) call.opset = kNewestOpset;
    call.op = change.op;
    return true;
}

bool apply(const CallForOutput& change, Importer&, NodeCall& call) {
    const bool wanted = call.outputs.size() > change.output && !call.outputs[change.output].empty();
    if (wanted) call.op = change.op;
    return true;
}

bool apply(const Drop& change, Importer&, NodeCall& call) {
    call.attributes.erase(std::string(change.attribute));
    return true;
}

bool apply(const Preset& change, Importer&, NodeCall& call) {
    const std::string name(change.attribute);
    if (!call.attributes.has(name)) call.attributes.set(name, value_of(change.value));
    return true;
}

bool apply(const Rename& change, Importer&, NodeCall& call) {
    call.attributes.rename(std::string(change.attribute), std::string(change.to));
    return true;
}

bool apply(const Respell& change, Importer&, NodeCall& call) {
    const std::string name(change.attribute);
    if (call.attributes.text(name) == change.from)
        call.attributes.set_text(name, std::string(change.to));
    return true;
}

// A number in a type; integer types round towards zero.
std::optional<Scalar> number_in(DType dtype, double value, Importer& importer) {
    return cast_scalar(Scalar(value), dtype, importer.symbols());
}

bool does_not_fit(Importer& importer, NodeCall& call, std::string_view attribute, double value) {
    return importer.fail(call,
                         DiagKind::BadArgument,
                         fmt::format("`{}` is {}, which does not fit its type", attribute, value));
}

bool apply(const MakeInteger& change, Importer& importer, NodeCall& call) {
    const std::string name(change.attribute);
    const auto value = call.attributes.real(name);
    if (!value) return true;
    const auto number = number_in(DType::I64, *value, importer);
    if (!number) return does_not_fit(importer, call, name, *value);
    call.attributes.set(name, *number);
    return true;
}

bool apply(const ToInput& change, Importer& importer, NodeCall& call) {
    const std::string name(change.attribute);
    const auto value = call.attributes.real(name);
    call.attributes.erase(name);
    if (!value || !call.has_input(0)) return true;
    const DType dtype = importer.dtype(call.inputs[0]);
    const auto number = number_in(dtype, *value, importer);
    if (!number) return does_not_fit(importer, call, name, *value);
    if (call.inputs.size() <= change.input) call.inputs.resize(change.input + 1);
    call.inputs[change.input] = importer.constant({dtype, {}, {*number}}, name);
    return true;
}

bool apply(const SkipInput& change, Importer&, NodeCall& call) {
    const auto at = call.inputs.begin() + static_cast<std::ptrdiff_t>(change.input);
    if (call.inputs.size() > change.input) call.inputs.insert(at, ValueId{});
    return true;
}

// Drops the last axis of an input, if its extent can be 1.
bool drop_last_axis(Importer& importer, NodeCall& call, size_t input, size_t rank) {
    if (!call.has_input(input)) return true;
    const std::vector<ir::SymId> shape = importer.shape(call.inputs[input]);
    if (shape.size() != rank) return true;
    // The definition reports other extents.
    if (importer.symbols().as_int(shape.back()).value_or(1) != 1) return true;
    Attributes axes;
    axes.set_ints("axes", {static_cast<int64_t>(rank) - 1});
    call.inputs[input] = importer.make(call, "Squeeze", {call.inputs[input]}, axes);
    return call.inputs[input].valid();
}

bool apply(const DropLastAxis& change, Importer& importer, NodeCall& call) {
    for (size_t i = change.input; i < call.inputs.size(); i += change.step) {
        if (!drop_last_axis(importer, call, i, change.rank)) return false;
        if (change.step == 0) break;
    }
    return true;
}

bool apply(const EmptyIsMissing& change, Importer& importer, NodeCall& call) {
    if (call.has_input(change.input) && is_empty(importer, call.inputs[change.input]))
        call.clear_input(change.input);
    return true;
}

bool apply(const RefuseInput& change, Importer& importer, NodeCall& call) {
    if (call.has_input(change.input)) {
        return importer.not_supported(
            call, fmt::format("{} of `{}` is not supported", change.what, call.node->op));
    }
    call.drop_input(change.input);
    return true;
}

bool apply(const Refuse& change, Importer& importer, NodeCall& call) {
    return importer.not_supported(
        call, fmt::format("`{}` of an opset before {} is not supported", call.op, change.below));
}

bool apply(const AlignByAxis&, Importer& importer, NodeCall& call) {
    const auto axis = call.attributes.integer("axis");
    const bool broadcast = call.attributes.integer("broadcast").value_or(0) != 0;
    call.attributes.erase("axis");
    call.attributes.erase("broadcast");
    if (!axis || !broadcast || call.inputs.size() != 2) return true;
    const size_t rank = importer.rank(call.inputs[0]);
    const size_t own = importer.rank(call.inputs[1]);
    const auto front = front_axis(*axis, rank);
    if (!front || *front + own > rank) {
        return importer.fail(
            call,
            DiagKind::BadArgument,
            fmt::format("`axis` is {}, which does not fit ranks {} and {}", *axis, rank, own));
    }
    std::vector<int64_t> added;  // axes of extent 1 after the last one
    for (size_t i = own; i < rank - *front; ++i) added.push_back(static_cast<int64_t>(i));
    if (added.empty()) return true;
    Attributes axes;
    axes.set_ints("axes", added);
    call.inputs[1] = importer.make(call, "Unsqueeze", {call.inputs[1]}, axes);
    return call.inputs[1].valid();
}

bool apply(const TwoByTwo& change, Importer& importer, NodeCall& call) {
    two_by_two(importer, call, std::string(change.op));
    return true;
}

bool apply(const LimitsOf& change, Importer& importer, NodeCall& call) {
    if (!call.has_input(change.input)) return true;
    const DType dtype = importer.dtype(call.inputs[change.input]);
    if (tensor::is_integer(dtype)) set_limits(call, dtype);
    return true;
}

bool apply(const ComputeInReals& change, Importer& importer, NodeCall& call) {
    if (call.has_input(0) && !tensor::is_real(importer.dtype(call.inputs[0])))
        compute_in(importer, DType::F64, change.count, call);
    return true;
}

template <class Kind>
bool applies(const Kind& change, int64_t opset) {
    if constexpr (requires { change.below; }) return opset < change.below;
    return true;
}

}  // namespace

bool apply_change(const Change& change, Importer& importer, NodeCall& call) {
    return match(change, [&](const auto& kind) {
        return !applies(kind, call.opset) || apply(kind, importer, call);
    });
}

// ---- Shared by operators with their own code ----------------------------------------------------

bool is_empty(Importer& importer, ValueId id) {
    return std::ranges::any_of(importer.shape(id), [&](ir::SymId extent) {
        return importer.symbols().as_int(extent) == 0;
    });
}

void two_by_two(Importer& importer, NodeCall& call, const std::string& op) {
    bool same = true;
    for (const ValueId input : call.inputs) {
        if (!input.valid()) return;
        same = same && importer.shape(input) == importer.shape(call.inputs[0]);
    }
    if (same) return;
    ValueId all = call.inputs[0];
    for (size_t i = 1; i + 1 < call.inputs.size(); ++i)
        all = importer.make(call, op, {all, call.inputs[i]});
    call.op = op;
    call.inputs = {all, call.inputs.back()};
}

void compute_in(Importer& importer, DType type, size_t count, NodeCall& call) {
    call.result_type = importer.dtype(call.inputs[0]);
    for (size_t i = 0; i < std::min(count, call.inputs.size()); ++i) {
        ValueId& input = call.inputs[i];
        if (input.valid() && importer.dtype(input) != type)
            input = importer.make(call, "Cast", {input}, {}, {type});
    }
}

// Types of 4 and 2 bits are stored in 8.
void set_limits(NodeCall& call, DType dtype) {
    const auto bits = static_cast<int>(8 * tensor::dtype_size(dtype));
    const bool is_signed = tensor::is_signed(dtype);
    const int numeric = is_signed ? bits - 1 : bits;
    const int64_t highest = numeric < 63 ? (int64_t{1} << numeric) - 1 : INT64_MAX;
    call.attributes.set_int("lowest", is_signed ? -highest - 1 : 0);
    call.attributes.set_int("highest", highest);
}

}  // namespace lemma::onnx
