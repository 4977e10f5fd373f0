// SPDX-License-Identifier: Apache-2.0
// emit/fast/example.h — an example program for the fast form.
#pragma once

#include <string>

#include "emit/fast/fast.h"

namespace lemma::emit {

// main.c: runs the model on raw files, or measures it.
std::string fast_example(const loop::FrozenPlan& plan, const FastOptions& options);

}  // namespace lemma::emit
