// SPDX-License-Identifier: Apache-2.0
// Operators of the domain com.microsoft. ONNX Runtime's quantiser and optimiser write them.
#include <fmt/format.h>

#include "onnx/import/normalise.h"

namespace lemma::onnx {

// Without an output scale, the result is real.
bool normalise_q_gemm(Importer& importer, NodeCall& call) {
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

// Scales and zero points may come as lists.
bool normalise_mat_mul_n_bits(Importer& importer, NodeCall& call) {
    const auto rows = call.attributes.integer("N");
    if (!rows || *rows < 1) return true;  // the definition reports the problem
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

namespace {

// One of several tensors packed along axis 3, with its heads joined.
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

}  // namespace

// Queries, keys and values may be packed in one tensor, or keys and values in one.
bool normalise_attention_heads(Importer& importer, NodeCall& call) {
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

}  // namespace lemma::onnx
