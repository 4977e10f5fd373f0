// model/sknd/quantizers.h — what `@quantize` says about tensors, as programs.
#pragma once

#include "model/loaded_model.h"
#include "model/options.h"

namespace lemma::model {

// `main_text` is the model's own text: every operator is called by the name that the model uses.
std::optional<Quantizers> sknd_quantizers(const LoadedModel& model,
                                          const std::string& main_text,
                                          const CheckOptions& options,
                                          Finding& finding);

}  // namespace lemma::model
