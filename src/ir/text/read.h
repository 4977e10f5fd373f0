// SPDX-License-Identifier: Apache-2.0
// ir/text/read.h — reads the text form of programs, printed or written by hand
// (docs/language/ir.md). The text may be hostile: everything is checked, and nesting is limited.
#pragma once

#include <optional>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "ir/program/program.h"

namespace lemma::ir {

// Empty if the text is not a program; the first error is reported with its place. The result has
// valid ids but may break other rules, which verify.h finds.
std::optional<Program> read_program(const diag::SourceMap& sources,
                                    diag::FileId file,
                                    Diagnostics& diag);

}  // namespace lemma::ir
