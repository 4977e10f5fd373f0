// SPDX-License-Identifier: Apache-2.0
// show/svg.h — a program as a drawing: one SVG file with a box for each operation. It needs no
// other file, runs no script, and follows the light or dark colours of its reader.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/program/program.h"
#include "show/table.h"

namespace lemma::show {

inline constexpr size_t kMostDrawn = 5000;  // operations

// Control flow is one box, which says what is inside. An error if there are too many operations.
Result<std::string> show_svg(const ir::Program& program, Level level);

}  // namespace lemma::show
