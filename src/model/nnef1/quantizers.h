// SPDX-License-Identifier: Apache-2.0
// model/nnef1/quantizers.h — the quantisers of graph.quant as programs.
#pragma once

#include "model/nnef1/model.h"

namespace lemma::model {

std::optional<Quantizers> nnef1_quantizers(const Nnef1Model& model,
                                           const ir::Program& program,
                                           const CheckOptions& options,
                                           Finding& finding);

}  // namespace lemma::model
