// ir/text/print.h — programs as text that people can read and `read_program` reads back: the
// grammar is in docs/language/ir.md. Equal programs have equal texts, however their symbols are
// numbered.
#pragma once

#include <string>

#include "ir/program/program.h"

namespace lemma::ir {

// All ids of the program are valid; otherwise it may be wrong (see verify.h).
std::string print(const Program& program);

}  // namespace lemma::ir
