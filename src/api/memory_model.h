// SPDX-License-Identifier: Apache-2.0
// api/memory_model.h — a model that the caller has in memory.
#pragma once

#include <lemma/lemma.h>

#include "model/find_model.h"

namespace lemma::api {

// Finds the model in copies of the files.
Result<model::ModelFile> memory_model(const lemma_file* files,
                                      size_t count,
                                      const tensor::SourceLimits& limits);

}  // namespace lemma::api
