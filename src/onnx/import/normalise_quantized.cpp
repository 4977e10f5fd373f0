// Quantised operators: the definitions are told the limits of the quantised type.
#include <algorithm>
#include <array>
#include <cstdint>

#include "onnx/import/normalise.h"

namespace lemma::onnx {

namespace {

// ONNX Runtime's quantiser writes zero points without elements where there is none. Their type
// still counts.
bool has_nothing(Importer& importer, ValueId id) {
    return std::ranges::any_of(importer.shape(id), [&](ir::SymId extent) {
        return importer.symbols().as_int(extent) == 0;
    });
}

bool dequantize_linear(Importer& importer, NodeCall& call) {
    if (call.has_input(2) && has_nothing(importer, call.inputs[2])) call.inputs.resize(2);
    return true;
}

bool quantize_linear(Importer& importer, NodeCall& call) {
    call.attributes.erase("saturate");   // about floats of 8 bits
    call.attributes.erase("precision");  // the interpreter computes in double
    // Sums of products come as integers.
    if (call.has_input(1) && tensor::is_integer(importer.dtype(call.inputs[0]))) {
        const DType real = importer.dtype(call.inputs[1]);
        call.inputs[0] = importer.make(call, "Cast", {call.inputs[0]}, {}, {real});
    }
    DType dtype = DType::U8;
    if (call.has_input(2)) {
        dtype = importer.dtype(call.inputs[2]);
        if (has_nothing(importer, call.inputs[2])) {
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
    if (!tensor::is_integer(dtype)) return true;
    set_limits(call, dtype);
    return true;
}

template <size_t zero_point>
bool limits_of_result(Importer& importer, NodeCall& call) {
    if (!call.has_input(zero_point)) return true;
    const DType dtype = importer.dtype(call.inputs[zero_point]);
    if (tensor::is_integer(dtype)) set_limits(call, dtype);
    return true;
}

constexpr std::array kRows = {
    NormaliseRow{"QuantizeLinear", kAnyOpset, quantize_linear},
    NormaliseRow{"DequantizeLinear", kAnyOpset, dequantize_linear},
    NormaliseRow{"QLinearMatMul", kAnyOpset, limits_of_result<7>},
    NormaliseRow{"QLinearConv", kAnyOpset, limits_of_result<7>},
};

}  // namespace

// Types of 4 and 2 bits are kept in 8.
void set_limits(NodeCall& call, DType dtype) {
    const auto bits = static_cast<int>(8 * tensor::dtype_size(dtype));
    const bool is_signed = tensor::is_signed(dtype);
    const int numeric = is_signed ? bits - 1 : bits;
    const int64_t highest = numeric < 63 ? (int64_t{1} << numeric) - 1 : INT64_MAX;
    call.attributes.set_int("lowest", is_signed ? -highest - 1 : 0);
    call.attributes.set_int("highest", highest);
}

std::span<const NormaliseRow> quantized_rows() { return kRows; }

}  // namespace lemma::onnx
