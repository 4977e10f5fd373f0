// SPDX-License-Identifier: Apache-2.0
// model/retype_reals.h — the `--real` option for formats whose files say `f32`.
#pragma once

#include "model/loaded_model.h"

namespace lemma::model {

// Stores every f32 tensor of the model as `real`. Its data is converted when it is read.
void retype_reals(LoadedModel& model, tensor::DType real);

}  // namespace lemma::model
