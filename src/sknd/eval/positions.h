// sknd/eval/positions.h — what an index expression selects.
#pragma once

#include <cstddef>
#include <vector>

#include "sknd/eval/evaluator.h"

namespace lemma::sknd {

struct Evaluator::Positions {
    std::vector<size_t> at;
    bool single = false;  // x[i]: one item, not a pack of one
    bool null = false;    // the index is null
    bool mask = false;    // by a pack of bool
};

}  // namespace lemma::sknd
