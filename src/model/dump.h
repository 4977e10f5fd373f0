// SPDX-License-Identifier: Apache-2.0
// model/dump.h — the tokens or the tree of a model as text, for debugging and golden files:
// `--dump=tokens|tree`.
#pragma once

#include <string>

#include "diag/source.h"
#include "model/sknd/model.h"

namespace lemma::model {

// For the main module; empty for Dump::None.
std::string dump(Dump what, const diag::SourceMap& sources, const SkndModel& model);

}  // namespace lemma::model
