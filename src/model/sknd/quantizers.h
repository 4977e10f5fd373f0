// SPDX-License-Identifier: Apache-2.0
// model/sknd/quantizers.h — the quantisers of `@quantize` as programs.
#pragma once

#include "model/loaded_model.h"
#include "model/options.h"

namespace lemma::model {

// `main_text` is the model's text: operators have the names that the model uses.
std::optional<Quantizers> sknd_quantizers(const LoadedModel& model,
                                          const std::string& main_text,
                                          const CheckOptions& options,
                                          Finding& finding);

}  // namespace lemma::model
