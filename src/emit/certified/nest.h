// SPDX-License-Identifier: Apache-2.0
// emit/certified/nest.h — loops with the invariants that prove their contract.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emit/c_text.h"

namespace lemma::emit {

struct CAxis {
    std::string index;  // the name of the loop variable
    int64_t extent = 0;
};

// `integer i0, integer i1`, `i0, i1` and `0 <= i0 < 4 && 0 <= i1 < 5`
std::string parameters(std::span<const CAxis> axes, std::string_view type);
std::string index_names(std::span<const CAxis> axes);
std::string index_ranges(std::span<const CAxis> axes);
// `\forall integer i0, …; 0 <= i0 < 4 && … ==> predicate(i0, …)`
std::string for_all(std::span<const CAxis> axes, const std::string& predicate);
// `(i0, i1)`; empty without axes.
std::string arguments(std::span<const CAxis> axes);

struct Filling {
    std::vector<CAxis> axes;
    std::string predicate;  // of one element, with the indices as arguments; may be empty
    // What each loop assigns, from the outermost on.
    std::vector<std::string> assigns;
    // Each loop assigns only elements of its own iteration of the loops around it. Their invariants
    // then need not be repeated.
    bool nested = false;
};
// Opens the loops.
void open_loops(const Filling& filling, CLines& lines);

}  // namespace lemma::emit
