// SPDX-License-Identifier: Apache-2.0
// ir/text/print.h — prints programs as readable text, which `read_program` reads back. The grammar
// is in docs/language/ir.md. Equal programs have equal texts; the numbers of symbols do not matter.
#pragma once

#include <string>

#include "ir/program/program.h"

namespace lemma::ir {

// All ids of the program must be valid; otherwise it may be wrong (see verify.h).
std::string print(const Program& program);

}  // namespace lemma::ir
