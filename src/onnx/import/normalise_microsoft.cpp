// Operators of the domain com.microsoft, which ONNX Runtime's quantiser and optimiser write.
#include <fmt/format.h>

#include <array>

#include "onnx/import/normalise.h"
#include "onnx/validate.h"

namespace lemma::onnx {

namespace {

// Operators that ONNX has as well, in its newest form.
bool as_in_onnx(Importer&, NodeCall& call) {
    call.op = call.node->op;
    call.opset = kNewestOpset;
    return true;
}

// The result has the type of the first input.
bool limits_of_input(Importer& importer, NodeCall& call) {
    if (!call.has_input(0)) return true;
    const DType dtype = importer.dtype(call.inputs[0]);
    if (tensor::is_integer(dtype)) set_limits(call, dtype);
    return true;
}

// A number where a list of one is allowed.
ValueId single(Importer& importer, const NodeCall& call, ValueId value) {
    if (!value.valid() || importer.rank(value) != 1) return value;
    Attributes axes;
    axes.set_ints("axes", {0});
    return importer.make(call, "Squeeze", {value}, axes);
}

// Behind the scale and the zero point of the result there are three inputs for each part.
bool concat(Importer& importer, NodeCall& call) {
    if (call.inputs.size() < 5 || (call.inputs.size() - 2) % 3 != 0) {
        return importer.fail(
            call,
            DiagKind::ArgumentCount,
            fmt::format("`QLinearConcat` has {} inputs, expected 2 and 3 for each part",
                        call.inputs.size()));
    }
    for (size_t i = 0; i < call.inputs.size(); ++i) {
        const bool part = i >= 2 && (i - 2) % 3 == 0;
        if (!part) call.inputs[i] = single(importer, call, call.inputs[i]);
    }
    if (!call.has_input(1)) return true;
    const DType dtype = importer.dtype(call.inputs[1]);
    if (tensor::is_integer(dtype)) set_limits(call, dtype);
    return true;
}

// Without a scale of the result, that is numbers.
bool gemm(Importer& importer, NodeCall& call) {
    if (call.has_input(7) != call.has_input(8)) {
        return importer.not_supported(
            call, "`QGemm` with one of `y_scale` and `y_zero_point` is not supported");
    }
    if (!call.has_input(8)) {
        call.op += "_real";
        return true;
    }
    const DType dtype = importer.dtype(call.inputs[8]);
    if (tensor::is_integer(dtype)) set_limits(call, dtype);
    return true;
}

// Scales and zero points may come as lists; a table of columns is deprecated.
bool matmul_bits(Importer& importer, NodeCall& call) {
    if (call.has_input(4)) {
        return importer.not_supported(call, "the input `g_idx` of `MatMulNBits` is not supported");
    }
    call.drop_input(4);
    const auto rows = call.attributes.integer("N");
    if (!rows || *rows < 1) return true;  // the definition tells what is wrong
    for (const size_t i : {2, 3}) {
        if (!call.has_input(i) || importer.rank(call.inputs[i]) != 1) continue;
        Attributes shape;
        shape.set_ints("shape", {*rows, -1});
        call.inputs[i] = importer.make(call, "Reshape", {call.inputs[i]}, shape);
    }
    const bool packed = call.has_input(3) && tensor::is_integer(importer.dtype(call.inputs[3]));
    call.attributes.set("packed_zeros", ir::Scalar(packed));
    return true;
}

bool attention(Importer& importer, NodeCall& call) {
    if (call.has_input(6)) {
        return importer.not_supported(
            call, "the input `past_sequence_length` of `Attention` is not supported");
    }
    if (call.outputs.size() > 1 && !call.outputs[1].empty()) call.op += "_present";
    return true;
}

// One of several tensors that lie side by side at axis 3, with the heads joined.
ValueId unpacked(Importer& importer, const NodeCall& call, ValueId from, int64_t part) {
    Attributes slice, squeeze, reshape;
    slice.set_ints("starts", {part});
    slice.set_ints("ends", {part + 1});
    slice.set_ints("axes", {3});
    squeeze.set_ints("axes", {3});
    reshape.set_ints("shape", {0, 0, -1});
    ValueId value = importer.make(call, "Slice", {from}, slice);
    value = importer.make(call, "Squeeze", {value}, squeeze);
    return importer.make(call, "Reshape", {value}, reshape);
}

bool multi_head_attention(Importer& importer, NodeCall& call) {
    for (const auto& [input, name] : {std::pair(size_t{8}, "past_sequence_length"),
                                      std::pair(size_t{9}, "cache_indirection")}) {
        if (!call.has_input(input)) continue;
        return importer.not_supported(
            call, fmt::format("the input `{}` of `MultiHeadAttention` is not supported", name));
    }
    if (!call.has_input(0)) return true;
    if (call.inputs.size() < 3) call.inputs.resize(3);
    const bool all = !call.inputs[1].valid() && !call.inputs[2].valid();
    const ValueId packed = call.inputs[all ? 0 : 1];
    if (call.inputs[2].valid() || !packed.valid() || importer.rank(packed) != 5) return true;
    const ValueId query = all ? unpacked(importer, call, packed, 0) : call.inputs[0];
    const ValueId key = unpacked(importer, call, packed, all ? 1 : 0);
    const ValueId value = unpacked(importer, call, packed, all ? 2 : 1);
    call.inputs[0] = query;
    call.inputs[1] = key;
    call.inputs[2] = value;
    return true;
}

// The lengths may come as a column.
bool group_query_attention(Importer& importer, NodeCall& call) {
    for (size_t input = 12; input < call.inputs.size(); ++input) {
        if (!call.has_input(input)) continue;
        return importer.not_supported(
            call,
            input < 14 ? "a quantised cache of `GroupQueryAttention` is not supported"
                       : "normalised queries and keys of `GroupQueryAttention` are not supported");
    }
    if (call.has_input(5) && importer.rank(call.inputs[5]) == 2) {
        Attributes axes;
        axes.set_ints("axes", {1});
        call.inputs[5] = importer.make(call, "Squeeze", {call.inputs[5]}, axes);
    }
    return true;
}

constexpr std::array kRows = {
    NormaliseRow{"com.microsoft.QuantizeLinear", kAnyOpset, as_in_onnx},
    NormaliseRow{"com.microsoft.DequantizeLinear", kAnyOpset, as_in_onnx},
    NormaliseRow{"com.microsoft.QLinearAdd", kAnyOpset, limits_of_input},
    NormaliseRow{"com.microsoft.QLinearMul", kAnyOpset, limits_of_input},
    NormaliseRow{"com.microsoft.QLinearSigmoid", kAnyOpset, limits_of_input},
    NormaliseRow{"com.microsoft.QLinearLeakyRelu", kAnyOpset, limits_of_input},
    NormaliseRow{"com.microsoft.QLinearSoftmax", kAnyOpset, limits_of_input},
    NormaliseRow{"com.microsoft.QLinearAveragePool", kAnyOpset, limits_of_input},
    NormaliseRow{"com.microsoft.QLinearGlobalAveragePool", kAnyOpset, limits_of_input},
    NormaliseRow{"com.microsoft.QLinearConcat", kAnyOpset, concat},
    NormaliseRow{"com.microsoft.QGemm", kAnyOpset, gemm},
    NormaliseRow{"com.microsoft.MatMulNBits", kAnyOpset, matmul_bits},
    NormaliseRow{"com.microsoft.Attention", kAnyOpset, attention},
    NormaliseRow{"com.microsoft.MultiHeadAttention", kAnyOpset, multi_head_attention},
    NormaliseRow{"com.microsoft.GroupQueryAttention", kAnyOpset, group_query_attention},
};

}  // namespace

std::span<const NormaliseRow> microsoft_rows() { return kRows; }

}  // namespace lemma::onnx
