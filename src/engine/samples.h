// SPDX-License-Identifier: Apache-2.0
// engine/samples.h — whether a model treats the samples of a batch separately, so that a plan for
// one sample can run for each of them.
#pragma once

#include "engine/extent_code.h"
#include "ir/program/program.h"

namespace lemma::engine {

// Whether each element of the outputs depends only on the inputs of one sample. `extent` is the
// open extent that counts the samples: the first axis of the tensors, or a factor of it.
bool has_separate_samples(const ir::Program& program, OpenExtents& open, ir::SymId extent);

}  // namespace lemma::engine
