// sknd/types/unused.h — modules, inputs, variables and results that nothing reads. They do no harm,
// but most often somebody meant to read them.
#pragma once

#include "diag/diagnostic.h"
#include "sknd/modules/modules.h"

namespace lemma::sknd {

// Warnings, about the modules of the model alone. The package has passed check_types. Names that
// begin with `_` may stand unread.
void report_unused(const Package& package, Diagnostics& diag);

}  // namespace lemma::sknd
