// driver/nnef1/quantizers.h — what graph.quant says about tensors, as programs.
#pragma once

#include "driver/load.h"
#include "driver/nnef1/model.h"

namespace lemma::driver {

std::optional<Quantizers> nnef1_quantizers(const Nnef1Model& model,
                                           const ir::Program& program,
                                           const CheckOptions& options,
                                           Finding& finding);

}  // namespace lemma::driver
