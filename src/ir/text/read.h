// ir/text/read.h — reads what print.h writes, and what people write in its form
// (docs/language/ir.md). The text may be hostile: everything is checked, and nesting is limited.
#pragma once

#include <optional>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "ir/program/program.h"

namespace lemma::ir {

// Empty when the text is not a program: the first error is reported, with its place. What it reads
// has valid ids but may break other rules; verify.h finds those.
std::optional<Program> read_program(const diag::SourceMap& sources,
                                    diag::FileId file,
                                    Diagnostics& diag);

}  // namespace lemma::ir
