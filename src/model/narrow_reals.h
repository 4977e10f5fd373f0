// SPDX-License-Identifier: Apache-2.0
// model/narrow_reals.h — the `--real` option for formats whose files say `f32`.
#pragma once

#include "model/loaded_model.h"

namespace lemma::model {

// Stores every f32 tensor of the model as `real`, which is f16 or bf16; no other type changes it.
// Its data is rounded when it is read.
void narrow_reals(LoadedModel& model, tensor::DType real);

}  // namespace lemma::model
