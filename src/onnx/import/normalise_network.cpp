// SPDX-License-Identifier: Apache-2.0
// Normalisations and quantisation.
#include <fmt/format.h>

#include "onnx/import/normalise.h"

namespace lemma::onnx {

bool normalise_batch_normalization(Importer& importer, NodeCall& call) {
    if (call.attributes.integer("spatial").value_or(1) == 0) {
        return importer.not_supported(call,
                                      "`BatchNormalization` with `spatial` = 0 is not supported");
    }
    call.attributes.erase("spatial");
    call.attributes.erase("is_test");
    // Only training has statistics as results.
    bool training = false;
    for (size_t i = 1; i < call.outputs.size(); ++i) training |= !call.outputs[i].empty();
    if (training) call.attributes.set_int("training_mode", 1);
    if (call.outputs.size() > 3) call.outputs.resize(3);
    return true;
}

// Computes in the type that `stash_type` names; mean and deviation keep it.
bool normalise_layer_normalization(Importer& importer, NodeCall& call) {
    const auto code = call.attributes.integer("stash_type").value_or(1);
    const auto wide = tensor::dtype_of_onnx(code);
    if (!wide || !tensor::is_real(*wide)) {
        return importer.fail(call,
                             DiagKind::BadArgument,
                             fmt::format("`stash_type` is {}, which is no type of reals", code));
    }
    if (call.has_input(0) && importer.dtype(call.inputs[0]) != *wide)
        compute_in(importer, *wide, call.inputs.size(), call);
    return true;
}

// The same, and the result has the type of the scale.
bool normalise_simplified_layer_normalization(Importer& importer, NodeCall& call) {
    if (!call.has_input(0) || !call.has_input(1)) return true;
    const DType own = importer.dtype(call.inputs[0]);
    const DType wanted = importer.dtype(call.inputs[1]);
    if (!normalise_layer_normalization(importer, call)) return false;
    if (own != wanted || call.result_type) call.result_type = wanted;
    return true;
}

// Computes in the type of the input; the result has the type of the scale.
bool normalise_rms_normalization(Importer& importer, NodeCall& call) {
    if (!call.has_input(0) || !call.has_input(1)) return true;
    const DType own = importer.dtype(call.inputs[0]);
    const DType wanted = importer.dtype(call.inputs[1]);
    if (own == wanted) return true;
    compute_in(importer, own, call.inputs.size(), call);
    call.result_type = wanted;
    return true;
}

bool normalise_quantize_linear(Importer& importer, NodeCall& call) {
    // Sums of products are integers.
    if (call.has_input(1) && tensor::is_integer(importer.dtype(call.inputs[0]))) {
        const DType real = importer.dtype(call.inputs[1]);
        call.inputs[0] = importer.make(call, "Cast", {call.inputs[0]}, {}, {real});
    }
    DType dtype = DType::U8;
    if (call.has_input(2)) {
        dtype = importer.dtype(call.inputs[2]);
        // ONNX Runtime's quantiser writes an empty tensor for a missing zero point. Its type still
        // counts.
        if (is_empty(importer, call.inputs[2])) {
            call.inputs.resize(2);
            call.types = {dtype};
        }
    } else if (const auto code = call.attributes.integer("output_dtype"); code && *code != 0) {
        const auto given = tensor::dtype_of_onnx(*code);
        if (!given) {
            return importer.not_supported(call,
                                          "results of `QuantizeLinear` of type " +
                                              tensor::onnx_type_name(*code) + " are not supported");
        }
        dtype = *given;
    }
    if (tensor::is_integer(dtype)) set_limits(call, dtype);
    return true;
}

}  // namespace lemma::onnx
