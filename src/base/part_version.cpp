// SPDX-License-Identifier: Apache-2.0
// Compiled into each loadable part: the version of Lemma that it belongs to, which load_symbol
// compares (base/loadable_part.h).
#include "base/version.h"

extern "C" __attribute__((visibility("default"))) const char* lemma_part_version();

extern "C" const char* lemma_part_version() { return lemma::kVersion.data(); }
