#include "onnx/import/normalise.h"

#include <algorithm>

namespace lemma::onnx {

void compute_in(Importer& importer, DType type, size_t count, NodeCall& call) {
    call.result_type = importer.dtype(call.inputs[0]);
    for (size_t i = 0; i < std::min(count, call.inputs.size()); ++i) {
        ValueId& input = call.inputs[i];
        if (input.valid() && importer.dtype(input) != type)
            input = importer.make(call, "Cast", {input}, {}, {type});
    }
}

bool normalise(Importer& importer, NodeCall& call) {
    // A hint about memory of the first opset.
    call.attributes.erase("consumed_inputs");
    // Those of ONNX Runtime come first, for some become operators of ONNX.
    for (const auto rows : {microsoft_rows(),
                            elementwise_rows(),
                            shape_rows(),
                            network_rows(),
                            quantized_rows(),
                            einsum_rows(),
                            ml_rows()}) {
        for (const NormaliseRow& row : rows) {
            if (call.op != row.op || call.opset >= row.below) continue;
            if (!row.apply(importer, call)) return false;
        }
    }
    return true;
}

}  // namespace lemma::onnx
