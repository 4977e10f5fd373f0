// Element-wise operators: broadcasting of the first opsets, limits of Clip, names of types.
#include <fmt/format.h>

#include <array>

#include "onnx/import/normalise.h"

namespace lemma::onnx {

namespace {

// Gives the input axes of extent 1 behind its last one.
bool pad_rank(Importer& importer, NodeCall& call, size_t input, size_t count) {
    if (count == 0) return true;
    const size_t rank = importer.rank(call.inputs[input]);
    std::vector<int64_t> axes;
    for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int64_t>(rank + i));
    Attributes attributes;
    attributes.set_ints("axes", axes);
    call.inputs[input] = importer.make(call, "Unsqueeze", {call.inputs[input]}, attributes);
    return call.inputs[input].valid();
}

// Before opset 7 the second operand was aligned with `axis` of the first, not with its end.
bool align_by_axis(Importer& importer, NodeCall& call) {
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
    return pad_rank(importer, call, 1, rank - *front - own);
}

// A slope for each channel was aligned with axis 1.
bool align_slope(Importer& importer, NodeCall& call) {
    if (call.inputs.size() != 2 || importer.rank(call.inputs[1]) != 1) return true;
    const auto count = importer.symbols().as_int(importer.shape(call.inputs[1])[0]);
    const size_t rank = importer.rank(call.inputs[0]);
    if (count == 1 || rank < 3) return true;
    return pad_rank(importer, call, 1, rank - 2);
}

bool drop_broadcast(Importer&, NodeCall& call) {
    call.attributes.erase("broadcast");
    return true;
}

// Limits were attributes.
bool limits_to_inputs(Importer& importer, NodeCall& call) {
    if (!call.has_input(0)) return true;
    const DType dtype = importer.dtype(call.inputs[0]);
    const auto limit = [&](const char* name) {
        const auto value = call.attributes.real(name);
        call.attributes.erase(name);
        return value ? importer.constant({dtype, {}, {*value}}, name) : ValueId{};
    };
    const ValueId low = limit("min");
    const ValueId high = limit("max");
    call.inputs = {call.inputs[0], low, high};
    while (!call.inputs.back().valid()) call.inputs.pop_back();
    return true;
}

// Limits are scalars, by the specification; exporters write tensors of one element, too.
bool scalar_limits(Importer& importer, NodeCall& call) {
    for (size_t i = 1; i < call.inputs.size(); ++i) {
        if (!call.has_input(i) || importer.rank(call.inputs[i]) != 1) continue;
        if (importer.symbols().as_int(importer.shape(call.inputs[i])[0]) != 1) continue;
        Attributes attributes;
        attributes.set_ints("axes", std::vector<int64_t>{0});
        call.inputs[i] = importer.make(call, "Squeeze", {call.inputs[i]}, attributes);
        if (!call.inputs[i].valid()) return false;
    }
    return true;
}

bool type_from_name(Importer& importer, NodeCall& call) {
    const auto name = call.attributes.text("to");
    if (!name) return true;
    constexpr int64_t kTypes = 17;
    for (int64_t code = 1; code < kTypes; ++code) {
        if (tensor::onnx_type_name(code) != *name) continue;
        call.attributes.set_int("to", code);
        return true;
    }
    return importer.fail(
        call, DiagKind::BadArgument, fmt::format("`to` is `{}`, which is no type", *name));
}

bool plain_cast(Importer&, NodeCall& call) {
    call.attributes.erase("saturate");  // these are about types of 8 bits and less
    call.attributes.erase("round_mode");
    return true;
}

bool cast_like(Importer& importer, NodeCall& call) {
    if (call.inputs.size() != 2 || !call.has_input(1)) return true;
    call.types = {importer.dtype(call.inputs[1])};
    call.op = "Cast";
    call.inputs.pop_back();
    return plain_cast(importer, call);
}

bool first_selu(Importer&, NodeCall& call) {
    if (!call.attributes.has("alpha")) call.attributes.set("alpha", Scalar(1.6732));
    if (!call.attributes.has("gamma")) call.attributes.set("gamma", Scalar(1.0507));
    return true;
}

// Packs have tensors of one shape: where shapes differ, tensors are taken two by two.
bool two_by_two(Importer& importer, NodeCall& call, const char* pairs) {
    bool same = true;
    for (const ValueId input : call.inputs) {
        if (!input.valid()) return true;
        same = same && importer.shape(input) == importer.shape(call.inputs[0]);
    }
    if (same) return true;
    ValueId all = call.inputs[0];
    for (size_t i = 1; i + 1 < call.inputs.size(); ++i)
        all = importer.make(call, pairs, {all, call.inputs[i]});
    call.op = pairs;
    call.inputs = {all, call.inputs.back()};
    return true;
}

bool max_by_two(Importer& importer, NodeCall& call) {
    return two_by_two(importer, call, "max_of_two");
}
bool min_by_two(Importer& importer, NodeCall& call) {
    return two_by_two(importer, call, "min_of_two");
}
bool sum_by_two(Importer& importer, NodeCall& call) { return two_by_two(importer, call, "Add"); }

bool mean_by_two(Importer& importer, NodeCall& call) {
    const auto count = static_cast<int64_t>(call.inputs.size());
    two_by_two(importer, call, "Add");
    if (call.op == "Mean") return true;
    call.inputs = {importer.make(call, "Add", call.inputs)};
    call.op = "mean_of_sum";
    call.attributes.set_int("count", count);
    return true;
}

constexpr std::array kRows = {
    NormaliseRow{"Sum", kAnyOpset, sum_by_two},
    NormaliseRow{"Max", kAnyOpset, max_by_two},
    NormaliseRow{"Min", kAnyOpset, min_by_two},
    NormaliseRow{"Mean", kAnyOpset, mean_by_two},
    NormaliseRow{"Add", 7, align_by_axis},
    NormaliseRow{"Sub", 7, align_by_axis},
    NormaliseRow{"Mul", 7, align_by_axis},
    NormaliseRow{"Div", 7, align_by_axis},
    NormaliseRow{"Pow", 7, align_by_axis},
    NormaliseRow{"And", 7, align_by_axis},
    NormaliseRow{"Or", 7, align_by_axis},
    NormaliseRow{"Xor", 7, align_by_axis},
    NormaliseRow{"Equal", 7, align_by_axis},
    NormaliseRow{"Greater", 7, align_by_axis},
    NormaliseRow{"Less", 7, align_by_axis},
    NormaliseRow{"PRelu", 7, align_slope},
    NormaliseRow{"Gemm", 7, drop_broadcast},
    NormaliseRow{"Clip", 11, limits_to_inputs},
    NormaliseRow{"Clip", kAnyOpset, scalar_limits},
    NormaliseRow{"Cast", 6, type_from_name},
    NormaliseRow{"Cast", kAnyOpset, plain_cast},
    NormaliseRow{"CastLike", kAnyOpset, cast_like},
    NormaliseRow{"Selu", 6, first_selu},
};

}  // namespace

std::span<const NormaliseRow> elementwise_rows() { return kRows; }

}  // namespace lemma::onnx
