#include "onnx/import/normalise.h"

namespace lemma::onnx {

bool normalise(Importer& importer, NodeCall& call) {
    // A hint about memory of the first opset.
    call.attributes.erase("consumed_inputs");
    for (const auto rows : {elementwise_rows(),
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
