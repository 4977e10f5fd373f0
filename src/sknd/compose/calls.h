// SPDX-License-Identifier: Apache-2.0
// sknd/compose/calls.h — a builder that composes each call of another format at once
// (ir/program/calls.h).
#pragma once

#include <memory>

#include "ir/program/calls.h"
#include "sknd/compose/compose.h"

namespace lemma::sknd {

// `library` comes from load_library; it and `diag` outlive the builder. The operator `nnef1.conv`
// is the definition `conv` in any module below `nnef1`.
std::unique_ptr<ir::CallBuilder> make_call_builder(const Package& library,
                                                   const ComposeOptions& options,
                                                   Diagnostics& diag);

}  // namespace lemma::sknd
