// SPDX-License-Identifier: Apache-2.0
// sknd/types/unused.h — finds modules, inputs, variables and results that nothing reads. They are
// harmless, but often a mistake.
#pragma once

#include "diag/diagnostic.h"
#include "sknd/modules/modules.h"

namespace lemma::sknd {

// Warns about the modules of the model only. The package has passed check_types. Names that begin
// with `_` may be unread.
void report_unused(const Package& package, Diagnostics& diag);

}  // namespace lemma::sknd
