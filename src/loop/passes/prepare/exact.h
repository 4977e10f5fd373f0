// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/exact.h — computes in float what float represents exactly, and rounds to even
// with one operation. Formulas that round to integers are doubles (stage.h), but most of their
// values are floats or small whole numbers: those of a quantisation, for example. Runs before fuse,
// which joins the formulas.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Every value stays the same, up to the sign of a zero that becomes an int. Returns how many values
// of stages it changed.
int compute_exactly(StageGraph& graph);

}  // namespace lemma::loop
