// SPDX-License-Identifier: Apache-2.0
#include "onnx/import/normalise.h"

#include <algorithm>
#include <array>

namespace lemma::onnx {

namespace {

struct CodeRow {
    std::string_view op;
    Normalise* apply;
    int64_t below = kAnyOpset;
};

// Operators whose changes the table cannot express.
constexpr std::array kCode = {
    CodeRow{"BatchNormalization", normalise_batch_normalization, 14},
    CodeRow{"Cast", normalise_cast, 6},
    CodeRow{"CastLike", normalise_cast_like},
    CodeRow{"Einsum", normalise_einsum},
    CodeRow{"LabelEncoder", normalise_label_encoder},
    CodeRow{"LayerNormalization", normalise_layer_normalization},
    CodeRow{"Mean", normalise_mean},
    CodeRow{"QuantizeLinear", normalise_quantize_linear},
    CodeRow{"RMSNormalization", normalise_rms_normalization},
    CodeRow{"SimplifiedLayerNormalization", normalise_simplified_layer_normalization},
    CodeRow{"Split", normalise_split},
    CodeRow{"Upsample", normalise_upsample},
    CodeRow{"com.microsoft.MatMulNBits", normalise_mat_mul_n_bits},
    CodeRow{"com.microsoft.MultiHeadAttention", normalise_attention_heads},
    CodeRow{"com.microsoft.QGemm", normalise_q_gemm},
};

const CodeRow* find_code(std::string_view op) {
    const auto found = std::ranges::find(kCode, op, &CodeRow::op);
    return found == kCode.end() ? nullptr : &*found;
}

bool normalise_once(Importer& importer, NodeCall& call) {
    const std::string op = call.op;
    const Operator* const row = find_operator(op);
    if (!row) return true;  // a helper of the library
    for (const Change& change : row->changes) {
        if (!apply_change(change, importer, call)) return false;
    }
    const CodeRow* const code = find_code(op);
    return !code || call.opset >= code->below || code->apply(importer, call);
}

}  // namespace

bool normalise(Importer& importer, NodeCall& call) {
    // The first opset had this hint about memory.
    call.attributes.erase("consumed_inputs");
    // A call may become one of another operator, with its own changes.
    std::string op;
    while (op != call.op) {
        op = call.op;
        if (!normalise_once(importer, call)) return false;
    }
    return true;
}

bool has_normalise_code(std::string_view op) { return find_code(op) != nullptr; }

}  // namespace lemma::onnx
