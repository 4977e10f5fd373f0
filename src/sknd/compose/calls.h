// sknd/compose/calls.h — calls of other formats meet their definitions: a builder that composes
// each call as it comes (ir/program/calls.h).
#pragma once

#include <memory>

#include "ir/program/calls.h"
#include "sknd/compose/compose.h"

namespace lemma::sknd {

// `library` was loaded by load_library; both it and `diag` outlive the builder.
// An operator `nnef1.conv` is the definition `conv` in any module below `nnef1`.
std::unique_ptr<ir::CallBuilder> make_call_builder(const Package& library,
                                                   const ComposeOptions& options,
                                                   Diagnostics& diag);

}  // namespace lemma::sknd
